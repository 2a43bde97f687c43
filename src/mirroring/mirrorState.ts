import { oneOf } from '../core/arguments.ts'
import { InvalidTransitionError } from './mirrorErrors.ts'

/**
 * - `PREPARING`: the log is cut to where its new source goes on;
 * - `MIRRORING`: batches of the source are appended, nothing else is;
 * - `PAUSING`, `PAUSED`: nothing is appended;
 * - `STOPPING`: open transactions are settled, the barrier is written and replicated;
 * - `STOPPED`: local producers write;
 * - `FAILED`: nothing is appended until the mirror is prepared anew, or stopped as when one fails over.
 */
export type MirrorStateName =
  | 'PREPARING'
  | 'MIRRORING'
  | 'PAUSING'
  | 'PAUSED'
  | 'STOPPING'
  | 'STOPPED'
  | 'FAILED'

/** A state that was left half way may be entered again: each does nothing twice. */
const NEXT: Record<MirrorStateName, readonly MirrorStateName[]> = {
  PREPARING: ['PREPARING', 'MIRRORING', 'FAILED'],
  MIRRORING: ['PAUSING', 'STOPPING', 'FAILED'],
  PAUSING: ['PAUSING', 'PAUSED', 'STOPPING', 'FAILED'],
  PAUSED: ['MIRRORING', 'STOPPING', 'FAILED'],
  STOPPING: ['STOPPING', 'STOPPED', 'FAILED'],
  STOPPED: ['PREPARING'],
  FAILED: ['PREPARING', 'STOPPING'],
}

/** @throws InvalidTransitionError */
export function checkTransition(from: MirrorStateName | null, to: MirrorStateName): void {
  const allowed = from === null ? ['PREPARING' as const] : NEXT[from]
  if (!allowed.includes(to)) throw new InvalidTransitionError(from, to, allowed)
}

/**
 * A mirror whose preparation has failed before it had cut the log is no mirror of anything.
 *
 * @throws InvalidTransitionError
 */
export function checkStop({ state, prepareOffset }: MirrorState, logEndOffset: bigint): void {
  checkTransition(state, 'STOPPING')
  if (prepareOffset === null || prepareOffset >= logEndOffset) return
  throw new InvalidTransitionError(state, 'STOPPING', ['PREPARING'])
}

/** Whether a stop has begun, be it that it failed since: it goes on as it began. */
export function isStopUnderWay(state: MirrorState | null): state is MirrorState {
  if (state === null) return false
  return state.state === 'STOPPING' || (state.state === 'FAILED' && state.openTransactions !== null)
}

/** Whether local producers and coordinators may write. */
export function isWritable(state: MirrorStateName | null): boolean {
  return state === null || state === 'STOPPED'
}

/**
 * What becomes of open transactions when a mirror stops: `truncate` cuts the log at the first record of the first of them,
 * committed records behind it included (where the cut takes the marker of an earlier transaction, the barrier aborts
 * that); `abort` ends each by a marker and loses no committed record.
 */
export type OpenTransactionsMode = 'truncate' | 'abort'

/** @throws InvalidArgumentError */
export function checkMode(mode: OpenTransactionsMode | undefined): void {
  if (mode !== undefined) oneOf('openTransactions', mode, ['abort', 'truncate'])
}

/** All that a mirror must know after a restart. */
export interface MirrorState {
  state: MirrorStateName
  sourceClusterId: string
  /** PREPARING, and FAILED from there: where the log is cut. */
  prepareOffset: bigint | null
  /** STOPPING, and FAILED from there: how open transactions are settled, which a repeated stop cannot change. */
  openTransactions: OpenTransactionsMode | null
  /** STOPPING: where the barrier goes, once the open transactions are settled. */
  plannedBarrierOffset: bigint | null
  /**
   * First offset that the source has not written: the end of the log when the stop began, or where it was cut then. A
   * failback cuts the old source to it.
   */
  mirroredEndOffset: bigint | null
  /** Of the barrier of the last stop; null again once that is cut. */
  lastMirroredOffset: bigint | null
  /** FAILED: why. */
  failure: string | null
  /** The cluster of this mirror, where the stop of a directory has noted it. */
  clusterId?: string
  /** STOPPING: of what the stop of a directory writes, which a repeated one goes on with. */
  leaderEpoch?: number
}
