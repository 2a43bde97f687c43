import { type OptionKinds, oneOf } from '../core/arguments.ts'
import { InvalidArgumentError } from '../errors.ts'

/** What a log may hold although a leader would refuse it: reported, never a reason to drop the log. */
export interface ProducerWarning {
  /**
   * `producer-epoch`: a batch of an epoch below the producer's last one. `coordinator-epoch`: a marker of a coordinator
   * that had been replaced. `control-type`: a control batch with a producer whose type is no marker's; Apache Kafka does
   * not start on a log that holds one.
   */
  kind: 'producer-epoch' | 'coordinator-epoch' | 'control-type'
  producerId: bigint
  /** The batch's base offset. */
  offset: bigint
  /** The epoch, or the control record type, that the batch has. */
  found: number
  /** The epoch known before it; null for a control type. */
  current: number | null
}

/** The rules of a barrier: R1 expires mapped producers, R2 ends what is open, R3 lets transactions come home. */
export type BarrierRule = 'R1' | 'R2' | 'R3'

/** How a producer state tests ids, takes barriers and forgets; the defaults are this package's, and a broker's times. */
export interface ProducerStateManagerOptions {
  /** This cluster's id: with `stop-only`, a barrier that names it as the source was written elsewhere. Default null. */
  clusterId?: string | null
  /**
   * Which batches have a producer: `mirror` (default), those whose id is not -1; `stock`, those above -1, as Apache Kafka
   * up to at least 4.3 has it: mapped batches are then not seen at all.
   */
  producerIdTest?: 'mirror' | 'stock'
  /**
   * When a MIRROR_PID_RESET acts: `log-order` (default), wherever it stands and however it came; `stop-only`, where this
   * cluster wrote it (origins `coordinator` and `replication`), not where it came with a mirror's fetch: the draft's
   * reading, for comparison; `ignore`, never, as Apache Kafka, which does not know it.
   */
  barrierPolicy?: 'log-order' | 'stop-only' | 'ignore'
  /**
   * Which producers a barrier expires: `mirrored` (default), ids of -2 and below; `all`, as the later drafts, which map
   * no ids.
   */
  barrierScope?: 'mirrored' | 'all'
  /**
   * Rules of a barrier to leave out, to see what breaks without them: `R1` expires mirrored producers, `R2` aborts the
   * transactions that are open, `R3` lets a transaction that comes home go on. Default: none is left out.
   */
  withoutRules?: readonly BarrierRule[]
  /**
   * Where a client's first batch may start that is of an unknown producer: at `any` sequence (default; its earlier
   * batches may have been deleted), or at `zero` only, as Kafka asks of transaction version 2 producers (KIP-890).
   */
  unknownProducerSequence?: 'any' | 'zero'
  /** Kafka's `producer.id.expiration.ms`. Default 86400000, a day. */
  producerIdExpirationMs?: number
  /** First offset of the log: an unstable offset below it counts as this one. Default 0. */
  logStartOffset?: bigint
  /** Told of what a leader would have refused. Default null. */
  onWarning?: ((warning: ProducerWarning) => void) | null
}

export const MANAGER_OPTIONS: OptionKinds<ProducerStateManagerOptions> = {
  clusterId: 'any',
  producerIdTest: 'any',
  barrierPolicy: 'any',
  barrierScope: 'any',
  withoutRules: 'list',
  unknownProducerSequence: 'any',
  producerIdExpirationMs: 'any',
  logStartOffset: 'any',
  onWarning: 'any',
}

export type CheckedOptions = Required<ProducerStateManagerOptions>

export function checkOptions(options: ProducerStateManagerOptions = {}): CheckedOptions {
  const { clusterId = null, logStartOffset = 0n, onWarning = null } = options
  if (clusterId !== null && (typeof clusterId !== 'string' || clusterId === '')) {
    throw new InvalidArgumentError(
      `clusterId must be the cluster's id as a string, or null; got ${String(clusterId)}`,
    )
  }
  const producerIdExpirationMs = options.producerIdExpirationMs ?? 86_400_000
  if (!Number.isInteger(producerIdExpirationMs) || producerIdExpirationMs < 1) {
    throw new InvalidArgumentError(
      `producerIdExpirationMs must be a whole number of milliseconds from 1 on; got ${String(producerIdExpirationMs)}`,
    )
  }
  return {
    clusterId,
    producerIdTest: oneOf('producerIdTest', options.producerIdTest ?? 'mirror', ['mirror', 'stock']),
    barrierPolicy: oneOf('barrierPolicy', options.barrierPolicy ?? 'log-order', [
      'log-order',
      'stop-only',
      'ignore',
    ]),
    barrierScope: oneOf('barrierScope', options.barrierScope ?? 'mirrored', ['mirrored', 'all']),
    withoutRules: (options.withoutRules ?? []).map((rule) => oneOf('withoutRules', rule, ['R1', 'R2', 'R3'])),
    unknownProducerSequence: oneOf('unknownProducerSequence', options.unknownProducerSequence ?? 'any', [
      'any',
      'zero',
    ]),
    producerIdExpirationMs,
    logStartOffset: requireOffset('logStartOffset', logStartOffset),
    onWarning,
  }
}

export function requireOffset(name: string, value: bigint): bigint {
  if (typeof value === 'bigint' && value >= 0n && BigInt.asIntN(64, value) === value) return value
  throw new InvalidArgumentError(`${name} must be a bigint offset from 0n on; got ${String(value)}`)
}
