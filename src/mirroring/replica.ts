import type { PartitionLogOptions } from '../log/partition/logOptions.ts'
import { minOffset } from '../log/partition/offsets.ts'
import { PartitionLog } from '../log/partition/partitionLog.ts'
import type { LogStorage } from '../log/partition/storage.ts'

/** One broker's copy of a partition. Its storage outlives a crash, the log object does not. */
export class Replica {
  readonly id: number
  readonly #storage: LogStorage
  readonly #options: PartitionLogOptions
  #log: PartitionLog | null

  constructor(id: number, storage: LogStorage, options: PartitionLogOptions) {
    this.id = id
    this.#storage = storage
    this.#options = options
    this.#log = PartitionLog.open(storage, options)
  }

  get isAlive(): boolean {
    return this.#log !== null
  }

  get log(): PartitionLog {
    if (this.#log === null) throw new Error(`replica ${this.id} is down`)
    return this.#log
  }

  /** The process dies: nothing is closed. */
  crash(): void {
    this.#log = null
  }

  /** It comes back and recovers its log; what it knew of the high watermark is gone. */
  restart(): void {
    this.#log ??= PartitionLog.open(this.#storage, this.#options)
  }

  /**
   * One fetch from the leader: first the follower cuts what the leader does not have, then it appends what follows, and
   * drops what the leader has deleted.
   *
   * @returns the offset from which it has fetched: what lies before it, it has
   * @see Kafka's AbstractFetcherThread, KIP-320 and KIP-595 for the check of epochs
   */
  fetchFrom(leader: PartitionLog, maxBytes: number): bigint {
    const { log } = this
    this.#truncateToShared(leader)
    if (log.logEndOffset < leader.logStartOffset) log.truncateFullyAndStartAt(leader.logStartOffset)
    const fetchOffset = log.logEndOffset
    const { records, highWatermark } = leader.read(fetchOffset, { maxBytes })
    log.append(records, 'replication')
    log.updateHighWatermark(highWatermark)
    log.deleteRecordsBefore(minOffset(leader.logStartOffset, log.highWatermark))
    return fetchOffset
  }

  /** Both sides agree on the largest epoch that they share, and cut to where it ends first. */
  #truncateToShared(leader: PartitionLog): void {
    const { log } = this
    for (;;) {
      const epoch = log.leaderEpochs.at(-1)?.epoch
      const theirs = epoch === undefined ? null : leader.endOffsetFor(epoch)
      const own = theirs === null ? null : log.endOffsetFor(theirs.epoch)
      // a leader knows its own epoch, which is the highest
      if (theirs === null || own === null) return
      if (own.epoch === theirs.epoch) {
        log.truncateTo(minOffset(own.endOffset, theirs.endOffset))
        return
      }
      // what this replica wrote after its own epoch, the leader has not; ask again for the epoch that is left
      log.truncateTo(own.endOffset)
    }
  }
}
