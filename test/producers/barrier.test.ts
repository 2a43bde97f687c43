import { describe, expect, it } from 'vitest'
import type { ProducerStateManagerOptions } from '../../src/producers/managerOptions.ts'
import { ProducerStateManager } from '../../src/producers/producerStateManager.ts'
import { type BatchOp, logOf } from './logBuilder.ts'

const txn = (pid: number, seq = 0): BatchOp => ({ kind: 'txn', pid, seq })
const data = (pid: number, seq = 0): BatchOp => ({ kind: 'data', pid, seq })
const abort = (pid: number): BatchOp => ({ kind: 'ABORT', pid })
const commit = (pid: number): BatchOp => ({ kind: 'COMMIT', pid })
const barrier: BatchOp = { kind: 'barrier' }

function replayed(
  ops: BatchOp[],
  options: ProducerStateManagerOptions = {},
  origin: 'replication' | 'mirror' = 'replication',
) {
  const manager = new ProducerStateManager(options)
  for (const batch of logOf(ops).batches) manager.append(batch, origin)
  return manager
}

const ids = (manager: ProducerStateManager) => [...manager.producers.keys()]

describe('R1: a barrier expires the mirrored producers before it', () => {
  const ops = [data(-2), data(-7), data(5), { kind: 'data' } as const, barrier, data(-7), data(5, 1)]

  it.each(['client', 'coordinator', 'replication', 'mirror'] as const)('whoever brings it: %s', (origin) => {
    const manager = new ProducerStateManager()
    for (const batch of logOf(ops).batches)
      manager.append(batch, batch.isControl && origin === 'client' ? 'coordinator' : origin)
    expect(ids(manager)).toEqual([5n, -7n])
    expect(manager.producers.get(-7n)?.batches).toHaveLength(1)
    expect(manager.producers.get(5n)?.batches).toHaveLength(2)
    expect(manager.barriers).toEqual([
      { offset: 4n, sourceClusterId: 'A', applied: true, expired: { producers: 2, transactions: 0 } },
    ])
  })

  it("barrierScope 'all' takes the local ones too", () => {
    expect(ids(replayed(ops.slice(0, 5), { barrierScope: 'all' }))).toEqual([])
  })

  it('in either shape of the record', () => {
    const manager = replayed([data(-2), { kind: 'barrier', source: null }])
    expect(manager.producers.size).toBe(0)
    expect(manager.barriers[0]?.sourceClusterId).toBeNull()
  })

  it('at its own place in an appended set', () => {
    const manager = new ProducerStateManager()
    manager.appendAll(logOf([data(-2), data(-3), barrier, data(-3), data(-4)]).batches, 'mirror')
    expect(ids(manager).sort()).toEqual([-3n, -4n].sort())
    expect(manager.producers.get(-3n)?.lastOffset).toBe(3n)
  })

  it('not at all when its set is refused', () => {
    const manager = replayed([data(-2), txn(1)])
    const before = manager.toState()
    const { batches } = logOf([data(-9), barrier, txn(1), data(1, 1)], 2n)
    expect(() => manager.appendAll(batches, 'mirror')).toThrow(
      expect.objectContaining({ code: 'INVALID_TXN_STATE' }),
    )
    expect(manager.toState()).toEqual(before)
  })

  it('no retry of a mirrored producer is known behind it, no local one is taken for a mirrored one (M-17)', () => {
    const native = [0, 1, 2, 3].map((seq) => data(1, seq))
    const outcomes = (mirrored: BatchOp[], options: ProducerStateManagerOptions = {}) => {
      const manager = new ProducerStateManager(options)
      for (const batch of logOf(mirrored).batches) manager.append(batch, 'mirror')
      return logOf(native, manager.mapEndOffset).batches.map(
        (batch) => manager.append(batch, 'client').duplicate?.firstOffset ?? 'appended',
      )
    }
    const taken = ['appended', 'appended', 'appended', 'appended']
    expect(outcomes([data(1, 0), data(1, 1)])).toEqual([0n, 1n, 'appended', 'appended']) // the loss seen in the field
    expect(outcomes([data(-3, 0), data(-3, 1)])).toEqual(taken)
    expect(outcomes([data(1, 0), data(1, 1), barrier], { barrierScope: 'all' })).toEqual(taken)
    expect(outcomes([data(-3, 0), data(-3, 1), barrier])).toEqual(taken)
  })

  it('acts when its value cannot be read: it must not depend on it', () => {
    const { batches, bytes } = logOf([data(-2), barrier])
    bytes.fill(0xff, bytes.length - 4, bytes.length - 1)
    const manager = new ProducerStateManager()
    for (const batch of batches) manager.append(batch, 'replication')
    expect(manager.producers.size).toBe(0)
    expect(manager.barriers).toMatchObject([{ sourceClusterId: null, applied: true }])
  })
})

describe('R2: a barrier ends every open transaction as aborted', () => {
  it('mirrored or local; it is listed with the barrier as its end, and holds nothing back', () => {
    const manager = replayed([txn(-8), txn(6), txn(-9), commit(-9), barrier])
    expect(manager.abortedTransactions).toEqual([
      { producerId: -8n, firstOffset: 0n, lastOffset: 4n, lastStableOffset: 1n },
      { producerId: 6n, firstOffset: 1n, lastOffset: 4n, lastStableOffset: 5n },
    ])
    expect(manager.lastStableOffset(5n)).toBe(5n)
    manager.onHighWatermark(5n)
    expect(manager.firstUnstableOffset).toBeNull()
    expect(manager.producers.get(6n)?.currentTxnFirstOffset).toBeNull()
  })

  it('a marker behind the barrier ends nothing', () => {
    const manager = replayed([txn(6), barrier, commit(6)])
    expect(manager.abortedTransactions).toHaveLength(1)
    expect(manager.lastStableOffset(3n)).toBe(3n)
  })

  it('data behind it is a transaction of its own', () => {
    const manager = replayed([txn(-8), barrier, txn(-8, 1)])
    expect(manager.producers.get(-8n)?.currentTxnFirstOffset).toBe(2n)
  })

  it('plain data of a local producer is taken behind it', () => {
    expect(replayed([txn(6), barrier, data(6, 1)]).producers.get(6n)?.lastSequence).toBe(1)
  })
})

describe('R3: a transaction that comes home goes on under its mapped id', () => {
  it('data: there is one transaction, and none is left under the local id', () => {
    const manager = replayed([txn(6), data(1), txn(-8, 1)], {}, 'mirror')
    expect(manager.producers.get(6n)?.currentTxnFirstOffset).toBeNull()
    expect(manager.producers.get(-8n)?.currentTxnFirstOffset).toBe(0n)
    expect(manager.firstUnstableOffset).toBe(0n)
  })

  it('COMMIT: nothing is aborted, nothing hangs', () => {
    for (const ops of [
      [txn(6), commit(-8)],
      [txn(6), txn(-8, 1), commit(-8)],
    ]) {
      const manager = replayed(ops, {}, 'mirror')
      expect(manager.abortedTransactions).toEqual([])
      expect(manager.lastStableOffset(BigInt(ops.length))).toBe(BigInt(ops.length))
    }
  })

  it('ABORT: listed once under each id that its records carry', () => {
    expect(replayed([txn(6), abort(-8)], {}, 'mirror').abortedTransactions).toEqual([
      { producerId: 6n, firstOffset: 0n, lastOffset: 1n, lastStableOffset: 2n },
    ])
    const both = replayed([txn(6), txn(-8, 1), abort(-8)], {}, 'mirror')
    expect(both.abortedTransactions).toEqual([
      // the second is still open when the first ends: a reader of the index must not stop between them
      { producerId: 6n, firstOffset: 0n, lastOffset: 2n, lastStableOffset: 0n },
      { producerId: -8n, firstOffset: 0n, lastOffset: 2n, lastStableOffset: 3n },
    ])
    expect(replayed([txn(-8, 1), abort(-8)], {}, 'mirror').abortedTransactions).toHaveLength(1)
  })

  it('a barrier ends it under both ids', () => {
    const manager = replayed([txn(6), txn(-8, 1), barrier], {}, 'mirror')
    expect(manager.abortedTransactions.map((aborted) => aborted.producerId)).toEqual([6n, -8n])
  })

  it('only where the mapped id has none open, and the local one has', () => {
    const manager = replayed([txn(-8), txn(6), txn(-8, 1)], {}, 'mirror')
    expect(manager.producers.get(6n)?.currentTxnFirstOffset).toBe(1n)
    expect(replayed([data(6), txn(-8)], {}, 'mirror').producers.get(-8n)?.currentTxnFirstOffset).toBe(1n)
    expect(replayed([txn(6), data(-8)], {}, 'mirror').producers.get(6n)?.currentTxnFirstOffset).toBe(0n)
  })

  it('within one appended set too, and not when the set is refused', () => {
    const manager = new ProducerStateManager()
    manager.appendAll(logOf([txn(6), txn(-8, 1), abort(-8)]).batches, 'mirror')
    expect(manager.abortedTransactions.map((aborted) => aborted.producerId)).toEqual([6n, -8n])
    const refused = replayed([txn(6)])
    const before = refused.toState()
    expect(() => refused.appendAll(logOf([txn(-8, 1), data(-8, 2)], 1n).batches, 'mirror')).toThrow()
    expect(refused.toState()).toEqual(before)
  })

  it('a snapshot between its two parts keeps both ids', () => {
    const { batches } = logOf([txn(6), txn(-8, 1), abort(-8)])
    const manager = new ProducerStateManager()
    for (const batch of batches.slice(0, 2)) manager.append(batch, 'mirror')
    const loaded = ProducerStateManager.fromSnapshot(manager.takeSnapshot(), { offset: 2n })
    loaded.append(batches[2]!, 'mirror')
    expect(loaded.abortedTransactions.map((aborted) => aborted.producerId)).toEqual([6n, -8n])
    expect(loaded.producers.get(6n)?.currentTxnFirstOffset).toBeNull()
  })

  it('works at the ends of int64', () => {
    for (const [local, mapped] of [
      [0n, -2n],
      [2n ** 32n - 2n, -(2n ** 32n)],
      [2n ** 63n - 2n, -(2n ** 63n)],
    ] as const) {
      const manager = new ProducerStateManager()
      const { batches, bytes } = logOf([txn(1), txn(1, 1)])
      bytes.writeBigInt64BE(local, 43)
      bytes.writeBigInt64BE(mapped, batches[1]!.position + 43)
      for (const batch of batches) manager.append(batch, 'mirror')
      expect(manager.producers.get(mapped)?.currentTxnFirstOffset).toBe(0n)
    }
  })
})

describe('barrierPolicy', () => {
  it("stop-only: acts where the cluster wrote it, not where it came with a mirror's fetch", () => {
    const ops = [data(-2), barrier]
    const policy = { barrierPolicy: 'stop-only' } as const
    expect(replayed(ops, policy, 'mirror').producers.size).toBe(1)
    expect(replayed(ops, policy, 'replication').producers.size).toBe(0)
    // a restart of the source: its log holds the barrier that names it, written by the cluster that mirrored it
    expect(replayed(ops, { ...policy, clusterId: 'A' }, 'replication').producers.size).toBe(1)
    expect(replayed(ops, { ...policy, clusterId: 'B' }, 'replication').producers.size).toBe(0)
    expect(replayed(ops, policy, 'mirror').barriers).toMatchObject([{ offset: 1n, applied: false }])
  })

  it('ignore: never, as stock Kafka', () => {
    const manager = replayed([data(-2), txn(1), barrier], { barrierPolicy: 'ignore' })
    expect(manager.producers.size).toBe(2)
    expect(manager.firstUnstableOffset).toBe(1n)
  })
})

describe('expireMirrored', () => {
  it('does what a barrier there does; again, it changes nothing', () => {
    const manager = replayed([data(-2), txn(6), txn(-9)])
    expect(manager.expireMirrored(3n)).toEqual({ producers: 2, transactions: 2 })
    const state = manager.toState()
    expect(manager.expireMirrored(3n)).toEqual({ producers: 0, transactions: 0 })
    expect(manager.toState()).toEqual(state)
  })

  it('keeps what came behind the offset', () => {
    const manager = replayed([data(-2), barrier, data(-3), txn(-4)])
    expect(manager.expireMirrored(1n)).toEqual({ producers: 0, transactions: 0 })
  })
})
