import { MirrorPidError } from '../errors.ts'
import type { MirrorStateName } from './mirrorState.ts'

/** A step that the mirror's state does not allow. */
export class InvalidTransitionError extends MirrorPidError {
  /** Null for a partition that was never mirrored. */
  readonly from: MirrorStateName | null
  readonly to: MirrorStateName

  constructor(from: MirrorStateName | null, to: MirrorStateName, allowed: readonly MirrorStateName[]) {
    super(
      'INVALID_TRANSITION',
      `a mirror that is ${from ?? 'not set up'} cannot become ${to}; from there it can become ` +
        `${allowed.join(' or ')}. Nothing was changed.`,
    )
    this.from = from
    this.to = to
  }
}

/** An append that the mirror's state does not allow: two writers would mix. */
export class AppendRefusedError extends MirrorPidError {
  readonly state: MirrorStateName | null

  constructor(what: string, state: MirrorStateName | null, advice: string) {
    super('APPEND_REFUSED', `${what} is refused while the mirror is ${state ?? 'not set up'}; ${advice}`)
    this.state = state
  }
}

/** A stop that names another source than the partition was mirrored from. */
export class SourceClusterMismatchError extends MirrorPidError {
  readonly expected: string
  readonly given: string

  constructor(expected: string, given: string) {
    super(
      'SOURCE_CLUSTER_MISMATCH',
      `this partition is mirrored from the cluster "${expected}", not from "${given}". Nothing was changed; check which ` +
        'mirror is to be stopped.',
    )
    this.expected = expected
    this.given = given
  }
}

/** A mirror's own state file that cannot be read. */
export class CorruptMirrorStateError extends MirrorPidError {
  readonly file: string

  constructor(file: string, fault: string) {
    super(
      'CORRUPT_MIRROR_STATE',
      `${file}: ${fault}. The state of the mirror is not known, so nothing may be written to the partition; restore the ` +
        'file, or remove it and prepare the mirror anew.',
    )
    this.file = file
  }
}
