import { isMirroredProducerId } from '../../core/producerId.ts'
import type { BatchHeader } from '../../producers/batchHeader.ts'
import { type AuditedProducer, type AuditedTransaction, newProducer } from './auditedProducer.ts'
import { AuditNotes } from './auditNotes.ts'
import type { CheckedAuditOptions } from './auditOptions.ts'
import { FindingList } from './findingList.ts'

const FIRST_SWEEP = 100_000

/** What an audit knows of the log so far. */
export class AuditState {
  readonly options: CheckedAuditOptions
  readonly findings: FindingList
  readonly notes = new AuditNotes()
  /** Those with an open transaction, in log order. */
  readonly open = new Map<bigint, AuditedProducer>()
  readonly #producers = new Map<bigint, AuditedProducer>()
  #barriers = 0
  /** Number of producers seen; one that a sweep has forgotten counts anew. */
  producerCount = 0
  /** Offsets missing between batches. */
  missing = 0
  /** The largest timestamp up to `latest`, in milliseconds: the log's own clock, as good as any that it holds. */
  clock = -1
  /** The first such timestamp: what stands before it is no older, as far as the log tells. */
  firstClock = -1
  /** A batch that stands next was written by then. A later timestamp is not believed: it would make all before it old. */
  latest: number
  /** Size and number of records of what was passed. */
  bytes = 0
  records = 0
  #sweepAt = FIRST_SWEEP

  constructor(options: CheckedAuditOptions) {
    this.options = options
    this.latest = options.now
    this.findings = new FindingList(options.partition, options.maxFindings)
  }

  /** A batch has a timestamp, from 0 on and up to `latest` where it is to count. */
  tick(timestamp: number): void {
    if (this.firstClock < 0) this.firstClock = timestamp
    this.clock = Math.max(this.clock, timestamp)
  }

  /** What is known of a producer. Barriers since its last batch have their effect on it now: a barrier looks at none. */
  find(producerId: bigint): AuditedProducer | undefined {
    const producer = this.#producers.get(producerId)
    if (producer === undefined || producer.barriers === this.#barriers) return producer
    if (this.#expiresAtBarrier(producerId)) {
      this.#producers.delete(producerId)
      return undefined
    }
    producer.barriers = this.#barriers
    producer.mayRestart = this.options.barrierScope === 'any'
    producer.leftHomeAt = null
    return producer
  }

  add(
    producerId: bigint,
    { producerEpoch }: BatchHeader,
    offset: bigint,
    timestamp: number,
  ): AuditedProducer {
    if (this.#producers.size >= this.#sweepAt) this.#sweep()
    const producer = newProducer(producerEpoch, offset, timestamp, this.missing, this.#barriers)
    this.#producers.set(producerId, producer)
    this.producerCount++
    return producer
  }

  /** A transaction begins, or goes on under this id. */
  begin(producerId: bigint, producer: AuditedProducer, transaction: AuditedTransaction): void {
    producer.transaction = transaction
    this.open.set(producerId, producer)
  }

  /** The open transaction ends, or nothing is known of it any more. */
  end(producerId: bigint, producer: AuditedProducer): void {
    producer.transaction = null
    this.open.delete(producerId)
  }

  endAll(): void {
    for (const [producerId, producer] of this.open) this.end(producerId, producer)
  }

  /** Rules R1 and R2; the transactions that are open here are told before. */
  passBarrier(): void {
    this.endAll()
    this.#barriers++
  }

  /** Whether a broker has forgotten the producer when a batch of this time comes. Kafka: isProducerExpired. */
  isExpired(producer: AuditedProducer, timestamp: number): boolean {
    if (producer.transaction !== null || producer.timestamp < 0) return false
    return timestamp - producer.timestamp >= this.options.producerIdExpirationMs
  }

  #expiresAtBarrier(producerId: bigint): boolean {
    return isMirroredProducerId(producerId) || this.options.barrierScope === 'all'
  }

  /** Memory is that of the producers which a broker remembers, however many the log has seen. */
  #sweep(): void {
    for (const [producerId, producer] of this.#producers) {
      const isBehind = producer.barriers < this.#barriers && this.#expiresAtBarrier(producerId)
      if (isBehind || this.isExpired(producer, this.clock)) this.#producers.delete(producerId)
    }
    this.#sweepAt = Math.max(FIRST_SWEEP, 2 * this.#producers.size)
  }
}
