import * as layout from '../core/layout.ts'
import { incrementSequence } from '../formats/sequence.ts'
import { encoded, type TextBuffer } from './textBuffer.ts'

/** A framed batch, of which at least the header is at hand. */
export interface FramedBatch {
  readonly view: DataView
  /** Where the batch begins in the view. */
  readonly at: number
  /** Where it begins in the file. */
  readonly position: number
  readonly size: number
  readonly magic: number
  /** Kafka's `isvalid`: the CRC is that of the bytes. */
  readonly isValid: boolean
}

const NO_TIMESTAMP_TYPE = encoded(' NoTimestampType: ')
const CREATE_TIME = encoded(' CreateTime: ')
const LOG_APPEND_TIME = encoded(' LogAppendTime: ')
const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd']

const CODEC_MASK = 0x07
const LOG_APPEND_TIME_FLAG = 0x08
const DELETE_HORIZON_FLAG = 0x40
const NO_SEQUENCE = -1
// fields of magic 1
const LEGACY_ATTRIBUTES = layout.MAGIC + 1
const LEGACY_TIMESTAMP = layout.MAGIC + 2

/**
 * Kafka's lines for batches. Made as strings, which engines put together fast from the first line on; a segment has few
 * of these, compared with those of its records. Their middle is mostly that of the line before.
 */
export class BatchLines {
  #middle = ''
  #attributes = -1
  #producerEpoch = 0
  #leaderEpoch = 0

  /** Writes all of a line but its end: `--explain` may add to it. */
  write(out: TextBuffer, batch: FramedBatch): void {
    const { view, at, position, size, magic, isValid } = batch
    const isCurrent = magic === layout.CURRENT_MAGIC
    const attributes = attributesOf(batch)
    const start = isCurrent ? this.#fields(view, at, attributes) : `offset: ${int64At(view, at)}`
    const timestamp =
      magic === 0 ? -1 : int64At(view, at + (isCurrent ? layout.MAX_TIMESTAMP : LEGACY_TIMESTAMP))
    const crc = view.getUint32(at + (isCurrent ? layout.CRC : layout.LEGACY_CRC))
    out.string(
      `${start} position: ${position} ${timestampType(magic, attributes)}: ${timestamp} size: ${size} ` +
        `magic: ${magic} compresscodec: ${codecName(attributes & CODEC_MASK)} crc: ${crc} isvalid: ${isValid}`,
    )
  }

  #fields(view: DataView, at: number, attributes: number): string {
    const lastOffsetDelta = view.getInt32(at + layout.LAST_OFFSET_DELTA)
    const baseSequence = view.getInt32(at + layout.BASE_SEQUENCE)
    const lastSequence =
      baseSequence === NO_SEQUENCE ? NO_SEQUENCE : incrementSequence(baseSequence, lastOffsetDelta)
    const deleteHorizon =
      (attributes & DELETE_HORIZON_FLAG) === 0
        ? 'OptionalLong.empty'
        : `OptionalLong[${int64At(view, at + layout.BASE_TIMESTAMP)}]`
    return (
      `baseOffset: ${int64At(view, at + layout.BASE_OFFSET)} ` +
      `lastOffset: ${int64Plus(view, at + layout.BASE_OFFSET, lastOffsetDelta)} ` +
      `count: ${view.getInt32(at + layout.RECORDS_COUNT)} baseSequence: ${baseSequence} ` +
      `lastSequence: ${lastSequence} producerId: ${int64At(view, at + layout.PRODUCER_ID)}` +
      `${this.#middleOf(view, at, attributes)}${deleteHorizon}`
    )
  }

  #middleOf(view: DataView, at: number, attributes: number): string {
    const producerEpoch = view.getInt16(at + layout.PRODUCER_EPOCH)
    const leaderEpoch = view.getInt32(at + layout.PARTITION_LEADER_EPOCH)
    const isSame =
      this.#middle !== '' &&
      attributes === this.#attributes &&
      producerEpoch === this.#producerEpoch &&
      leaderEpoch === this.#leaderEpoch
    if (isSame) return this.#middle
    this.#attributes = attributes
    this.#producerEpoch = producerEpoch
    this.#leaderEpoch = leaderEpoch
    this.#middle =
      ` producerEpoch: ${producerEpoch} partitionLeaderEpoch: ${leaderEpoch} ` +
      `isTransactional: ${(attributes & layout.TRANSACTIONAL_FLAG) !== 0} ` +
      `isControl: ${(attributes & layout.CONTROL_FLAG) !== 0} deleteHorizonMs: `
    return this.#middle
  }
}

/** Kafka's tool ends at a number without a codec. */
function codecName(compressionType: number): string {
  return CODECS[compressionType] ?? `undefined(${compressionType})`
}

/** An int64 with every digit; as a double where that has them, which is printed faster. */
function int64At(view: DataView, at: number): number | bigint {
  const high = view.getInt32(at)
  return high >= -0x200000 && high < 0x200000
    ? high * 0x100000000 + view.getUint32(at + 4)
    : view.getBigInt64(at)
}

/** The int64 at a place plus an int32, with Java's overflow. */
function int64Plus(view: DataView, at: number, delta: number): number | bigint {
  const high = view.getInt32(at)
  return high >= -0x100000 && high < 0x100000
    ? high * 0x100000000 + view.getUint32(at + 4) + delta
    : BigInt.asIntN(64, view.getBigInt64(at) + BigInt(delta))
}

export function attributesOf({ view, at, magic }: FramedBatch): number {
  return magic === layout.CURRENT_MAGIC
    ? view.getInt16(at + layout.ATTRIBUTES)
    : view.getInt8(at + LEGACY_ATTRIBUTES)
}

function timestampType(magic: number, attributes: number): string {
  if (magic === 0) return 'NoTimestampType'
  return attributes & LOG_APPEND_TIME_FLAG ? 'LogAppendTime' : 'CreateTime'
}

/** The timestamp type as a field's name, with the spaces around. */
export function timestampLabel(batch: FramedBatch): Uint8Array {
  if (batch.magic === 0) return NO_TIMESTAMP_TYPE
  return attributesOf(batch) & LOG_APPEND_TIME_FLAG ? LOG_APPEND_TIME : CREATE_TIME
}
