import { describe, expect, it } from 'vitest'
import {
  encodeMirrorPidReset,
  MirrorPartition,
  memoryStateStore,
  memoryStorage,
  OffsetOutOfRangeError,
  PartitionLog,
  ReplicaSet,
  SoleReplica,
} from '../../src/index.ts'
import { type BatchOp, encodeOp } from '../producers/logBuilder.ts'

// A mirror at work whose source loses records at its end, or deletes some at its start.

const OPS: BatchOp[] = [
  { kind: 'data', pid: 5, seq: 0, count: 2 },
  { kind: 'txn', pid: 6, seq: 0 },
  { kind: 'data', pid: 5, seq: 2 },
  { kind: 'COMMIT', pid: 6 },
  { kind: 'data', pid: 5, seq: 3 },
]
const END = 6n

/** With the only replica, and with two, of which one has to fetch. */
const LEADERS = [
  ['the only replica', () => new SoleReplica(PartitionLog.open(memoryStorage(), { segmentBytes: 200 }))],
  ['two replicas', () => new ReplicaSet([memoryStorage(), memoryStorage()], { segmentBytes: 200 })],
] as const

function mirroring(leader: SoleReplica | ReplicaSet) {
  const store = memoryStateStore()
  const mirror = new MirrorPartition(leader, store, { now: () => 5000n })
  const replicate = () => void (leader instanceof ReplicaSet && leader.replicate())
  const logs = () => (leader instanceof ReplicaSet ? leader.replicas.map(({ log }) => log) : [leader.log])
  const fetch = (op: BatchOp) => mirror.mirror(encodeOp(op, mirror.log.logEndOffset))
  mirror.prepare({ sourceClusterId: 'A' })
  mirror.start()
  for (const op of OPS) fetch(op)
  replicate()
  return { mirror, store, replicate, logs, fetch }
}

describe.each(LEADERS)('a mirror on %s', (_, newLeader) => {
  it('is cut where its source was, and mirrors on', () => {
    const { mirror, replicate, logs, fetch } = mirroring(newLeader())
    mirror.truncateTo(4n)
    expect(mirror.state).toBe('MIRRORING')
    expect(mirror.log.logEndOffset).toBe(4n)
    // the marker is gone, so the transaction is open again, and the sequences are those from before
    expect(mirror.log.producerState.ongoingTransactions).toMatchObject([{ producerId: -8n, firstOffset: 2n }])
    expect(mirror.log.producerState.producers.get(-7n)?.lastSequence).toBe(2)
    mirror.truncateTo(9n)
    expect(mirror.log.logEndOffset).toBe(4n)
    fetch({ kind: 'ABORT', pid: 6 })
    replicate()
    for (const log of logs()) {
      expect([log.logEndOffset, log.highWatermark]).toEqual([5n, 5n])
      expect(log.abortedTransactions).toMatchObject([{ producerId: -8n, firstOffset: 2n, lastOffset: 4n }])
    }
  })

  it('is cut to nothing, also below its start', () => {
    const { mirror, replicate, logs, fetch } = mirroring(newLeader())
    expect(mirror.followLogStart(4n)).toBe(4n)
    mirror.truncateTo(1n)
    expect([mirror.log.logStartOffset, mirror.log.logEndOffset]).toEqual([1n, 1n])
    fetch({ kind: 'data', pid: 5, seq: 9 })
    replicate()
    for (const log of logs()) expect([log.logStartOffset, log.logEndOffset]).toEqual([1n, 2n])
  })

  it('follows the log start of its source, and never back', () => {
    const { mirror, replicate, logs } = mirroring(newLeader())
    expect(mirror.followLogStart(3n)).toBe(3n)
    expect(mirror.followLogStart(2n)).toBe(3n)
    replicate()
    for (const log of logs()) {
      expect([log.logStartOffset, log.logEndOffset]).toEqual([3n, END])
      expect(log.producerState.producers.get(-7n)?.lastSequence).toBe(3)
    }
    expect(mirror.followLogStart(END)).toBe(END)
    expect(mirror.log.logEndOffset).toBe(END)
    expect(mirror.state).toBe('MIRRORING')
  })

  it('that holds records does not follow beyond its end: what lies between would be missing', () => {
    const { mirror } = mirroring(newLeader())
    expect(() => mirror.followLogStart(END + 1n)).toThrow(OffsetOutOfRangeError)
    expect([mirror.log.logStartOffset, mirror.log.logEndOffset, mirror.state]).toEqual([0n, END, 'MIRRORING'])
  })

  it('takes the whole batch back that was cut within', () => {
    const { mirror, replicate, logs } = mirroring(newLeader())
    mirror.truncateTo(1n)
    expect([mirror.log.logEndOffset, mirror.log.producerState.producers.size]).toEqual([1n, 0])
    mirror.mirror(encodeOp(OPS[0]!, 0n))
    replicate()
    for (const log of logs()) {
      expect([log.logStartOffset, log.logEndOffset]).toEqual([0n, 2n])
      expect(log.producerState.producers.get(-7n)?.lastSequence).toBe(1)
    }
  })

  it('begins within a batch, where its source does', () => {
    const { mirror, replicate, logs } = mirroring(newLeader())
    mirror.truncateTo(0n)
    expect(mirror.followLogStart(101n)).toBe(101n)
    mirror.mirror(encodeOp({ kind: 'data', pid: 5, seq: 0, count: 3 }, 100n))
    replicate()
    for (const log of logs()) expect([log.logStartOffset, log.logEndOffset]).toEqual([101n, 103n])
  })

  it('that holds none begins anew where its source begins', () => {
    const { mirror, replicate, logs, fetch } = mirroring(newLeader())
    mirror.fail('the source has deleted what comes next')
    mirror.prepare({ sourceClusterId: 'A', truncateTo: 0n })
    mirror.start()
    expect(mirror.followLogStart(100n)).toBe(100n)
    fetch({ kind: 'data', pid: 5, seq: 90 })
    replicate()
    for (const log of logs()) expect([log.logStartOffset, log.logEndOffset]).toEqual([100n, 101n])
    expect(mirror.stop()).toMatch(/^STOP/)
    replicate()
    expect(mirror.stop()).toBe('STOPPED')
    expect(mirror.mirroredEndOffset).toBe(101n)
  })
})

describe('what the followers have not yet', () => {
  it('is not deleted: the log start goes up to the high watermark, and further with the next call', () => {
    const replicas = new ReplicaSet([memoryStorage(), memoryStorage()])
    const { mirror, fetch } = mirroring(replicas)
    fetch({ kind: 'data', pid: 5, seq: 4 })
    expect(mirror.followLogStart(END + 1n)).toBe(END)
    replicas.replicate()
    expect(mirror.followLogStart(END + 1n)).toBe(END + 1n)
  })
})

describe('the barrier of an earlier stop', () => {
  function stoppedAndMirroringAgain() {
    const { mirror, store, fetch } = mirroring(new SoleReplica(PartitionLog.open(memoryStorage())))
    mirror.stop()
    const barrier = mirror.lastMirroredOffset!
    mirror.prepare({ sourceClusterId: 'Z' })
    mirror.start()
    fetch({ kind: 'data', pid: 1, seq: 0 })
    return { mirror, store, barrier }
  }

  it('is known as long as it is there', () => {
    const { mirror, store, barrier } = stoppedAndMirroringAgain()
    mirror.truncateTo(barrier + 1n)
    expect([mirror.lastMirroredOffset, mirror.mirroredEndOffset]).toEqual([barrier, END])
    mirror.truncateTo(barrier)
    for (const state of [mirror, store.load()!]) {
      expect([state.lastMirroredOffset, state.mirroredEndOffset]).toEqual([null, null])
    }
    expect(mirror.stop({ sourceClusterId: 'Z' })).toBe('STOPPED')
    expect([mirror.mirroredEndOffset, mirror.lastMirroredOffset]).toEqual([barrier, barrier])
  })

  it('is forgotten with a preparation that cuts it off, and kept by one that does not', () => {
    const { mirror, store, barrier } = stoppedAndMirroringAgain()
    mirror.fail('another source')
    mirror.prepare({ sourceClusterId: 'Y' })
    expect(mirror.lastMirroredOffset).toBe(barrier)
    mirror.prepare({ sourceClusterId: 'Y', truncateTo: barrier })
    expect([store.load()!.lastMirroredOffset, store.load()!.mirroredEndOffset]).toEqual([null, null])
  })

  it('that came from the source goes with the cut, and what it expired is back', () => {
    const { mirror } = mirroring(new SoleReplica(PartitionLog.open(memoryStorage())))
    mirror.mirror(
      encodeMirrorPidReset({ baseOffset: END, leaderEpoch: 0, timestamp: 1n, sourceClusterId: 'Z' }),
    )
    expect(mirror.log.producerState.producers.size).toBe(0)
    mirror.truncateTo(END)
    expect([...mirror.log.producerState.producers.keys()]).toEqual([-7n, -8n])
  })
})
