import { gzipSync } from 'node:zlib'
import { compressFrameSync } from 'lz4-napi'
import type { CodecName } from '../../src/formats/compression/codec.ts'
import { CompressionType } from '../../src/formats/recordBatch.ts'
import { type BatchSpec, batch, hex } from './batches.ts'
import { xerial, zstd } from './compression.ts'

/** How the records of a test batch are compressed. */
export const compressions = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const
export type Compression = (typeof compressions)[number]

const compressors: Record<CodecName, (bytes: Uint8Array) => Uint8Array> = {
  gzip: gzipSync,
  snappy: xerial,
  lz4: (bytes) => compressFrameSync(Buffer.from(bytes)),
  zstd: (bytes) => Buffer.from(zstd.compress(bytes)),
}

/** A batch with a right CRC over these records, whatever they are. */
export function compressedBatch(compression: Compression, records: Uint8Array, spec: BatchSpec = {}): Buffer {
  const payload = compression === 'none' ? records : compressors[compression](records)
  const attributes = (spec.attributes ?? 0) | CompressionType[compression]
  return batch({ ...spec, attributes, payload })
}

// By hand: length, attributes, timestamp delta, offset delta, key length (-1 for null), value length, value, no headers.
const first = hex('10 00 00 00 01 04 6161 00')
const second = hex('10 00 00 02 01 04 6262 00')

/** A record without a key, with a value of any length. */
export function oneRecord(value: Uint8Array): Buffer {
  const body = Buffer.concat([hex('00000001'), varint(value.length), value, hex('00')])
  return Buffer.concat([varint(body.length), body])
}

function varint(number: number): Buffer {
  const bytes: number[] = []
  let left = number * 2 // zigzag, of what is not negative
  for (; left >= 0x80; left >>>= 7) bytes.push((left & 0x7f) | 0x80)
  return Buffer.from([...bytes, left])
}

/** Two records that are fine. */
export const twoRecords = Buffer.concat([first, second])
export const twoRecordsSpec: BatchSpec = { recordsCount: 2, lastOffsetDelta: 1 }

export interface RecordsFault {
  records: Uint8Array
  spec: BatchSpec
  message: RegExp
}

/** What a broken writer may make of the two: each a batch with a right CRC. */
export const recordsFaults: Record<string, RecordsFault> = {
  'fewer than it claims': {
    records: twoRecords,
    spec: { recordsCount: 3, lastOffsetDelta: 2 },
    message: /^the records end after 2 of 3, at byte 18 of the records$/,
  },
  'more than it claims': {
    records: twoRecords,
    spec: { recordsCount: 1, lastOffsetDelta: 1 },
    message: /^9 bytes are left behind the last record, at byte 9 of the records$/,
  },
  'bytes behind them': {
    records: Buffer.concat([twoRecords, hex('00')]),
    spec: twoRecordsSpec,
    message: /^1 bytes are left behind the last record/,
  },
  'bytes in an empty batch': {
    records: twoRecords,
    spec: { recordsCount: 0, lastOffsetDelta: 1 },
    message: /^\d+ bytes are there, for 0 records$/,
  },
  'a negative number of them': {
    records: twoRecords,
    spec: { recordsCount: -1, lastOffsetDelta: 1 },
    message: /^the batch claims -1 records/,
  },
  'an absurd number of them': {
    records: twoRecords,
    spec: { recordsCount: 2147483647, lastOffsetDelta: 2147483647 },
    message: /^the records end after 2 of 2147483647/,
  },
  'a length beyond the end': {
    records: Buffer.concat([first, hex('12 00 00 02 01 04 6262 00')]),
    spec: twoRecordsSpec,
    message: /^record 1 claims 9 bytes where 8 are left/,
  },
  'a length that is not its own': {
    records: Buffer.concat([hex('12 00 00 00 01 04 6161 00'), second]),
    spec: twoRecordsSpec,
    message: /^record 0 claims 9 bytes and has 8/,
  },
  'a negative length': {
    records: Buffer.concat([hex('01'), twoRecords]),
    spec: twoRecordsSpec,
    message: /^record 0 claims -1 bytes/,
  },
  'a value beyond the end': {
    records: hex('10 00 00 00 01 7e 6161 00'),
    spec: { recordsCount: 1 },
    message: /^63 bytes are wanted where 3 are left/,
  },
  'a varint without an end': {
    records: hex('14 00 00 ffffffffff01 00 00'),
    spec: { recordsCount: 1 },
    message: /^a varint is longer than 5 bytes/,
  },
  'a header key of negative length': {
    records: hex('14 00 00 00 01 04 6161 02 01 01'),
    spec: { recordsCount: 1 },
    message: /^a header key has a negative length/,
  },
  'headers without end': {
    records: hex('10 00 00 00 01 04 6161 7e'),
    spec: { recordsCount: 1 },
    message: /^63 headers are claimed where 0 bytes are left/,
  },
  'offset deltas that do not rise': {
    records: Buffer.concat([first, first]),
    spec: twoRecordsSpec,
    message: /^record 1 has offset delta 0, not above that of the record before, 0$/,
  },
  'an offset delta below 0': {
    records: hex('10 00 00 01 01 04 6161 00'),
    spec: { recordsCount: 1 },
    message: /^record 0 has offset delta -1, below 0$/,
  },
  "an offset delta above the batch's last": {
    records: twoRecords,
    spec: { recordsCount: 2, lastOffsetDelta: 0 },
    message: /^record 1 has offset delta 1, above the batch's last, 0$/,
  },
  'a control record without a key': {
    records: first,
    spec: { recordsCount: 1, attributes: 0x20 },
    message: /^record 0: a control record's key has no bytes; it needs 4$/,
  },
  'a control record with too short a key': {
    records: hex('14 00 00 00 04 0000 04 6161 00'),
    spec: { recordsCount: 1, attributes: 0x20 },
    message: /^record 0: a control record's key has 2 bytes; it needs 4$/,
  },
  'a control record whose key has no version': {
    records: hex('18 00 00 00 08 ffff0001 04 6161 00'),
    spec: { recordsCount: 1, attributes: 0x20 },
    message: /^record 0: a control record's key has version -1$/,
  },
}
