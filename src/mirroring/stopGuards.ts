import { isMirroredProducerId } from '../core/producerId.ts'
import { logFileName } from '../log/fileNames.ts'
import { maxOffset } from '../log/partition/offsets.ts'
import type { PartitionLog } from '../log/partition/partitionLog.ts'
import { describeTiered, type RecoveryChanges } from '../log/partition/recoveryChanges.ts'
import { barrierAt } from './barrierAt.ts'
import { StopRefusedError } from './mirrorErrors.ts'
import type { MirrorState } from './mirrorState.ts'
import { batchesFrom } from './sharedLog.ts'
import type { StopLogRequest } from './stopLog.ts'

/** What a stop asks of the log and its state before it changes anything. */

/** Whether nothing is left to cut of what was prepared: an earlier call has got as far as this. */
export function isOnlyPrepared(
  { state, prepareOffset }: MirrorState,
  { logEndOffset }: PartitionLog,
): boolean {
  return state === 'PREPARING' && (prepareOffset === null || prepareOffset >= logEndOffset)
}

/**
 * A log with local producers alone may be the source's own. One without any producer cannot be told; a barrier does it no
 * harm.
 *
 * @throws StopRefusedError `unmarked`
 */
export function requireMarked({ producerState }: PartitionLog): void {
  const ids = [...producerState.producers.keys()]
  if (ids.length === 0 || ids.some(isMirroredProducerId)) return
  throw new StopRefusedError(
    'unmarked',
    'no producer in this log has a mapped id, and no mirror-state.json is there: it may be the source and no mirror of it',
    'make sure that it is the mirror, and say so (--unmarked).',
  )
}

/**
 * Where mapped batches follow the barrier of a log that is called STOPPED: something else has mirrored it since.
 *
 * @returns the offset of the first; null where there is none, so that the stop still holds
 * @throws StopRefusedError `no-barrier`
 */
export function mirroredSince(log: PartitionLog, state: MirrorState): bigint | null {
  const { sourceClusterId } = state
  const offset = state.lastMirroredOffset!
  // one that was deleted, with all before it, has nobody left to expire
  if (offset >= log.logStartOffset && barrierAt(log, offset)?.sourceClusterId !== sourceClusterId) {
    throw new StopRefusedError(
      'no-barrier',
      `mirror-state.json says that the mirror of "${sourceClusterId}" was stopped at offset ${offset}, and no barrier of ` +
        'that stop is there, so it is not the state of this log',
      'find out which log this is; if it is a mirror that is to be stopped, remove mirror-state.json and stop it again.',
    )
  }
  for (const batch of batchesFrom(log, maxOffset(offset + 1n, log.logStartOffset))) {
    if (isMirroredProducerId(batch.producerId)) return batch.baseOffset
  }
  return null
}

export function mirroredAgain({ lastMirroredOffset }: MirrorState, offset: bigint): StopRefusedError {
  return new StopRefusedError(
    'mirrored-again',
    `the mirror was stopped at offset ${lastMirroredOffset}, and batches under mapped ids follow from offset ${offset} on: it ` +
      'was mirrored again, by something that keeps no mirror-state.json',
    'make sure that this mirror is to be stopped too, and say so (--again); it gets another barrier.',
  )
}

export function warningsOf(
  request: StopLogRequest,
  state: MirrorState | null,
  { cut, tiered }: RecoveryChanges,
): string[] {
  const warnings = cut
    .filter(({ isZero }) => !isZero)
    .map(
      ({ segment, position, bytes }) =>
        `${logFileName(segment, '.log')}: ${bytes} bytes of a batch that was never written to its end are cut, at byte ${position}`,
    )
  if (tiered !== undefined) warnings.push(describeTiered(tiered))
  const began = state?.openTransactions ?? null
  const { openTransactions: asked = began } = request
  if (began !== null && asked !== began) {
    warnings.push(`the stop that is under way began with "${began}" and goes on so, not with "${asked}"`)
  }
  return warnings
}
