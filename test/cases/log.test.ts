// Field cases of producer state and mirroring, on a whole partition's log: what is stored, what a reader gets, and that a
// restart sees the same.
import { describe, expect, it } from 'vitest'
import { recordBatches } from '../../src/formats/recordBatches.ts'
import { loadCoreSync } from '../../src/index.ts'
import { memoryStorage } from '../../src/log/partition/memoryStorage.ts'
import { PartitionLog } from '../../src/log/partition/partitionLog.ts'
import { allRecords, lastOnly } from '../log/logStates.ts'
import { type BatchOp, encodeOp } from '../producers/logBuilder.ts'
import { storedFiles } from '../support/storedFiles.ts'

const data = (pid: number, seq: number, more: Partial<BatchOp> = {}): BatchOp => ({
  kind: 'data',
  pid,
  seq,
  ...more,
})

function logWith(ops: readonly BatchOp[] = []): {
  log: PartitionLog
  storage: ReturnType<typeof memoryStorage>
} {
  const storage = memoryStorage()
  const log = PartitionLog.open(storage)
  for (const op of ops) log.append(encodeOp({ ...op, offset: Number(log.logEndOffset) }), 'replication')
  log.updateHighWatermark(log.logEndOffset)
  return { log, storage }
}

const client = (log: PartitionLog, op: BatchOp) => {
  try {
    const { firstOffset, duplicate } = log.append(encodeOp(op), 'client')
    return duplicate === null ? Number(firstOffset) : `duplicate of ${duplicate.firstOffset}`
  } catch (error) {
    return (error as Error).name
  }
}

const offsets = (log: PartitionLog) =>
  [...recordBatches(allRecords(log))].map(({ baseOffset }) => Number(baseOffset))

describe('P-10 sequences wrap', () => {
  it('at 2147483647, within a batch too, and the resend is known by its offset', () => {
    const { log } = logWith()
    const wrapping = data(3, 2147483646, { count: 4 })
    expect([client(log, wrapping), client(log, data(3, 2)), client(log, wrapping)]).toEqual([
      0,
      4,
      'duplicate of 0',
    ])
    expect(client(log, data(4, 2147483646))).toBe(5)
    expect(client(log, data(4, 0))).toBe('OutOfOrderSequenceError')
    expect(log.logEndOffset).toBe(6n)
  })
})

describe('P-11 epochs', () => {
  it('a leader fences the old one, a log that has both is loaded', () => {
    const { log } = logWith([data(4, 0, { count: 10 })])
    const answers = [data(4, 10, { epoch: 1 }), data(4, 0, { epoch: 1 }), data(4, 10)].map((op) =>
      client(log, op),
    )
    expect(answers).toEqual(['OutOfOrderSequenceError', 10, 'InvalidProducerEpochError'])
    log.append(encodeOp(data(4, 10), 11n), 'replication')
    expect(log.producerState.producers.get(4n)?.producerEpoch).toBe(0)
    expect(client(log, data(6, 100))).toBe(12)
  })
})

describe('P-13 markers without a transaction', () => {
  it('are stored, leave no aborted transaction, and are replayed', () => {
    const { log, storage } = logWith([
      { kind: 'ABORT', pid: 3, epoch: 1, coordinatorEpoch: 4 },
      { kind: 'txn', pid: 5, seq: 0 },
      { kind: 'COMMIT', pid: 5 },
      { kind: 'COMMIT', pid: 5 },
    ])
    for (const each of [log, PartitionLog.open(memoryStorage(storedFiles(storage)))]) {
      expect(each.abortedTransactions).toEqual([])
      expect(each.producerState.producers.get(3n)).toMatchObject({
        producerEpoch: 1,
        coordinatorEpoch: 4,
        lastSequence: -1,
      })
    }
    expect(log.lastStableOffset).toBe(4n)
  })
})

describe('P-14 data behind the ABORT', () => {
  it('opens another transaction, which holds readers back', () => {
    const { log } = logWith([
      { kind: 'txn', pid: 2000, seq: 0 },
      { kind: 'ABORT', pid: 2000 },
      { kind: 'txn', pid: 2000, seq: 1 },
      data(1, 0),
    ])
    expect(log.lastStableOffset).toBe(2n)
    const { records, abortedTransactions } = log.read(0n, { isolation: 'read_committed' })
    expect([...recordBatches(records)]).toHaveLength(2)
    expect(abortedTransactions).toMatchObject([{ firstOffset: 0n, lastOffset: 1n }])
    expect(log.truncateToLastStableOffset()).toBe(2n)
  })
})

describe('P-16 the window of five', () => {
  it('after a restart is a window of one', () => {
    const { log, storage } = logWith()
    for (const seq of [0, 1, 2, 3, 4, 5, 6]) client(log, data(5, seq))
    const again = [data(5, 6), data(5, 2), data(5, 1), data(5, 1, { count: 2 })]
    const refused = 'OutOfOrderSequenceError'
    expect(again.map((op) => client(log, op))).toEqual(['duplicate of 6', 'duplicate of 2', refused, refused])
    log.close()
    const restarted = PartitionLog.open(storage, { shutdown: 'clean' })
    expect(again.map((op) => client(restarted, op))).toEqual(['duplicate of 6', refused, refused, refused])
    expect(offsets(restarted)).toEqual([0, 1, 2, 3, 4, 5, 6])
  })
})

describe('M-17 the first producer after a failover', () => {
  const native = [0, 1, 2, 3].map((seq) => data(1, seq))
  const mirrored = (pid: number): BatchOp[] => [data(pid, 0), data(pid, 1)]

  it('under an id that was mirrored raw is acknowledged and not stored', () => {
    const { log } = logWith(mirrored(1))
    expect(native.map((op) => client(log, op))).toEqual(['duplicate of 0', 'duplicate of 1', 2, 3])
    expect(log.logEndOffset).toBe(4n)
  })

  it('is stored where ids are mapped', () => {
    const { log } = logWith(mirrored(-3))
    expect(native.map((op) => client(log, op))).toEqual([2, 3, 4, 5])
  })

  it('is stored behind a barrier for all ids, on the leader and after any restart', () => {
    const storage = memoryStorage()
    const options = { barrierScope: 'all' } as const
    const log = PartitionLog.open(storage, options)
    for (const op of [...mirrored(1), { kind: 'barrier' as const }])
      log.append(encodeOp(op, log.logEndOffset), 'replication')
    for (const shutdown of ['clean', 'unclean'] as const) {
      const restarted = PartitionLog.open(memoryStorage(storedFiles(storage)), { ...options, shutdown })
      expect(lastOnly(restarted.producerState)).toEqual(lastOnly(log.producerState))
      expect(native.map((op) => client(restarted, op))).toEqual([3, 4, 5, 6])
    }
    expect(native.map((op) => client(log, op))).toEqual([3, 4, 5, 6])
  })
})

describe('M-20 mapped ids that stock Kafka does not see', () => {
  const txn: BatchOp[] = [
    { kind: 'txn', pid: 8, seq: 0 },
    { kind: 'ABORT', pid: 8 },
  ]

  /** As a stock broker and as this project see the log, with its first `count` batches mapped. */
  function both(ops: readonly BatchOp[], count: number) {
    const bytes = ops.map((op, at) => encodeOp(op, BigInt(at)))
    for (const batch of bytes.slice(0, count)) loadCoreSync().rewrite(batch)
    const files: [string, Uint8Array][] = [['00000000000000000000.log', Buffer.concat(bytes)]]
    return (['stock', 'mirror'] as const).map((producerIdTest) => {
      const log = PartitionLog.open(memoryStorage(files), { producerIdTest })
      log.updateHighWatermark(log.logEndOffset)
      return {
        lso: Number(log.lastStableOffset),
        aborted: log.abortedTransactions.map((each) => Number(each.producerId)),
      }
    })
  }

  it('hold no reader back there, and are not dropped', () => {
    expect(both(txn.slice(0, 1), 1)).toEqual([
      { lso: 1, aborted: [] },
      { lso: 0, aborted: [] },
    ])
    expect(both(txn, 2)).toEqual([
      { lso: 2, aborted: [] },
      { lso: 2, aborted: [-10] },
    ])
  })

  it('of which only the data are mapped never end', () => {
    expect(both(txn, 1)).toEqual([
      { lso: 2, aborted: [] },
      { lso: 0, aborted: [] },
    ])
  })
})
