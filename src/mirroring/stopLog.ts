import { isMirroredProducerId, unmapProducerId } from '../core/producerId.ts'
import { InvalidArgumentError } from '../errors.ts'
import type { LogAppendResult } from '../log/partition/logAppend.ts'
import type { PartitionLogOptions } from '../log/partition/logOptions.ts'
import { minOffset } from '../log/partition/offsets.ts'
import { PartitionLog } from '../log/partition/partitionLog.ts'
import type { LogStorage } from '../log/partition/storage.ts'
import type { AppendOrigin } from '../producers/appendOrigin.ts'
import type { AppendOptions } from '../producers/appendResult.ts'
import type { OngoingTransaction } from '../producers/producerStateManager.ts'
import { type Leader, SoleReplica } from './leader.ts'
import { SourceClusterMismatchError } from './mirrorErrors.ts'
import { MirrorPartition } from './mirrorPartition.ts'
import { checkMode, checkTransition, type MirrorState, type OpenTransactionsMode } from './mirrorState.ts'
import { type MirrorStateStore, mirrorStateFile } from './mirrorStateFile.ts'
import { afterCrash, isOnlyPrepared, leaderEpochOf, notedEpoch, previewOf } from './stopPreview.ts'

export interface StopLogRequest {
  /** This cluster's id. */
  clusterId: string
  /** The cluster that is mirrored; another one than the mirror's state names is refused. */
  sourceClusterId: string
  /** Default `abort`. A stop that is under way keeps the one that it began with. */
  openTransactions?: OpenTransactionsMode
  /**
   * Of what the stop writes. Default: the latest in the log; with `truncate` one more, so that replicas which have what is
   * cut learn of it.
   */
  leaderEpoch?: number
  /** Milliseconds since the epoch, for the records that are written. Default: the clock. */
  now?: () => bigint
}

/** A transaction that was open. */
export interface SettledTransaction {
  producerId: bigint
  /** The id that the producer has in the source; null for a producer of this cluster. */
  sourceProducerId: bigint | null
  producerEpoch: number
  /** Of its first record. */
  firstOffset: bigint
}

export interface StopLogReport {
  /** Whether the mirror was stopped before; then nothing was changed. */
  alreadyStopped: boolean
  sourceClusterId: string
  /** How they were settled; null where the mirror was stopped before. */
  openTransactions: OpenTransactionsMode | null
  /** The transactions that were open, earliest first. */
  settled: SettledTransaction[]
  /** How many offsets were cut, committed records among them. */
  truncatedOffsets: bigint
  /** First offset that the source has not written. A failback cuts the source's log to it. */
  mirroredEndOffset: bigint
  /** Of the barrier. */
  lastMirroredOffset: bigint
  /** Null where the mirror was stopped before. */
  logEndOffset: bigint | null
  leaderEpoch: number | null
  /** How many producers the barrier has expired; null where it was there already. */
  expiredProducers: number | null
  warnings: string[]
}

/** The only replica, whose high watermark does not rise: so the stop is not complete before all files are. */
class HeldReplica implements Leader {
  readonly log: PartitionLog
  readonly leaderEpoch: number

  constructor(log: PartitionLog, leaderEpoch: number) {
    this.log = log
    this.leaderEpoch = leaderEpoch
  }

  append(records: Uint8Array, origin: AppendOrigin, options: AppendOptions = {}): LogAppendResult {
    return this.log.append(records, origin, { ...options, leaderEpoch: this.leaderEpoch })
  }

  truncateTo(offset: bigint): void {
    this.log.truncateTo(offset)
  }
}

/**
 * Stops the mirror of a partition whose broker is down: settles open transactions, writes the barrier, ends the log's files
 * as a clean shutdown does, and only then calls the mirror STOPPED. After a crash at any moment the same call does the
 * rest. Storage without a mirror's state is taken to mirror `sourceClusterId`.
 *
 * @param options how the log is opened: as a broker would
 * @throws SourceClusterMismatchError, InvalidTransitionError, CorruptMirrorStateError; CORRUPT_BATCH where opening would
 *   cut damaged records off; what `PartitionLog` throws
 */
export function stopLog(
  storage: LogStorage,
  options: PartitionLogOptions,
  request: StopLogRequest,
): StopLogReport {
  const { clusterId, sourceClusterId } = request
  if (clusterId === sourceClusterId) {
    throw new InvalidArgumentError(`a cluster does not mirror itself: both ids are "${clusterId}"`)
  }
  checkMode(request.openTransactions)
  const store = mirrorStateFile(storage)
  const state = store.load()
  const openTransactions = state?.openTransactions ?? request.openTransactions ?? 'abort'
  if (state !== null && state.sourceClusterId !== sourceClusterId) {
    throw new SourceClusterMismatchError(state.sourceClusterId, sourceClusterId)
  }
  if (state?.state === 'STOPPED') return alreadyStopped(state)
  const held: PartitionLogOptions = {
    ...options,
    ...afterCrash(state, options),
    clusterId,
    highWatermark: 0n,
  }
  const noted = notedEpoch(storage)
  const preview = previewOf(storage, held)
  if (state !== null && !isOnlyPrepared(state, preview)) checkTransition(state.state, 'STOPPING')
  const leaderEpoch = leaderEpochOf(noted, preview, state, openTransactions, request.leaderEpoch)
  const report = settleAndClose(storage, held, store, { ...request, openTransactions, leaderEpoch })
  const log = PartitionLog.open(storage, { ...held, shutdown: 'clean' })
  const mirror = new MirrorPartition(new SoleReplica(log), store)
  mirror.stop({ openTransactions })
  log.close()
  const mirroredEndOffset = mirror.mirroredEndOffset!
  return { ...report, mirroredEndOffset, lastMirroredOffset: mirror.lastMirroredOffset! }
}

type Report = Omit<StopLogReport, 'mirroredEndOffset' | 'lastMirroredOffset'>

/** All but the last step: afterwards the files are those of a log that has ended cleanly, behind the barrier. */
function settleAndClose(
  storage: LogStorage,
  options: PartitionLogOptions,
  store: MirrorStateStore,
  request: StopLogRequest & { openTransactions: OpenTransactionsMode; leaderEpoch: number },
): Report {
  const { sourceClusterId, openTransactions, leaderEpoch, now } = request
  const log = PartitionLog.open(storage, options)
  const mirror = new MirrorPartition(new HeldReplica(log, leaderEpoch), store, now ? { now } : {})
  const warnings = warningsOf(mirror)
  if (mirror.state === null) mirror.prepare({ sourceClusterId })
  if (mirror.state === 'PREPARING') mirror.start()
  const settled = log.producerState.ongoingTransactions.map(settledOf)
  const known = log.producerState.barriers.length
  const end = log.logEndOffset
  mirror.stop({ openTransactions })
  const barrier = log.producerState.barriers[known]
  const { logEndOffset } = log
  log.close()
  return {
    alreadyStopped: false,
    sourceClusterId,
    openTransactions,
    settled,
    truncatedOffsets: end - minOffset(end, mirror.mirroredEndOffset ?? end),
    logEndOffset,
    leaderEpoch,
    expiredProducers: barrier?.expired.producers ?? null,
    warnings,
  }
}

function alreadyStopped(state: MirrorState): StopLogReport {
  const { sourceClusterId, lastMirroredOffset, mirroredEndOffset } = state
  return {
    alreadyStopped: true,
    sourceClusterId,
    openTransactions: null,
    settled: [],
    truncatedOffsets: 0n,
    mirroredEndOffset: mirroredEndOffset ?? lastMirroredOffset!,
    lastMirroredOffset: lastMirroredOffset!,
    logEndOffset: null,
    leaderEpoch: null,
    expiredProducers: null,
    warnings: [],
  }
}

function warningsOf({ state, log }: MirrorPartition): string[] {
  if (state !== null) return []
  const ids = [...log.producerState.producers.keys()]
  if (ids.length === 0 || ids.some(isMirroredProducerId)) return []
  return [
    'no producer in this log has a mapped id, and no mirror-state.json was there: make sure that this is the mirror, and not ' +
      'its source',
  ]
}

function settledOf({ producerId, producerEpoch, firstOffset }: OngoingTransaction): SettledTransaction {
  const sourceProducerId = isMirroredProducerId(producerId) ? unmapProducerId(producerId) : null
  return { producerId, sourceProducerId, producerEpoch, firstOffset }
}
