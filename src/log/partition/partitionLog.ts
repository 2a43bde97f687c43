import { bytesOf } from '../../bytes/view.ts'
import type { Core } from '../../core/core.ts'
import { type AppendOrigin, checkOrigin } from '../../producers/appendOrigin.ts'
import type { AppendOptions, DuplicateBatch } from '../../producers/appendResult.ts'
import {
  checkOptions,
  type ProducerStateManagerOptions,
  requireOffset,
} from '../../producers/managerOptions.ts'
import { ProducerStateManager } from '../../producers/producerStateManager.ts'
import type { AbortedTransactionEntry } from '../../producers/transactions.ts'
import { partsOf, requireAccepted } from './appendParts.ts'
import { type CheckedRecords, checkRecords } from './appendRecords.ts'
import { type EpochEnd, type EpochEntry, requireLeaderEpoch } from './leaderEpochs.ts'
import { loadLog } from './loadLog.ts'
import { LocalLog } from './localLog.ts'
import { type LogAppendOptions, type LogAppendResult, leaderEpochOf, resultOf } from './logAppend.ts'
import { LogClosedError, OffsetOutOfRangeError } from './logErrors.ts'
import {
  type CheckedLogOptions,
  checkLogOptions,
  checkOpening,
  type PartitionLogOptions,
} from './logOptions.ts'
import { type LogOffsets, type LogRead, type LogReadOptions, readLog } from './logRead.ts'
import { minOffset } from './offsets.ts'
import type { LogStorage } from './storage.ts'
import { SyncedStorage } from './syncedStorage.ts'

/**
 * A partition's log: segments with their indexes, leader epochs, producer state and its snapshots. Its files are those of
 * a broker, which can load them, and it opens those of a broker. All calls are synchronous; one log object at a time
 * may work on a storage.
 *
 * What a call refuses, it refuses before the first change, and the log is as it was. An error in the midst of a change, as
 * of the storage, leaves it unusable (LogClosedError) until it is opened again, which recovers it.
 *
 * @see Kafka's UnifiedLog, LocalLog, LogLoader
 * @example
 * const log = PartitionLog.open(memoryStorage())
 * const { firstOffset } = log.append(encodeRecordBatch({ records: [{ value }] }), 'client')
 * log.read(0n).records
 */
export class PartitionLog implements LogOffsets {
  readonly #options: CheckedLogOptions
  readonly #stateOptions: ProducerStateManagerOptions
  /** The one that it was opened with: what works on the log works with it too. */
  readonly core: Core
  readonly #local: LocalLog
  #state: ProducerStateManager
  #highWatermark: bigint
  #unusable: LogClosedError | null = null

  /**
   * Opens what the storage holds; an empty one becomes an empty log.
   *
   * @throws CorruptCheckpointError; InvalidTxnStateError or InvalidRecordError for a log on which a broker does not start;
   *   InvalidArgumentError; WasmUnavailableError without a core
   */
  static open(storage: LogStorage, options: PartitionLogOptions = {}): PartitionLog {
    return new PartitionLog(storage, options)
  }

  private constructor(storage: LogStorage, options: PartitionLogOptions) {
    const { core, ...opening } = checkOpening(storage, options)
    const synced = new SyncedStorage(storage)
    this.#options = checkLogOptions(options)
    // the log start offset is the log's own to keep
    const { logStartOffset: _, ...stateOptions } = checkOptions({ ...options, logStartOffset: 0n })
    this.#stateOptions = stateOptions
    this.core = core
    const { isClean, recoveryPoint } = opening
    const loaded = loadLog({ ...opening, storage: synced, options: this.#options, stateOptions })
    this.#state = loaded.state
    this.#local = new LocalLog(synced, this.#options, loaded, isClean ? loaded.logEndOffset : recoveryPoint)
    this.#highWatermark = this.logStartOffset
    if (options.highWatermark !== undefined) this.updateHighWatermark(options.highWatermark)
    // what opening has removed must not come back beside what is appended
    this.#local.flush()
  }

  /** The least offset that is served. */
  get logStartOffset(): bigint {
    return this.#local.logStartOffset
  }

  /** The offset that the next batch gets. */
  get logEndOffset(): bigint {
    return this.#local.logEndOffset
  }

  /** What lies below it is on all in-sync replicas; who knows that tells the log. */
  get highWatermark(): bigint {
    return this.#highWatermark
  }

  /** What readers of committed records may read up to. */
  get lastStableOffset(): bigint {
    return this.#state.lastStableOffset(this.#highWatermark)
  }

  /** What lies below it was flushed. */
  get recoveryPoint(): bigint {
    return this.#local.recoveryPoint
  }

  /** The producer state before the log end offset; not to be changed. A truncation puts another in its place. */
  get producerState(): ProducerStateManager {
    return this.#state
  }

  /** The aborted transactions whose end is in the log, in the order in which they ended. */
  get abortedTransactions(): readonly AbortedTransactionEntry[] {
    return this.#local.segments.flatMap(({ transactionIndex }) => transactionIndex.entries)
  }

  get leaderEpochs(): readonly EpochEntry[] {
    return this.#local.epochs.entries
  }

  /** Base offsets and sizes in bytes, ascending. */
  get segments(): readonly { baseOffset: bigint; size: number }[] {
    return this.#local.segments.map(({ baseOffset, size }) => ({ baseOffset, size }))
  }

  /**
   * Where a leader epoch ends: a follower that has it truncates to there.
   *
   * @returns the largest known epoch up to the one asked for, with its end; null for one above all that are known
   * @see Kafka's LeaderEpochFileCache.endOffsetFor
   */
  endOffsetFor(leaderEpoch: number): EpochEnd | null {
    return this.#local.epochs.endOffsetFor(leaderEpoch, this.logEndOffset)
  }

  /**
   * Appends batches: all of them, or none when it throws. An incomplete last batch, as a fetch may have it, is left out.
   * A set that spans more offsets than one segment can goes into several, as if its parts had been appended in turn. Where the
   * log ends within a batch (a log that begins there, or was cut there), the whole batch may be appended, by origins
   * `replication` and `mirror`: a leader hands out no less. A log that is empty then forgets its producers.
   *
   * @param records one batch for origins `client` and `coordinator`, any number for the others; not changed
   * @throws what `ProducerStateManager.append` throws; CorruptBatchError, InvalidRecordError, RecordTooLargeError,
   *   UnexpectedAppendOffsetError for what cannot be appended here
   */
  append(
    records: Uint8Array | DataView,
    origin: AppendOrigin,
    options: LogAppendOptions = {},
  ): LogAppendResult {
    this.#requireUsable()
    checkOrigin(origin)
    const checked = checkRecords(this.core, bytesOf(records, 'records'), origin, {
      logEndOffset: this.logEndOffset,
      storedEndOffset: () => this.#local.storedEndOffset,
      leaderEpoch: leaderEpochOf(origin, options, this.#local.epochs.latestEpoch),
      maxBatchBytes: Math.min(this.#options.maxMessageBytes, this.#options.segmentBytes),
    })
    const { leaderEpoch: _, ...appending } = options
    const parts = partsOf(checked)
    const first = checked.batches[0]?.baseOffset ?? this.logEndOffset
    const begins = this.#local.isEmpty && first < this.logEndOffset
    if (begins || parts.length > 1) {
      const state = begins ? new ProducerStateManager(this.#stateOptions) : this.#state
      requireAccepted(parts, state, this.#stateOptions, origin, appending)
    }
    if (begins) this.#restartAt(first, this.logStartOffset)
    let duplicate: DuplicateBatch | null = null
    for (const part of parts) duplicate ??= this.#appendPart(part, origin, appending)
    return resultOf(checked, duplicate)
  }

  /**
   * Whole batches from the one that holds an offset on, at least one where there is any.
   *
   * @param offset from the log start offset to the log end offset
   * @throws OffsetOutOfRangeError
   */
  read(offset: bigint, options: LogReadOptions = {}): LogRead {
    this.#requireUsable()
    return readLog(this, this.#local.segments, requireOffset('offset', offset), options)
  }

  /** This replica leads from here on: followers learn by it where older epochs ended. */
  beginLeaderEpoch(epoch: number): void {
    this.#requireUsable()
    requireLeaderEpoch('epoch', epoch)
    this.#changing(() => this.#local.epochs.assign(epoch, this.logEndOffset))
  }

  /** Raises the high watermark, as far as the log goes; one that is lower is ignored. */
  updateHighWatermark(offset: bigint): void {
    requireOffset('highWatermark', offset)
    const target = minOffset(offset, this.logEndOffset)
    if (target <= this.#highWatermark) return
    this.#highWatermark = target
    this.#state.onHighWatermark(target)
  }

  /** Begins a new segment, unless the active one is empty. */
  roll(): void {
    this.#requireUsable()
    this.#changing(() => this.#local.roll(this.#state))
  }

  /**
   * Drops what lies at or above an offset. The batch that holds it goes as a whole; the log still ends at the offset. The
   * cut is on disk when the call returns: half of it beside what is appended next would be a log that never was.
   *
   * @returns whether there was anything to drop
   */
  truncateTo(offset: bigint): boolean {
    this.#requireUsable()
    if (requireOffset('offset', offset) >= this.logEndOffset) {
      // a leader that wrote nothing in its epoch has an entry there, which the next leader's may not meet
      this.#changing(() => this.#local.epochs.truncateFromEnd(this.logEndOffset))
      return false
    }
    if (offset < this.#local.segments[0]!.baseOffset) {
      this.truncateFullyAndStartAt(offset)
      return true
    }
    this.#changing(() => {
      this.#local.truncateTo(offset)
      this.#highWatermark = minOffset(this.#highWatermark, offset)
      this.#rebuildState()
      this.#local.flush()
    })
    return true
  }

  /**
   * Drops all from the first record of the first open transaction on: the last stable offset, once the log is replicated.
   * A cut that takes the marker of an earlier transaction opens that again.
   *
   * @returns where the log ends now
   */
  truncateToLastStableOffset(): bigint {
    const offset = this.#state.firstUndecidedOffset
    if (offset !== null) this.truncateTo(offset)
    return this.logEndOffset
  }

  /** Drops everything; the log begins and ends at an offset. */
  truncateFullyAndStartAt(offset: bigint): void {
    this.#requireUsable()
    this.#restartAt(requireOffset('offset', offset), offset)
  }

  /**
   * Raises the log start offset, also to one within a batch; segments that lie below it as a whole are removed. A log that is
   * opened again begins there: `log-start-offset-checkpoint`, beside the segments, says so.
   *
   * @throws OffsetOutOfRangeError above the high watermark
   */
  deleteRecordsBefore(offset: bigint): void {
    this.#requireUsable()
    if (requireOffset('offset', offset) > this.#highWatermark) {
      const { logStartOffset, logEndOffset } = this
      throw new OffsetOutOfRangeError(offset, logStartOffset, logEndOffset, this.#highWatermark)
    }
    if (offset <= this.logStartOffset) return
    this.#changing(() => {
      this.#local.startAt(offset)
      this.#state.onLogStartOffset(offset)
    })
  }

  /** Makes all that was appended last through a crash of the machine. */
  flush(): void {
    this.#requireUsable()
    this.#changing(() => this.#local.flush())
  }

  /** Ends cleanly: the last index entries and a snapshot are written, all is flushed. Safe to repeat. */
  close(): void {
    if (this.#unusable !== null) return
    this.#changing(() => this.#local.finish(this.#state))
    this.#unusable = new LogClosedError()
  }

  /** Takes what one segment can hold: first all that can refuse it, then the files. */
  #appendPart(part: CheckedRecords, origin: AppendOrigin, options: AppendOptions): DuplicateBatch | null {
    const roll = this.#local.planRoll(part, this.#state)
    const known = this.#state.abortedTransactions.length
    const { duplicate } = this.#state.appendAll(part.batches, origin, options)
    if (duplicate !== null) return duplicate
    const aborted = this.#state.abortedTransactions.slice(known)
    this.#changing(() => this.#local.append(part, aborted, roll))
    return null
  }

  /**
   * Begins anew, with a batch that may begin below the log start offset.
   * @see Kafka's Partition.doAppendRecordsToFollowerOrFutureReplica
   */
  #restartAt(offset: bigint, logStartOffset: bigint): void {
    this.#changing(() => {
      this.#local.truncateFullyAndStartAt(offset, logStartOffset)
      this.#highWatermark = logStartOffset
      this.#rebuildState()
      this.#local.flush()
    })
  }

  #rebuildState(): void {
    this.#state = this.#local.rebuildState(this.#stateOptions)
    this.#state.onHighWatermark(this.#highWatermark)
  }

  #requireUsable(): void {
    if (this.#unusable !== null) throw this.#unusable
  }

  /** Runs a change that nothing refuses any more. Whatever stops it may leave it half done, so the log is of no use then. */
  #changing<T>(run: () => T): T {
    try {
      return run()
    } catch (error) {
      this.#unusable ??= this.#local.fail(error)
      throw error
    }
  }
}
