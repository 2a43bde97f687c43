import type { RecordBatch } from '../../formats/recordBatch.ts'
import type { ProducerStateManagerOptions } from '../../producers/managerOptions.ts'
import type { ProducerStateManager } from '../../producers/producerStateManager.ts'
import type { AbortedTransactionEntry } from '../../producers/transactions.ts'
import type { CheckedRecords } from './appendRecords.ts'
import type { LeaderEpochs } from './leaderEpochs.ts'
import type { LoadedLog } from './loadLog.ts'
import { LogClosedError } from './logErrors.ts'
import type { CheckedLogOptions } from './logOptions.ts'
import { LogSegment } from './logSegment.ts'
import type { LogStartFile } from './logStartFile.ts'
import { minOffset } from './offsets.ts'
import type { PreparedSnapshot, SnapshotFiles } from './snapshotFiles.ts'
import { rebuildState } from './stateReplay.ts'
import type { SyncedStorage } from './syncedStorage.ts'

/** A new segment to begin, and the snapshot of the producer state before it. */
export interface PlannedRoll {
  baseOffset: bigint
  /** Null where there is one that is as new. */
  snapshot: PreparedSnapshot | null
}

/**
 * The files of a partition's log: segments, leader epochs, snapshots, log start offset. What may be appended is for others to
 * decide. Source: Kafka's LocalLog.
 *
 * What a loss of power leaves of changes that were not flushed must be a log that opens as an older one, or as the changed
 * one. So the log start offset goes first where it rises, and before a cut where that lowers it: a log that ends below its
 * start counts for none. And the names of segments behind a cut go before the cut.
 */
export class LocalLog {
  readonly segments: LogSegment[]
  readonly epochs: LeaderEpochs
  logStartOffset: bigint
  logEndOffset: bigint
  /** What lies below it was flushed. */
  recoveryPoint: bigint
  readonly #storage: SyncedStorage
  readonly #options: CheckedLogOptions
  readonly #snapshots: SnapshotFiles
  readonly #logStart: LogStartFile

  constructor(storage: SyncedStorage, options: CheckedLogOptions, loaded: LoadedLog, recoveryPoint: bigint) {
    this.#storage = storage
    this.#options = options
    this.segments = loaded.segments
    this.epochs = loaded.epochs
    this.#snapshots = loaded.snapshots
    this.#logStart = loaded.logStart
    this.logStartOffset = loaded.logStartOffset
    this.logEndOffset = loaded.logEndOffset
    this.recoveryPoint = minOffset(recoveryPoint, loaded.logEndOffset)
  }

  get active(): LogSegment {
    return this.segments.at(-1)!
  }

  /** Whether all that is stored lies below the log start offset. */
  get isEmpty(): boolean {
    return this.logStartOffset === this.logEndOffset
  }

  /** Below which no batch can begin that is not stored yet. */
  get storedEndOffset(): bigint {
    if (this.isEmpty) return 0n
    return this.segments.findLast(({ size }) => size > 0)?.readNextOffset() ?? this.segments[0]!.baseOffset
  }

  /** @param roll comes first; it was planned when the state did not know the batches yet */
  append(
    { bytes, batches }: CheckedRecords,
    aborted: readonly AbortedTransactionEntry[],
    roll: PlannedRoll | null,
  ): void {
    if (roll !== null) this.#roll(roll)
    for (const { isLegacy, partitionLeaderEpoch, baseOffset } of batches) {
      if (isLegacy) this.epochs.clear()
      else this.epochs.assign(partitionLeaderEpoch, baseOffset)
    }
    const { active } = this
    active.append(bytes, batches)
    for (const entry of aborted) active.transactionIndex.append(entry)
    this.logEndOffset = batches.at(-1)!.nextOffset
  }

  /** The roll without which the active segment cannot take the batches; null for none. The state is that before them. */
  planRoll({ bytes, batches }: CheckedRecords, state: ProducerStateManager): PlannedRoll | null {
    const { baseOffset } = batches[0]!
    // the log ends within a batch, and with a segment that is empty and has a name above the batch
    if (baseOffset < this.active.baseOffset) return { baseOffset, snapshot: null }
    return this.#mustRoll(batches, bytes.length) ? this.#plannedAt(baseOffset, state) : null
  }

  /** Begins a new segment at the log end offset, unless the active one does. */
  roll(state: ProducerStateManager): void {
    const roll = this.#plannedAt(this.logEndOffset, state)
    if (roll !== null) this.#roll(roll)
  }

  /**
   * Cuts the batch that holds an offset and all behind it; the log ends there. Not below the first segment. It lasts once
   * the log is flushed.
   */
  truncateTo(offset: bigint): void {
    if (offset < this.logStartOffset) this.#noteLogStart(offset)
    this.#removeAbove(offset)
    this.active.truncateTo(offset)
    this.epochs.truncateFromEnd(offset)
    this.#endAt(offset)
  }

  /** @param logStartOffset may be above the offset: the batch that comes next holds it */
  truncateFullyAndStartAt(offset: bigint, logStartOffset: bigint): void {
    const first = this.segments[0]!
    this.#removeAbove(first.baseOffset)
    first.truncateTo(first.baseOffset)
    this.#storage.sync()
    // only now: opening drops those of records that are gone, and finds none again for records that are there
    this.#snapshots.clear()
    this.epochs.clear()
    this.#noteLogStart(logStartOffset)
    if (first.baseOffset !== offset) {
      // a partition's directory is never without a segment
      this.#add(offset)
      this.#storage.sync()
      this.#remove(this.segments.shift()!)
    }
    this.#endAt(offset)
    this.logStartOffset = logStartOffset
  }

  startAt(offset: bigint): void {
    if (offset > this.recoveryPoint) this.flush()
    const isOver = () => this.segments.length > 1 && this.segments[1]!.baseOffset <= offset
    if (isOver()) this.#noteLogStart(offset)
    else this.#logStart.note(offset)
    while (isOver()) this.#remove(this.segments.shift()!)
    this.logStartOffset = offset
    this.epochs.truncateFromStart(offset)
    this.#snapshots.startAt(offset)
  }

  flush(): void {
    this.#storage.sync()
    this.recoveryPoint = this.logEndOffset
  }

  /** Writes what only a clean end writes: the last entry of the time index, and a snapshot. */
  finish(state: ProducerStateManager): void {
    this.#snapshots.take(state)
    this.active.finish()
    for (const segment of this.segments) segment.trim()
    this.flush()
    this.#storage.close()
  }

  /** Gives up the files as they are after a failed write, so that another log can be opened on them. */
  fail(cause: unknown): LogClosedError {
    try {
      this.#storage.close()
    } catch {}
    return new LogClosedError(cause)
  }

  /** The producer state of the log as it is. */
  rebuildState(options: ProducerStateManagerOptions): ProducerStateManager {
    const { segments, logStartOffset, logEndOffset } = this
    return rebuildState(segments, this.#snapshots, logStartOffset, logEndOffset, options)
  }

  /** Whether the active segment cannot take the batches, or is too old for them. */
  #mustRoll(batches: readonly RecordBatch[], size: number): boolean {
    const { active } = this
    const { segmentBytes, segmentMs } = this.#options
    return (
      active.size > segmentBytes - size ||
      (active.size > 0 &&
        batches.some(({ maxTimestamp }) => active.ageAt(maxTimestamp) > BigInt(segmentMs))) ||
      active.offsetIndex.isFull ||
      active.timeIndex.isFull ||
      !active.canHold(batches.at(-1)!.lastOffset)
    )
  }

  #plannedAt(baseOffset: bigint, state: ProducerStateManager): PlannedRoll | null {
    if (baseOffset === this.active.baseOffset) return null
    return { baseOffset, snapshot: this.#snapshots.prepare(state, baseOffset) }
  }

  /**
   * The log end offset stays: it is moved by what is appended alone. What comes before a segment is on disk before its name
   * is: a loss of power, which keeps what it will, leaves no hole.
   */
  #roll({ baseOffset, snapshot }: PlannedRoll): void {
    if (this.active.baseOffset > baseOffset) {
      this.#removeAbove(baseOffset)
      if (this.active.baseOffset === baseOffset) return
    }
    this.active.finish()
    this.#snapshots.write(snapshot)
    this.flush()
    this.#add(baseOffset)
  }

  #add(baseOffset: bigint): void {
    const segment = new LogSegment(this.#storage, baseOffset, this.#options)
    segment.createIndexes()
    this.segments.push(segment)
  }

  /** One is gone for good before the next goes: what a loss of power leaves goes on without a hole. */
  #remove(segment: LogSegment): void {
    this.#snapshots.remove(segment.baseOffset)
    segment.remove()
    this.#storage.sync()
  }

  /** From the end, and for good before anything below is changed. */
  #removeAbove(offset: bigint): void {
    while (this.active.baseOffset > offset) this.#remove(this.segments.pop()!)
  }

  #noteLogStart(offset: bigint): void {
    if (this.#logStart.note(offset)) this.#storage.sync()
  }

  #endAt(offset: bigint): void {
    this.logEndOffset = offset
    this.logStartOffset = minOffset(this.logStartOffset, offset)
    this.recoveryPoint = minOffset(this.recoveryPoint, offset)
  }
}
