import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  auditProducers,
  MirrorPartition,
  type MirrorPartitionOptions,
  memoryStateStore,
  memoryStorage,
  PartitionLog,
  type PartitionLogOptions,
  ReplicaSet,
  recordBatches,
  SoleReplica,
  sharedEndOffset,
} from '../../src/index.ts'
import { batchesFrom } from '../../src/mirroring/sharedLog.ts'
import { type BatchOp, encodeOp } from '../producers/logBuilder.ts'

function cluster(logOptions: PartitionLogOptions = {}, options: MirrorPartitionOptions = {}) {
  const log = PartitionLog.open(memoryStorage(), logOptions)
  const mirror = new MirrorPartition(new SoleReplica(log), memoryStateStore(), {
    now: () => 5000n,
    ...options,
  })
  return { log, mirror }
}
type Cluster = ReturnType<typeof cluster>

const write = ({ mirror }: Cluster, op: BatchOp) =>
  mirror.append(encodeOp(op), op.kind === 'data' || op.kind === 'txn' ? 'client' : 'coordinator')

function mirrorFrom(target: Cluster, source: Cluster, sourceClusterId = 'A'): void {
  target.mirror.prepare({ sourceClusterId, truncateTo: sharedEndOffset(target.log, source.log) })
  target.mirror.start()
  fetch(target, source)
}

function fetch(target: Cluster, source: Cluster): void {
  while (target.log.logEndOffset < source.log.logEndOffset) {
    target.mirror.mirror(source.log.read(target.log.logEndOffset).records)
  }
}

const audit = (log: PartitionLog) => auditProducers(batchesFrom(log, 0n)).findings
const barriersIn = (log: PartitionLog) =>
  [...batchesFrom(log, 0n)].filter((batch) => batch.isControl && batch.producerId === -1n)

describe('M-17: the first local producer has the id, the epoch and the sequences of a mirrored one', () => {
  const field = (options: MirrorPartitionOptions, logOptions: PartitionLogOptions = {}) => {
    const a = cluster()
    for (const seq of [0, 1]) write(a, { kind: 'data', pid: 1, seq })
    const b = cluster(logOptions, options)
    mirrorFrom(b, a)
    return b
  }
  const nativeWrites = (b: Cluster) => [0, 1, 2, 3].map((seq) => write(b, { kind: 'data', pid: 1, seq }))

  it('(a), (d) raw ids, no barrier that acts: two writes are acknowledged and lost', () => {
    const b = field({ producerIds: 'none' }, { barrierPolicy: 'ignore' })
    b.mirror.stop()
    const results = nativeWrites(b)
    expect(results.map(({ firstOffset, duplicate }) => [firstOffset, duplicate !== null])).toEqual([
      [0n, true],
      [1n, true],
      [3n, false],
      [4n, false],
    ])
  })

  it('(b) mapped: all are written', () => {
    const b = field({})
    b.mirror.stop()
    expect(nativeWrites(b).map(({ duplicate }) => duplicate)).toEqual([null, null, null, null])
    expect(audit(b.log)).toEqual([])
  })

  it('(c) raw, and a barrier that expires all: all are written', () => {
    const b = field({ producerIds: 'none' }, { barrierScope: 'all' })
    b.mirror.stop()
    expect(nativeWrites(b).map(({ duplicate }) => duplicate)).toEqual([null, null, null, null])
  })

  it('whatever was mirrored, and whatever was open: no local write is lost or refused', () => {
    const ids = fc.integer({ min: 0, max: 2 })
    const epochs = fc.integer({ min: 0, max: 1 })
    const mirrored = fc.array(
      fc.record({ pid: ids, epoch: epochs, txn: fc.boolean(), end: fc.integer({ min: 0, max: 3 }) }),
      {
        maxLength: 12,
      },
    )
    const local = fc.array(fc.record({ pid: ids, epoch: epochs, isTxn: fc.boolean() }), {
      minLength: 1,
      maxLength: 8,
    })
    fc.assert(
      fc.property(
        mirrored,
        local,
        fc.constantFrom('abort' as const, 'truncate' as const),
        (history, writes, mode) => {
          const a = cluster()
          const sequences = new Map<string, number>()
          const current = new Map<number, number>()
          const next = (pid: number, epoch: number) => {
            const key = `${pid} ${epoch}`
            const seq = sequences.get(key) ?? 0
            sequences.set(key, seq + 1)
            return seq
          }
          for (const { pid, epoch: wanted, txn, end } of history) {
            const open = a.log.producerState.producers.get(BigInt(pid))?.currentTxnFirstOffset ?? null
            const epoch = Math.max(wanted, current.get(pid) ?? 0)
            if (open !== null && epoch !== current.get(pid))
              write(a, { kind: 'ABORT', pid, epoch: current.get(pid)! })
            current.set(pid, epoch)
            const isOpen =
              (a.log.producerState.producers.get(BigInt(pid))?.currentTxnFirstOffset ?? null) !== null
            write(a, { kind: txn || isOpen ? 'txn' : 'data', pid, epoch, seq: next(pid, epoch) })
            if (end < 2 && (txn || isOpen)) write(a, { kind: end === 0 ? 'COMMIT' : 'ABORT', pid, epoch })
          }
          const b = cluster()
          mirrorFrom(b, a)
          expect(b.mirror.stop({ openTransactions: mode })).toBe('STOPPED')
          expect(b.log.lastStableOffset).toBe(b.log.logEndOffset)
          sequences.clear()
          const begun = new Map<string, boolean>()
          const latest = new Map<number, number>()
          for (const { pid, epoch: wanted, isTxn } of writes) {
            const epoch = Math.max(wanted, latest.get(pid) ?? 0)
            latest.set(pid, epoch)
            const key = `${pid} ${epoch}`
            const kind = (begun.get(key) ?? isTxn) ? 'txn' : 'data'
            begun.set(key, kind === 'txn')
            const isOtherOpen = b.log.producerState.ongoingTransactions.some(
              ({ producerId }) => producerId === BigInt(pid),
            )
            if (isOtherOpen && kind === 'data') write(b, { kind: 'COMMIT', pid, epoch })
            const end = b.log.logEndOffset
            const result = write(b, { kind, pid, epoch, seq: next(pid, epoch) })
            expect(result).toMatchObject({ duplicate: null, firstOffset: end })
          }
          const replayed = PartitionLog.open(memoryStorage())
          replayed.append(b.log.read(0n).records, 'replication')
          expect(replayed.producerState.ongoingTransactions).toEqual(b.log.producerState.ongoingTransactions)
        },
      ),
      { numRuns: 150 },
    )
  })
})

describe('M-19: the promoted cluster of a chain', () => {
  const chain = (hasBarrier: boolean, options: MirrorPartitionOptions = {}) => {
    const a = cluster()
    write(a, { kind: 'data', pid: 5, seq: 0, count: 3 })
    const b = cluster({}, {})
    const c = cluster({}, options)
    mirrorFrom(b, a)
    mirrorFrom(c, b, 'B')
    if (hasBarrier) {
      b.mirror.stop()
      write(b, { kind: 'data', pid: 5, seq: 0, count: 3 })
    } else {
      b.log.append(encodeOp({ kind: 'data', pid: 5, seq: 0, count: 3 }), 'client')
    }
    return { b, c, catchUp: () => fetch(c, b) }
  }

  it('without a barrier fails the mirror on C, which names both ids and where they begin', () => {
    const { b, c, catchUp } = chain(false)
    const facts = { producerId: -7n, firstOffset: 0n, otherProducerId: 5n, otherFirstOffset: 3n }
    expect(catchUp).toThrow(expect.objectContaining({ code: 'PRODUCER_IDS_MEET', ...facts }))
    expect([c.log.logEndOffset, c.mirror.state]).toEqual([3n, 'FAILED'])
    expect(c.mirror.failure).toMatch(/-7 \(first at offset 0\) and 5 \(first at offset 3\)/)
    expect(catchUp).toThrow(expect.objectContaining({ code: 'APPEND_REFUSED' }))
    expect(auditProducers(batchesFrom(b.log, 0n)).notes).toContainEqual(
      expect.objectContaining({ kind: 'ids-that-meet', count: 1, offset: 3n }),
    )
  })

  it('without a barrier and with force, two producers are one on C; the audit says so, and no batch is dropped', () => {
    const { c, catchUp } = chain(false, { force: true })
    catchUp()
    expect(c.log.logEndOffset).toBe(6n)
    expect(c.log.producerState.producers.get(-7n)?.batches.map(({ firstOffset }) => firstOffset)).toEqual([
      0n,
      3n,
    ])
    expect(audit(c.log)).toMatchObject([
      { kind: 'sequence', producerId: -7n, offset: 3n, previousOffset: 0n },
    ])
  })

  it('with the barrier replayed, C knows of the second alone', () => {
    const { c, catchUp } = chain(true)
    catchUp()
    expect(c.log.logEndOffset).toBe(7n)
    expect(c.log.producerState.producers.get(-7n)?.batches.map(({ firstOffset }) => firstOffset)).toEqual([
      4n,
    ])
    expect(audit(c.log)).toEqual([])
  })
})

describe('M-20: Apache Kafka does not see mapped ids', () => {
  it.each(['stock', 'mirror'] as const)('producerIdTest %s', (producerIdTest) => {
    const a = cluster()
    write(a, { kind: 'txn', pid: 8, seq: 0 })
    const b = cluster({ producerIdTest })
    mirrorFrom(b, a)
    const isSeen = producerIdTest === 'mirror'
    expect(b.log.lastStableOffset).toBe(isSeen ? 0n : 1n)
    write(a, { kind: 'ABORT', pid: 8 })
    fetch(b, a)
    expect(b.log.lastStableOffset).toBe(2n)
    expect(b.log.abortedTransactions.length).toBe(isSeen ? 1 : 0)
    expect(b.log.producerState.producers.size).toBe(isSeen ? 1 : 0)
  })

  it('a pair of which one half was mapped holds the last stable offset back, until the stop settles it', () => {
    const b = cluster()
    b.mirror.prepare({ sourceClusterId: 'A' })
    b.mirror.start()
    b.log.append(encodeOp({ kind: 'txn', pid: -10, seq: 0 }), 'mirror')
    b.log.append(encodeOp({ kind: 'ABORT', pid: 8 }, 1n), 'mirror')
    b.log.updateHighWatermark(2n)
    expect(b.log.lastStableOffset).toBe(0n)
    expect(b.mirror.stop()).toBe('STOPPED')
    expect(b.log.lastStableOffset).toBe(4n)
    expect(b.log.abortedTransactions).toMatchObject([{ producerId: -10n, firstOffset: 0n, lastOffset: 2n }])
  })
})

it('P-14: late data behind the ABORT is settled by the stop, apart from what the ABORT ended', () => {
  const a = cluster()
  write(a, { kind: 'txn', pid: 2000, seq: 0 })
  write(a, { kind: 'ABORT', pid: 2000 })
  write(a, { kind: 'txn', pid: 2000, seq: 1 })
  const b = cluster()
  mirrorFrom(b, a)
  expect(b.log.lastStableOffset).toBe(2n)
  b.mirror.stop()
  expect(b.log.abortedTransactions).toMatchObject([
    { producerId: -2002n, firstOffset: 0n, lastOffset: 1n },
    { producerId: -2002n, firstOffset: 2n, lastOffset: 3n },
  ])
})

describe('the offset to which a failback cuts the old source', () => {
  /** B has stopped with an open transaction of A; A has gone on alone. */
  const parted = () => {
    const a = cluster()
    write(a, { kind: 'data', pid: 5, seq: 0 })
    write(a, { kind: 'txn', pid: 6, seq: 0 })
    const b = cluster()
    mirrorFrom(b, a)
    b.mirror.stop({ openTransactions: 'abort' })
    for (const seq of [1, 2, 3]) write(a, { kind: 'data', pid: 5, seq })
    return { a, b }
  }

  it('is the mirrored end offset: then nothing is left that the new source has not', () => {
    const { a, b } = parted()
    expect([b.mirror.mirroredEndOffset, b.mirror.lastMirroredOffset]).toEqual([2n, 3n])
    a.mirror.prepare({ sourceClusterId: 'B', truncateTo: b.mirror.mirroredEndOffset! })
    a.mirror.start()
    fetch(a, b)
    expect(sharedEndOffset(a.log, b.log)).toBe(b.log.logEndOffset)
  })

  it('is not the last mirrored offset: a record of the old source would stay where an ABORT marker is', () => {
    const { a, b } = parted()
    a.mirror.prepare({ sourceClusterId: 'B', truncateTo: b.mirror.lastMirroredOffset! })
    a.mirror.start()
    fetch(a, b)
    expect(a.log.logEndOffset).toBe(b.log.logEndOffset)
    expect(sharedEndOffset(a.log, b.log)).toBe(2n)
    const [ours] = recordBatches(a.log.read(2n, { maxBytes: 0 }).records)
    const [theirs] = recordBatches(b.log.read(2n, { maxBytes: 0 }).records)
    expect([ours?.isControl, theirs?.isControl]).toEqual([false, true])
  })
})

describe('a stop under another leader', () => {
  const started = () => {
    const replicas = new ReplicaSet([memoryStorage(), memoryStorage(), memoryStorage()])
    const mirror = new MirrorPartition(replicas, memoryStateStore(), { now: () => 5000n })
    mirror.prepare({ sourceClusterId: 'A' })
    mirror.start()
    mirror.mirror(encodeOp({ kind: 'data', pid: 5, seq: 0, count: 2 }, 0n))
    mirror.mirror(encodeOp({ kind: 'txn', pid: 6, seq: 0 }, 2n))
    return { replicas, mirror }
  }
  const expectOneBarrier = ({ replicas, mirror }: ReturnType<typeof started>) => {
    for (const { log } of replicas.replicas) {
      expect(barriersIn(log).map(({ baseOffset }) => baseOffset)).toEqual([mirror.lastMirroredOffset])
      expect(log.logEndOffset).toBe(replicas.log.logEndOffset)
      expect([...log.producerState.producers.keys()]).toEqual([])
      expect(log.producerState.ongoingTransactions).toEqual([])
    }
  }

  it.each(['abort', 'truncate'] as const)('%s: that has the barrier: it writes none', (openTransactions) => {
    const { replicas, mirror } = started()
    replicas.replicate()
    expect(mirror.stop({ openTransactions })).toBe('STOPPING')
    replicas.fetch(1)
    replicas.elect(1)
    const end = replicas.log.logEndOffset
    expect(mirror.stop({ openTransactions })).toBe('STOPPING')
    expect(replicas.log.logEndOffset).toBe(end)
    replicas.replicate()
    expect(mirror.stop()).toBe('STOPPED')
    expectOneBarrier({ replicas, mirror })
  })

  it.each(['abort', 'truncate'] as const)(
    '%s: that has not the barrier: it writes the one that stays',
    (openTransactions) => {
      const { replicas, mirror } = started()
      replicas.replicate()
      expect(mirror.stop({ openTransactions })).toBe('STOPPING')
      replicas.elect(1)
      expect(mirror.stop({ openTransactions: 'abort' })).toBe('STOPPING')
      expect(() => mirror.append(encodeOp({ kind: 'data', pid: 5 }), 'client')).toThrow(/STOPPING/)
      replicas.replicate()
      expect(mirror.stop()).toBe('STOPPED')
      expectOneBarrier({ replicas, mirror })
    },
  )

  it('that has less than was mirrored: the mirrored end is that of its log', () => {
    const { replicas, mirror } = started()
    replicas.fetch(1, 1)
    replicas.crash(2)
    expect(mirror.stop()).toBe('STOPPING')
    expect(mirror.mirroredEndOffset).toBe(3n)
    replicas.elect(1)
    expect(replicas.log.logEndOffset).toBe(2n)
    mirror.stop()
    replicas.restart(2)
    replicas.replicate()
    expect(mirror.stop()).toBe('STOPPED')
    expect([mirror.mirroredEndOffset, mirror.lastMirroredOffset]).toEqual([2n, 2n])
    expectOneBarrier({ replicas, mirror })
  })

  it('is not complete while an in-sync replica lacks the barrier, and is once that has left', () => {
    const { replicas, mirror } = started()
    replicas.replicate()
    mirror.stop()
    replicas.fetch(1)
    replicas.fetch(1)
    expect(mirror.stop()).toBe('STOPPING')
    replicas.crash(2)
    expect(mirror.stop()).toBe('STOPPED')
    replicas.restart(2)
    replicas.replicate()
    expectOneBarrier({ replicas, mirror })
  })
})
