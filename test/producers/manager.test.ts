import { describe, expect, it } from 'vitest'
import { ProducerStateManager } from '../../src/producers/producerStateManager.ts'
import { appender, type BatchOp, batchOf, data } from './logBuilder.ts'

describe('offsets', () => {
  it.each([2n ** 31n - 1n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 53n + 1n, 2n ** 62n - 3n])(
    '%s keeps every digit',
    (offset) => {
      const manager = new ProducerStateManager()
      manager.append(batchOf({ kind: 'txn', pid: 1, count: 3 }, offset), 'replication')
      expect(manager.mapEndOffset).toBe(offset + 3n)
      expect(manager.producers.get(1n)).toMatchObject({
        lastOffset: offset + 2n,
        currentTxnFirstOffset: offset,
      })
      manager.append(batchOf({ kind: 'ABORT', pid: 1 }, offset + 3n), 'replication')
      expect(manager.abortedTransactions).toEqual([
        { producerId: 1n, firstOffset: offset, lastOffset: offset + 3n, lastStableOffset: offset + 4n },
      ])
      const loaded = ProducerStateManager.fromSnapshot(manager.takeSnapshot(), { offset: offset + 4n })
      expect(loaded.producers.get(1n)?.batches).toMatchObject([
        { firstOffset: offset, lastOffset: offset + 2n },
      ])
    },
  )

  it('are taken as they stand: the caller writes the log end offset into a client batch', () => {
    const manager = new ProducerStateManager()
    manager.append(batchOf({ kind: 'data', count: 5 }), 'client')
    const batch = batchOf({ kind: 'data', pid: 1 })
    new DataView(batch.bytes.buffer, batch.bytes.byteOffset).setBigInt64(0, manager.mapEndOffset)
    manager.append(batch, 'client')
    expect(manager.producers.get(1n)?.lastOffset).toBe(5n)
  })

  it('below the log start count as the log start', () => {
    const manager = new ProducerStateManager()
    for (const op of [
      { kind: 'txn', pid: 1 },
      { kind: 'txn', pid: 2 },
      { kind: 'ABORT', pid: 2 },
    ] satisfies BatchOp[]) {
      manager.append(batchOf(op, manager.mapEndOffset), 'replication')
    }
    manager.onLogStartOffset(3n)
    expect(manager.firstUnstableOffset).toBe(3n)
    expect(manager.abortedTransactions).toEqual([])
    manager.onLogStartOffset(9n)
    expect(manager.mapEndOffset).toBe(9n)
  })
})

describe('expiry', () => {
  it('goes by the last timestamp, spares open transactions, and is asked for at loading too', () => {
    const { manager, append } = appender(new ProducerStateManager({ producerIdExpirationMs: 500 }))
    append(data(1, 0, { timestamp: 100 }))
    append({ kind: 'txn', pid: 2, timestamp: 100 })
    append(data(3, 0, { timestamp: 101 }))
    const snapshot = manager.takeSnapshot()
    expect(manager.removeExpired(599n)).toBe(0)
    expect(manager.removeExpired(600)).toBe(1)
    expect([...manager.producers.keys()]).toEqual([2n, 3n])
    const loaded = ProducerStateManager.fromSnapshot(snapshot, { producerIdExpirationMs: 500, now: 600n })
    expect([...loaded.producers.keys()].sort()).toEqual([2n, 3n])
    expect(ProducerStateManager.fromSnapshot(snapshot).producers.size).toBe(3)
  })
})

describe('what the caller may give', () => {
  it.each([
    { producerIdTest: 'both' },
    { barrierPolicy: 'never' },
    { barrierScope: 'local' },
    { unknownProducerSequence: 'one' },
    { producerIdExpirationMs: 0 },
    { logStartOffset: -1n },
    { clusterId: '' },
  ])('not %o', (options) => {
    expect(() => new ProducerStateManager(options as never)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
    )
  })

  it('no unknown origin, no transaction version below 0, no set for a leader', () => {
    const manager = new ProducerStateManager()
    const invalid = expect.objectContaining({ code: 'INVALID_ARGUMENT' })
    expect(() => manager.append(batchOf({ kind: 'data' }), 'broker' as never)).toThrow(invalid)
    expect(() => manager.append(batchOf({ kind: 'data' }), 'client', { transactionVersion: -1 })).toThrow(
      invalid,
    )
    expect(() => manager.lastStableOffset(-1n)).toThrow(invalid)
    const two = [batchOf({ kind: 'data' }, 0n), batchOf({ kind: 'data' }, 1n)]
    expect(() => manager.appendAll(two, 'client')).toThrow(
      expect.objectContaining({ code: 'INVALID_RECORD' }),
    )
    expect(manager.appendAll([], 'client')).toEqual({ duplicate: null })
  })
})

describe('producers', () => {
  it('is a map of copies, in the order in which they came', () => {
    const { manager, append } = appender()
    for (const pid of [5, 3, 4000]) append(data(pid, 0))
    const { producers } = manager
    expect([...producers.keys()]).toEqual([5n, 3n, 4000n])
    expect([...producers].map(([id, entry]) => [id, entry.producerId])).toEqual([
      [5n, 5n],
      [3n, 3n],
      [4000n, 4000n],
    ])
    expect(producers.has(3n) && !producers.has(4n) && !producers.has(2n ** 64n + 3n)).toBe(true)
    producers.get(3n)!.producerEpoch = 9
    expect(producers.get(3n)?.producerEpoch).toBe(0)
    const seen: bigint[] = []
    producers.forEach((_entry, id) => {
      seen.push(id)
    })
    expect(seen).toHaveLength(producers.size)
  })

  it('holds many of them, through growth and expiry', () => {
    const { manager, append } = appender(new ProducerStateManager({ producerIdExpirationMs: 1 }))
    for (let pid = 0; pid < 5000; pid++) append(data(pid, 0, { timestamp: pid % 2 }), 'replication')
    expect(manager.producers.size).toBe(5000)
    expect(manager.removeExpired(1)).toBe(2500)
    for (let pid = 0; pid < 5000; pid++) expect(manager.producers.has(BigInt(pid))).toBe(pid % 2 === 1)
  })
})
