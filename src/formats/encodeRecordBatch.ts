import { ByteWriter } from '../bytes/byteWriter.ts'
import { bytesOf } from '../bytes/view.ts'
import { type OptionKinds, oneOf, requireList, requireOptions } from '../core/arguments.ts'
import { defaultCrcEngine } from '../core/jsCrc.ts'
import * as layout from '../core/layout.ts'
import { NO_PRODUCER_ID } from '../core/producerId.ts'
import { InvalidArgumentError } from '../errors.ts'
import type { RecordHeader } from './record.ts'
import { NO_PARTITION_LEADER_EPOCH, NO_PRODUCER_EPOCH, NO_SEQUENCE, NO_TIMESTAMP } from './recordBatch.ts'

/** A record to write. Keys and values are null where they are left out. */
export interface RecordSpec {
  /** Absolute; default one more than the record before, the batch's base offset for the first. */
  offset?: bigint
  /** Milliseconds since the epoch; default -1. */
  timestamp?: bigint
  key?: Uint8Array | null
  value?: Uint8Array | null
  headers?: readonly RecordHeader[]
  /** Not written, as `baseSequence` tells it: it is known here so that records of `decodeRecords` may be given. */
  sequence?: number
}

const RECORD: OptionKinds<RecordSpec> = {
  offset: 'any',
  timestamp: 'any',
  key: 'any',
  value: 'any',
  headers: 'list',
  sequence: 'any',
}
const HEADER: OptionKinds<RecordHeader> = { key: 'string', value: 'any' }

/** What `encodeRecordBatch` takes; all fields but the records have the defaults of a batch without a producer. */
export interface RecordBatchSpec {
  /** Default 0. */
  baseOffset?: bigint
  /** Default -1. */
  partitionLeaderEpoch?: number
  timestampType?: 'CreateTime' | 'LogAppendTime'
  isTransactional?: boolean
  isControl?: boolean
  producerId?: bigint
  producerEpoch?: number
  baseSequence?: number
  /** Default that of the last record, 0 without records. Larger when compaction took the last records away. */
  lastOffsetDelta?: number
  /** Default the largest of the records. */
  maxTimestamp?: bigint
  /** No records make the header-only batch that compaction keeps for a producer's last sequence. */
  records: readonly RecordSpec[]
}

const BATCH: OptionKinds<RecordBatchSpec> = {
  baseOffset: 'any',
  partitionLeaderEpoch: 'any',
  timestampType: 'any',
  isTransactional: 'boolean',
  isControl: 'boolean',
  producerId: 'any',
  producerEpoch: 'any',
  baseSequence: 'any',
  lastOffsetDelta: 'any',
  maxTimestamp: 'any',
  records: 'list',
}

const MAX_INT32 = 2147483647
const TIMESTAMP_TYPES = ['CreateTime', 'LogAppendTime'] as const
const utf8 = new TextEncoder()

function requireInt(name: string, value: number, low: number, high: number): number {
  if (Number.isInteger(value) && value >= low && value <= high) return value
  throw new InvalidArgumentError(
    `${name} must be a whole number from ${low} to ${high}; got ${String(value)}`,
  )
}

function requireInt64(name: string, value: bigint): bigint {
  if (typeof value === 'bigint' && BigInt.asIntN(64, value) === value) return value
  throw new InvalidArgumentError(`${name} must be a bigint in int64; got ${String(value)}`)
}

/**
 * One uncompressed magic 2 batch, CRC included, by the rules of Kafka's MemoryRecordsBuilder.
 *
 * @throws InvalidArgumentError for what no broker would write: offsets that do not rise, a transactional batch without a
 * producer, a producer without epoch or sequence, values out of their ranges; for keys and values that are no bytes
 * @example
 * encodeRecordBatch({ baseOffset: 7n, records: [{ value: new TextEncoder().encode('hello') }] }).length // 73
 */
export function encodeRecordBatch(spec: RecordBatchSpec): Uint8Array<ArrayBuffer> {
  requireOptions('spec of encodeRecordBatch', spec, BATCH)
  const baseOffset = requireInt64('baseOffset', spec.baseOffset ?? 0n)
  const { records, lastDelta } = placeRecords(spec, baseOffset)
  const lastOffsetDelta = requireInt(
    'lastOffsetDelta',
    spec.lastOffsetDelta ?? lastDelta,
    lastDelta,
    MAX_INT32,
  )
  const baseTimestamp = records[0]?.timestamp ?? NO_TIMESTAMP
  let largest = NO_TIMESTAMP
  for (const { timestamp } of records) if (timestamp > largest) largest = timestamp

  const writer = new ByteWriter()
  writer
    .int64(baseOffset)
    .int32(0) // batchLength, below
    .int32(
      requireInt(
        'partitionLeaderEpoch',
        spec.partitionLeaderEpoch ?? NO_PARTITION_LEADER_EPOCH,
        -1,
        MAX_INT32,
      ),
    )
    .int8(layout.CURRENT_MAGIC)
    .int32(0) // crc, below
    .int16(attributesOf(spec))
    .int32(lastOffsetDelta)
    .int64(baseTimestamp)
    .int64(requireInt64('maxTimestamp', spec.maxTimestamp ?? largest))
  writeProducer(writer, spec)
  writer.int32(records.length)
  for (const record of records) writeRecord(writer, record, baseTimestamp)

  const bytes = writer.finish()
  const view = new DataView(bytes.buffer)
  view.setInt32(layout.BATCH_LENGTH, bytes.length - layout.LOG_OVERHEAD)
  view.setUint32(layout.CRC, defaultCrcEngine().crc32c(bytes, layout.ATTRIBUTES, bytes.length, 0))
  return bytes
}

interface PlacedRecord extends RecordSpec {
  offsetDelta: number
  timestamp: bigint
}

function placeRecords(
  spec: RecordBatchSpec,
  baseOffset: bigint,
): { records: PlacedRecord[]; lastDelta: number } {
  let lastDelta = -1
  const records = requireList('records', spec.records).map((record, at) => {
    requireOptions(`records[${at}]`, record, RECORD)
    const offset = requireInt64('offset', record.offset ?? baseOffset + BigInt(lastDelta + 1))
    const offsetDelta = Number(offset - baseOffset)
    if (offsetDelta <= lastDelta || offsetDelta > MAX_INT32) {
      throw new InvalidArgumentError(
        `record offsets must rise from baseOffset ${baseOffset} to at most 2147483647 above it; got ${offset}`,
      )
    }
    lastDelta = offsetDelta
    const timestamp = requireInt64('timestamp', record.timestamp ?? NO_TIMESTAMP)
    if (timestamp < NO_TIMESTAMP)
      throw new InvalidArgumentError(`timestamp must be -1 or more; got ${timestamp}`)
    return { ...record, offsetDelta, timestamp }
  })
  return { records, lastDelta: Math.max(lastDelta, 0) }
}

function attributesOf(spec: RecordBatchSpec): number {
  return (
    (oneOf('timestampType', spec.timestampType ?? 'CreateTime', TIMESTAMP_TYPES) === 'LogAppendTime'
      ? 0x08
      : 0) |
    (spec.isTransactional ? layout.TRANSACTIONAL_FLAG : 0) |
    (spec.isControl ? layout.CONTROL_FLAG : 0)
  )
}

function writeProducer(writer: ByteWriter, spec: RecordBatchSpec): void {
  const producerId = requireInt64('producerId', spec.producerId ?? NO_PRODUCER_ID)
  const producerEpoch = requireInt('producerEpoch', spec.producerEpoch ?? NO_PRODUCER_EPOCH, -1, 32767)
  const baseSequence = requireInt('baseSequence', spec.baseSequence ?? NO_SEQUENCE, -1, MAX_INT32)
  if (producerId === NO_PRODUCER_ID) {
    if (spec.isTransactional)
      throw new InvalidArgumentError('a transactional batch needs a producerId other than -1')
  } else {
    if (producerEpoch < 0)
      throw new InvalidArgumentError('a batch with a producerId needs a producerEpoch from 0 on')
    if (baseSequence < 0 && !spec.isControl) {
      throw new InvalidArgumentError('a data batch with a producerId needs a baseSequence from 0 on')
    }
  }
  writer.int64(producerId).int16(producerEpoch).int32(baseSequence)
}

function nullable(name: string, bytes: Uint8Array | null | undefined): Uint8Array | null {
  return bytes === null || bytes === undefined ? null : bytesOf(bytes, name)
}

function writeRecord(writer: ByteWriter, record: PlacedRecord, baseTimestamp: bigint): void {
  const body = new ByteWriter()
    .int8(0)
    .varlong(BigInt.asIntN(64, record.timestamp - baseTimestamp)) // wraps, as in Java
    .varint(record.offsetDelta)
    .nullableBytes(nullable('the key of a record', record.key))
    .nullableBytes(nullable('the value of a record', record.value))
    .varint(record.headers?.length ?? 0)
  for (const header of record.headers ?? []) {
    const { key, value } = requireOptions('a header of a record', header, HEADER)
    if (key === undefined) throw new InvalidArgumentError('a header of a record needs a key')
    body.nullableBytes(utf8.encode(key)).nullableBytes(nullable('the value of a header', value))
  }
  writer.varint(body.length).bytes(body.finish())
}
