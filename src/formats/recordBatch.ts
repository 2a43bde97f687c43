import { shown } from '../core/arguments.ts'
import { checkCrc } from '../core/batchChecks.ts'
import type { CrcEngine } from '../core/crcEngine.ts'
import * as layout from '../core/layout.ts'
import { NO_PRODUCER_ID } from '../core/producerId.ts'
import { RecordSetCursor } from '../core/recordSetCursor.ts'
import { type CorruptBatchFacts, InvalidArgumentError } from '../errors.ts'
import { incrementSequence } from './sequence.ts'

export const NO_PRODUCER_EPOCH = -1
export const NO_SEQUENCE = -1
export const NO_PARTITION_LEADER_EPOCH = -1
export const NO_TIMESTAMP = -1n

/** Codec numbers of the attributes' low three bits. Source: Kafka's CompressionType. */
export const CompressionType = { none: 0, gzip: 1, snappy: 2, lz4: 3, zstd: 4 } as const
/** Kafka's name of a codec, or `none`. */
export type CompressionName = keyof typeof CompressionType
const COMPRESSION_NAMES = Object.keys(CompressionType) as CompressionName[]

/** Who gave the timestamps. Source: Kafka's TimestampType. */
export type TimestampType = 'NoTimestampType' | 'CreateTime' | 'LogAppendTime'

const CODEC_MASK = 0x07
const LOG_APPEND_TIME_FLAG = 0x08
const DELETE_HORIZON_FLAG = 0x40

/**
 * One batch as it lies in a record set: a view, nothing is copied, fields are read when asked for. Entries of magic 0
 * and 1 give Kafka's sentinels for what they lack. Numbers of 64 bits are bigints; CRCs are unsigned.
 * Source: Kafka's DefaultRecordBatch and AbstractLegacyRecordBatch.
 */
export class RecordBatch {
  /** The whole batch, its 12 bytes of overhead included. */
  readonly bytes: Uint8Array
  /** Byte position in the record set that it was read from. */
  readonly position: number
  readonly magic: number
  readonly #view: DataView

  /** For `recordBatches`: `bytes` must be one whole framed batch. */
  constructor(bytes: Uint8Array, position: number, magic: number) {
    this.bytes = bytes
    this.position = position
    this.magic = magic
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get isLegacy(): boolean {
    return this.magic < layout.CURRENT_MAGIC
  }

  get sizeInBytes(): number {
    return this.bytes.length
  }

  get batchLength(): number {
    return this.#view.getInt32(layout.BATCH_LENGTH)
  }

  /**
   * Offset of the first record. For a compressed entry of magic 0 and 1 that is known only after decompression; this is
   * then the offset of its last record, which its header holds.
   */
  get baseOffset(): bigint {
    return this.#view.getBigInt64(layout.BASE_OFFSET)
  }

  get lastOffset(): bigint {
    return this.baseOffset + BigInt(this.lastOffsetDelta)
  }

  get nextOffset(): bigint {
    return this.lastOffset + 1n
  }

  get partitionLeaderEpoch(): number {
    return this.isLegacy ? NO_PARTITION_LEADER_EPOCH : this.#view.getInt32(layout.PARTITION_LEADER_EPOCH)
  }

  /** The stored CRC: CRC-32C of magic 2, CRC-32 of magic 0 and 1. */
  get crc(): number {
    return this.#view.getUint32(this.isLegacy ? layout.LEGACY_CRC : layout.CRC)
  }

  get attributes(): number {
    return this.isLegacy ? this.#view.getInt8(layout.MAGIC + 1) : this.#view.getInt16(layout.ATTRIBUTES)
  }

  /** The codec's number, 0 to 7; 5 to 7 are undefined. */
  get compressionType(): number {
    return this.attributes & CODEC_MASK
  }

  /** The codec's name; null for an undefined number. */
  get compression(): CompressionName | null {
    return COMPRESSION_NAMES[this.compressionType] ?? null
  }

  get timestampType(): TimestampType {
    if (this.magic === 0) return 'NoTimestampType'
    return this.attributes & LOG_APPEND_TIME_FLAG ? 'LogAppendTime' : 'CreateTime'
  }

  get isTransactional(): boolean {
    return !this.isLegacy && (this.attributes & layout.TRANSACTIONAL_FLAG) !== 0
  }

  get isControl(): boolean {
    return !this.isLegacy && (this.attributes & layout.CONTROL_FLAG) !== 0
  }

  /** When the cleaner may drop the batch's tombstones or marker, in ms since the epoch; null when not set. */
  get deleteHorizonMs(): bigint | null {
    if (this.isLegacy || !(this.attributes & DELETE_HORIZON_FLAG)) return null
    return this.#view.getBigInt64(layout.BASE_TIMESTAMP)
  }

  get lastOffsetDelta(): number {
    return this.isLegacy ? 0 : this.#view.getInt32(layout.LAST_OFFSET_DELTA)
  }

  /** What record timestamps are relative to; the delete horizon stands here where one is set. */
  get baseTimestamp(): bigint {
    if (this.magic === 1) return this.#view.getBigInt64(layout.MAGIC + 2)
    return this.isLegacy ? NO_TIMESTAMP : this.#view.getBigInt64(layout.BASE_TIMESTAMP)
  }

  get maxTimestamp(): bigint {
    return this.isLegacy ? this.baseTimestamp : this.#view.getBigInt64(layout.MAX_TIMESTAMP)
  }

  get producerId(): bigint {
    return this.isLegacy ? NO_PRODUCER_ID : this.#view.getBigInt64(layout.PRODUCER_ID)
  }

  /**
   * Whether a producer stands behind the batch: its id is not -1. Mapped ids count; Apache Kafka up to at least 4.3 asks
   * for an id above -1 and does not see them.
   */
  get hasProducerId(): boolean {
    return this.producerId !== NO_PRODUCER_ID
  }

  get producerEpoch(): number {
    return this.isLegacy ? NO_PRODUCER_EPOCH : this.#view.getInt16(layout.PRODUCER_EPOCH)
  }

  get baseSequence(): number {
    return this.isLegacy ? NO_SEQUENCE : this.#view.getInt32(layout.BASE_SEQUENCE)
  }

  get lastSequence(): number {
    const { baseSequence } = this
    return baseSequence === NO_SEQUENCE ? NO_SEQUENCE : incrementSequence(baseSequence, this.lastOffsetDelta)
  }

  /** Number of records as the header says, or null for magic 0 and 1, which do not say. Never size memory by it. */
  get recordsCount(): number | null {
    return this.isLegacy ? null : this.#view.getInt32(layout.RECORDS_COUNT)
  }

  /** The records, compressed where a codec is set; for magic 0 and 1 the message from its key length on. */
  get payload(): Uint8Array {
    if (this.magic === 0) return this.bytes.subarray(layout.MAGIC + 2)
    return this.bytes.subarray(this.magic === 1 ? layout.MAGIC + 10 : layout.HEADER_SIZE)
  }
}

/** @throws InvalidArgumentError */
export function requireBatch(batch: RecordBatch): RecordBatch {
  if (ArrayBuffer.isView(batch?.bytes)) return batch
  throw new InvalidArgumentError(
    `batch must be a RecordBatch, as recordBatches(bytes) gives them; got ${shown(batch)}`,
  )
}

/** @throws InvalidArgumentError */
export function requireBatches(batches: Iterable<RecordBatch>): RecordBatch[] {
  requireIterable(batches)
  const all = [...batches]
  for (const batch of all) requireBatch(batch)
  return all
}

/** @throws InvalidArgumentError for what has no items, or, as a text, none that are batches */
export function requireIterable(batches: Iterable<RecordBatch>): void {
  if (typeof batches === 'object' && typeof batches?.[Symbol.iterator] === 'function') return
  throw new InvalidArgumentError(
    `batches must be iterable, such as recordBatches(bytes); got ${shown(batches)}`,
  )
}

/** What is wrong with the batch's CRC, or null: `isvalid: false` of Kafka's dump. */
export function crcFault(batch: RecordBatch, engine: CrcEngine): CorruptBatchFacts | null {
  const cursor = new RecordSetCursor(batch.bytes)
  cursor.frame()
  const fault = checkCrc(cursor, engine)
  return fault === null ? null : { ...fault, position: batch.position }
}
