import { describe, expect, it } from 'vitest'
import { mapProducerId } from '../../src/index.ts'
import type { ProducerStateManagerOptions, ProducerWarning } from '../../src/producers/managerOptions.ts'
import { ProducerStateManager } from '../../src/producers/producerStateManager.ts'
import { type BatchOp, data, logOf } from './logBuilder.ts'

const txn = (pid: number, seq = 0, epoch = 0): BatchOp => ({ kind: 'txn', pid, seq, epoch })
const marker = (kind: 'ABORT' | 'COMMIT', pid: number, epoch = 0): BatchOp => ({ kind, pid, epoch })
const barrier: BatchOp = { kind: 'barrier' }

function replayed(ops: BatchOp[], options: ProducerStateManagerOptions = {}) {
  const manager = new ProducerStateManager(options)
  for (const batch of logOf(ops).batches) manager.append(batch, 'mirror')
  return manager
}

/** What a mirror of a log holds. */
function mapped(ops: BatchOp[]): BatchOp[] {
  return ops.map((op) => (op.pid === undefined ? op : { ...op, pid: Number(mapProducerId(BigInt(op.pid))) }))
}

const fates = (manager: ProducerStateManager) =>
  manager.abortedTransactions.map(({ producerId, firstOffset, lastOffset }) => ({
    producerId: mapProducerId(producerId),
    firstOffset,
    lastOffset,
  }))

describe('the shortest histories that break without the rules (mirroring.md, section 4)', () => {
  it("a chain: the producer that the source's barrier expired and its namesake stay two", () => {
    const source = [data(-8, 0), data(-8, 1), barrier, data(6, 0)] // A: mirrored C's 6, stopped, has its own 6
    expect(replayed(mapped(source)).producers.get(-8n)?.batches).toMatchObject([{ firstOffset: 3n }])
    // the draft as written: both in one window
    const draft = replayed(mapped(source), { barrierPolicy: 'stop-only' })
    expect(draft.producers.get(-8n)?.batches).toHaveLength(3)
  })

  it('a partition that once failed over: a new mirror of it from offset 0', () => {
    const source = [data(-8, 0), barrier, data(6, 0)]
    expect(replayed(mapped(source)).producers.get(-8n)?.batches).toHaveLength(1)
    expect([...replayed(source).producers.keys()]).toEqual([6n])
  })

  it('no R2: two clusters that pass one barrier agree on what was open there', () => {
    const written = [txn(6), txn(5)]
    const onB = replayed([...written, barrier, marker('COMMIT', 6)])
    const onC = replayed(mapped([...written, barrier, marker('COMMIT', 6)]))
    expect(fates(onB)).toEqual(fates(onC))
    expect(fates(onC)).toEqual([
      { producerId: -8n, firstOffset: 0n, lastOffset: 2n },
      { producerId: -7n, firstOffset: 1n, lastOffset: 2n },
    ])
    for (const manager of [onB, onC]) expect(manager.lastStableOffset(4n)).toBe(4n)
  })

  it('no R3: the ABORT that comes home ends the transaction that it was written for', () => {
    const manager = replayed([txn(6), marker('ABORT', -8)])
    expect(manager.lastStableOffset(2n)).toBe(2n)
    expect(manager.abortedTransactions).toMatchObject([{ producerId: 6n, firstOffset: 0n, lastOffset: 1n }])
  })

  it('no R3: a COMMIT that comes home round a ring commits', () => {
    const manager = replayed([txn(6), marker('COMMIT', -8), barrier])
    expect(manager.abortedTransactions).toEqual([])
  })
})

describe('what a mirrored log takes in silence (mirroring.md, section 8)', () => {
  function warned(ops: BatchOp[]): ProducerWarning['kind'][] {
    const kinds: ProducerWarning['kind'][] = []
    replayed(ops, { onWarning: (warning) => kinds.push(warning.kind) })
    return kinds
  }

  it('a sequence that does not follow: a gap, a repeat, a step back', () => {
    expect(warned([data(-7, 0), data(-7, 5), data(-7, 5), data(-7, 1)])).toEqual([])
  })

  it('a lower epoch, with a warning alone', () => {
    expect(warned([data(-7, 0, { epoch: 3 }), data(-7, 0, { epoch: 1 })])).toEqual(['producer-epoch'])
  })

  it("a marker of another epoch closes the other producer's records", () => {
    expect(warned([txn(-7, 0, 3), marker('ABORT', -7, 5)])).toEqual([])
    expect(warned([txn(-7, 0, 3), marker('ABORT', -7, 1)])).toEqual(['producer-epoch'])
    expect(replayed([txn(-7, 0, 3), marker('ABORT', -7, 1)]).abortedTransactions).toHaveLength(1)
  })

  it('a marker without a transaction', () => {
    expect(replayed([marker('COMMIT', -7)]).abortedTransactions).toEqual([])
  })

  it('data of a second epoch inside one transaction: one fate for both', () => {
    const manager = replayed([txn(-7, 0, 0), txn(-7, 0, 1), marker('COMMIT', -7, 1)])
    expect(manager.abortedTransactions).toEqual([])
    expect(manager.lastStableOffset(3n)).toBe(3n)
  })

  it('but plain data of one inside the transaction of the other stops the replay', () => {
    expect(() => replayed([txn(-7), data(-7, 4)])).toThrow(
      expect.objectContaining({ code: 'INVALID_TXN_STATE', producerId: -7n, offset: 1n, firstOffset: 0n }),
    )
  })
})
