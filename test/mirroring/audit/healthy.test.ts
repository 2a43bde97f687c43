import { describe, expect, it } from 'vitest'
import { auditProducers, encodeMirrorPidReset, type RecordBatch, recordBatches } from '../../../src/index.ts'
import { jsCore } from '../../../src/js.ts'
import { data, logOf } from '../../producers/logBuilder.ts'
import { abort, audit, barrier, commit, fixtureLogs, found, plain, report, txn } from './support.ts'

const MAX = 2147483647
const core = jsCore()

function mapped(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes)
  core.rewrite(copy)
  return copy
}

function withBarrier(bytes: Buffer): Buffer {
  const last = [...recordBatches(bytes)].at(-1) as RecordBatch
  const timestamp = last.maxTimestamp
  const reset = encodeMirrorPidReset({
    baseOffset: last.nextOffset,
    leaderEpoch: 0,
    timestamp,
    sourceClusterId: 'A',
  })
  return Buffer.concat([bytes, reset])
}

/** The ids of the transactions that a fixture leaves open. */
const OPEN: Record<string, bigint> = { 'transactions-0': 1010n, 'transactions-v1-0': 2002n }

describe.each(fixtureLogs())('$name, as a real broker wrote it', ({ name, bytes }) => {
  const options = { partition: name }

  it('has no findings', () => {
    const { findings, openTransactions } = auditProducers(recordBatches(bytes), options)
    expect(findings).toEqual([])
    const open = name === '__consumer_offsets-0' ? 1n : OPEN[name]
    expect(openTransactions.map(({ producerId }) => producerId)).toEqual(open === undefined ? [] : [open])
  })

  it('has none when it is mapped', () => {
    expect(auditProducers(recordBatches(mapped(bytes)), options).findings).toEqual([])
  })

  it('has none behind a barrier but what the barrier ends, and none when it is mirrored again behind it', () => {
    const once = withBarrier(mapped(bytes))
    const { findings, barriers, openTransactions } = auditProducers(recordBatches(once), options)
    const isOpen = OPEN[name] !== undefined || name === '__consumer_offsets-0'
    expect(findings.map(({ kind }) => kind)).toEqual(isOpen ? ['transaction'] : [])
    expect(openTransactions).toEqual([])
    expect(barriers).toMatchObject([{ sourceClusterId: 'A' }])
    const again = Buffer.concat([once, mapped(bytes)])
    const shift = [...recordBatches(once)].at(-1)!.nextOffset
    for (const batch of recordBatches(again)) {
      if (batch.position < once.length) continue
      again.writeBigInt64BE(batch.baseOffset + shift, batch.position)
    }
    expect(auditProducers(recordBatches(again), options).findings).toHaveLength(findings.length)
  })

  it('is called compacted where the cleaner was at work', () => {
    expect(auditProducers(recordBatches(bytes), options).compacted).toBe(name.startsWith('compacted'))
  })
})

describe('legitimate, and never reported', () => {
  it('the first batch of a producer at any sequence and epoch', () => {
    expect(audit([data(5, 100, { epoch: 3 }), data(5, 101, { epoch: 3 })])).toEqual([])
  })

  it('the sequence wrap', () => {
    expect(audit([data(3, MAX - 2, { count: 3 }), data(3, 0), data(3, 1)])).toEqual([])
    expect(audit([data(3, MAX - 1, { count: 4 }), data(3, 2)])).toEqual([])
  })

  it('a new epoch that starts at 0 (D-26)', () => {
    const epoch = (number: number) => [0, 1, 2, 3, 4].map((seq) => data(7, seq, { epoch: number }))
    expect(audit([...epoch(0), ...epoch(1)])).toEqual([])
  })

  it('a new epoch behind a marker that raised it', () => {
    expect(audit([txn(7, 0, { epoch: 0 }), commit(7, 1), txn(7, 0, { epoch: 1 }), abort(7, 2)])).toEqual([])
  })

  it('sequences that go on over the markers of transaction version 1', () => {
    expect(audit([txn(7, 0), commit(7), txn(7, 1, { count: 3 }), abort(7), txn(7, 4), commit(7)])).toEqual([])
  })

  it('gaps that compaction has left, and says so', () => {
    const removed = [
      data(5, 0),
      data(5, 1, { count: 6 }),
      data(5, 7),
      data(6, 0, { count: 1, delta: 4 }),
      data(6, 5),
    ]
    const { batches } = logOf(removed)
    const { findings, compacted, notes } = auditProducers(batches.toSpliced(1, 1))
    expect([findings, compacted]).toEqual([[], true])
    expect(notes).toMatchObject([{ kind: 'compaction-gap', count: 1, offset: 7n }])
  })

  it('an expired producer that comes back', () => {
    const late = { timestamp: 1000 + 86_400_000 }
    expect(audit([data(5, 0), data(5, 1), data(5, 0, late)])).toEqual([])
    expect(report([data(5, 0), data(5, 1), data(5, 0, late)]).notes).toMatchObject([{ kind: 'expired' }])
    expect(audit([data(5, 0), data(5, 1), data(5, 0, { timestamp: late.timestamp - 1 })])).toEqual([
      'sequence 5 @2',
    ])
  })

  it('re-use behind a barrier', () => {
    expect(audit([data(-7, 0), data(-7, 1), barrier, data(-7, 0), data(-7, 1)])).toEqual([])
    expect(audit([data(-7, 0, { epoch: 4 }), barrier, data(-7, 9, { epoch: 1 })])).toEqual([])
    expect(audit([data(5, 0), data(5, 1), barrier, data(5, 2)])).toEqual([])
  })

  it('a transaction that comes home (R3)', () => {
    expect(audit([txn(6, 0), txn(6, 1), txn(-8, 2), commit(-8)])).toEqual([])
    expect(audit([txn(6, 0), abort(-8), barrier, txn(6, 1), commit(6)])).toEqual([])
    expect(audit([txn(6, 0), commit(-8, 1)])).toEqual([])
    const ended = { openTransactions: [], totals: { openTransactions: 0 } }
    expect(report([txn(6, 0), commit(-8)])).toMatchObject({
      ...ended,
      notes: [{ kind: 'came-home', offset: 1n }],
    })
    expect(report([txn(6, 0), txn(-8, 1), commit(-8)])).toMatchObject(ended)
    expect(report([txn(6, 0), txn(-8, 1)]).openTransactions).toMatchObject([
      { producerId: -8n, firstOffset: 0n },
    ])
  })

  it('a local transaction that a barrier ends', () => {
    const { findings, notes, openTransactions } = report([txn(6, 0), barrier, commit(6), txn(6, 1)])
    expect(findings).toEqual([])
    expect(notes.map(({ kind }) => kind)).toEqual([
      'local-transaction-at-barrier',
      'marker-without-transaction',
    ])
    expect(openTransactions).toMatchObject([{ producerId: 6n, firstOffset: 3n }])
  })

  it('P-13: a marker without a transaction is noted', () => {
    const { findings, notes } = report([abort(3, 1)])
    expect(findings).toEqual([])
    expect(notes).toMatchObject([{ kind: 'marker-without-transaction', count: 1, offset: 0n }])
    expect(audit([txn(3, 0), commit(3), commit(3)])).toEqual([])
    expect(audit([txn(3, 0), commit(3, 1), commit(3, 1)])).toEqual([])
  })

  it('an ABORT behind a COMMIT before transaction version 2: its transaction may have written nothing here', () => {
    expect(audit([txn(3, 0), commit(3), abort(3), txn(3, 1), commit(3)])).toEqual([])
  })

  it('an ABORT for nothing behind a COMMIT whose records, of a later epoch, were removed', () => {
    const { batches } = logOf([txn(3, 0), commit(3), txn(3, 0, { epoch: 2 }), commit(3, 2), abort(3, 2)])
    expect(auditProducers(batches.toSpliced(2, 1)).findings).toEqual([])
  })

  it('two ends of one transaction where records of another were removed between', () => {
    const { batches } = logOf([txn(3, 0), abort(3), txn(3, 1), commit(3)])
    expect(auditProducers(batches.toSpliced(2, 1)).findings).toEqual([])
  })

  it("what the group coordinator writes (D-26): by the directory's name, or said", () => {
    const ops = [txn(11, 0), commit(11), txn(11, 0), commit(11), txn(11, 0)]
    expect(audit(ops, { partition: '__consumer_offsets-3' })).toEqual([])
    expect(audit(ops, { isInternalTopic: true })).toEqual([])
    expect(audit(ops, { partition: 'orders-3' })).toEqual(['sequence 11 @2', 'sequence 11 @4'])
    expect(audit(ops, { partition: 'x__consumer_offsets-3' })).toHaveLength(2)
  })

  it('batches without a producer, control batches of Kafka itself', () => {
    expect(audit([plain(3), { kind: 'control', type: 2 }, plain()])).toEqual([])
  })

  it('a transaction open at the end of the log: listed', () => {
    const { findings, openTransactions, totals } = report(
      [plain(), txn(-8, 0, { count: 2 }), plain(5), txn(-8, 2)],
      { partition: 'orders-1' },
    )
    expect(findings).toEqual([])
    expect(openTransactions).toEqual([
      {
        partition: 'orders-1',
        producerId: -8n,
        sourceProducerId: 6n,
        epoch: 0,
        firstOffset: 1n,
        recordsBehind: 8,
        bytesBehind: totals.bytes - 68,
        idleMs: 0n,
      },
    ])
  })
})

it('found() names what it shows', () => {
  expect(found(report([data(5, 0), data(5, 0)]))).toEqual(['sequence 5 @1'])
})
