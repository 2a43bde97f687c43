import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MirrorPidError, type RecordBatch, recordBatches } from '../../src/index.ts'
import { ProducerStateManager } from '../../src/producers/producerStateManager.ts'
import { quickOrLong } from '../support/counts.ts'
import { type BatchOp, encodeOp } from './logBuilder.ts'

/** What readers are told: which transactions are open, and which were aborted, under which ids. */
function transactionsOf(state: ProducerStateManager) {
  const aborted = state.abortedTransactions.map(
    ({ producerId, firstOffset, lastOffset }) => `${producerId}: ${firstOffset}-${lastOffset}`,
  )
  return { aborted: aborted.sort(), open: state.ongoingTransactions, undecided: state.firstUndecidedOffset }
}

function batchesOf(ops: readonly BatchOp[]): RecordBatch[] {
  return ops.flatMap((op, at) => [...recordBatches(encodeOp({ ...op, seq: at }, BigInt(at)))])
}

/** The state after all, or null where a batch is refused. */
function stateAfter(ops: readonly BatchOp[], sizes: readonly number[], policy: 'log-order' | 'ignore') {
  const state = new ProducerStateManager({ barrierPolicy: policy })
  const batches = batchesOf(ops)
  try {
    for (let at = 0, set = 0; at < batches.length; set++) {
      const size = sizes[set % sizes.length]!
      state.appendAll(batches.slice(at, at + size), 'replication')
      at += size
    }
    return transactionsOf(state)
  } catch (error) {
    if (MirrorPidError.is(error)) return null
    throw error
  }
}

const op: fc.Arbitrary<BatchOp> = fc.record({
  kind: fc.constantFrom('txn', 'txn', 'COMMIT', 'ABORT', 'barrier'),
  pid: fc.constantFrom(6, -8),
})

describe('an append of several batches', () => {
  it('ends transactions as the same batches one by one, also where local and mapped ids meet', () => {
    fc.assert(
      fc.property(
        fc.array(op, { minLength: 2, maxLength: 9 }),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 3 }),
        fc.constantFrom('log-order' as const, 'ignore' as const),
        (ops, sizes, policy) => {
          const oneByOne = stateAfter(ops, [1], policy)
          const inSets = stateAfter(ops, sizes, policy)
          if (oneByOne !== null && inSets !== null) expect(inSets).toEqual(oneByOne)
        },
      ),
      { numRuns: quickOrLong(1000, 5000) },
    )
  })

  it('lists a transaction that came home under both ids, when the local producer begins another one behind it', () => {
    const kinds: BatchOp[] = [
      { kind: 'txn', pid: 6 },
      { kind: 'txn', pid: -8 },
      { kind: 'ABORT', pid: -8 },
      { kind: 'txn', pid: 6 },
    ]
    expect(stateAfter(kinds, [4], 'ignore')?.aborted).toEqual(['-8: 0-2', '6: 0-2'])
  })
})
