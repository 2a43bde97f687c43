import { MirrorPidError } from '../errors.ts'
import type { MirrorStateName } from './mirrorState.ts'

/**
 * A step that the mirror's state does not allow.
 *
 * @example
 * const mirror = new MirrorPartition(new SoleReplica(log), memoryStateStore())
 * mirror.start() // throws InvalidTransitionError
 */
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

/**
 * A change of the log that the mirror's state does not allow: an append, where two writers would mix, or a cut.
 *
 * @example
 * const mirror = new MirrorPartition(new SoleReplica(log), memoryStateStore())
 * mirror.mirror(fetched) // throws AppendRefusedError
 */
export class AppendRefusedError extends MirrorPidError {
  readonly state: MirrorStateName | null

  constructor(what: string, state: MirrorStateName | null, advice: string) {
    super('APPEND_REFUSED', `${what} is refused while the mirror is ${state ?? 'not set up'}; ${advice}`)
    this.state = state
  }
}

/**
 * A stop that names another source than the partition was mirrored from.
 *
 * @example
 * mirror.prepare({ sourceClusterId: 'A' })
 * mirror.start()
 * mirror.stop({ sourceClusterId: 'B' }) // throws SourceClusterMismatchError
 */
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

/**
 * A mirror's own state file that cannot be read.
 *
 * @example
 * const storage = memoryStorage([['mirror-state.json', new Uint8Array(0)]])
 * mirrorStateFile(storage).load() // throws CorruptMirrorStateError
 */
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

/**
 * Why a stop is refused before it changes anything:
 * - `records`: opening the log would take records out of it;
 * - `unmarked`: no producer of the log is mapped, and no state says that it is a mirror;
 * - `no-barrier`: the state says STOPPED, and the log has no barrier there;
 * - `mirrored-again`: the state says STOPPED, and mapped batches follow the barrier;
 * - `cluster`: the directory is another cluster's.
 */
export type StopRefusal = 'records' | 'unmarked' | 'no-barrier' | 'mirrored-again' | 'cluster'

/**
 * A stop that could do harm. Nothing was changed.
 *
 * @example
 * const storage = memoryStorage()
 * const log = PartitionLog.open(storage)
 * log.append(encodeRecordBatch({ producerId: 5n, producerEpoch: 0, baseSequence: 0, records: [{ value }] }), 'client')
 * log.close()
 * stopLog(storage, {}, { clusterId: 'B', sourceClusterId: 'A' }) // throws StopRefusedError: no id is mapped
 */
export class StopRefusedError extends MirrorPidError {
  readonly reason: StopRefusal

  /** @param advice a sentence */
  constructor(reason: StopRefusal, what: string, advice: string) {
    super('STOP_REFUSED', `${what}. Nothing was changed; ${advice}`)
    this.reason = reason
  }
}
