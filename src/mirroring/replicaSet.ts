import { requireList } from '../core/arguments.ts'
import { InvalidArgumentError } from '../errors.ts'
import type { LogAppendResult } from '../log/partition/logAppend.ts'
import { type PartitionLogOptions, requireLogOptions } from '../log/partition/logOptions.ts'
import { minOffset } from '../log/partition/offsets.ts'
import type { PartitionLog } from '../log/partition/partitionLog.ts'
import { type LogStorage, requireStorage } from '../log/partition/storage.ts'
import type { AppendOrigin } from '../producers/appendOrigin.ts'
import { type AppendOptions, requireAppendOptions } from '../producers/appendResult.ts'
import { type Leader, moveStart } from './leader.ts'
import { Replica } from './replica.ts'

/**
 * A partition with replicas in one process: a leader, followers that fetch from it, the in-sync set that the high
 * watermark counts. Everything happens when it is called, so that a test can put any order of events together.
 *
 * @see Kafka's Partition, ReplicaManager
 * @example
 * const replicas = new ReplicaSet([memoryStorage(), memoryStorage()])
 * replicas.append(encodeRecordBatch({ records: [{ value }] }), 'client')
 * replicas.replicate()
 * replicas.log.highWatermark // the log end offset
 */
export class ReplicaSet implements Leader {
  readonly replicas: readonly Replica[]
  readonly #inSync: Set<number>
  /** What the leader knows of its followers: where they fetched last in its epoch. */
  readonly #fetched = new Map<number, bigint>()
  #leader = 0
  #leaderEpoch = 0

  /**
   * @param storages one for each replica; the first leads
   * @param options of each one's log
   * @throws InvalidArgumentError
   */
  constructor(storages: readonly LogStorage[], options: PartitionLogOptions = {}) {
    for (const storage of requireList('storages', storages)) requireStorage('one of storages', storage)
    requireLogOptions(options)
    if (storages.length === 0) throw new InvalidArgumentError('a partition has at least one replica')
    this.replicas = storages.map((storage, id) => new Replica(id, storage, options))
    this.#inSync = new Set(this.replicas.keys())
    this.#leaderEpoch = this.log.leaderEpochs.at(-1)?.epoch ?? 0
    this.#updateHighWatermark()
  }

  get leaderId(): number {
    return this.#leader
  }

  get leaderEpoch(): number {
    return this.#leaderEpoch
  }

  get log(): PartitionLog {
    return this.replicas[this.#leader]!.log
  }

  /** The replicas that have all below the high watermark; one of them may lead. */
  get inSync(): readonly number[] {
    return [...this.#inSync].sort()
  }

  /** As `PartitionLog.append`, to the leader; followers have it once they fetch. */
  append(records: Uint8Array, origin: AppendOrigin, options: AppendOptions = {}): LogAppendResult {
    requireAppendOptions(options)
    const result = this.log.append(records, origin, { ...options, leaderEpoch: this.#leaderEpoch })
    this.#updateHighWatermark()
    return result
  }

  /** The leader cuts its log, and begins another epoch, by which followers learn that they must cut theirs. */
  truncateTo(offset: bigint): void {
    if (this.log.truncateTo(offset)) this.#beginEpoch()
  }

  /** The leader's log begins at an offset; followers learn of it when they fetch. */
  startAt(offset: bigint): void {
    if (moveStart(this.log, offset)) this.#beginEpoch()
  }

  /**
   * A follower fetches once.
   * @returns whether that has changed anything
   */
  fetch(id: number, maxBytes = 1_048_576): boolean {
    const follower = this.#replica(id)
    if (!follower.isAlive || id === this.#leader) return false
    const known = this.#fetched.get(id)
    const watermarks = [this.log.highWatermark, follower.log.highWatermark]
    const fetchOffset = follower.fetchFrom(this.log, maxBytes)
    this.#fetched.set(id, fetchOffset)
    if (fetchOffset >= this.log.highWatermark) this.#inSync.add(id)
    this.#updateHighWatermark()
    return (
      fetchOffset !== known ||
      follower.log.logEndOffset !== fetchOffset ||
      this.log.highWatermark !== watermarks[0] ||
      follower.log.highWatermark !== watermarks[1]
    )
  }

  /** All followers that are alive fetch until they have all, the high watermark included. */
  replicate(): void {
    for (let isChanged = true; isChanged; ) {
      isChanged = false
      for (const { id } of this.replicas) if (this.fetch(id)) isChanged = true
    }
  }

  /** Another in-sync replica leads, in a new epoch. */
  elect(id: number): void {
    if (!this.#inSync.has(id) || !this.#replica(id).isAlive) {
      throw new InvalidArgumentError(
        `replica ${id} is not in sync, so it cannot lead: in sync are ${this.inSync}`,
      )
    }
    this.#leader = id
    this.#beginEpoch()
  }

  /** A follower's process dies; it leaves the in-sync set. Elect another leader before a leader's dies. */
  crash(id: number): void {
    if (id === this.#leader) throw new InvalidArgumentError(`replica ${id} leads; elect another one first`)
    this.#replica(id).crash()
    this.#inSync.delete(id)
    this.#updateHighWatermark()
  }

  /** A replica that crashed comes back, and recovers its log as a broker does. */
  restart(id: number): void {
    this.#replica(id).restart()
  }

  #replica(id: number): Replica {
    const replica = this.replicas[id]
    if (replica === undefined) throw new InvalidArgumentError(`there is no replica ${id}`)
    return replica
  }

  #beginEpoch(): void {
    this.#leaderEpoch++
    this.log.beginLeaderEpoch(this.#leaderEpoch)
    // what followers have beyond the last epochs may be cut yet
    this.#fetched.clear()
    this.#updateHighWatermark()
  }

  #updateHighWatermark(): void {
    let offset = this.log.logEndOffset
    for (const id of this.#inSync) {
      if (id !== this.#leader) offset = minOffset(offset, this.#fetched.get(id) ?? 0n)
    }
    this.log.updateHighWatermark(offset)
  }
}
