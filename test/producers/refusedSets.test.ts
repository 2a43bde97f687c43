import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { MirrorPidError, type RecordBatch } from '../../src/index.ts'
import { ProducerStateManager } from '../../src/producers/producerStateManager.ts'
import { Transactions } from '../../src/producers/transactions.ts'
import { quickOrLong } from '../support/counts.ts'
import { type BatchOp, batchOf, data, logOf } from './logBuilder.ts'

const txn = (pid: number, seq = 0): BatchOp => ({ kind: 'txn', pid, seq })
const barrier: BatchOp = { kind: 'barrier' }
/** Data in a transaction, then outside: no origin may append this. */
const REFUSED: BatchOp[] = [txn(99), data(99, 1)]

/** Offsets repeat and go back, as only a damaged log's do: two transactions may claim one first offset. */
const op: fc.Arbitrary<BatchOp> = fc.record({
  kind: fc.constantFrom('txn', 'txn', 'txn', 'data', 'COMMIT', 'ABORT', 'emptied', 'barrier'),
  pid: fc.constantFrom(6, -8, 5, -7),
  epoch: fc.constantFrom(0, 0, 1),
  offset: fc.integer({ min: 0, max: 12 }),
  timestamp: fc.constantFrom(1000, 2000),
})

/** All that can be known of a state, and what is asked of it with any high watermark. */
function known(state: ProducerStateManager) {
  return {
    state: state.toState(),
    snapshot: Buffer.from(state.takeSnapshot()).toString('hex'),
    open: state.ongoingTransactions,
    unstable: state.firstUnstableOffset,
    stable: [0n, 3n, 6n, 9n, 14n].map((highWatermark) => state.lastStableOffset(highWatermark)),
  }
}

function appendAny(state: ProducerStateManager, batches: RecordBatch[]): void {
  try {
    state.appendAll(batches, 'mirror')
  } catch (error) {
    if (!MirrorPidError.is(error)) throw error
  }
}

const batchesOf = (ops: readonly BatchOp[]) => ops.map((one) => batchOf(one))

describe('a set that is refused', () => {
  it('leaves the state as it was, for whatever comes next too', () => {
    const ops = fc.array(op, { maxLength: 12 })
    fc.assert(
      fc.property(ops, ops, ops, fc.boolean(), (before, set, after, isAsked) => {
        const state = new ProducerStateManager({
          // in the middle of an append
          onWarning: () => isAsked && state.lastStableOffset(5n),
        })
        const twin = new ProducerStateManager()
        // a set that is taken, or refused too, then the same one by one
        for (const each of [state, twin]) appendAny(each, batchesOf(before))
        for (const one of batchesOf(before)) for (const each of [state, twin]) appendAny(each, [one])
        const refused = batchesOf([...set, ...REFUSED])
        expect(() => state.appendAll(refused, 'mirror')).toThrow(MirrorPidError)
        expect(known(state)).toEqual(known(twin))
        for (const each of [state, twin]) appendAny(each, batchesOf(after))
        for (const one of batchesOf(after)) for (const each of [state, twin]) appendAny(each, [one])
        expect(known(state)).toEqual(known(twin))
      }),
      { numRuns: quickOrLong(200, 1000) },
    )
  })

  it('leaves thousands of rows as they were, and the order in which a snapshot shows them', () => {
    // far apart, so that Java's map orders them by its number of buckets, which the largest number of rows decides
    const many = (count: number, from: number) =>
      Array.from({ length: count }, (_, at) => data((from + at) * 7919, 0))
    const mirrored = (count: number, from: number) => many(count, from).map((o) => ({ ...o, pid: -o.pid! }))
    const state = new ProducerStateManager()
    const log = [...many(1500, 100), ...mirrored(1500, 2000), ...many(200, 3000), txn(6), txn(7)]
    for (const batch of logOf(log).batches) state.append(batch, 'mirror')
    const before = known(state)
    const sets = [
      [...mirrored(1100, 200), txn(-8, 1), ...many(3000, 9000), txn(-9, 1)],
      [...many(10, 100), barrier, ...mirrored(2500, 2500), barrier, ...many(10, 100)],
      [txn(-8, 1), ...mirrored(20, 2000), barrier, txn(6), txn(-8, 1), ...many(2000, 5000), barrier],
    ]
    for (const set of sets) {
      const { batches } = logOf([...set, ...REFUSED], state.mapEndOffset)
      expect(() => state.appendAll(batches, 'mirror')).toThrow(MirrorPidError)
      expect(known(state)).toEqual(before)
    }
  })
})

describe('what a set costs', () => {
  afterEach(() => vi.restoreAllMocks())

  const OPEN = 3000
  const SET = 50

  /** Transactions begun, and words copied. */
  function workOf(append: () => void): { started: number; words: number } {
    const started = vi.spyOn(Transactions.prototype, 'start')
    const { slice } = Int32Array.prototype
    let words = 0
    vi.spyOn(Int32Array.prototype, 'slice').mockImplementation(function (this: Int32Array, ...range) {
      const copy = slice.apply(this, range)
      words += copy.length
      return copy
    })
    append()
    const work = { started: started.mock.calls.length, words }
    vi.restoreAllMocks()
    return work
  }

  function withManyOpen(): ProducerStateManager {
    const state = new ProducerStateManager()
    const ops = Array.from({ length: OPEN }, (_, pid) => txn(pid))
    for (const batch of logOf(ops).batches) state.append(batch, 'replication')
    return state
  }

  const homeward = Array.from({ length: SET }, (_, pid) => txn(-pid - 2, 1))
  const ends = Array.from({ length: SET }, (_, pid): BatchOp => ({ kind: 'ABORT', pid: -pid - 2 }))

  it.each([
    ['data comes home', homeward, 'taken'],
    ['markers come home', ends, 'taken'],
    ['data comes home, refused', [...homeward, ...REFUSED], 'refused'],
    ['markers come home, refused', [...ends, ...REFUSED], 'refused'],
  ] as const)('goes by its size, not by what is open: %s', (_, ops, fate) => {
    const state = withManyOpen()
    const { batches } = logOf(ops, state.mapEndOffset)
    const work = workOf(() => {
      if (fate === 'taken') state.appendAll(batches, 'mirror')
      else expect(() => state.appendAll(batches, 'mirror')).toThrow(MirrorPidError)
    })
    expect(work.started).toBeLessThanOrEqual(2)
    expect(work.words).toBeLessThan(SET * 200)
  })

  it('goes by its size: a barrier that expires nothing', () => {
    const state = new ProducerStateManager()
    const ops = Array.from({ length: OPEN }, (_, pid) => data(pid, 0))
    for (const batch of logOf(ops).batches) state.append(batch, 'replication')
    const { batches } = logOf([data(1, 1), barrier, data(1, 2)], state.mapEndOffset)
    expect(workOf(() => state.appendAll(batches, 'mirror')).words).toBeLessThan(1000)
  })
})
