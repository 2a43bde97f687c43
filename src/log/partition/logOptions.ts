import { type OptionKinds, oneOf, requireOptions } from '../../core/arguments.ts'
import type { Core } from '../../core/core.ts'
import { engineOf } from '../../core/crcEngine.ts'
import { InvalidArgumentError } from '../../errors.ts'
import type { Barrier } from '../../producers/appendResult.ts'
import {
  MANAGER_OPTIONS,
  type ProducerStateManagerOptions,
  requireOffset,
} from '../../producers/managerOptions.ts'
import { coreOf } from '../../wasm/load.ts'
import type { ScanFault } from './segmentScan.ts'
import { type LogStorage, requireStorage } from './storage.ts'

/** How dense and how large a segment's indexes are, in bytes. */
export interface IndexOptions {
  /** Kafka's `index.interval.bytes`. Default 4096. */
  indexIntervalBytes: number
  /** Kafka's `segment.index.bytes`: a segment whose index has so many bytes is full. Default 10485760. */
  maxIndexBytes: number
}

/** How a log is opened and kept; the defaults are a broker's. */
export interface PartitionLogOptions
  extends Omit<ProducerStateManagerOptions, 'logStartOffset'>,
    Partial<IndexOptions> {
  /** Checks CRCs, and maps what a mirror appends. Default: the wasm core, loaded when a log is first opened. */
  core?: Core
  /** Kafka's `segment.bytes`: an append that would make the active segment larger begins a new one. Default 1073741824. */
  segmentBytes?: number
  /** Kafka's `segment.ms`: records so much later than a segment's first begin a new one. Default 604800000, seven days. */
  segmentMs?: number
  /** Kafka's `max.message.bytes`, for batches of clients and coordinators. Default 1048588. */
  maxMessageBytes?: number
  /**
   * `unclean` (default): the segments from the recovery point on are checked batch by batch and their indexes rebuilt;
   * the rest of the tail is cut at the first damage. `clean`: they are taken as they are, as a broker does after a clean
   * shutdown.
   */
  shutdown?: 'unclean' | 'clean'
  /** What lies below it is known to be on disk and sound. Default 0: nothing is. */
  recoveryPoint?: bigint
  /** The least that the log start offset may be, from a checkpoint. Default: the first segment's. */
  logStartOffset?: bigint
  /**
   * Which producer snapshots are taken for true: `believed` (default), as by a broker, those that are sound; `ignored`, none, and
   * those that are there are removed: one that a broker has written knows no mapped ids, if it is one that exists today.
   */
  snapshots?: 'believed' | 'ignored'
  /** From a checkpoint. Default: the log start offset. */
  highWatermark?: bigint
  /** Told of all that opening changed or found. */
  onRecovery?: (event: RecoveryEvent) => void
  /** Told of each segment that was checked batch by batch, in log order. */
  onChecked?: (segment: CheckedSegment) => void
}

export const LOG_OPTIONS: OptionKinds<PartitionLogOptions> = {
  ...MANAGER_OPTIONS,
  indexIntervalBytes: 'any',
  maxIndexBytes: 'any',
  core: 'object',
  segmentBytes: 'any',
  segmentMs: 'any',
  maxMessageBytes: 'any',
  shutdown: 'any',
  recoveryPoint: 'any',
  logStartOffset: 'any',
  snapshots: 'any',
  highWatermark: 'any',
  onRecovery: 'function',
  onChecked: 'function',
}

/** @throws InvalidArgumentError for what is no object of such options */
export function requireLogOptions(options: PartitionLogOptions): PartitionLogOptions {
  return requireOptions('options of a log', options, LOG_OPTIONS)
}

/** A segment that opening has checked: its CRCs, its indexes, what it does to the producer state. */
export interface CheckedSegment {
  baseOffset: bigint
  /** Of its sound batches. */
  bytes: number
  batches: number
  /** Those under mapped producer ids, which Apache Kafka up to at least 4.3 takes to have no producer. */
  mirroredBatches: number
  barriers: Barrier[]
}

/** What happened while a log was opened. Positions and sizes in bytes. */
export type RecoveryEvent =
  /**
   * The tail of a segment was cut, or, where offsets go back in it, all of it. `isZero`: it was all zeros, as in a
   * preallocated segment, so no damage.
   */
  | {
      kind: 'cut'
      segment: bigint
      position: number
      bytes: number
      fault: ScanFault | 'offsets'
      isZero: boolean
    }
  /** A segment behind a cut was removed. */
  | { kind: 'removed'; segment: bigint; bytes: number }
  /** A snapshot that is damaged was removed, and an older one, or none, was used. */
  | { kind: 'snapshot'; offset: bigint; error: Error }
  /** A leftover of a broker was removed or finished: `.deleted`, `.cleaned`, `.swap`, an index without a segment. */
  | { kind: 'leftover'; name: string }
  /** By the log start offset that was given, records lie below the first segment: in tiered storage, or deleted since. */
  | { kind: 'tiered'; logStartOffset: bigint; firstOffset: bigint }
  /** A file ends as a leftover does, but has no name that a broker gives: it was left alone. */
  | { kind: 'foreign'; name: string }

export interface CheckedLogOptions extends IndexOptions {
  segmentBytes: number
  segmentMs: number
  maxMessageBytes: number
}

export function checkLogOptions(options: PartitionLogOptions): CheckedLogOptions {
  return {
    indexIntervalBytes: whole('indexIntervalBytes', options.indexIntervalBytes, 4096, 0),
    maxIndexBytes: whole('maxIndexBytes', options.maxIndexBytes, 10_485_760, 24),
    segmentBytes: whole('segmentBytes', options.segmentBytes, 1_073_741_824, 61),
    segmentMs: whole('segmentMs', options.segmentMs, 604_800_000, 1),
    maxMessageBytes: whole('maxMessageBytes', options.maxMessageBytes, 1_048_588, 61),
  }
}

/** What opening takes besides, with its defaults. */
export function checkOpening(storage: LogStorage, options: PartitionLogOptions) {
  requireStorage('storage', storage)
  const { onRecovery = () => {}, onChecked = () => {} } = requireLogOptions(options)
  const core = coreOf(options.core)
  return {
    core,
    engine: engineOf(core),
    onRecovery,
    onChecked,
    isClean: oneOf('shutdown', options.shutdown ?? 'unclean', ['unclean', 'clean']) === 'clean',
    recoveryPoint: requireOffset('recoveryPoint', options.recoveryPoint ?? 0n),
    logStartOffset: requireOffset('logStartOffset', options.logStartOffset ?? 0n),
    isStartGiven: options.logStartOffset !== undefined,
    believesSnapshots:
      oneOf('snapshots', options.snapshots ?? 'believed', ['believed', 'ignored']) === 'believed',
  }
}

function whole(name: string, value: number | undefined, byDefault: number, least: number): number {
  const number = value ?? byDefault
  if (Number.isSafeInteger(number) && number >= least && (name === 'segmentMs' || number <= 2 ** 31 - 1))
    return number
  throw new InvalidArgumentError(`${name} must be a whole number from ${least} on; got ${String(value)}`)
}
