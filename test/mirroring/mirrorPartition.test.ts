import { describe, expect, it } from 'vitest'
import {
  MirrorPartition,
  memoryStateStore,
  memoryStorage,
  PartitionLog,
  ReplicaSet,
  recordBatches,
  SoleReplica,
} from '../../src/index.ts'
import { jsCore } from '../../src/js.ts'
import { sharedEndOffset } from '../../src/mirroring/sharedLog.ts'
import { type BatchOp, encodeOp } from '../producers/logBuilder.ts'

function cluster() {
  const log = PartitionLog.open(memoryStorage())
  const leader = new SoleReplica(log)
  return { log, leader, mirror: new MirrorPartition(leader, memoryStateStore(), { now: () => 5000n }) }
}

const write = ({ mirror }: ReturnType<typeof cluster>, op: BatchOp) =>
  mirror.append(encodeOp(op), op.kind === 'data' || op.kind === 'txn' ? 'client' : 'coordinator')

const pids = (log: PartitionLog) => [...log.producerState.producers.keys()].sort((a, b) => (a > b ? -1 : 1))

describe('a failover', () => {
  it('maps, settles, writes one barrier, lets local producers with the same raw id write', () => {
    const a = cluster()
    const b = cluster()
    write(a, { kind: 'data', pid: 5, seq: 0 })
    write(a, { kind: 'txn', pid: 6, seq: 0 })
    b.mirror.prepare({ sourceClusterId: 'A' })
    b.mirror.start()
    b.mirror.mirror(a.log.read(0n).records)
    expect(pids(b.log)).toEqual([-7n, -8n])
    expect(() => write(b, { kind: 'data', pid: 5, seq: 0 })).toThrow(/refused while the mirror is MIRRORING/)
    expect(b.mirror.stop()).toBe('STOPPED')
    expect(b.mirror.stop()).toBe('STOPPED')
    expect(b.mirror.mirroredEndOffset).toBe(2n)
    expect(b.mirror.lastMirroredOffset).toBe(3n)
    expect(b.log.logEndOffset).toBe(4n)
    expect(pids(b.log)).toEqual([])
    expect(b.log.lastStableOffset).toBe(4n)
    expect(write(b, { kind: 'data', pid: 5, seq: 0 }).duplicate).toBeNull()
    // failback: the old source has written alone meanwhile
    write(a, { kind: 'data', pid: 9, seq: 0 })
    write(a, { kind: 'data', pid: 9, seq: 1 })
    write(a, { kind: 'data', pid: 9, seq: 2 })
    expect(sharedEndOffset(a.log, b.log)).toBe(2n)
    a.mirror.prepare({ sourceClusterId: 'B', truncateTo: b.mirror.mirroredEndOffset! })
    a.mirror.start()
    a.mirror.mirror(b.log.read(a.log.logEndOffset).records)
    expect(sharedEndOffset(a.log, b.log)).toBe(5n)
    expect(pids(a.log)).toEqual([6n, 5n, -7n])
  })

  it('is complete once the replicas have the barrier', () => {
    const replicas = new ReplicaSet([memoryStorage(), memoryStorage()])
    const mirror = new MirrorPartition(replicas, memoryStateStore())
    mirror.prepare({ sourceClusterId: 'A' })
    mirror.start()
    mirror.mirror(encodeOp({ kind: 'txn', pid: 6, seq: 0, offset: 0 }))
    expect(mirror.stop({ openTransactions: 'truncate' })).toBe('STOPPING')
    expect(mirror.stop({ openTransactions: 'truncate' })).toBe('STOPPING')
    replicas.replicate()
    expect(mirror.stop()).toBe('STOPPED')
    expect(replicas.replicas.map(({ log }) => log.logEndOffset)).toEqual([1n, 1n])
    expect([...recordBatches(replicas.replicas[1]!.log.read(0n).records)].length).toBe(1)
  })

  it.each([
    [-1, 'abort'],
    [-3, 'abort'],
    [-32768, 'truncate'],
    [32767, 'abort'],
  ] as const)('ends a transaction of epoch %d, which a source may hold (%s)', (epoch, openTransactions) => {
    const { mirror, log } = cluster()
    mirror.prepare({ sourceClusterId: 'A' })
    mirror.start()
    const batch = Buffer.from(encodeOp({ kind: 'txn', pid: 6, seq: 0, offset: 0 }))
    batch.writeInt16BE(epoch, 51)
    batch.writeUInt32BE(jsCore().crc32c(batch.subarray(21)), 17)
    mirror.mirror(batch)
    expect(log.producerState.ongoingTransactions).toMatchObject([{ producerId: -8n, producerEpoch: epoch }])
    expect(mirror.stop({ openTransactions })).toBe('STOPPED')
    expect(log.lastStableOffset).toBe(log.logEndOffset)
    expect(log.producerState.ongoingTransactions).toEqual([])
  })
})

describe('a mirror that has failed', () => {
  function failed(when: 'PREPARING' | 'MIRRORING' | 'STOPPING') {
    const replicas = new ReplicaSet([memoryStorage(), memoryStorage()])
    const mirror = new MirrorPartition(replicas, memoryStateStore(), { now: () => 5000n })
    mirror.prepare({ sourceClusterId: 'A' })
    if (when !== 'PREPARING') {
      mirror.start()
      mirror.mirror(encodeOp({ kind: 'txn', pid: 6, seq: 0 }, 0n))
      mirror.mirror(encodeOp({ kind: 'data', pid: 5, seq: 0 }, 1n))
    }
    if (when === 'STOPPING') expect(mirror.stop({ openTransactions: 'abort' })).toBe('STOPPING')
    mirror.fail('the source is gone')
    return { mirror, replicas }
  }

  it.each(['PREPARING', 'MIRRORING', 'STOPPING'] as const)('when it was %s: can be stopped', (when) => {
    const { mirror, replicas } = failed(when)
    expect(mirror.stop({ openTransactions: 'truncate' })).toBe('STOPPING')
    replicas.replicate()
    expect(mirror.stop()).toBe('STOPPED')
    expect([mirror.failure, mirror.log.producerState.barriers.length]).toEqual([null, 1])
    // a stop that had begun goes on as it began
    const ends = { PREPARING: [0n, 0n], MIRRORING: [0n, 0n], STOPPING: [2n, 3n] }
    expect([mirror.mirroredEndOffset, mirror.lastMirroredOffset]).toEqual(ends[when])
  })

  it('in the midst of a stop, and is prepared anew, stops later as it is asked to', () => {
    const { mirror } = failed('STOPPING')
    mirror.prepare({ sourceClusterId: 'A', truncateTo: 2n })
    expect(mirror.mirroredEndOffset).toBeNull()
    mirror.fail('gone again')
    mirror.stop({ openTransactions: 'truncate' })
    expect(mirror.mirroredEndOffset).toBe(0n)
  })

  it('before it had dropped what no source wrote is no mirror that could be stopped', () => {
    class FullDisk extends SoleReplica {
      override truncateTo(): void {
        throw new Error('the disk is full')
      }
    }
    const { log } = cluster()
    const mirror = new MirrorPartition(new FullDisk(log), memoryStateStore())
    mirror.append(encodeOp({ kind: 'data', pid: 5, seq: 0 }), 'client')
    expect(() => mirror.prepare({ sourceClusterId: 'A', truncateTo: 0n })).toThrow('the disk is full')
    mirror.fail('the disk is full')
    expect(() => mirror.stop()).toThrow(/FAILED cannot become STOPPING; from there it can become PREPARING\./)
    expect([mirror.state, log.logEndOffset]).toEqual(['FAILED', 1n])
  })
})

describe('a stopped mirror', () => {
  it('takes nothing as mirrored by another way', () => {
    const { mirror, log } = cluster()
    mirror.prepare({ sourceClusterId: 'A' })
    mirror.start()
    mirror.stop()
    const end = log.logEndOffset
    for (const origin of ['mirror', 'replication', undefined]) {
      const append = () => mirror.append(encodeOp({ kind: 'data', pid: 5, seq: 0 }), origin as 'client')
      expect(append).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
    }
    expect(log.logEndOffset).toBe(end)
  })
})

describe('two ids of a source that the mapping makes one', () => {
  const at = (offset: number, pid: number, seq = 0) => encodeOp({ kind: 'data', pid, seq, offset })
  const barrier = (offset: number) => encodeOp({ kind: 'barrier', offset })
  const mirroring = () => {
    const made = cluster()
    made.mirror.prepare({ sourceClusterId: 'A' })
    made.mirror.start()
    return made
  }
  const meeting = expect.objectContaining({
    code: 'PRODUCER_IDS_MEET',
    producerId: -7n,
    firstOffset: 0n,
    otherProducerId: 5n,
  })

  it('fail the mirror, in one append or in several, and nothing of that is written', () => {
    for (const parts of [
      [[at(0, -7), at(1, 5)]],
      [[at(0, -7)], [at(1, 3), at(2, 5)]],
      [[at(0, -7)], [at(1, 5)]],
    ]) {
      const { mirror, log } = mirroring()
      const last = parts.pop()!
      for (const part of parts) mirror.mirror(Buffer.concat(part))
      const end = log.logEndOffset
      expect(() => mirror.mirror(Buffer.concat(last))).toThrow(meeting)
      expect([log.logEndOffset, mirror.state]).toEqual([end, 'FAILED'])
      expect(mirror.failure).toContain('-7 (first at offset 0) and 5 (first at offset')
    }
  })

  it('do not meet in a fetch that is repeated, whatever it begins with', () => {
    const first = [at(0, -7), barrier(1), at(2, 5)]
    for (const again of [[at(0, -7)], first, [at(0, -7), barrier(1), at(2, 5), at(3, 5, 1)]]) {
      const { mirror, log } = mirroring()
      mirror.mirror(Buffer.concat(first))
      expect(() => mirror.mirror(Buffer.concat(again))).toThrow(
        expect.objectContaining({ code: 'UNEXPECTED_APPEND_OFFSET' }),
      )
      expect([log.logEndOffset, mirror.state]).toEqual([3n, 'MIRRORING'])
    }
    const { mirror } = mirroring()
    mirror.mirror(at(0, -7))
    expect(() => mirror.mirror(at(0, -7))).toThrow()
    expect(() => mirror.mirror(at(1, 5))).toThrow(meeting)
  })

  it('are told apart by a barrier, and let through by force or without a mapping', () => {
    const apart = mirroring()
    for (const records of [at(0, -7), barrier(1), at(2, 5)]) apart.mirror.mirror(records)
    expect(apart.mirror.state).toBe('MIRRORING')
    for (const options of [{ force: true }, { producerIds: 'none' }] as const) {
      const { leader } = cluster()
      const mirror = new MirrorPartition(leader, memoryStateStore(), options)
      mirror.prepare({ sourceClusterId: 'A' })
      mirror.start()
      mirror.mirror(Buffer.concat([at(0, -7), at(1, 5)]))
      expect(mirror.state).toBe('MIRRORING')
    }
  })

  it('do not meet one that the log has otherwise: its own, cut off, or of another source', () => {
    const own = cluster()
    write(own, { kind: 'data', pid: 5, seq: 0 })
    own.mirror.prepare({ sourceClusterId: 'A' })
    own.mirror.start()
    own.mirror.mirror(at(1, 5))
    expect(pids(own.log)).toEqual([5n, -7n])

    const again = mirroring()
    again.mirror.mirror(at(0, -7))
    again.mirror.fail('another source')
    again.mirror.prepare({ sourceClusterId: 'B' })
    again.mirror.start()
    again.mirror.mirror(at(1, 5, 1))
    expect(again.mirror.state).toBe('MIRRORING')
  })

  it('after a reopen are those that were mirrored since', () => {
    const store = memoryStateStore()
    const { leader } = cluster()
    const open = () => new MirrorPartition(leader, store)
    const first = open()
    first.prepare({ sourceClusterId: 'A' })
    first.start()
    first.mirror(at(0, 5))
    const second = open()
    second.mirror(at(1, 5, 1))
    expect(() => second.mirror(at(2, -7))).toThrow(expect.objectContaining({ code: 'PRODUCER_IDS_MEET' }))
  })

  it('are told of producers that the log still knows, however many came', () => {
    const { mirror, log } = mirroring()
    const records = Array.from({ length: 25_000 }, (_, offset) => at(offset, offset))
    for (let from = 0; from < records.length; from += 5000) {
      mirror.mirror(Buffer.concat(records.slice(from, from + 5000)))
    }
    expect(log.producerState.producers.size).toBe(25_000)
    expect(() => mirror.mirror(at(25_000, -2))).toThrow(
      expect.objectContaining({ firstOffset: 0n, otherFirstOffset: 25_000n }),
    )
  })
})
