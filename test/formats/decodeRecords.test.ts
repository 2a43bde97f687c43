import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { ByteWriter } from '../../src/bytes/byteWriter.ts'
import { decodeControlRecord } from '../../src/formats/controlRecord.ts'
import { type DecodeOptions, decodeRecords } from '../../src/formats/decodeRecords.ts'
import { encodeRecordBatch } from '../../src/formats/encodeRecordBatch.ts'
import { encodeEndTransactionMarker } from '../../src/formats/endTransactionMarker.ts'
import type { RecordBatch } from '../../src/formats/recordBatch.ts'
import { recordBatches } from '../../src/formats/recordBatches.ts'
import { batch, hex, legacyEntry } from '../support/batches.ts'

const only = (bytes: Uint8Array): RecordBatch => recordBatches(bytes).next().value as RecordBatch

/** A compressed entry of magic 0 or 1 around others. */
function wrapper(magic: 0 | 1, offset: bigint, inner: Uint8Array[], attributes = 1): RecordBatch {
  const bytes = legacyEntry({ magic, offset, value: gzipSync(Buffer.concat(inner)) })
  bytes.writeInt8(attributes, 17)
  return only(bytes)
}

const entry = (magic: 0 | 1, offset: bigint, text = 'x') =>
  legacyEntry({ magic, offset, value: Buffer.from(text) })
const offsetsOf = async (wrapped: RecordBatch) =>
  (await decodeRecords(wrapped)).map((record) => record.offset)

describe('compressed entries of old magics', () => {
  it('magic 1: inner offsets are relative to the last one, which is the wrapper’s', async () => {
    expect(await offsetsOf(wrapper(1, 12n, [entry(1, 0n), entry(1, 1n), entry(1, 2n)]))).toEqual([
      10n,
      11n,
      12n,
    ])
    // compaction took the middle one
    expect(await offsetsOf(wrapper(1, 12n, [entry(1, 0n), entry(1, 2n)]))).toEqual([10n, 12n])
  })

  it('magic 1 at offset 0 has absolute ones, as an old librdkafka wrote them', async () => {
    expect(await offsetsOf(wrapper(1, 0n, [entry(1, 0n), entry(1, 1n)]))).toEqual([0n, 1n])
  })

  it('magic 0 has absolute ones', async () => {
    expect(await offsetsOf(wrapper(0, 11n, [entry(0, 10n), entry(0, 11n)]))).toEqual([10n, 11n])
  })

  it('log append time is the wrapper’s for all', async () => {
    const inner = [entry(1, 0n), entry(1, 1n)]
    inner[0]!.writeBigInt64BE(5n, 18)
    const times = async (wrapped: RecordBatch) =>
      (await decodeRecords(wrapped)).map((record) => record.timestamp)
    expect(await times(wrapper(1, 9n, inner))).toEqual([5n, 1700000000000n])
    expect(await times(wrapper(1, 9n, inner, 0x09))).toEqual([1700000000000n, 1700000000000n])
    expect(only(legacyEntry({ magic: 1 })).timestampType).toBe('CreateTime')
    expect(wrapper(1, 9n, inner, 0x09).timestampType).toBe('LogAppendTime')
    expect(wrapper(1, 9n, inner, 0x41).deleteHorizonMs).toBeNull()
  })

  it.each<[string, () => RecordBatch]>([
    ['nothing inside', () => wrapper(1, 9n, [])],
    ['an offset below the last one inside', () => wrapper(1, 1n, [entry(1, 0n), entry(1, 2n)])],
    ['a compressed entry inside', () => wrapper(1, 9n, [wrapper(1, 0n, [entry(1, 0n)]).bytes])],
    ['a batch of magic 2 inside', () => wrapper(1, 9n, [batch({})])],
    ['zstd', () => wrapper(1, 9n, [entry(1, 0n)], 4)],
    ['an undefined codec', () => wrapper(1, 9n, [entry(1, 0n)], 6)],
  ])('%s is refused, and the batch named', async (_, make) => {
    await expect((async () => decodeRecords(make()))()).rejects.toMatchObject({ code: 'INVALID_RECORD' })
  })

  it('no value to decompress', async () => {
    const bytes = legacyEntry({ magic: 1, offset: 9n, value: new Uint8Array(0) })
    bytes.writeInt32BE(-1, 30)
    bytes.writeInt8(1, 17)
    await expect((async () => decodeRecords(only(bytes)))()).rejects.toMatchObject({
      code: 'INVALID_RECORD',
      baseOffset: 9n,
      message: expect.stringContaining('base offset 9'),
    })
  })
})

describe('decodeRecords', () => {
  const plain = encodeRecordBatch({ baseOffset: 3n, records: [{ value: Buffer.alloc(5000, 1) }] })
  const compressed = () => {
    const bytes = batch({ baseOffset: 3n, attributes: 1, payload: gzipSync(plain.subarray(61)) })
    return only(bytes)
  }
  const decode = async (from: RecordBatch, options?: DecodeOptions) => decodeRecords(from, options)

  it('gives the records of a plain batch at once', () => {
    expect(decodeRecords(only(plain))).toHaveLength(1)
  })

  it('says of which batch the codec is none', async () => {
    const bytes = Buffer.from(plain)
    bytes.writeBigInt64BE(77n, 0)
    bytes.writeInt16BE(bytes.readInt16BE(21) | 5, 21)
    await expect(decode(only(bytes))).rejects.toMatchObject({
      code: 'INVALID_RECORD',
      baseOffset: 77n,
      message: expect.stringContaining('at base offset 77: the compression codec has number 5'),
    })
  })

  it('bounds what it decompresses', async () => {
    expect(await decode(compressed())).toHaveLength(1)
    expect(await decode(compressed(), { maxDecompressedBytes: 5100 })).toHaveLength(1)
    await expect(decode(compressed(), { maxDecompressedBytes: 4999 })).rejects.toMatchObject({
      code: 'DECOMPRESSION_LIMIT',
      limit: 4999,
      baseOffset: only(plain).baseOffset,
      message: expect.stringContaining(`the batch at base offset ${only(plain).baseOffset} decompresses`),
    })
    for (const maxDecompressedBytes of [-1, 0.5, Number.NaN, '5' as unknown as number]) {
      await expect(decode(compressed(), { maxDecompressedBytes })).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
      })
    }
  })

  it('does not decompress an empty batch, whatever its codec bits say', () => {
    expect(decodeRecords(only(batch({ attributes: 4, recordsCount: 0 })))).toEqual([])
  })

  it('takes the decompressor that it is given', async () => {
    const codecs = () => () => plain.subarray(61)
    expect(await decode(only(batch({ attributes: 3, payload: Buffer.from('??') })), { codecs })).toHaveLength(
      1,
    )
  })

  const record = (...parts: string[]) => {
    const body = hex(parts.join(''))
    return only(batch({ baseOffset: 8n, baseSequence: 5, payload: Buffer.from([body.length * 2, ...body]) }))
  }

  it('a negative offset delta has no sequence', async () => {
    // attributes, timestamp delta 0, offset delta -1, null key, null value, no headers
    expect(await decode(record('00', '00', '01', '01', '01', '00'))).toMatchObject([
      { offset: 7n, sequence: -1 },
    ])
  })

  it('timestamps wrap at int64, as Java’s do', async () => {
    const delta = new ByteWriter().varlong(2n ** 63n - 1n).finish()
    const [read] = await decode(record('00', Buffer.from(delta).toString('hex'), '00', '01', '01', '00'))
    expect(read?.timestamp).toBe(BigInt.asIntN(64, 1700000000000n + 2n ** 63n - 1n))
  })

  it.each([
    ['a negative header key length', ['00', '00', '00', '01', '01', '02', '01', '01']],
    ['more headers than bytes', ['00', '00', '00', '01', '01', 'fe01']],
    ['a negative count of headers', ['00', '00', '00', '01', '01', '01']],
    ['bytes left in the record', ['00', '00', '00', '01', '01', '00', '00']],
    ['a key past the end', ['00', '00', '00', '7e', '01', '00']],
    ['a varint of six bytes', ['00', '00', '8080808080', '01', '01', '01', '00']],
  ])('%s is refused', async (_, parts) => {
    await expect(decode(record(...parts))).rejects.toMatchObject({ code: 'INVALID_RECORD', baseOffset: 8n })
  })
})

describe('what a batch says when it is not told', () => {
  it('the last offset delta is that of the last record, the largest time that of any', () => {
    const records = [
      { offset: 2n, timestamp: 9n },
      { offset: 7n, timestamp: 4n },
    ]
    expect(only(encodeRecordBatch({ records }))).toMatchObject({ lastOffsetDelta: 7, maxTimestamp: 9n })
  })

  it('no base sequence, no last one', () => {
    expect(only(batch({ baseSequence: -1, lastOffsetDelta: 3 })).lastSequence).toBe(-1)
  })
})

describe('control records with odd versions', () => {
  const control = (key: string, value: string, attributes = 0x20) => {
    const encoded = Buffer.from(
      encodeRecordBatch({ isControl: true, records: [{ key: hex(key), value: hex(value) }] }),
    )
    encoded.writeInt16BE(attributes, 21)
    return only(encoded)
  }

  it.each([
    ['a key of a version below 0', control('ffff0000', '000000000004')],
    ['a marker of a version below 0', control('00000000', 'ffff00000004')],
    ['a compressed control batch', control('00000000', '000000000004', 0x21)],
  ])('%s is refused', (_, odd) => {
    expect(() => decodeControlRecord(odd)).toThrow(expect.objectContaining({ code: 'INVALID_RECORD' }))
  })

  it.each([-2, 2147483648, 0.5, Number.NaN])('coordinator epoch %s is not written', (coordinatorEpoch) => {
    const spec = { baseOffset: 0n, timestamp: 0n, producerId: 1n, producerEpoch: 0, type: 'ABORT' as const }
    expect(() => encodeEndTransactionMarker({ ...spec, coordinatorEpoch })).toThrow(/coordinatorEpoch/)
  })
})
