import { InvalidArgumentError, MirrorPidError } from '../errors.ts'
import { logFileName } from '../log/fileNames.ts'
import {
  decodeLeaderEpochs,
  type EpochEntry,
  LEADER_EPOCH_CHECKPOINT,
} from '../log/partition/leaderEpochs.ts'
import type { PartitionLogOptions, RecoveryEvent } from '../log/partition/logOptions.ts'
import { memoryStorage } from '../log/partition/memoryStorage.ts'
import { minOffset } from '../log/partition/offsets.ts'
import { overlayStorage } from '../log/partition/overlayStorage.ts'
import { PartitionLog } from '../log/partition/partitionLog.ts'
import { type LogStorage, readPart } from '../log/partition/storage.ts'
import type { MirrorState, OpenTransactionsMode } from './mirrorState.ts'

/** What is looked at before a stop changes anything. */

/** A stop that was killed left what it wrote unfinished, whatever a broker has written of its own end. */
export function afterCrash(
  state: MirrorState | null,
  { recoveryPoint }: PartitionLogOptions,
): PartitionLogOptions {
  if (state?.state !== 'STOPPING') return {}
  const begin = state.mirroredEndOffset ?? 0n
  // a segment that was full then was ended by the stop, so it is recovered too
  const before = begin > 0n ? begin - 1n : 0n
  return { shutdown: 'unclean', recoveryPoint: minOffset(recoveryPoint ?? 0n, before) }
}

/**
 * The log as opening will leave it. It is looked at first, since opening cuts what is damaged.
 * @throws MirrorPidError CORRUPT_BATCH
 */
export function previewOf(storage: LogStorage, options: PartitionLogOptions): PartitionLog {
  const events: RecoveryEvent[] = []
  const log = PartitionLog.open(overlayStorage(storage, memoryStorage()), {
    ...options,
    onRecovery: (event) => events.push(event),
  })
  for (const event of events) {
    if (event.kind !== 'cut' || isTornTail(storage, event)) continue
    const name = logFileName(event.segment, '.log')
    throw new MirrorPidError(
      'CORRUPT_BATCH',
      `${name}: damaged at byte ${event.position} (${event.fault}); opening the log would cut ${event.bytes} bytes there, ` +
        'and the segments behind. Nothing was changed; take the partition from another replica, or let a broker recover it.',
    )
  }
  return log
}

/** What a process that died left of its last write, or room that was allocated for more: no loss. */
function isTornTail(
  storage: LogStorage,
  { segment, position, bytes, fault }: Extract<RecoveryEvent, { kind: 'cut' }>,
): boolean {
  if (fault === 'incomplete') return true
  if (fault !== 'size') return false
  const file = storage.open(logFileName(segment, '.log'))
  const PIECE = 1024 * 1024
  for (let at = position; at < position + bytes; at += PIECE) {
    if (readPart(file, at, PIECE).some((byte) => byte !== 0)) return false
  }
  return true
}

/** Whether nothing is left to cut of what was prepared: an earlier call has got as far as this. */
export function isOnlyPrepared(
  { state, prepareOffset }: MirrorState,
  { logEndOffset }: PartitionLog,
): boolean {
  return state === 'PREPARING' && (prepareOffset === null || prepareOffset >= logEndOffset)
}

/** The latest epochs that the replica has heard of: opening forgets one that no batch was written in. */
export function notedEpoch(storage: LogStorage): EpochEntry {
  const bytes = storage.read(LEADER_EPOCH_CHECKPOINT)
  const entries = bytes === null ? [] : decodeLeaderEpochs(new TextDecoder().decode(bytes))
  return entries.at(-1) ?? { epoch: 0, startOffset: 0n }
}

export function leaderEpochOf(
  noted: EpochEntry,
  log: PartitionLog,
  state: MirrorState | null,
  mode: OpenTransactionsMode,
  given: number | undefined,
): number {
  const latest = Math.max(noted.epoch, log.leaderEpochs.at(-1)?.epoch ?? 0)
  if (given === undefined) {
    // an epoch that begins where the log was cut is that of the run that cut it
    const cutAt = state?.state === 'STOPPING' ? state.mirroredEndOffset : null
    const isOurs = cutAt !== null && noted.startOffset >= cutAt
    return mode === 'abort' || isOurs ? latest : latest + 1
  }
  if (Number.isInteger(given) && given >= latest && given < 2 ** 31) return given
  throw new InvalidArgumentError(
    `the leader epoch must be a whole number from ${latest} on, the latest of this log; got ${given}`,
  )
}
