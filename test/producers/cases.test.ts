import { describe, expect, it } from 'vitest'
import { decrementSequence, MirrorPidError } from '../../src/index.ts'
import {
  InvalidProducerEpochError,
  InvalidTxnStateError,
  OutOfOrderSequenceError,
  TransactionCoordinatorFencedError,
} from '../../src/producers/producerErrors.ts'
import { ProducerStateManager } from '../../src/producers/producerStateManager.ts'
import { appender, type BatchOp, batchOf, data } from './logBuilder.ts'

const MAX = 2147483647

describe('sequences (P-10)', () => {
  it('runs from 2147483647 to 0', () => {
    const { manager, append } = appender()
    append(data(3, MAX - 2, { count: 3 }))
    append(data(3, 0))
    expect(manager.producers.get(3n)?.batches.map((batch) => batch.lastSequence)).toEqual([MAX, 0])
  })

  it('knows a batch that wraps inside, and knows it again, by offsets', () => {
    const { manager, append } = appender()
    append({ kind: 'data' }) // offset 0
    append(data(3, MAX - 1, { count: 4 }))
    expect(manager.producers.get(3n)).toMatchObject({ lastSequence: 1, lastOffset: 4n })
    expect(manager.producers.get(3n)?.batches[0]?.firstSequence).toBe(decrementSequence(1, 3))
    append(data(3, 2))
    const before = manager.toState()
    expect(append(data(3, MAX - 1, { count: 4 }))).toEqual({
      duplicate: { firstOffset: 1n, lastOffset: 4n, timestamp: 1000n },
    })
    expect(manager.toState()).toEqual(before)
  })

  it('calls 2147483646 -> 0 a gap', () => {
    const { manager, append } = appender()
    append(data(3, MAX - 1))
    expect(() => append(data(3, 0))).toThrow(OutOfOrderSequenceError)
    expect(manager.mapEndOffset).toBe(1n)
  })
})

describe('epochs (P-11)', () => {
  it('starts a new epoch at sequence 0 only, with an empty window, and fences the old one', () => {
    const { manager, append } = appender()
    append(data(4, 0, { count: 10 }))
    expect(() => append(data(4, 10, { epoch: 1 }))).toThrow(OutOfOrderSequenceError)
    append(data(4, 0, { epoch: 1 }))
    expect(manager.producers.get(4n)).toMatchObject({ producerEpoch: 1, batches: [{ lastSequence: 0 }] })
    const fenced = expect(() => append(data(4, 10)))
    fenced.toThrow(InvalidProducerEpochError)
    fenced.toThrow(
      'batch at offset 11 of producer 4, epoch 0, is fenced: the last epoch is 1, and this one must be that or above. ' +
        'Nothing was changed; the producer must get a new epoch (initTransactions).',
    )
  })

  it('takes any sequence of an unknown producer, or 0 alone where that is asked for', () => {
    appender().append(data(6, 100))
    const strict = appender(new ProducerStateManager({ unknownProducerSequence: 'zero' }))
    expect(() => strict.append(data(6, 100))).toThrow(OutOfOrderSequenceError)
    strict.append(data(6, 0))
  })

  it.each(['replication', 'mirror'] as const)(
    '%s checks no sequence, and warns of a lower epoch',
    (origin) => {
      const warnings: unknown[] = []
      const { manager, append } = appender(new ProducerStateManager({ onWarning: (it) => warnings.push(it) }))
      append(data(4, 0, { epoch: 1 }), origin)
      append(data(4, 77, { epoch: 1 }), origin)
      expect(warnings).toEqual([])
      append(data(4, 5), origin)
      expect(warnings).toEqual([{ kind: 'producer-epoch', producerId: 4n, offset: 2n, found: 0, current: 1 }])
      expect(manager.producers.get(4n)).toMatchObject({ producerEpoch: 0, batches: [{ lastSequence: 5 }] })
    },
  )
})

describe('duplicates (P-16)', () => {
  it('are the last five batches, by their exact range', () => {
    const { manager, append } = appender()
    for (let seq = 0; seq < 7; seq++) append(data(5, seq))
    const before = manager.toState()
    expect(append(data(5, 6)).duplicate).toEqual({ firstOffset: 6n, lastOffset: 6n, timestamp: 1000n })
    expect(append(data(5, 2)).duplicate?.firstOffset).toBe(2n)
    expect(() => append(data(5, 1))).toThrow(OutOfOrderSequenceError)
    expect(() => append(data(5, 1, { count: 2 }))).toThrow(OutOfOrderSequenceError)
    expect(manager.toState()).toEqual(before)
  })

  it('are known by one batch alone after a snapshot', () => {
    const { manager, append } = appender()
    for (let seq = 0; seq < 3; seq++) append(data(5, seq))
    const reloaded = appender(
      ProducerStateManager.fromSnapshot(manager.takeSnapshot(), { offset: manager.mapEndOffset }),
    )
    expect(reloaded.append(data(5, 2)).duplicate?.firstOffset).toBe(2n)
    expect(() => reloaded.append(data(5, 1))).toThrow(OutOfOrderSequenceError)
  })
})

describe('transactions', () => {
  it('P-13: a marker without a transaction changes no reader, but its producer is known', () => {
    const { manager, append } = appender()
    append({ kind: 'ABORT', pid: 3, epoch: 1, coordinatorEpoch: 7 }, 'replication')
    expect(manager.abortedTransactions).toEqual([])
    expect(manager.firstUnstableOffset).toBeNull()
    expect(manager.lastStableOffset(1n)).toBe(1n)
    expect(manager.producers.get(3n)).toMatchObject({ producerEpoch: 1, coordinatorEpoch: 7, batches: [] })
    append({ kind: 'txn', pid: 3, epoch: 1 }, 'replication')
    append({ kind: 'COMMIT', pid: 3, epoch: 1, coordinatorEpoch: 7 }, 'replication')
    append({ kind: 'COMMIT', pid: 3, epoch: 1, coordinatorEpoch: 7 }, 'replication')
    expect(manager.abortedTransactions).toEqual([])
    expect(manager.lastStableOffset(4n)).toBe(4n)
  })

  it('P-14: data behind the ABORT opens a transaction of its own', () => {
    const manager = new ProducerStateManager()
    manager.append(batchOf({ kind: 'txn', pid: 2000 }, 143n), 'replication')
    manager.append(batchOf({ kind: 'ABORT', pid: 2000 }, 144n), 'replication')
    manager.append(batchOf({ kind: 'txn', pid: 2000, seq: 1 }, 145n), 'replication')
    manager.onHighWatermark(146n)
    expect(manager.firstUnstableOffset).toBe(145n)
    expect(manager.lastStableOffset(146n)).toBe(145n)
    expect(manager.abortedTransactions).toEqual([
      { producerId: 2000n, firstOffset: 143n, lastOffset: 144n, lastStableOffset: 145n },
    ])
  })

  it('hold the last stable offset back until their end is replicated', () => {
    const { manager, append } = appender()
    append({ kind: 'txn', pid: 1 })
    append({ kind: 'COMMIT', pid: 1 }, 'coordinator')
    expect(manager.firstUnstableOffset).toBe(0n)
    expect(manager.lastStableOffset(1n)).toBe(0n)
    expect(manager.lastStableOffset(2n)).toBe(2n)
    manager.onHighWatermark(1n)
    expect(manager.firstUnstableOffset).toBe(0n)
    manager.onHighWatermark(2n)
    expect(manager.firstUnstableOffset).toBeNull()
  })

  it.each(['client', 'coordinator', 'replication', 'mirror'] as const)(
    '%s: plain data inside an open one is refused',
    (origin) => {
      const { manager, append } = appender()
      append({ kind: 'txn', pid: 1 })
      const before = manager.toState()
      expect(() => append(data(1, 1), origin)).toThrow(InvalidTxnStateError)
      expect(manager.toState()).toEqual(before)
    },
  )

  it('fences a marker of an older coordinator, but takes it from a log', () => {
    const warnings: unknown[] = []
    const { manager, append } = appender(new ProducerStateManager({ onWarning: (it) => warnings.push(it) }))
    append({ kind: 'COMMIT', pid: 1, coordinatorEpoch: 5 }, 'coordinator')
    expect(() => append({ kind: 'COMMIT', pid: 1, coordinatorEpoch: 4 }, 'coordinator')).toThrow(
      TransactionCoordinatorFencedError,
    )
    append({ kind: 'COMMIT', pid: 1, coordinatorEpoch: 4 }, 'replication')
    expect(warnings).toMatchObject([{ kind: 'coordinator-epoch', found: 4, current: 5 }])
    expect(manager.producers.get(1n)?.coordinatorEpoch).toBe(4)
  })

  it('version 2: a marker needs a new epoch, unless nothing is open or none is left', () => {
    const { manager, append } = appender()
    append({ kind: 'txn', pid: 1, epoch: 3 })
    expect(() => append({ kind: 'COMMIT', pid: 1, epoch: 3 }, 'coordinator', 2)).toThrow(
      InvalidProducerEpochError,
    )
    append({ kind: 'COMMIT', pid: 1, epoch: 4 }, 'coordinator', 2)
    append({ kind: 'COMMIT', pid: 1, epoch: 4 }, 'coordinator', 2)
    expect(manager.producers.get(1n)).toMatchObject({ producerEpoch: 4, lastSequence: -1 })
    append({ kind: 'txn', pid: 2, epoch: 32767 })
    append({ kind: 'ABORT', pid: 2, epoch: 32767 }, 'coordinator', 2)
    expect(manager.abortedTransactions).toHaveLength(1)
  })

  it('an emptied control batch takes no epoch, and makes its producer known', () => {
    const { manager, append } = appender()
    append({ kind: 'emptied', pid: 9, epoch: 4 }, 'replication')
    expect(manager.producers.get(9n)).toMatchObject({ producerEpoch: -1, lastTimestamp: -1n })
  })
})

describe('what is no producer state', () => {
  it('ignores unknown control types with a warning, as the project decides; stock Kafka stops at them', () => {
    const warnings: unknown[] = []
    const { manager, append } = appender(new ProducerStateManager({ onWarning: (it) => warnings.push(it) }))
    append({ kind: 'control', type: 9, pid: 5, epoch: 0 }, 'replication')
    append({ kind: 'control', type: 9 }, 'replication')
    expect(manager.producers.size).toBe(0)
    expect(warnings).toEqual([{ kind: 'control-type', producerId: 5n, offset: 0n, found: 9, current: null }])
    const stock = appender(new ProducerStateManager({ producerIdTest: 'stock' }))
    stock.append({ kind: 'control', type: 9 }, 'replication')
    expect(() => stock.append({ kind: 'control', type: 9, pid: 5, epoch: 0 }, 'replication')).toThrow(
      expect.objectContaining({ code: 'INVALID_RECORD' }),
    )
  })

  it('refuses from clients what no client may write', () => {
    const { append } = appender()
    for (const op of [{ kind: 'COMMIT', pid: 1 }, { kind: 'control' }] satisfies BatchOp[]) {
      expect(() => append(op, 'client')).toThrow(expect.objectContaining({ code: 'INVALID_RECORD' }))
    }
  })

  it('M-20: stock Kafka does not see mapped producers', () => {
    const { manager, append } = appender(new ProducerStateManager({ producerIdTest: 'stock' }))
    append({ kind: 'txn', pid: -10 }, 'replication')
    expect(manager.lastStableOffset(1n)).toBe(1n)
    append({ kind: 'ABORT', pid: -10 }, 'replication')
    append({ kind: 'txn', pid: -10, seq: 1 }, 'replication')
    append({ kind: 'ABORT', pid: 8 }, 'replication') // the half that was not mapped
    expect(manager.abortedTransactions).toEqual([])
    expect([...manager.producers.keys()]).toEqual([8n])
  })

  it('gives errors that are plain data', () => {
    const { append } = appender()
    append(data(1, 0))
    const refused = (() => {
      try {
        return append(data(1, 7))
      } catch (error) {
        return error
      }
    })()
    expect(MirrorPidError.is(refused)).toBe(true)
    expect(JSON.parse(JSON.stringify(refused))).toEqual({
      name: 'OutOfOrderSequenceError',
      code: 'OUT_OF_ORDER_SEQUENCE',
      message:
        'batch at offset 1 of producer 1, epoch 0 starts at sequence 7, where 1 must follow (the last sequence is 0). ' +
        'Nothing was changed; either records before it are missing, or two producers use one id.',
      producerId: '1',
      producerEpoch: 0,
      offset: '1',
      baseSequence: 7,
      expectedSequence: 1,
    })
  })
})
