import type { CrcEngine } from '../../core/crcEngine.ts'
import { isMirroredProducerId } from '../../core/producerId.ts'
import { CorruptCompanionError, InvalidRecordError } from '../../errors.ts'
import type { RecordBatch } from '../../formats/recordBatch.ts'
import type { ProducerStateManagerOptions } from '../../producers/managerOptions.ts'
import type { ProducerStateManager } from '../../producers/producerStateManager.ts'
import { baseOffsetOfName, logFileName } from '../fileNames.ts'
import { InvalidIndexOffset } from './invalidIndexOffset.ts'
import { LeaderEpochs } from './leaderEpochs.ts'
import { tidyLeftovers } from './leftovers.ts'
import type { CheckedLogOptions, CheckedSegment, RecoveryEvent } from './logOptions.ts'
import { LogSegment } from './logSegment.ts'
import { LogStartFile } from './logStartFile.ts'
import { MAX_OFFSET, maxOffset } from './offsets.ts'
import { SnapshotFiles } from './snapshotFiles.ts'
import { StateReplay, takeBatch } from './stateReplay.ts'
import type { LogStorage } from './storage.ts'

export interface LoadRequest {
  storage: LogStorage
  options: CheckedLogOptions
  stateOptions: ProducerStateManagerOptions
  engine: CrcEngine
  isClean: boolean
  recoveryPoint: bigint
  logStartOffset: bigint
  isStartGiven: boolean
  believesSnapshots: boolean
  onRecovery: (event: RecoveryEvent) => void
  onChecked: (segment: CheckedSegment) => void
}

export interface LoadedLog {
  /** At least one, ascending. */
  segments: LogSegment[]
  logStartOffset: bigint
  logEndOffset: bigint
  epochs: LeaderEpochs
  snapshots: SnapshotFiles
  logStart: LogStartFile
  state: ProducerStateManager
}

/**
 * Opens what a partition's storage holds, as a broker does when it starts: leftovers, segments and their indexes, the
 * damaged tail, epochs, producer state. Source: Kafka's LogLoader.
 */
export function loadLog(given: LoadRequest): LoadedLog {
  const { storage, onRecovery } = given
  requireOffsets(storage.list())
  const logStart = new LogStartFile(storage)
  // a broker may have raised it since, or this log
  const request = { ...given, logStartOffset: maxOffset(given.logStartOffset, logStart.offset ?? 0n) }
  tidyLeftovers(storage, onRecovery)
  const epochs = new LeaderEpochs(storage)
  const snapshots = new SnapshotFiles(storage, (offset, error) =>
    onRecovery({ kind: 'snapshot', offset, error }),
  )
  if (!request.believesSnapshots) snapshots.clear()
  const segments = openSegments(request)
  const replay = new StateReplay(snapshots, request.stateOptions)
  recoverSegments(request, segments, epochs, replay)
  const last = segments.at(-1)
  let logEndOffset = last?.readNextOffset() ?? 0n
  if (last !== undefined && !last.isIndexedUpTo(logEndOffset)) {
    recoverSegment(request, last, segments, epochs, replay, [])
    logEndOffset = last.readNextOffset()
  }
  if (logEndOffset < request.logStartOffset || segments.length === 0) {
    if (segments.length > 0) {
      removeAll(segments, request)
      epochs.clear()
      snapshots.clear()
      replay.forget()
    }
    segments.push(new LogSegment(storage, request.logStartOffset, request.options))
    logEndOffset = request.logStartOffset
  }
  const firstOffset = segments[0]!.baseOffset
  const logStartOffset = maxOffset(request.logStartOffset, firstOffset)
  if (request.isStartGiven && request.logStartOffset < firstOffset) {
    onRecovery({ kind: 'tiered', logStartOffset: request.logStartOffset, firstOffset })
  }
  segments.at(-1)!.createIndexes()
  epochs.truncateFromEnd(logEndOffset)
  // not at the first segment: below it, tiered storage is read by them
  epochs.truncateFromStart(request.logStartOffset)
  snapshots.removeStray(segments.map(({ baseOffset }) => baseOffset))
  const state = replay.finish(segments, logStartOffset, logEndOffset)
  return { segments, logStartOffset, logEndOffset, epochs, snapshots, logStart, state }
}

/** A broker does not start on a segment whose name holds no int64. */
function requireOffsets(names: readonly string[]): void {
  for (const name of names) {
    if (!/^\d{20}\.log$/.test(name) || baseOffsetOfName(name)! <= MAX_OFFSET) continue
    throw new InvalidRecordError(
      `${name}: no offset is above ${MAX_OFFSET}, so this is no segment of a log. Nothing was changed; move the file away.`,
    )
  }
}

function openSegments({ storage, options }: LoadRequest): LogSegment[] {
  return storage
    .list()
    .filter((name) => /^\d{20}\.log$/.test(name))
    .map((name) => baseOffsetOfName(name)!)
    .sort((a, b) => (a < b ? -1 : 1))
    .map((baseOffset) => new LogSegment(storage, baseOffset, options))
}

/**
 * Recovers the segments from the recovery point on, after an unclean stop, and those whose indexes are lost or damaged. A
 * broker does the latter first, and does not see then that it has cut one in the middle: what follows stays behind a hole.
 * Here one pass does both, so the log ends at the first damage.
 */
function recoverSegments(
  request: LoadRequest,
  segments: LogSegment[],
  epochs: LeaderEpochs,
  replay: StateReplay,
): void {
  const { storage, isClean, recoveryPoint } = request
  const names = new Set(storage.list())
  for (let at = 0; at < segments.length; at++) {
    const segment = segments[at]!
    const next = segments[at + 1]
    const isBehindPoint = !isClean && (next === undefined || next.baseOffset > recoveryPoint)
    const isIndexed =
      names.has(logFileName(segment.baseOffset, '.index')) && hasSoundTransactionIndex(segment)
    if (!names.has(logFileName(segment.baseOffset, '.timeindex'))) segment.createIndexes()
    if (!isBehindPoint && isIndexed) continue
    // a broker takes snapshots at the last two segments that it knows of, and rebuilds indexes before it opens more
    const known = isIndexed ? segments : segments.slice(0, at)
    const behind = isBehindPoint ? segments.slice(at + 1) : []
    const isWhole = recoverSegment(request, segment, known, epochs, replay, behind)
    if (!isWhole && isBehindPoint) {
      segments.length = at + 1
      return
    }
  }
}

function hasSoundTransactionIndex(segment: LogSegment): boolean {
  try {
    segment.transactionIndex.sanityCheck()
    return true
  } catch (error) {
    if (error instanceof CorruptCompanionError) return false
    throw error
  }
}

/**
 * Returns whether nothing had to be cut. Where something has, the segments behind go first, and for good: were the damage
 * cut before, nothing would tell an opening after a crash that they must go.
 */
function recoverSegment(
  request: LoadRequest,
  segment: LogSegment,
  others: readonly LogSegment[],
  epochs: LeaderEpochs,
  replay: StateReplay,
  behind: LogSegment[],
): boolean {
  const { engine, onRecovery } = request
  const { baseOffset } = segment
  const state = replay.before(baseOffset, others, request.logStartOffset)
  const size = segment.size
  const known = state.barriers.length
  let batches = 0
  let mirroredBatches = 0
  try {
    const { bytes, fault, isZero } = segment.recover(engine, (batch) => {
      batches++
      if (isMirroredProducerId(batch.producerId)) mirroredBatches++
      noteEpoch(epochs, batch)
      return takeBatch(state, batch)
    })
    replay.snapshots.take(state)
    const barriers = state.barriers.slice(known)
    const position = size - bytes
    request.onChecked({ baseOffset, bytes: position, batches, mirroredBatches, barriers })
    if (bytes > 0) {
      onRecovery({ kind: 'cut', segment: baseOffset, position, bytes, fault: fault ?? 'size', isZero })
      removeAll(behind, request)
    }
    // also where that cuts nothing: a process that has died may have left all of it unflushed
    segment.file.truncate(position)
    return bytes === 0
  } catch (error) {
    if (!(error instanceof InvalidIndexOffset)) throw error
    onRecovery({
      kind: 'cut',
      segment: baseOffset,
      position: 0,
      bytes: size,
      fault: 'offsets',
      isZero: false,
    })
    removeAll(behind, request)
    segment.truncateTo(baseOffset)
    segment.finish()
    // it has taken what was cut
    replay.forget()
    return false
  }
}

function noteEpoch(epochs: LeaderEpochs, { partitionLeaderEpoch, baseOffset }: RecordBatch): void {
  if (partitionLeaderEpoch > (epochs.latestEpoch ?? -1)) epochs.assign(partitionLeaderEpoch, baseOffset)
}

function removeAll(segments: LogSegment[], { storage, onRecovery }: LoadRequest): void {
  // from the end, and one by one, so that what a crash leaves goes on without a gap
  for (let segment = segments.pop(); segment !== undefined; segment = segments.pop()) {
    onRecovery({ kind: 'removed', segment: segment.baseOffset, bytes: segment.size })
    segment.remove()
    storage.sync()
  }
}
