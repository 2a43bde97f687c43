import { type OptionKinds, requireOptions, requireText } from '../core/arguments.ts'
import { isMirroredProducerId, unmapProducerId } from '../core/producerId.ts'
import { InvalidArgumentError } from '../errors.ts'
import { type PartitionLogOptions, requireLogOptions } from '../log/partition/logOptions.ts'
import { minOffset } from '../log/partition/offsets.ts'
import { PartitionLog } from '../log/partition/partitionLog.ts'
import type { RecoveryChanges } from '../log/partition/recoveryChanges.ts'
import { type LogStorage, requireStorage } from '../log/partition/storage.ts'
import type { OngoingTransaction } from '../producers/producerStateManager.ts'
import { SoleReplica } from './leader.ts'
import { SourceClusterMismatchError, StopRefusedError } from './mirrorErrors.ts'
import { MirrorPartition } from './mirrorPartition.ts'
import { checkMode, checkStop, type MirrorState, type OpenTransactionsMode } from './mirrorState.ts'
import { type MirrorStateStore, mirrorStateFile } from './mirrorStateFile.ts'
import { holdEpochs, leaderEpochOf, notedEpoch } from './stopEpoch.ts'
import { isOnlyPrepared, mirroredAgain, mirroredSince, requireMarked, warningsOf } from './stopGuards.ts'
import { knownOf, previewOf } from './stopPreview.ts'

/** Which mirror is stopped, and how. */
export interface StopLogRequest {
  /** This cluster's id. */
  clusterId: string
  /** The cluster that is mirrored; another one than the mirror's state names is refused. */
  sourceClusterId: string
  /** Default `abort`. A stop that is under way keeps the one that it began with. */
  openTransactions?: OpenTransactionsMode
  /**
   * Of what the stop writes. Default: the latest in the log; with `truncate` one more, so that replicas which have what is
   * cut learn of it; there it must be above the latest.
   */
  leaderEpoch?: number
  /**
   * Default false. With true, a log that was stopped and has been mirrored since, by something that keeps no
   * `mirror-state.json`, is stopped again; the source may be another one then.
   */
  again?: boolean
  /** Default false. With true, a log whose producers are all local and that has no mirror's state is taken to be the mirror. */
  unmarked?: boolean
  /** Milliseconds since the epoch, for the records that are written. Default: the clock. */
  now?: () => bigint
}

export const STOP_LOG_REQUEST: OptionKinds<StopLogRequest> = {
  clusterId: 'string',
  sourceClusterId: 'string',
  openTransactions: 'any',
  leaderEpoch: 'any',
  again: 'boolean',
  unmarked: 'boolean',
  now: 'function',
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

/** What a stop has done. Offsets are those of the log after it. */
export interface StopLogReport extends RecoveryChanges {
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
class HeldReplica extends SoleReplica {
  protected override onReplicated(): void {}
}

/**
 * Stops the mirror of a partition whose broker is down: settles open transactions, writes the barrier, ends the log's files
 * as a clean shutdown does, and only then calls the mirror STOPPED. After a crash at any moment the same call does the
 * rest. Storage without a mirror's state is taken to mirror `sourceClusterId`.
 *
 * The whole log is replayed, and snapshots of before are not believed: Kafka's know no mapped ids. So producers whose batches
 * were all deleted are forgotten, as by `recoverPartition`.
 *
 * @param options what a broker knows of the log: log start offset, recovery point, high watermark, how it ended
 * @throws SourceClusterMismatchError, InvalidTransitionError, CorruptMirrorStateError, StopRefusedError; CORRUPT_BATCH where
 *   opening would cut damaged records off; InvalidArgumentError; what `PartitionLog` throws
 * @example
 * stopLog(storage, {}, { clusterId: 'B', sourceClusterId: 'A' }).mirroredEndOffset
 */
export function stopLog(
  storage: LogStorage,
  options: PartitionLogOptions,
  request: StopLogRequest,
): StopLogReport {
  requireStorage('storage', storage)
  requireLogOptions(options)
  requireClusters(requireOptions('request of stopLog', request, STOP_LOG_REQUEST))
  const { clusterId } = request
  const file = mirrorStateFile(storage)
  const state = file.load()
  checkRequest(request, state)
  const openTransactions = state?.openTransactions ?? request.openTransactions ?? 'abort'
  const held: PartitionLogOptions = {
    ...options,
    shutdown: 'unclean',
    recoveryPoint: 0n,
    clusterId,
    highWatermark: 0n,
    snapshots: 'ignored',
  }
  const noted = notedEpoch(storage)
  const preview = previewOf(storage, held, knownOf(storage, options, state))
  if (state?.state === 'STOPPED') {
    const offset = mirroredSince(preview.log, state)
    if (offset === null) return alreadyStopped(state)
    if (!request.again) throw mirroredAgain(state, offset)
  } else if (state !== null) {
    if (!isOnlyPrepared(state, preview.log)) checkStop(state, preview.log.logEndOffset)
  } else if (!request.unmarked) requireMarked(preview.log)
  const leaderEpoch = leaderEpochOf(noted, preview.log, state, openTransactions, request.leaderEpoch)
  const store = notingStore(file, clusterId, leaderEpoch)
  const report = settleAndClose(storage, held, store, { ...request, openTransactions, leaderEpoch })
  const log = PartitionLog.open(storage, { ...held, shutdown: 'clean', snapshots: 'believed' })
  const mirror = new MirrorPartition(new SoleReplica(log), store)
  mirror.stop({ openTransactions })
  log.close()
  return {
    ...report,
    ...preview.changes,
    mirroredEndOffset: mirror.mirroredEndOffset!,
    lastMirroredOffset: mirror.lastMirroredOffset!,
    warnings: warningsOf(request, state, preview.changes),
  }
}

/** @throws InvalidArgumentError */
export function requireClusters({ clusterId, sourceClusterId, openTransactions }: StopLogRequest): void {
  requireText('clusterId', clusterId)
  requireText('sourceClusterId', sourceClusterId)
  if (clusterId === sourceClusterId) {
    throw new InvalidArgumentError(`a cluster does not mirror itself: both ids are "${clusterId}"`)
  }
  checkMode(openTransactions)
}

function checkRequest(request: StopLogRequest, state: MirrorState | null): void {
  const { clusterId, sourceClusterId, again } = request
  if (state === null) return
  if (state.clusterId !== undefined && state.clusterId !== clusterId) {
    throw new StopRefusedError(
      'cluster',
      `by its mirror-state.json, this is the mirror of the cluster "${state.clusterId}", not of "${clusterId}"`,
      "check the directory and this cluster's id.",
    )
  }
  const isOver = state.state === 'STOPPED' && again
  if (state.sourceClusterId !== sourceClusterId && !isOver) {
    throw new SourceClusterMismatchError(state.sourceClusterId, sourceClusterId)
  }
}

/** Notes with the state whose mirror it is, and in which epoch a stop that is under way writes. */
function notingStore(store: MirrorStateStore, clusterId: string, leaderEpoch: number): MirrorStateStore {
  return {
    load: store.load,
    save({ leaderEpoch: _, ...state }) {
      store.save({ ...state, clusterId, ...(state.state === 'STOPPING' ? { leaderEpoch } : {}) })
    },
  }
}

type Settled = Omit<
  StopLogReport,
  'mirroredEndOffset' | 'lastMirroredOffset' | 'warnings' | keyof RecoveryChanges
>

/** All but the last step: afterwards the files are those of a log that has ended cleanly, behind the barrier. */
function settleAndClose(
  storage: LogStorage,
  options: PartitionLogOptions,
  store: MirrorStateStore,
  request: StopLogRequest & { openTransactions: OpenTransactionsMode; leaderEpoch: number },
): Settled {
  const { sourceClusterId, openTransactions, leaderEpoch, now } = request
  const epochs = holdEpochs(storage)
  const log = PartitionLog.open(epochs.storage, options)
  const noting: MirrorStateStore = {
    load: store.load,
    save(state) {
      store.save(state)
      if (state.state === 'STOPPING') epochs.letThrough()
    },
  }
  const mirror = new MirrorPartition(new HeldReplica(log, leaderEpoch), noting, now ? { now } : {})
  if (mirror.state === null || mirror.state === 'STOPPED') mirror.prepare({ sourceClusterId })
  if (mirror.state === 'PREPARING') mirror.start()
  const settled = log.producerState.ongoingTransactions.map(settledOf)
  const known = log.producerState.barriers.length
  const end = log.logEndOffset
  mirror.stop({ openTransactions })
  // where an earlier run has written the barrier, nothing was noted again
  epochs.letThrough()
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
    cut: [],
    removedSegments: [],
    leftovers: [],
    foreignFiles: [],
    warnings: [],
  }
}

function settledOf({ producerId, producerEpoch, firstOffset }: OngoingTransaction): SettledTransaction {
  const sourceProducerId = isMirroredProducerId(producerId) ? unmapProducerId(producerId) : null
  return { producerId, sourceProducerId, producerEpoch, firstOffset }
}
