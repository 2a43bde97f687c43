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
import { minOffset } from './offsets.ts'
import type { PreparedSnapshot, SnapshotFiles } from './snapshotFiles.ts'
import { rebuildState } from './stateReplay.ts'
import type { LogStorage } from './storage.ts'

/** A new segment to begin, and the snapshot of the producer state before it. */
export interface PlannedRoll {
  baseOffset: bigint
  /** Null where there is one that is as new. */
  snapshot: PreparedSnapshot | null
}

/**
 * The files of a partition's log: segments, leader epochs, snapshots. What is behind the last flush is kept in mind;
 * what may be appended is for others to decide. Source: Kafka's LocalLog.
 */
export class LocalLog {
  readonly segments: LogSegment[]
  readonly epochs: LeaderEpochs
  logStartOffset: bigint
  logEndOffset: bigint
  /** What lies below it was flushed. */
  recoveryPoint: bigint
  readonly #storage: LogStorage
  readonly #options: CheckedLogOptions
  readonly #snapshots: SnapshotFiles
  /** Whether more than an append waits to be made to last. */
  #isChanged = true

  constructor(storage: LogStorage, options: CheckedLogOptions, loaded: LoadedLog, recoveryPoint: bigint) {
    this.#storage = storage
    this.#options = options
    this.segments = loaded.segments
    this.epochs = loaded.epochs
    this.#snapshots = loaded.snapshots
    this.logStartOffset = loaded.logStartOffset
    this.logEndOffset = loaded.logEndOffset
    this.recoveryPoint = minOffset(recoveryPoint, loaded.logEndOffset)
  }

  get active(): LogSegment {
    return this.segments.at(-1)!
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
    return this.#mustRoll(batches, bytes.length) ? this.#plannedAt(batches[0]!.baseOffset, state) : null
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
    while (this.active.baseOffset > offset) this.#removeLast()
    this.active.truncateTo(offset)
    this.epochs.truncateFromEnd(offset)
    this.#endAt(offset)
  }

  truncateFullyAndStartAt(offset: bigint): void {
    while (this.segments.length > 0) this.#removeLast()
    this.#snapshots.clear()
    this.epochs.clear()
    this.#add(offset)
    this.logStartOffset = offset
    this.#endAt(offset)
  }

  startAt(offset: bigint): void {
    while (this.segments.length > 1 && this.segments[1]!.baseOffset <= offset) {
      this.#remove(this.segments.shift()!)
    }
    this.logStartOffset = offset
    this.epochs.truncateFromStart(offset)
    this.#snapshots.startAt(offset)
  }

  flush(): void {
    if (this.recoveryPoint === this.logEndOffset && !this.#isChanged) return
    for (const [at, segment] of this.segments.entries()) {
      const next = this.segments[at + 1]
      if (next === undefined || next.baseOffset > this.recoveryPoint) segment.flush()
    }
    this.#storage.sync()
    this.#isChanged = false
    this.recoveryPoint = this.logEndOffset
  }

  /** Writes what only a clean end writes: the last entry of the time index, and a snapshot. */
  finish(state: ProducerStateManager): void {
    this.#snapshots.take(state)
    this.active.finish()
    this.#isChanged = true
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
    this.active.finish()
    this.#snapshots.write(snapshot)
    this.#isChanged = true
    this.flush()
    this.#add(baseOffset)
  }

  #add(baseOffset: bigint): void {
    const segment = new LogSegment(this.#storage, baseOffset, this.#options)
    segment.createIndexes()
    this.segments.push(segment)
    this.#isChanged = true
  }

  #remove(segment: LogSegment): void {
    this.#snapshots.remove(segment.baseOffset)
    segment.remove()
    this.#isChanged = true
  }

  /** One is gone for good before the next goes: what a loss of power leaves goes on without a hole. */
  #removeLast(): void {
    this.#remove(this.segments.pop()!)
    this.#storage.sync()
  }

  #endAt(offset: bigint): void {
    this.logEndOffset = offset
    this.logStartOffset = minOffset(this.logStartOffset, offset)
    this.recoveryPoint = minOffset(this.recoveryPoint, offset)
    this.#isChanged = true
  }
}
