import {
  isAligned,
  legacyMapProducerId,
  MirrorPartition,
  memoryStateStore,
  memoryStorage,
  NO_PRODUCER_ID,
  type OpenTransactionsMode,
  type PartitionLog,
  ReplicaSet,
  recordBatches,
  sharedEndOffset,
} from '../../../src/index.ts'
import { jsCore } from '../../../src/js.ts'
import { LocalProducer } from './localProducer.ts'
import type { Policy } from './policy.ts'
import { batchesOf, type Truth } from './truth.ts'
import { Violation } from './violation.ts'

const REPLICAS = 2
const core = jsCore()

/** A cluster with the partition that all of them mirror to each other, and its own producers. */
export class Cluster {
  readonly name: string
  readonly replicas: ReplicaSet
  mirror: MirrorPartition
  readonly #openMirror: () => MirrorPartition
  source: Cluster | null = null
  producers: LocalProducer[] = []
  readonly #truth: Truth
  readonly #policy: Policy
  readonly #coordinatorEpoch: number
  /** Timestamps of acknowledged batches of local producers, with their offsets. */
  #acknowledged = new Map<bigint, bigint>()
  #unacknowledged = new Map<bigint, bigint>()
  #nextProducerId = 5n
  #sessions = 0
  #transactions = 0
  #realigned = 0

  constructor(name: string, index: number, policy: Policy, truth: Truth) {
    this.name = name
    this.#truth = truth
    this.#policy = policy
    this.#coordinatorEpoch = [3, 0, 7][index] ?? 1
    const { barrierPolicy, withoutRules } = policy
    this.replicas = new ReplicaSet(
      Array.from({ length: REPLICAS }, () => memoryStorage()),
      { clusterId: name, barrierPolicy, withoutRules },
    )
    const store = memoryStateStore()
    this.#openMirror = () =>
      new MirrorPartition(this.replicas, store, {
        core,
        producerIds: policy.mapping === 'legacy' ? 'none' : 'map',
        now: () => truth.tick(),
      })
    this.mirror = this.#openMirror()
    this.#beginSession()
  }

  get log(): PartitionLog {
    return this.replicas.log
  }

  get isWritable(): boolean {
    return this.mirror.state === null || this.mirror.state === 'STOPPED'
  }

  write(which: number, records: number): void {
    const producer = this.producers[which]!
    const transaction = producer.isTransactional ? (producer.transaction ?? this.#newTransaction()) : null
    const bytes = producer.batch(this.#truth, records, transaction)
    this.#append(producer, bytes, 'client')
    producer.wrote(records, transaction)
  }

  end(which: number, type: 'ABORT' | 'COMMIT'): void {
    const producer = this.producers[which]!
    this.#append(producer, producer.marker(this.#truth, type, this.#coordinatorEpoch), 'coordinator')
    producer.ended()
  }

  replicate(): void {
    this.replicas.replicate()
    this.#acknowledge()
  }

  fetchReplica(maxBytes: number): void {
    for (const { id } of this.replicas.replicas) this.replicas.fetch(id, maxBytes)
    this.#acknowledge()
  }

  startMirror(source: Cluster, fromStart: boolean): void {
    const truncateTo = fromStart ? 0n : sharedEndOffset(this.log, source.log)
    this.source = source
    this.producers = []
    this.mirror.prepare({ sourceClusterId: source.name, truncateTo })
    this.#forget(truncateTo)
    this.mirror.start()
  }

  /** One fetch from the source's leader, which may have cut its log since the last one. */
  fetch(maxBytes: number): void {
    const source = this.source!
    if (!isAligned(this.log, source.log)) {
      const truncateTo = sharedEndOffset(this.log, source.log)
      // both ways come to the same
      if (this.#realigned++ % 2 === 0) this.mirror.truncateTo(truncateTo)
      else {
        this.mirror.fail(`the log of ${source.name} has another end`)
        this.mirror.prepare({ sourceClusterId: source.name, truncateTo })
        this.mirror.start()
      }
      this.#forget(this.log.logEndOffset)
    }
    const end = this.log.logEndOffset
    if (end > source.log.highWatermark) return
    const { records } = source.log.read(end, { maxBytes, isolation: 'high_watermark' })
    this.mirror.mirror(this.#policy.mapping === 'legacy' ? legacyMapped(records) : records)
    if (
      sharedEndOffset(this.log, source.log) !== this.log.logEndOffset &&
      this.#policy.mapping !== 'legacy'
    ) {
      throw new Violation(`${this.name} is not aligned with ${source.name} after a fetch`)
    }
  }

  /** All that the source has replicated, on all replicas. */
  catchUp(): void {
    this.source!.replicate()
    let end: bigint
    do {
      end = this.log.logEndOffset
      this.fetch(1_000_000)
    } while (this.log.logEndOffset !== end)
    this.replicate()
  }

  stop(mode: OpenTransactionsMode): void {
    const before = this.mirror.state
    if (before === 'STOPPED') {
      this.mirror.stop({ openTransactions: mode })
      return
    }
    const state = this.mirror.stop({ openTransactions: mode })
    // `truncate` may have cut records of an earlier time of its own
    this.#forget(this.mirror.mirroredEndOffset!)
    if (state !== 'STOPPED') return
    this.source = null
    this.#beginSession()
  }

  elect(id: number): void {
    this.replicas.elect(id)
    this.#unacknowledged.clear()
    if (!this.isWritable) return
    const batches = batchesOf(this.log)
    for (const producer of this.producers) producer.resume(batches, this.#truth)
  }

  /** What the mirror has in memory is gone. */
  restartMirror(): void {
    this.mirror = this.#openMirror()
  }

  /** What is acknowledged and not cut on purpose must be in the log. */
  checkAcknowledged(): void {
    const held = new Map(batchesOf(this.log).map((batch) => [batch.maxTimestamp, batch.baseOffset]))
    for (const [timestamp, offset] of this.#acknowledged) {
      if (held.get(timestamp) === offset) continue
      throw new Violation(`${this.name} has lost an acknowledged record at offset ${offset}`)
    }
  }

  #append(producer: LocalProducer, bytes: Uint8Array, origin: 'client' | 'coordinator'): void {
    const [batch] = recordBatches(bytes)
    let result: ReturnType<MirrorPartition['append']>
    try {
      result = this.mirror.append(bytes, origin)
    } catch (error) {
      throw new Violation(`${this.name} refused its own producer ${producer.name}: ${String(error)}`)
    }
    if (result.duplicate !== null) {
      throw new Violation(
        `${this.name} acknowledged a new batch of its own producer ${producer.name} as a duplicate of offset ` +
          `${result.duplicate.firstOffset}: it is lost`,
      )
    }
    this.#unacknowledged.set(batch!.maxTimestamp, result.firstOffset!)
    this.#acknowledge()
  }

  #acknowledge(): void {
    for (const [timestamp, offset] of this.#unacknowledged) {
      if (offset >= this.log.highWatermark) continue
      this.#acknowledged.set(timestamp, offset)
      this.#unacknowledged.delete(timestamp)
    }
  }

  /** The log was cut on purpose. */
  #forget(end: bigint): void {
    this.#unacknowledged.clear()
    for (const [timestamp, offset] of this.#acknowledged) {
      if (offset >= end) this.#acknowledged.delete(timestamp)
    }
  }

  /** Ids that the cluster hands out: the idempotent producer is a new one, the others are fenced in their new epochs. */
  #beginSession(): void {
    const epoch = 10 * this.#sessions++
    this.producers = [
      new LocalProducer(this.name, this.#nextProducerId, false, 0),
      new LocalProducer(this.name, 6n, true, epoch),
      new LocalProducer(this.name, 8n, true, epoch),
    ]
    this.#nextProducerId += this.#nextProducerId === 5n ? 2n : 4n
  }

  #newTransaction(): string {
    return `${this.name}${this.#transactions++}`
  }
}

/** The draft's first formula, on every batch. */
function legacyMapped(records: Uint8Array): Uint8Array {
  const bytes = records.slice()
  for (const batch of recordBatches(bytes)) {
    if (batch.producerId === NO_PRODUCER_ID) continue
    const view = new DataView(batch.bytes.buffer, batch.bytes.byteOffset, batch.sizeInBytes)
    view.setBigInt64(43, legacyMapProducerId(batch.producerId))
    view.setUint32(17, core.crc32c(batch.bytes.subarray(21)))
  }
  return bytes
}
