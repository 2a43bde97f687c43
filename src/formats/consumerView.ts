import {
  type OptionKinds,
  oneOf,
  requireList,
  requireOptions,
  requireThing,
  shown,
} from '../core/arguments.ts'
import type { CrcEngine } from '../core/crcEngine.ts'
import { defaultCrcEngine } from '../core/jsCrc.ts'
import { NO_PRODUCER_ID } from '../core/producerId.ts'
import { CorruptBatchError, InvalidArgumentError } from '../errors.ts'
import { controlTypeOf } from './controlRecord.ts'
import { ControlRecordType } from './controlRecordType.ts'
import { DECODE_OPTIONS, type DecodeOptions, recordsOf } from './decodeRecords.ts'
import type { KafkaRecord } from './record.ts'
import { crcFault, type RecordBatch } from './recordBatch.ts'
import { recordBatches } from './recordBatches.ts'

/** As a fetch response lists them: a superset does no harm. */
export interface AbortedTransaction {
  producerId: bigint
  /** Offset of the transaction's first record; may lie before the fetched bytes. */
  firstOffset: bigint
}

/** What `consumerView` takes; the names are those of a fetch. */
export interface ConsumerViewOptions extends DecodeOptions {
  /** Default `read_uncommitted`, as in Kafka. */
  isolation?: 'read_uncommitted' | 'read_committed'
  /** Of the fetch response; used under `read_committed`. */
  abortedTransactions?: readonly AbortedTransaction[] | null
  /** The offset that was asked for: a fetch may begin inside a batch. Default 0. */
  fromOffset?: bigint
  /** Default true: a wrong CRC is an error, as for Kafka's consumer. */
  checkCrcs?: boolean
}

const VIEW_OPTIONS: OptionKinds<ConsumerViewOptions> = {
  ...DECODE_OPTIONS,
  isolation: 'any',
  abortedTransactions: 'any',
  fromOffset: 'any',
  checkCrcs: 'boolean',
}

/** What a consumer sees of a record set. */
export interface ConsumerView {
  records: KafkaRecord[]
  /** Where to fetch next: behind all that was seen, hidden or not. */
  nextOffset: bigint
}

/**
 * What a consumer sees of a fetched record set. Control batches are never shown; under `read_committed` the records of
 * aborted transactions are dropped, those under mapped ids included (a stock consumer shows them). A barrier forgets
 * every aborted id: what comes behind it belongs to other producers. An incomplete tail is left for the next fetch.
 *
 * @throws CorruptBatchError on a batch that cannot be framed or, unless `checkCrcs` is false, has a wrong CRC
 * @throws InvalidRecordError when records do not have Kafka's form
 * @throws InvalidArgumentError
 * @see Kafka's CompletedFetch
 * @example
 * const { records, nextOffset } = await consumerView(bytes, { isolation: 'read_committed', abortedTransactions })
 */
export async function consumerView(
  bytes: Uint8Array | DataView,
  options: ConsumerViewOptions = {},
): Promise<ConsumerView> {
  requireOptions('options of consumerView', options, VIEW_OPTIONS)
  const { isolation = 'read_uncommitted', fromOffset = 0n, checkCrcs = true } = options
  oneOf('isolation', isolation, ['read_uncommitted', 'read_committed'])
  const aborted =
    isolation === 'read_committed' ? new AbortedProducers(options.abortedTransactions ?? []) : null
  const engine = checkCrcs ? defaultCrcEngine() : null
  const view: ConsumerView = { records: [], nextOffset: fromOffset }
  for (const batch of recordBatches(bytes)) {
    if (engine !== null) requireValid(batch, engine)
    const isHidden = aborted?.pass(batch) ?? false
    if (!isHidden && !batch.isControl) {
      for (const record of await recordsOf(batch, options)) {
        if (record.offset >= view.nextOffset) view.records.push(record)
      }
    }
    // by the batch, not by the last record shown: compaction may have taken the batch's last records
    if (batch.nextOffset > view.nextOffset) view.nextOffset = batch.nextOffset
  }
  return view
}

function requireValid(batch: RecordBatch, engine: CrcEngine): void {
  const fault = crcFault(batch, engine)
  if (fault !== null) throw new CorruptBatchError(fault)
}

/** Ids and offsets as strings or numbers, as other clients have them, would hide nothing. */
function requireAborted(entry: AbortedTransaction): void {
  requireThing('an entry of abortedTransactions', entry, 'producerId', 'an AbortedTransaction')
  const { producerId, firstOffset } = entry
  if (typeof producerId === 'bigint' && typeof firstOffset === 'bigint') return
  throw new InvalidArgumentError(
    `an entry of abortedTransactions has bigints; got producerId ${shown(producerId)}, firstOffset ${shown(firstOffset)}`,
  )
}

/** The producers whose records are those of an aborted transaction, as the walk goes on. */
class AbortedProducers {
  readonly #queue: readonly AbortedTransaction[]
  #next = 0
  readonly #producerIds = new Set<bigint>()

  constructor(transactions: readonly AbortedTransaction[]) {
    for (const entry of requireList('abortedTransactions', transactions)) requireAborted(entry)
    this.#queue = [...transactions].sort((a, b) => (a.firstOffset < b.firstOffset ? -1 : 1))
  }

  /** Whether the batch is to be dropped. */
  pass(batch: RecordBatch): boolean {
    for (let entry = this.#queue[this.#next]; entry !== undefined; entry = this.#queue[++this.#next]) {
      if (entry.firstOffset > batch.lastOffset) break
      this.#producerIds.add(entry.producerId)
    }
    if (batch.isControl) {
      this.#passControl(batch)
      return false
    }
    return batch.isTransactional && this.#producerIds.has(batch.producerId)
  }

  #passControl(batch: RecordBatch): void {
    const type = controlTypeOf(batch)
    if (type === ControlRecordType.MIRROR_PID_RESET) this.#producerIds.clear()
    if (type === ControlRecordType.ABORT && batch.producerId !== NO_PRODUCER_ID) {
      this.#producerIds.delete(batch.producerId)
    }
  }
}
