import { encodeEndTransactionMarker, encodeRecordBatch, type RecordBatch } from '../../../src/index.ts'
import type { Truth } from './truth.ts'

/**
 * A producer that does all as it should: sequences follow, a transaction ends before another begins. With transaction
 * version 2 each end has a new epoch.
 */
export class LocalProducer {
  readonly name: string
  readonly producerId: bigint
  readonly isTransactional: boolean
  readonly #hasNewEpochs: boolean
  epoch: number
  sequence = 0
  transaction: string | null = null
  /** Of this session: earlier ones were fenced. */
  readonly #firstEpoch: number

  constructor(cluster: string, producerId: bigint, isTransactional: boolean, epoch: number) {
    this.name = `${cluster}:${producerId}`
    this.producerId = producerId
    this.isTransactional = isTransactional
    this.#hasNewEpochs = producerId % 4n === 2n
    this.#firstEpoch = epoch
    this.epoch = epoch
  }

  batch(truth: Truth, records: number, transaction: string | null): Uint8Array<ArrayBuffer> {
    const timestamp = truth.tick()
    truth.note(timestamp, { producer: this.name, transaction })
    return encodeRecordBatch({
      baseOffset: 0n,
      producerId: this.producerId,
      producerEpoch: this.epoch,
      baseSequence: this.sequence,
      isTransactional: transaction !== null,
      records: Array.from({ length: records }, () => ({ timestamp })),
    })
  }

  marker(truth: Truth, type: 'ABORT' | 'COMMIT', coordinatorEpoch: number): Uint8Array<ArrayBuffer> {
    const timestamp = truth.tick()
    truth.note(timestamp, { producer: this.name, transaction: this.transaction })
    return encodeEndTransactionMarker({
      type,
      baseOffset: 0n,
      timestamp,
      producerId: this.producerId,
      producerEpoch: this.epoch + (this.#hasNewEpochs ? 1 : 0),
      coordinatorEpoch,
    })
  }

  wrote(records: number, transaction: string | null): void {
    this.sequence += records
    this.transaction = transaction
  }

  ended(): void {
    this.transaction = null
    if (!this.#hasNewEpochs) return
    this.epoch++
    this.sequence = 0
  }

  /** What a change of leaders has lost is sent again: the producer goes on where the log ends for it. */
  resume(batches: readonly RecordBatch[], truth: Truth): void {
    const own = batches.filter((batch) => truth.authorOf(batch)?.producer === this.name)
    const last = own.at(-1)
    const marker = own.findLast(({ isControl }) => isControl)
    this.epoch = Math.max(this.#firstEpoch, this.#hasNewEpochs ? (marker?.producerEpoch ?? 0) : 0)
    const data = own.findLast((batch) => !batch.isControl && batch.producerEpoch === this.epoch)
    this.sequence = data === undefined ? 0 : data.lastSequence + 1
    const isOpen = data !== undefined && data === last && data.isTransactional
    this.transaction = isOpen ? (truth.authorOf(data)?.transaction ?? null) : null
  }
}
