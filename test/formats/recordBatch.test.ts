import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MalformedBytes } from '../../src/bytes/byteReader.ts'
import { defaultCrcEngine } from '../../src/core/jsCrc.ts'
import { decodeRecords } from '../../src/formats/decodeRecords.ts'
import { encodeRecordBatch, type RecordBatchSpec } from '../../src/formats/encodeRecordBatch.ts'
import { parseLegacyRecord } from '../../src/formats/legacyRecords.ts'
import { parseRecords } from '../../src/formats/record.ts'
import { crcFault, type RecordBatch } from '../../src/formats/recordBatch.ts'
import { recordBatches } from '../../src/formats/recordBatches.ts'
import { jsCore } from '../../src/js.ts'
import { batch, hasValidCrc, hex, legacyEntry } from '../support/batches.ts'

const MAX = 2n ** 63n - 1n
const text = (value: string) => new TextEncoder().encode(value)

// kafka-log-format.md 1.13
const data = hex(
  '0000000000000000000000470000000702fd8ec4520010000000010000018bcfe568000000018bcfe5680500000000000003e8000300000000' +
    '000000021c000000046b3104763102026802780c000a02010100',
)
const empty = hex(
  '000000000000000a000000310000000702e38af65d001000000004ffffffffffffffff0000018bcfe5680500000000000003e8000300000014' +
    '00000000',
)
const magic1 = hex('00000000000000050000001aa5da6a6201000000018bcfe56800000000026b31000000027631')
const magic0 = hex('0000000000000005000000104c9f5bc20000ffffffff000000027631')

function only(bytes: Uint8Array): RecordBatch {
  const [first, ...rest] = recordBatches(bytes)
  expect(rest).toEqual([])
  return first!
}

describe('a batch read', () => {
  it('has all header fields', () => {
    const batch = only(data)
    expect({
      baseOffset: batch.baseOffset,
      lastOffset: batch.lastOffset,
      nextOffset: batch.nextOffset,
      batchLength: batch.batchLength,
      sizeInBytes: batch.sizeInBytes,
      position: batch.position,
      partitionLeaderEpoch: batch.partitionLeaderEpoch,
      magic: batch.magic,
      crc: batch.crc,
      compression: batch.compression,
      timestampType: batch.timestampType,
      isTransactional: batch.isTransactional,
      isControl: batch.isControl,
      hasProducerId: batch.hasProducerId,
      deleteHorizonMs: batch.deleteHorizonMs,
      lastOffsetDelta: batch.lastOffsetDelta,
      baseTimestamp: batch.baseTimestamp,
      maxTimestamp: batch.maxTimestamp,
      producerId: batch.producerId,
      producerEpoch: batch.producerEpoch,
      baseSequence: batch.baseSequence,
      lastSequence: batch.lastSequence,
      recordsCount: batch.recordsCount,
    }).toEqual({
      baseOffset: 0n,
      lastOffset: 1n,
      nextOffset: 2n,
      batchLength: 71,
      sizeInBytes: 83,
      position: 0,
      partitionLeaderEpoch: 7,
      magic: 2,
      crc: 4253992018,
      compression: 'none',
      timestampType: 'CreateTime',
      isTransactional: true,
      isControl: false,
      hasProducerId: true,
      deleteHorizonMs: null,
      lastOffsetDelta: 1,
      baseTimestamp: 1700000000000n,
      maxTimestamp: 1700000000005n,
      producerId: 1000n,
      producerEpoch: 3,
      baseSequence: 0,
      lastSequence: 1,
      recordsCount: 2,
    })
    expect(crcFault(batch, defaultCrcEngine())).toBeNull()
  })

  it('gives its records', () => {
    const batch = only(data)
    expect(parseRecords(batch, batch.payload)).toEqual([
      {
        offset: 0n,
        timestamp: 1700000000000n,
        sequence: 0,
        key: new Uint8Array(Buffer.from('k1')),
        value: new Uint8Array(Buffer.from('v1')),
        headers: [{ key: 'h', value: new Uint8Array(Buffer.from('x')) }],
      },
      { offset: 1n, timestamp: 1700000000005n, sequence: 1, key: null, value: null, headers: [] },
    ])
  })

  it('may be empty: compaction keeps its header for the last sequence', () => {
    const batch = only(empty)
    expect(batch).toMatchObject({ baseOffset: 10n, lastOffset: 14n, lastSequence: 24, recordsCount: 0 })
    expect(batch.baseTimestamp).toBe(-1n)
    expect(parseRecords(batch, batch.payload)).toEqual([])
    expect(crcFault(batch, defaultCrcEngine())).toBeNull()
  })

  it('of magic 1 and 0 gives Kafka’s sentinels for what it lacks', () => {
    for (const bytes of [magic1, magic0]) {
      const batch = only(bytes)
      expect(batch).toMatchObject({
        baseOffset: 5n,
        lastOffset: 5n,
        partitionLeaderEpoch: -1,
        producerId: -1n,
        hasProducerId: false,
        producerEpoch: -1,
        baseSequence: -1,
        lastSequence: -1,
        recordsCount: null,
        isTransactional: false,
        isControl: false,
        deleteHorizonMs: null,
        compression: 'none',
      })
      expect(crcFault(batch, defaultCrcEngine())).toBeNull()
    }
    expect(only(magic1)).toMatchObject({ timestampType: 'CreateTime', maxTimestamp: 1700000000000n })
    expect(only(magic0)).toMatchObject({ timestampType: 'NoTimestampType', maxTimestamp: -1n })
    expect(Buffer.from(parseLegacyRecord(only(magic1)).key!).toString()).toBe('k1')
    expect(parseLegacyRecord(only(magic0))).toMatchObject({ key: null, timestamp: -1n, offset: 5n })
  })

  it('of mapped id has a producer; one of id -1 has none', () => {
    expect(only(batch({ producerId: -7n })).hasProducerId).toBe(true)
    expect(only(batch({ producerId: -1n })).hasProducerId).toBe(false)
  })

  it('counts its last sequence across the wrap', () => {
    expect(only(batch({ baseSequence: 2147483646, lastOffsetDelta: 3 })).lastSequence).toBe(1)
  })

  it('gives every record the log append time where that is set', () => {
    const bytes = Buffer.from(data)
    bytes.writeInt16BE(0x18, 21)
    const parsed = only(bytes)
    expect(parseRecords(parsed, parsed.payload).map((record) => record.timestamp)).toEqual([
      1700000000005n,
      1700000000005n,
    ])
  })

  it('shows a delete horizon, and record times relative to it', () => {
    const bytes = Buffer.from(data)
    bytes.writeInt16BE(0x50, 21)
    bytes.writeBigInt64BE(1800000000000n, 27)
    const parsed = only(bytes)
    expect(parsed.deleteHorizonMs).toBe(1800000000000n)
    expect(parseRecords(parsed, parsed.payload)[1]?.timestamp).toBe(1800000000005n)
  })
})

describe('a walk', () => {
  it('says how it ended', () => {
    const walk = recordBatches(Buffer.concat([data, empty, Buffer.alloc(7)]))
    expect(walk.next().value).toMatchObject({ position: 0 })
    expect(walk.next().value).toMatchObject({ position: 83 })
    expect(walk.next()).toEqual({ done: true, value: { kind: 'zeros', bytes: 7 } })
    const cut = recordBatches(data.subarray(0, 82))
    expect(cut.next()).toEqual({ done: true, value: { kind: 'incomplete', bytes: 82 } })
  })

  it('gives what stands before an unreadable batch, then throws', () => {
    const walk = recordBatches(Buffer.concat([data, batch({ magic: 3 })]))
    expect(walk.next().value).toMatchObject({ position: 0 })
    expect(() => walk.next()).toThrow(expect.objectContaining({ code: 'CORRUPT_BATCH', position: 83 }))
  })
})

describe('records that lie', () => {
  const withCount = (recordsCount: number) => {
    const bytes = Buffer.from(data)
    bytes.writeInt32BE(recordsCount, 57)
    return only(bytes)
  }

  it.each([-1, 1, 3, 2147483647])('a count of %i', (count) => {
    const lying = withCount(count)
    expect(() => parseRecords(lying, lying.payload)).toThrow(MalformedBytes)
  })

  it('cut at every byte, or with any byte changed: parsed or refused, never out of bounds', () => {
    const parsed = only(data)
    for (let cut = 0; cut < parsed.payload.length; cut++) {
      expect(() => parseRecords(parsed, parsed.payload.subarray(0, cut))).toThrow(MalformedBytes)
    }
    for (let at = 0; at < parsed.payload.length; at++) {
      for (const value of [0, 1, 0x7f, 0x80, 0xff]) {
        const payload = Uint8Array.from(parsed.payload)
        payload[at] = value
        try {
          parseRecords(parsed, payload)
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedBytes)
        }
      }
    }
  })
})

const bytes = fc.oneof(fc.constant(null), fc.uint8Array({ maxLength: 40 }))
const specs: fc.Arbitrary<RecordBatchSpec> = fc
  .record({
    baseOffset: fc.bigInt({ min: 0n, max: MAX - 2n ** 31n }),
    partitionLeaderEpoch: fc.nat(),
    timestampType: fc.constantFrom('CreateTime' as const, 'LogAppendTime' as const),
    isTransactional: fc.boolean(),
    producerId: fc.bigInt({ min: -(2n ** 63n), max: MAX }).filter((id) => id !== -1n),
    producerEpoch: fc.nat(32767),
    baseSequence: fc.nat(),
    records: fc.array(
      fc.record({
        // between the two ends, the difference is no int64
        timestamp: fc.oneof(fc.bigInt({ min: -1n, max: MAX }), fc.constantFrom(-1n, MAX)),
        key: bytes,
        value: bytes,
        headers: fc.array(fc.record({ key: fc.string({ unit: 'grapheme', maxLength: 5 }), value: bytes }), {
          maxLength: 3,
        }),
      }),
      { minLength: 1, maxLength: 5 },
    ),
  })
  .map((spec) => spec)

describe('a batch written', () => {
  it('is read back as it was', () => {
    fc.assert(
      fc.property(specs, (spec) => {
        const encoded = encodeRecordBatch(spec)
        expect(hasValidCrc(Buffer.from(encoded))).toBe(true)
        const read = only(encoded)
        const { records, isTransactional, ...header } = spec
        expect(read).toMatchObject({ ...header, isTransactional, recordsCount: records.length })
        expect(read.lastOffsetDelta).toBe(records.length - 1)
        const isLogAppendTime = spec.timestampType === 'LogAppendTime'
        const parsed = parseRecords(read, read.payload)
        expect(parsed.map(({ key, value, headers }) => ({ key, value, headers }))).toEqual(
          records.map(({ key, value, headers }) => ({ key, value, headers })),
        )
        expect(parsed.map((record) => record.timestamp)).toEqual(
          records.map((record) => (isLogAppendTime ? read.maxTimestamp : record.timestamp)),
        )
        expect(parsed.map((record) => record.offset)).toEqual(
          records.map((_, index) => read.baseOffset + BigInt(index)),
        )
      }),
    )
  })

  it('equals the vector of the specification', () => {
    const encoded = encodeRecordBatch({
      baseOffset: 0n,
      partitionLeaderEpoch: 7,
      isTransactional: true,
      producerId: 1000n,
      producerEpoch: 3,
      baseSequence: 0,
      records: [
        {
          timestamp: 1700000000000n,
          key: text('k1'),
          value: text('v1'),
          headers: [{ key: 'h', value: text('x') }],
        },
        { timestamp: 1700000000005n },
      ],
    })
    expect(Buffer.from(encoded)).toEqual(data)
  })

  it('may keep the gaps of compaction, or no record at all', () => {
    const records = [{ offset: 12n }, { offset: 15n }]
    const sparse = only(encodeRecordBatch({ baseOffset: 10n, lastOffsetDelta: 9, records }))
    expect(sparse).toMatchObject({ lastOffset: 19n, recordsCount: 2 })
    expect(parseRecords(sparse, sparse.payload).map((record) => record.offset)).toEqual([12n, 15n])
    const header = encodeRecordBatch({
      baseOffset: 10n,
      partitionLeaderEpoch: 7,
      isTransactional: true,
      producerId: 1000n,
      producerEpoch: 3,
      baseSequence: 20,
      lastOffsetDelta: 4,
      maxTimestamp: 1700000000005n,
      records: [],
    })
    expect(Buffer.from(header)).toEqual(empty)
  })

  it.each<[string, RecordBatchSpec]>([
    ['a transactional batch without a producer', { isTransactional: true, records: [{}] }],
    ['a producer without an epoch', { producerId: 5n, baseSequence: 0, records: [{}] }],
    ['a producer without a sequence', { producerId: 5n, producerEpoch: 0, records: [{}] }],
    ['offsets that fall', { baseOffset: 5n, records: [{ offset: 6n }, { offset: 6n }] }],
    ['an offset below the base', { baseOffset: 5n, records: [{ offset: 4n }] }],
    ['an offset too far above the base', { records: [{ offset: 2147483648n }] }],
    ['a negative timestamp', { records: [{ timestamp: -2n }] }],
    ['a base offset beyond int64', { baseOffset: 2n ** 63n, records: [{}] }],
    ['a last offset delta below the last record', { lastOffsetDelta: 0, records: [{}, {}] }],
    ['an epoch beyond int16', { producerId: 5n, producerEpoch: 32768, baseSequence: 0, records: [{}] }],
    ['a fractional sequence', { producerId: 5n, producerEpoch: 0, baseSequence: 0.5, records: [{}] }],
  ])('is refused: %s', (_, spec) => {
    expect(() => encodeRecordBatch(spec)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
  })

  const bytes = new Uint8Array(1)
  const record = { value: bytes }

  it.each<[string, unknown]>([
    ['a key that is a string', { records: [{ key: 'k' }] }],
    ['a value that is a string', { records: [{ value: 'v' }] }],
    ['a value that is a list of numbers', { records: [{ value: [1, 2] }] }],
    ['a value that is an object', { records: [{ value: { a: 1 } }] }],
    ['a header whose value is a string', { records: [{ headers: [{ key: 'k', value: 'v' }] }] }],
    ['a header whose key is bytes', { records: [{ headers: [{ key: bytes, value: bytes }] }] }],
    ['a header without a key', { records: [{ headers: [{ value: bytes }] }] }],
    ['headers as other clients have them', { records: [{ headers: { k: bytes } }] }],
    ['records that are a string', { records: 'abc' }],
    ['records that are none', { records: [bytes] }],
    ['no records', {}],
    ['a name of a record that is not known', { records: [{ ...record, values: bytes }] }],
    ['a name of a header that is not known', { records: [{ headers: [{ key: 'k', val: bytes }] }] }],
    ['a name that is not known', { leaderEpoch: 1, records: [record] }],
    ['another timestamp type', { timestampType: 'logAppendTime', records: [record] }],
  ])('is refused: %s', (_, spec) => {
    expect(() => encodeRecordBatch(spec as RecordBatchSpec)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
    )
  })

  it('takes further arguments for none', () => {
    const specs: RecordBatchSpec[] = [{ records: [record] }, { baseOffset: 1n, records: [record] }]
    const encode = encodeRecordBatch as (spec: RecordBatchSpec, ...rest: unknown[]) => Uint8Array
    const expected = specs.map((spec) => encodeRecordBatch(spec))
    expect(specs.map(encodeRecordBatch)).toEqual(expected)
    expect(specs.map((spec) => encode(spec, jsCore()))).toEqual(expected)
  })

  it('is written again from its decoded records', async () => {
    const spec = {
      producerId: 5n,
      producerEpoch: 0,
      baseSequence: 3,
      records: [{ key: bytes, value: bytes, headers: [{ key: 'k', value: null }] }],
    }
    const encoded = encodeRecordBatch(spec)
    const records = await decodeRecords(only(encoded))
    expect(encodeRecordBatch({ ...spec, records })).toEqual(encoded)
  })

  it('of magic 0 or 1 is only read', () => {
    expect(only(legacyEntry({ magic: 1 })).isLegacy).toBe(true)
  })
})
