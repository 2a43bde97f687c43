import { describe, expect, it } from 'vitest'
import { mapProducerId } from '../../src/core/producerId.ts'
import {
  type AbortedTransaction,
  type ConsumerViewOptions,
  consumerView,
} from '../../src/formats/consumerView.ts'
import { encodeRecordBatch } from '../../src/formats/encodeRecordBatch.ts'
import { encodeEndTransactionMarker } from '../../src/formats/endTransactionMarker.ts'
import { encodeMirrorPidReset } from '../../src/formats/mirrorPidReset.ts'

const value = (text: string) => ({ value: new TextEncoder().encode(text) })

function data(baseOffset: bigint, producerId: bigint, ...texts: string[]): Uint8Array {
  return encodeRecordBatch({
    baseOffset,
    producerId,
    producerEpoch: producerId === -1n ? -1 : 0,
    baseSequence: producerId === -1n ? -1 : 0,
    isTransactional: producerId !== -1n,
    records: texts.map(value),
  })
}

function marker(baseOffset: bigint, producerId: bigint, type: 'ABORT' | 'COMMIT'): Uint8Array {
  return encodeEndTransactionMarker({
    baseOffset,
    timestamp: 0n,
    producerId,
    producerEpoch: 0,
    coordinatorEpoch: 0,
    type,
  })
}

const barrier = (baseOffset: bigint) =>
  encodeMirrorPidReset({ baseOffset, leaderEpoch: 1, timestamp: 0n, sourceClusterId: 'A' })

async function view(batches: Uint8Array[], options: ConsumerViewOptions = {}) {
  const { records, nextOffset } = await consumerView(Buffer.concat(batches), options)
  return { seen: records.map((record) => Buffer.from(record.value!).toString()), nextOffset }
}

const committed = (...abortedTransactions: AbortedTransaction[]): ConsumerViewOptions => ({
  isolation: 'read_committed',
  abortedTransactions,
})

describe('D-25: control batches are hidden and the position still moves', () => {
  it('a set with one COMMIT marker only', async () => {
    expect(await view([marker(41n, 5n, 'COMMIT')], { fromOffset: 41n })).toEqual({
      seen: [],
      nextOffset: 42n,
    })
  })

  it('data, transactional data, ABORT, barrier and a cut tail', async () => {
    const tail = data(5n, -1n, 'later').subarray(0, 50)
    const batches = [data(0n, -1n, 'a', 'b'), data(2n, 5n, 'x'), marker(3n, 5n, 'ABORT'), barrier(4n), tail]
    const abortedTransaction = { producerId: 5n, firstOffset: 2n }
    expect(await view(batches, committed(abortedTransaction))).toEqual({ seen: ['a', 'b'], nextOffset: 5n })
    expect(await view(batches)).toEqual({ seen: ['a', 'b', 'x'], nextOffset: 5n })
  })
})

describe('read_committed', () => {
  it.each([5n, mapProducerId(5n)])(
    'drops the aborted transaction of producer %s alone',
    async (producerId) => {
      const batches = [
        data(0n, producerId, 'before'),
        marker(1n, producerId, 'COMMIT'),
        data(2n, producerId, 'aborted'),
        data(3n, 9n, 'other'),
        data(4n, producerId, 'aborted too'),
        marker(5n, producerId, 'ABORT'),
        data(6n, producerId, 'after'),
        marker(7n, producerId, 'COMMIT'),
        marker(8n, 9n, 'COMMIT'),
      ]
      const options = committed({ producerId, firstOffset: 2n })
      expect(await view(batches, options)).toEqual({ seen: ['before', 'other', 'after'], nextOffset: 9n })
    },
  )

  it('drops a transaction that began before the fetched bytes', async () => {
    const batches = [data(10n, 5n, 'aborted'), marker(11n, 5n, 'ABORT'), data(12n, 5n, 'after')]
    expect((await view(batches, committed({ producerId: 5n, firstOffset: 3n }))).seen).toEqual(['after'])
  })

  it('takes a list in any order, with entries that do not matter', async () => {
    const batches = [
      data(0n, 5n, 'aborted'),
      data(1n, 6n, 'aborted too'),
      marker(2n, 5n, 'ABORT'),
      data(3n, 5n, 'after'),
    ]
    const options = committed(
      { producerId: 7n, firstOffset: 90n },
      { producerId: 6n, firstOffset: 1n },
      { producerId: 5n, firstOffset: 0n },
    )
    expect((await view(batches, options)).seen).toEqual(['after'])
  })

  it('a barrier forgets every aborted producer: what follows belongs to others', async () => {
    const batches = [
      data(0n, -8n, 'never ended'),
      data(1n, 5n, 'open too'),
      barrier(2n),
      data(3n, -8n, 'new'),
      data(4n, 5n, 'mine'),
    ]
    const options = committed({ producerId: -8n, firstOffset: 0n }, { producerId: 5n, firstOffset: 1n })
    expect(await view(batches, options)).toEqual({ seen: ['new', 'mine'], nextOffset: 5n })
  })

  it('keeps what an aborted producer writes outside its transaction', async () => {
    const outside = encodeRecordBatch({
      baseOffset: 1n,
      producerId: 5n,
      producerEpoch: 0,
      baseSequence: 1,
      records: [value('outside')],
    })
    const options = committed({ producerId: 5n, firstOffset: 0n })
    expect((await view([data(0n, 5n, 'aborted'), outside], options)).seen).toEqual(['outside'])
  })

  it('begins to drop with the batch that holds the first aborted record, also inside it', async () => {
    const batches = [data(0n, 5n, 'a', 'b', 'c'), marker(3n, 5n, 'ABORT')]
    expect((await view(batches, committed({ producerId: 5n, firstOffset: 2n }))).seen).toEqual([])
  })

  it('a COMMIT ends no aborted transaction', async () => {
    const batches = [data(0n, 5n, 'x'), marker(1n, 5n, 'COMMIT'), data(2n, 5n, 'y'), marker(3n, 5n, 'ABORT')]
    expect((await view(batches, committed({ producerId: 5n, firstOffset: 0n }))).seen).toEqual([])
  })

  it('is not what one gets without asking', async () => {
    const options = { abortedTransactions: [{ producerId: 5n, firstOffset: 0n }] }
    expect((await view([data(0n, 5n, 'shown')], options)).seen).toEqual(['shown'])
  })

  it('goes by the type alone: a barrier acts though its value cannot be read', async () => {
    const key = new Uint8Array([0, 0, 0, 7])
    const odd = encodeRecordBatch({
      baseOffset: 1n,
      isControl: true,
      records: [{ key, value: new Uint8Array([9]) }],
    })
    const options = committed({ producerId: -8n, firstOffset: 0n })
    expect((await view([data(0n, -8n, 'open'), odd, data(2n, -8n, 'new')], options)).seen).toEqual(['new'])
  })

  it('shows a transactional batch without a producer, as Kafka does', async () => {
    const bytes = Buffer.from(data(0n, -1n, 'a'))
    bytes.writeInt16BE(0x10, 21)
    expect(
      (await view([bytes], { ...committed({ producerId: 5n, firstOffset: 0n }), checkCrcs: false })).seen,
    ).toEqual(['a'])
  })
})

describe('the position', () => {
  it('skips records below the one asked for', async () => {
    const batches = [data(0n, -1n, 'a', 'b', 'c'), data(3n, -1n, 'd')]
    expect(await view(batches, { fromOffset: 2n })).toEqual({ seen: ['c', 'd'], nextOffset: 4n })
    expect(await view(batches, { fromOffset: 9n })).toEqual({ seen: [], nextOffset: 9n })
  })

  it('moves past what compaction took away', async () => {
    const sparse = encodeRecordBatch({
      baseOffset: 10n,
      lastOffsetDelta: 9,
      records: [{ offset: 12n, ...value('a') }],
    })
    const empty = encodeRecordBatch({ baseOffset: 20n, lastOffsetDelta: 4, records: [] })
    expect(await view([sparse], { fromOffset: 10n })).toEqual({ seen: ['a'], nextOffset: 20n })
    expect(await view([empty], { fromOffset: 20n })).toEqual({ seen: [], nextOffset: 25n })
  })

  it('stays where nothing whole was fetched', async () => {
    expect(await view([data(7n, -1n, 'a').subarray(0, 60)], { fromOffset: 7n })).toEqual({
      seen: [],
      nextOffset: 7n,
    })
    expect(await view([], { fromOffset: 7n })).toEqual({ seen: [], nextOffset: 7n })
  })
})

describe('damage', () => {
  it('a wrong CRC is an error with its place, unless CRCs are not wanted', async () => {
    const bytes = Buffer.from(data(3n, -1n, 'a'))
    bytes.writeUInt8(0x62, bytes.length - 2)
    const batches = [data(0n, -1n, 'x', 'y', 'z'), bytes]
    await expect(view(batches)).rejects.toMatchObject({
      code: 'CORRUPT_BATCH',
      position: batches[0]!.length,
      baseOffset: 3n,
    })
    expect((await view(batches, { checkCrcs: false })).seen).toEqual(['x', 'y', 'z', 'b'])
  })

  it.each(['committed', 1, null])('isolation %j is refused', async (isolation) => {
    await expect(view([], { isolation: isolation as never })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
  })

  it.each<[string, unknown]>([
    ['ids as strings, as other clients have them', [{ producerId: '5', firstOffset: '0' }]],
    ['ids as numbers', [{ producerId: 5, firstOffset: 0 }]],
    ['no entries', ['5']],
    ['a string', 'none'],
  ])('refuses aborted transactions that are %s', async (_, abortedTransactions) => {
    const options = { isolation: 'read_committed', abortedTransactions } as ConsumerViewOptions
    await expect(consumerView(new Uint8Array(0), options)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })
})
