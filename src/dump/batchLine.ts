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

const BASE_OFFSET = encoded('baseOffset: ')
const LAST_OFFSET = encoded(' lastOffset: ')
const COUNT = encoded(' count: ')
const BASE_SEQUENCE = encoded(' baseSequence: ')
const LAST_SEQUENCE = encoded(' lastSequence: ')
const PRODUCER_ID = encoded(' producerId: ')
const PRODUCER_EPOCH = encoded(' producerEpoch: ')
const PARTITION_LEADER_EPOCH = encoded(' partitionLeaderEpoch: ')
const IS_TRANSACTIONAL = encoded(' isTransactional: ')
const IS_CONTROL = encoded(' isControl: ')
const DELETE_HORIZON = encoded(' deleteHorizonMs: ')
const OPTIONAL_EMPTY = encoded('OptionalLong.empty')
const OPTIONAL_OPEN = encoded('OptionalLong[')
const OPTIONAL_CLOSE = encoded(']')
const OFFSET = encoded('offset: ')
const POSITION = encoded(' position: ')
const SIZE = encoded(' size: ')
const MAGIC = encoded(' magic: ')
const CODEC = encoded(' compresscodec: ')
const CRC = encoded(' crc: ')
const IS_VALID = encoded(' isvalid: ')
const NO_TIMESTAMP_TYPE = encoded(' NoTimestampType: ')
const CREATE_TIME = encoded(' CreateTime: ')
const LOG_APPEND_TIME = encoded(' LogAppendTime: ')
const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'].map(encoded)
// Kafka's tool ends at a number without a codec
const UNDEFINED_CODEC = encoded('undefined(')
const UNDEFINED_CODEC_END = encoded(')')

const CODEC_MASK = 0x07
const LOG_APPEND_TIME_FLAG = 0x08
const DELETE_HORIZON_FLAG = 0x40
const NO_SEQUENCE = -1
// fields of magic 1
const LEGACY_ATTRIBUTES = layout.MAGIC + 1
const LEGACY_TIMESTAMP = layout.MAGIC + 2

/** Kafka's line for a batch, all but its end: `--explain` may add to it. */
export function writeBatchLine(out: TextBuffer, batch: FramedBatch): void {
  if (batch.magic === layout.CURRENT_MAGIC) writeFields(out, batch)
  else writeLegacyOffset(out, batch)
  out.text(POSITION)
  out.integer(batch.position)
  out.text(timestampLabel(batch))
  writeMaxTimestamp(out, batch)
  out.text(SIZE)
  out.integer(batch.size)
  out.text(MAGIC)
  out.integer(batch.magic)
  out.text(CODEC)
  writeCodec(out, attributesOf(batch) & CODEC_MASK)
  out.text(CRC)
  out.integer(
    batch.view.getUint32(batch.at + (batch.magic === layout.CURRENT_MAGIC ? layout.CRC : layout.LEGACY_CRC)),
  )
  out.text(IS_VALID)
  out.boolean(batch.isValid)
}

function writeFields(out: TextBuffer, { view, at }: FramedBatch): void {
  const attributes = view.getInt16(at + layout.ATTRIBUTES)
  const lastOffsetDelta = view.getInt32(at + layout.LAST_OFFSET_DELTA)
  const baseSequence = view.getInt32(at + layout.BASE_SEQUENCE)
  out.text(BASE_OFFSET)
  out.int64(view, at + layout.BASE_OFFSET)
  out.text(LAST_OFFSET)
  writeSum(out, view, at + layout.BASE_OFFSET, lastOffsetDelta)
  out.text(COUNT)
  out.integer(view.getInt32(at + layout.RECORDS_COUNT))
  out.text(BASE_SEQUENCE)
  out.integer(baseSequence)
  out.text(LAST_SEQUENCE)
  out.integer(baseSequence === NO_SEQUENCE ? NO_SEQUENCE : incrementSequence(baseSequence, lastOffsetDelta))
  out.text(PRODUCER_ID)
  out.int64(view, at + layout.PRODUCER_ID)
  out.text(PRODUCER_EPOCH)
  out.integer(view.getInt16(at + layout.PRODUCER_EPOCH))
  out.text(PARTITION_LEADER_EPOCH)
  out.integer(view.getInt32(at + layout.PARTITION_LEADER_EPOCH))
  out.text(IS_TRANSACTIONAL)
  out.boolean((attributes & layout.TRANSACTIONAL_FLAG) !== 0)
  out.text(IS_CONTROL)
  out.boolean((attributes & layout.CONTROL_FLAG) !== 0)
  out.text(DELETE_HORIZON)
  if (attributes & DELETE_HORIZON_FLAG) {
    out.text(OPTIONAL_OPEN)
    out.int64(view, at + layout.BASE_TIMESTAMP)
    out.text(OPTIONAL_CLOSE)
  } else {
    out.text(OPTIONAL_EMPTY)
  }
}

function writeLegacyOffset(out: TextBuffer, { view, at }: FramedBatch): void {
  out.text(OFFSET)
  out.int64(view, at + layout.BASE_OFFSET)
}

function writeMaxTimestamp(out: TextBuffer, { view, at, magic }: FramedBatch): void {
  if (magic === 0) out.integer(-1)
  else out.int64(view, at + (magic === 1 ? LEGACY_TIMESTAMP : layout.MAX_TIMESTAMP))
}

function writeCodec(out: TextBuffer, compressionType: number): void {
  const name = CODECS[compressionType]
  if (name !== undefined) {
    out.text(name)
    return
  }
  out.text(UNDEFINED_CODEC)
  out.integer(compressionType)
  out.text(UNDEFINED_CODEC_END)
}

/** The int64 at a place plus an int32, with Java's overflow. */
export function writeSum(out: TextBuffer, view: DataView, at: number, delta: number): void {
  const high = view.getInt32(at)
  if (high >= -0x100000 && high < 0x100000) {
    out.integer(high * 0x100000000 + view.getUint32(at + 4) + delta)
  } else {
    out.bigint(BigInt.asIntN(64, view.getBigInt64(at) + BigInt(delta)))
  }
}

export function attributesOf({ view, at, magic }: FramedBatch): number {
  return magic === layout.CURRENT_MAGIC
    ? view.getInt16(at + layout.ATTRIBUTES)
    : view.getInt8(at + LEGACY_ATTRIBUTES)
}

/** The timestamp type as a field's name, with the spaces around. */
export function timestampLabel(batch: FramedBatch): Uint8Array {
  if (batch.magic === 0) return NO_TIMESTAMP_TYPE
  return attributesOf(batch) & LOG_APPEND_TIME_FLAG ? LOG_APPEND_TIME : CREATE_TIME
}
