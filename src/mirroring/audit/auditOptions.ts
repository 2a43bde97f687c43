import { type OptionKinds, oneOf } from '../../core/arguments.ts'
import { InvalidArgumentError } from '../../errors.ts'

/** What an audit is to know of the log, and how much it keeps. */
export interface AuditOptions {
  /** Named in the findings, such as `orders-0`. Default null. */
  partition?: string | null
  /**
   * Whether a broker's coordinator writes the topic: it starts every batch at sequence 0, or gives none, so sequences say
   * nothing there. Default: whether `partition` is one of `__consumer_offsets`, `__transaction_state` or
   * `__share_group_state`.
   */
  isInternalTopic?: boolean
  /**
   * Which batches have a producer: `mirror` (default), those whose id is not -1; `stock`, those above -1, as Apache Kafka
   * up to at least 4.3 has it.
   */
  producerIdTest?: 'mirror' | 'stock'
  /**
   * What a barrier does to producers with ids >= 0. `mirrored`: they stay, as in the draft that maps ids; `all`: they
   * expire, as in later drafts, which map none. Default `any`, as the log does not tell which of them wrote it: a producer
   * may go on behind a barrier, or start anew at sequence 0 (which is noted).
   */
  barrierScope?: 'any' | 'mirrored' | 'all'
  /** Kafka's `producer.id.expiration.ms`: after such a time without a batch, a broker has forgotten a producer. Default a day. */
  producerIdExpirationMs?: number
  /**
   * Kafka's `transaction.max.timeout.ms`. A transaction of which the log holds nothing for so long and five minutes, as in
   * Kafka's own search for hanging transactions, hangs. Default 15 minutes.
   */
  transactionTimeoutMs?: number
  /**
   * Milliseconds since 1970, default the clock's. Timestamps later than this are of no real time, and no transaction hangs by
   * them.
   */
  now?: bigint | number
  /** The most findings to keep, and open transactions, and barriers; what comes on top is counted. Default 1000. */
  maxFindings?: number
}

export const AUDIT_OPTIONS: OptionKinds<AuditOptions> = {
  partition: 'any',
  isInternalTopic: 'boolean',
  producerIdTest: 'any',
  barrierScope: 'any',
  producerIdExpirationMs: 'any',
  transactionTimeoutMs: 'any',
  now: 'any',
  maxFindings: 'any',
}

export type CheckedAuditOptions = Required<Omit<AuditOptions, 'now'>> & { now: number }

const INTERNAL_TOPIC = /^__(consumer_offsets|transaction_state|share_group_state)-\d/

/** Whether a partition's name is that of a topic that a broker's coordinators write. */
function isInternalPartition(partition: string): boolean {
  return INTERNAL_TOPIC.test(partition)
}

export function checkAuditOptions(options: AuditOptions = {}): CheckedAuditOptions {
  const { partition = null, now } = options
  if (partition !== null && typeof partition !== 'string') {
    throw new InvalidArgumentError(`partition must be a name, or null; got ${String(partition)}`)
  }
  return {
    partition,
    isInternalTopic: options.isInternalTopic ?? (partition !== null && isInternalPartition(partition)),
    producerIdTest: oneOf('producerIdTest', options.producerIdTest ?? 'mirror', ['mirror', 'stock']),
    barrierScope: oneOf('barrierScope', options.barrierScope ?? 'any', ['any', 'mirrored', 'all']),
    producerIdExpirationMs: wholeNumber(
      'producerIdExpirationMs',
      options.producerIdExpirationMs,
      86_400_000,
      1,
    ),
    transactionTimeoutMs: wholeNumber('transactionTimeoutMs', options.transactionTimeoutMs, 900_000, 1),
    now: wholeNumber('now', typeof now === 'bigint' ? Number(now) : now, Date.now(), 0),
    maxFindings: wholeNumber('maxFindings', options.maxFindings, 1000, 0),
  }
}

function wholeNumber(name: string, value: number | undefined, fallback: number, least: number): number {
  const chosen = value ?? fallback
  if (Number.isSafeInteger(chosen) && chosen >= least) return chosen
  throw new InvalidArgumentError(`${name} must be a whole number from ${least} on; got ${String(value)}`)
}
