import type { RecordBatch } from '../../formats/recordBatch.ts'
import type { ProducerStateManagerOptions } from '../../producers/managerOptions.ts'
import { ProducerStateManager } from '../../producers/producerStateManager.ts'
import type { AbortedTransactionEntry } from '../../producers/transactions.ts'
import type { LogSegment } from './logSegment.ts'
import { floorIndex } from './offsets.ts'
import type { SnapshotFiles } from './snapshotFiles.ts'

/**
 * The producer state on its way through the segments of a log that is opened. A broker reads it anew, from the snapshot that
 * it has just written, for each segment that it recovers; here it is carried on, which gives the same.
 *
 * @see Kafka's LogLoader.recoverSegment
 */
export class StateReplay {
  readonly snapshots: SnapshotFiles
  readonly #options: ProducerStateManagerOptions
  #carried: ProducerStateManager | null = null

  constructor(snapshots: SnapshotFiles, options: ProducerStateManagerOptions) {
    this.snapshots = snapshots
    this.#options = options
  }

  /** The state before an offset; what is appended to it from there on, it carries on. */
  before(offset: bigint, segments: readonly LogSegment[], logStartOffset: bigint): ProducerStateManager {
    const { snapshots } = this
    const carried = this.#carriedTo(offset) ?? snapshots.load(logStartOffset, offset, this.#options)
    this.#carried = replayTo(offset, carried, segments, snapshots)
    return carried
  }

  /**
   * The state before the end of the log. As in a broker, it knows of what was recovered no more than a snapshot holds: the
   * last batch of each producer, and no transaction that has ended.
   */
  finish(
    segments: readonly LogSegment[],
    logStartOffset: bigint,
    logEndOffset: bigint,
  ): ProducerStateManager {
    const { snapshots } = this
    const carried = this.#carriedTo(logEndOffset)
    if (carried === null || snapshots.isKept(carried)) {
      return rebuildState(segments, snapshots, logStartOffset, logEndOffset, this.#options)
    }
    snapshots.keepWithin(logStartOffset, logEndOffset)
    const offset = carried.mapEndOffset
    const options = { ...this.#options, logStartOffset, offset }
    const state = ProducerStateManager.fromSnapshot(carried.takeSnapshot(), options)
    return replayTo(logEndOffset, state, segments, snapshots)
  }

  /** The state is of no use any more. */
  forget(): void {
    this.#carried = null
  }

  /** In a damaged log a segment may go on beyond where the next one begins. */
  #carriedTo(offset: bigint): ProducerStateManager | null {
    const carried = this.#carried
    return carried !== null && carried.mapEndOffset <= offset ? carried : null
  }
}

/** Gives a batch of the log to the state; returns the transactions that it ended as aborted. */
export function takeBatch(
  state: ProducerStateManager,
  batch: RecordBatch,
): readonly AbortedTransactionEntry[] {
  const known = state.abortedTransactions.length
  state.append(batch, 'replication')
  return state.abortedTransactions.slice(known)
}

/**
 * The producer state before `logEndOffset`: the newest sound snapshot, and what follows it in the log.
 *
 * A broker that finds no snapshot after a clean shutdown takes the log to hold no producers. This replays it, so that
 * the state is always that of the bytes.
 *
 * @see Kafka's UnifiedLog.rebuildProducerState
 */
export function rebuildState(
  segments: readonly LogSegment[],
  snapshots: SnapshotFiles,
  logStartOffset: bigint,
  logEndOffset: bigint,
  options: ProducerStateManagerOptions,
): ProducerStateManager {
  const state = snapshots.load(logStartOffset, logEndOffset, options)
  return replayTo(logEndOffset, state, segments, snapshots)
}

/**
 * Gives the state what follows it in the log. Snapshots are taken at the last two segments' base offsets and at the end, so
 * that the next start has less to do.
 */
function replayTo(
  logEndOffset: bigint,
  state: ProducerStateManager,
  segments: readonly LogSegment[],
  snapshots: SnapshotFiles,
): ProducerStateManager {
  for (let at = floorIndex(segments, state.mapEndOffset); at < segments.length; at++) {
    const segment = segments[at]!
    if (segment.baseOffset >= logEndOffset) break
    const next = segments[at + 1]
    if (next !== undefined && next.baseOffset <= state.mapEndOffset) continue
    const from = state.mapEndOffset
    if (segment.baseOffset >= from) {
      state.onLogEndOffset(segment.baseOffset)
      if (at >= segments.length - 2) snapshots.take(state)
    }
    const start = segment.baseOffset < from ? segment.offsetIndex.lookup(from) : 0
    for (const { batch } of segment.batches(start)) {
      if (batch.lastOffset < from) continue
      if (batch.baseOffset >= logEndOffset) break
      state.append(batch, 'replication')
    }
  }
  state.onLogEndOffset(logEndOffset)
  snapshots.take(state)
  return state
}
