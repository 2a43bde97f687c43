// What tools for Kafka's log get wrong, as far as bytes and records go. Rewriting, framing and CRC rules have their tests in
// format.test.ts; producer state has its own.
import { describe, expect, it } from 'vitest'
import { defaultCrcEngine } from '../../src/core/jsCrc.ts'
import { consumerView } from '../../src/formats/consumerView.ts'
import { decodeControlRecord } from '../../src/formats/controlRecord.ts'
import { decodeRecords } from '../../src/formats/decodeRecords.ts'
import { encodeRecordBatch } from '../../src/formats/encodeRecordBatch.ts'
import { encodeEndTransactionMarker } from '../../src/formats/endTransactionMarker.ts'
import { crcFault, type RecordBatch } from '../../src/formats/recordBatch.ts'
import { recordBatches } from '../../src/formats/recordBatches.ts'
import { batch, legacyEntry, pattern } from '../support/batches.ts'

const only = (bytes: Uint8Array): RecordBatch => recordBatches(bytes).next().value as RecordBatch
const engine = defaultCrcEngine()
const text = (value: string) => new TextEncoder().encode(value)

const marker = (baseOffset: bigint, type: 'ABORT' | 'COMMIT', producerEpoch = 0) =>
  encodeEndTransactionMarker({
    baseOffset,
    timestamp: 5n,
    producerId: 11n,
    producerEpoch,
    coordinatorEpoch: 0,
    type,
  })

const transactional = (baseOffset: bigint, baseSequence: number, producerEpoch = 0) =>
  encodeRecordBatch({
    baseOffset,
    producerId: 11n,
    producerEpoch,
    baseSequence,
    isTransactional: true,
    records: [{ timestamp: 1n, value: text('x') }],
  })

describe('the CRC', () => {
  it('covers attributes to the end: base offset and leader epoch may change, all else may not', () => {
    const bytes = batch({ producerId: 5n, payload: pattern(30) })
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes)
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at)
      const isOutside = at < 8 || (at >= 12 && at < 16)
      const isFraming = at >= 8 && at < 17 && !isOutside
      if (!isFraming) expect(crcFault(only(changed), engine) === null, `byte ${at}`).toBe(isOutside)
    }
  })

  it('is shown as stored, also where it is wrong', () => {
    const bytes = batch({ crc: 0xfedcba98 })
    expect(only(bytes).crc).toBe(0xfedcba98)
    expect(crcFault(only(bytes), engine)).toMatchObject({ stored: 0xfedcba98 })
  })

  it('is CRC-32 from the magic on in old entries, which may stand between new ones', () => {
    const set = Buffer.concat([legacyEntry({ magic: 1 }), batch({}), legacyEntry({ magic: 0 })])
    expect([...recordBatches(set)].map((entry) => crcFault(entry, engine))).toEqual([null, null, null])
  })
})

describe('markers', () => {
  it('a user record with the bytes of a marker is a record', async () => {
    const [abort] = decodeControlRecord(only(marker(0n, 'ABORT')))!.record.key!
    const key = new Uint8Array([abort!, 0, 0, 0])
    const data = encodeRecordBatch({ records: [{ key, value: text('mine') }] })
    expect(only(data).isControl).toBe(false)
    expect((await consumerView(data)).records).toHaveLength(1)
  })

  it('take an offset of their own', async () => {
    const set = Buffer.concat([transactional(0n, 0), marker(1n, 'COMMIT')])
    expect((await consumerView(set)).nextOffset).toBe(2n)
  })

  it('may carry an epoch above that of their data, and may stand twice', () => {
    const set = Buffer.concat([transactional(0n, 0), marker(1n, 'COMMIT', 1), marker(2n, 'COMMIT', 1)])
    expect([...recordBatches(set)].map((entry) => entry.producerEpoch)).toEqual([0, 1, 1])
  })

  it('emptied by compaction end nothing', async () => {
    const empty = encodeRecordBatch({
      baseOffset: 1n,
      isControl: true,
      isTransactional: true,
      producerId: 11n,
      producerEpoch: 0,
      lastOffsetDelta: 0,
      records: [],
    })
    expect(decodeControlRecord(only(empty))).toBeNull()
    const view = await consumerView(Buffer.concat([transactional(0n, 0), empty, transactional(2n, 1)]), {
      isolation: 'read_committed',
      abortedTransactions: [{ producerId: 11n, firstOffset: 0n }],
    })
    expect(view).toEqual({ records: [], nextOffset: 3n })
  })
})

describe('D-26: sequence 0 again', () => {
  it('the coordinator’s batches each start at 0; that alone says nothing of the bytes', () => {
    const set = Buffer.concat([
      transactional(0n, 0),
      marker(1n, 'COMMIT'),
      transactional(2n, 0),
      marker(3n, 'COMMIT'),
      transactional(4n, 0),
    ])
    const batches = [...recordBatches(set)]
    expect(batches.filter((entry) => !entry.isControl).map((entry) => entry.baseSequence)).toEqual([0, 0, 0])
    expect(batches.every((entry) => crcFault(entry, engine) === null)).toBe(true)
    // base sequence and producer are independent: the group coordinator writes 0 without a producer
    expect(only(batch({ producerId: -1n, baseSequence: 0 }))).toMatchObject({
      hasProducerId: false,
      baseSequence: 0,
    })
  })

  it('a new epoch starts at 0 as well', () => {
    const set = Buffer.concat([transactional(0n, 0), transactional(1n, 0, 1)])
    expect([...recordBatches(set)].map((entry) => [entry.producerEpoch, entry.baseSequence])).toEqual([
      [0, 0],
      [1, 0],
    ])
  })
})

describe('compaction', () => {
  it('leaves gaps: a batch goes from its base offset to its last, whatever records are left', async () => {
    const sparse = only(
      encodeRecordBatch({ baseOffset: 10n, lastOffsetDelta: 9, records: [{ offset: 13n }, { offset: 17n }] }),
    )
    const offsets = (await decodeRecords(sparse)).map((record) => record.offset)
    expect([sparse.baseOffset, ...offsets, sparse.lastOffset]).toEqual([10n, 13n, 17n, 19n])
  })

  it('keeps an empty header for the end of the log, also without a producer', async () => {
    const empty = encodeRecordBatch({ baseOffset: 20n, lastOffsetDelta: 4, records: [] })
    expect(only(empty)).toMatchObject({ hasProducerId: false, baseTimestamp: -1n, compression: 'none' })
    expect((await consumerView(empty, { fromOffset: 20n })).nextOffset).toBe(25n)
  })

  it('puts a delete horizon where the base timestamp was', () => {
    const bytes = batch({ attributes: 0x40, baseTimestamp: 1800000000000n })
    expect(only(bytes).deleteHorizonMs).toBe(1800000000000n)
    expect(only(batch({})).deleteHorizonMs).toBeNull()
  })
})

describe('claims', () => {
  it('the count of records sizes no memory', async () => {
    const lying = only(batch({ recordsCount: 2147483647, payload: pattern(40) }))
    await expect((async () => decodeRecords(lying))()).rejects.toMatchObject({ code: 'INVALID_RECORD' })
  })

  it('a last offset delta is taken as it is: no CRC tells a wrong one from a right one', () => {
    expect(only(batch({ baseOffset: 5n, lastOffsetDelta: 2147483647 })).lastOffset).toBe(2147483652n)
  })
})
