import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { recordBatches } from '../../src/formats/recordBatches.ts'
import {
  encodeEndTransactionMarker,
  encodeMirrorPidReset,
  encodeRecordBatch,
  mapProducerId,
  type RewriteStreamOptions,
  rewriteStream,
  unmapProducerId,
} from '../../src/index.ts'
import { jsCore } from '../../src/js.ts'
import { MeetingIds } from '../../src/log/meetingIds.ts'
import { rewriteProducerSnapshot } from '../../src/log/producerSnapshot.ts'
import { mergingOf } from '../../src/log/seenIds.ts'
import { encodeTransactionIndexEntry, rewriteTransactionIndex } from '../../src/log/transactionIndex.ts'
import { ProducerStateManager } from '../../src/producers/producerStateManager.ts'

type Item =
  | { kind: 'plain' | 'txn'; id: bigint; epoch: number; seq: number }
  | { kind: 'marker'; id: bigint; epoch: number }
  | { kind: 'barrier' }

const core = jsCore()

/** One offset each. */
function encode(item: Item, offset: number): Uint8Array {
  const baseOffset = BigInt(offset)
  if (item.kind === 'barrier') {
    return encodeMirrorPidReset({ baseOffset, leaderEpoch: 0, timestamp: 0n, sourceClusterId: 'A' })
  }
  const { id: producerId, epoch: producerEpoch } = item
  if (item.kind === 'marker') {
    return encodeEndTransactionMarker({
      type: 'COMMIT',
      baseOffset,
      producerId,
      producerEpoch,
      coordinatorEpoch: 0,
      timestamp: 0n,
    })
  }
  return encodeRecordBatch({
    baseOffset,
    producerId,
    producerEpoch,
    baseSequence: item.seq,
    isTransactional: item.kind === 'txn',
    records: [{ value: new Uint8Array(1) }],
  })
}

const encodeAll = (items: readonly Item[]) => Buffer.concat(items.map(encode))
const plain = (id: bigint, seq = 0): Item => ({ kind: 'plain', id, epoch: 0, seq })
const txn = (id: bigint, seq = 0, epoch = 0): Item => ({ kind: 'txn', id, epoch, seq })
const marker = (id: bigint, epoch = 0): Item => ({ kind: 'marker', id, epoch })
const barrier: Item = { kind: 'barrier' }

const ids = fc.constantFrom(
  5n,
  -7n,
  6n,
  -8n,
  0n,
  -2n,
  -1n,
  2n ** 63n - 2n,
  -(2n ** 63n),
  2n ** 40n,
  -(2n ** 40n) - 2n,
)
const anyItem: fc.Arbitrary<Item> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom('plain' as const, 'txn' as const),
      id: ids,
      epoch: fc.nat(1),
      seq: fc.nat(2),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('marker' as const), id: ids, epoch: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.constant(barrier) },
)

const isEncodable = (item: Item) => item.kind === 'plain' || item.kind === 'barrier' || item.id !== -1n

function meetingOf(records: Uint8Array, direction: 'map' | 'unmap' = 'map'): MeetingIds {
  const meeting = new MeetingIds(mergingOf(direction))
  meeting.takeWhole(records)
  return meeting
}

/** By the words of the rule, pair by pair: batches outside transactions, so that none comes home. */
function model(items: readonly Item[], direction: 'map' | 'unmap') {
  const counts = { met: 0, apart: 0 }
  const stretchesOf = (id: bigint) => {
    let stretch = 0
    const stretches = new Set<number>()
    for (const item of items) {
      if (item.kind === 'barrier') stretch++
      else if (item.id === id) stretches.add(direction === 'map' ? stretch : 0)
    }
    return stretches
  }
  const change = direction === 'map' ? mapProducerId : unmapProducerId
  const all = [...new Set(items.flatMap((item) => (item.kind === 'barrier' ? [] : [item.id])))]
  for (const [at, one] of all.entries()) {
    for (const other of all.slice(at + 1)) {
      if (change(one) !== change(other)) continue
      const both = [...stretchesOf(one)].some((stretch) => stretchesOf(other).has(stretch))
      counts[both ? 'met' : 'apart']++
    }
  }
  return counts
}

describe('ids that meet', () => {
  it('are those that the rule names, with barriers or without', () => {
    fc.assert(
      fc.property(
        fc.array(
          anyItem.filter((item) => item.kind === 'plain' || item.kind === 'barrier'),
          { maxLength: 14 },
        ),
        fc.constantFrom('map' as const, 'unmap' as const),
        (items, direction) => {
          const { met, apart } = meetingOf(encodeAll(items), direction)
          expect({ met: met?.pairs ?? 0, apart: apart?.pairs ?? 0 }).toEqual(model(items, direction))
          for (const pair of [met, apart]) {
            if (pair === null) continue
            const first = (id: bigint) =>
              BigInt(items.findIndex((item) => item.kind !== 'barrier' && item.id === id))
            expect([pair.firstOffset, pair.otherFirstOffset]).toEqual([
              first(pair.producerId),
              first(pair.otherProducerId),
            ])
            expect(pair.firstOffset! < pair.otherFirstOffset!).toBe(true)
            const change = direction === 'map' ? mapProducerId : unmapProducerId
            expect([change(pair.producerId), change(pair.otherProducerId)]).toEqual([
              pair.mappedProducerId,
              pair.mappedProducerId,
            ])
          }
        },
      ),
      { numRuns: 2000 },
    )
  })

  it('are the same, wherever a log is cut into parts', () => {
    fc.assert(
      fc.property(
        fc.array(anyItem.filter(isEncodable), { maxLength: 16 }),
        fc.array(fc.nat(16), { maxLength: 5 }),
        fc.constantFrom('map' as const, 'unmap' as const),
        (items, cuts, direction) => {
          const batches = items.map(encode)
          const whole = meetingOf(Buffer.concat(batches), direction)
          const parts = new MeetingIds(mergingOf(direction))
          const ends = [0, ...cuts.map((cut) => Math.min(cut, items.length)), items.length].sort(
            (a, b) => a - b,
          )
          for (let at = 1; at < ends.length; at++) {
            const part = meetingOf(Buffer.concat(batches.slice(ends[at - 1]!, ends[at]!)), direction)
            // as it comes from a thread
            parts.append(structuredClone(part.seen))
          }
          expect([parts.met, parts.apart]).toEqual([whole.met, whole.apart])
        },
      ),
      { numRuns: 5000 },
    )
  })

  it.each([
    ['mapped, then local', [plain(-7n), plain(5n)], 'met'],
    ['local, then mapped, of which the sequence goes on', [plain(5n), plain(-7n, 1)], 'met'],
    ['with a barrier between', [plain(-7n), barrier, plain(5n)], 'apart'],
    ['with a barrier before and behind', [barrier, plain(-7n), plain(5n), barrier], 'met'],
    [
      'at both sides of a barrier, and again without one',
      [plain(-7n), barrier, plain(5n), plain(-7n)],
      'met',
    ],
    ['there and back by two failovers', [plain(5n), barrier, plain(-7n), barrier, plain(5n)], 'apart'],
    ['a transaction that comes home by its marker', [txn(5n), marker(-7n)], null],
    ['and with transaction version 2', [txn(5n), marker(-7n, 1)], null],
    ['a transaction that comes home by its data', [txn(5n), txn(-7n, 1), marker(-7n)], null],
    ['one that has ended', [txn(5n), marker(5n), marker(-7n)], 'met'],
    ['one of another epoch', [txn(5n), marker(-7n, 2)], 'met'],
    ['data of another sequence line', [txn(5n), txn(-7n, 0)], 'met'],
    ['one that goes out again', [txn(5n), marker(-7n), plain(5n, 1)], 'met'],
    ['half of a pair mapped', [txn(-7n), marker(5n)], 'met'],
  ] as const)('%s', (_name, items, relation) => {
    const { met, apart } = meetingOf(encodeAll(items))
    expect([met !== null, apart !== null]).toEqual([relation === 'met', relation === 'apart'])
  })

  it('needs memory for distinct ids alone', () => {
    const meeting = new MeetingIds(mergingOf('map'))
    const round = encodeAll([plain(1n), plain(-9n), txn(2n), marker(2n)])
    for (let at = 0; at < 1000; at++) meeting.takeWhole(round)
    expect(meeting.size).toBe(3)
    for (const { stretches, homecomings } of meeting.seen.ids.values()) {
      expect([stretches, homecomings]).toEqual([[0], []])
    }
  })
})

describe('the ids of one companion', () => {
  const state = new ProducerStateManager()
  for (const [at, item] of [txn(-7n), txn(5n)].entries()) {
    for (const batch of recordBatches(encode(item, at))) state.append(batch, 'replication')
  }
  const index = Buffer.concat(
    [5n, -7n].map((producerId, at) =>
      encodeTransactionIndexEntry({
        producerId,
        firstOffset: BigInt(at),
        lastOffset: BigInt(at + 2),
        lastStableOffset: 0n,
      }),
    ),
  )

  it.each([
    [
      'snapshot',
      state.takeSnapshot(),
      (bytes: Uint8Array, options: object) => rewriteProducerSnapshot(core, bytes, options),
    ],
    [
      'transaction index',
      index,
      (bytes: Uint8Array, options: object) => rewriteTransactionIndex(bytes, options),
    ],
  ])('(%s) are not made one unless forced, in either direction', (_name, original, rewrite) => {
    for (const direction of ['map', 'unmap'] as const) {
      const bytes = Uint8Array.from(original)
      expect(() => rewrite(bytes, { direction, file: 'x' })).toThrow(
        expect.objectContaining({
          code: 'PRODUCER_IDS_MEET',
          file: 'x',
          mappedProducerId: direction === 'map' ? -7n : 5n,
          message: expect.stringMatching(/^x: producers .*-7.*5|^x: producers .*5.*-7/),
        }),
      )
      expect(Buffer.compare(bytes, original)).toBe(0)
      expect(rewrite(bytes, { direction, force: true })).toMatchObject({ entries: 2, rewritten: 1 })
    }
  })
})

describe('a stream in which ids meet', () => {
  async function pass(chunks: readonly Uint8Array[], options: RewriteStreamOptions) {
    const stream = rewriteStream({ core, ...options })
    const source = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(chunk)
        controller.close()
      },
    })
    let bytes = 0
    try {
      for await (const chunk of source.pipeThrough(stream) as unknown as AsyncIterable<Uint8Array>) {
        bytes += chunk.length
      }
    } catch (error) {
      return { bytes, error }
    }
    return { bytes, error: null }
  }
  const items = [plain(-7n), plain(3n), plain(5n), plain(3n)]

  it('fails at the second id, and says how much was passed on', async () => {
    const { bytes, error } = await pass(items.map(encode), {})
    const [first, second] = items.map(encode)
    expect(bytes).toBe(first!.length + second!.length)
    expect(error).toMatchObject({
      code: 'PRODUCER_IDS_MEET',
      producerId: -7n,
      firstOffset: 0n,
      otherProducerId: 5n,
      otherFirstOffset: 2n,
      passedBytes: bytes,
      message: expect.stringContaining(
        `The first ${bytes} bytes of the stream were passed on, and no more; force`,
      ),
    })
  })

  it('goes on with force, and over a barrier', async () => {
    expect(await pass([encodeAll(items)], { force: true })).toEqual({
      bytes: encodeAll(items).length,
      error: null,
    })
    const apart = encodeAll([plain(-7n), barrier, plain(5n)])
    expect(await pass([apart], {})).toEqual({ bytes: apart.length, error: null })
    expect((await pass([apart], { direction: 'unmap' })).error).toMatchObject({
      code: 'PRODUCER_IDS_MEET',
      passedBytes: 0,
    })
  })
})
