import { describe, expect, it } from 'vitest'
import { auditProducers, InvalidArgumentError, ProducerAudit, recordBatches } from '../../../src/index.ts'
import { data, logOf } from '../../producers/logBuilder.ts'
import { batch } from '../../support/batches.ts'
import { abort, audit, barrier, commit, plain, report, txn } from './support.ts'

const MAX = 2147483647
const message = (...args: Parameters<typeof report>) => report(...args).findings[0]?.message

describe('a sequence that does not follow, in one epoch', () => {
  it('a gap, a repeat, a step back', () => {
    const { findings } = report([data(-7, 0), data(-7, 5), data(-7, 5), data(-7, 1)], {
      partition: 'orders-0',
    })
    expect(findings.map(({ kind, offset, previousOffset }) => [kind, offset, previousOffset])).toEqual([
      ['sequence', 1n, 0n],
      ['sequence', 2n, 1n],
      ['sequence', 3n, 2n],
    ])
    expect(findings[0]).toEqual({
      kind: 'sequence',
      partition: 'orders-0',
      producerId: -7n,
      sourceProducerId: 5n,
      epoch: 0,
      offset: 1n,
      previousOffset: 0n,
      message:
        'sequence 5 where 1 comes next, and nothing was removed between: two producers write under this id, or records ' +
        'were lost, and a broker refuses what the one that wrote before sends next',
    })
    expect(findings[1]?.message).toMatch(/^sequence 5 comes again where 6 comes next: .* drops them$/)
    expect(findings[2]?.message).toMatch(/^sequence 1 comes again/)
  })

  it('a local id has no source id', () => {
    expect(report([data(5, 0), data(5, 0)]).findings[0]?.sourceProducerId).toBeNull()
  })

  it('2147483646 -> 0 is a gap; a wrap inside a batch is followed', () => {
    expect(audit([data(3, MAX - 1), data(3, 0)])).toEqual(['sequence 3 @1'])
    expect(audit([data(3, MAX - 1, { count: 4 }), data(3, 3)])).toEqual(['sequence 3 @4'])
  })

  it('a repeat behind more missing offsets than sequences have numbers', () => {
    const near = logOf([data(5, 0), data(5, 1)]).batches
    const far = logOf([data(5, 0)], 2n ** 33n).batches
    expect(auditProducers([...near, ...far]).findings).toMatchObject([
      { kind: 'sequence', offset: 2n ** 33n },
    ])
  })

  it('where the time of the one before is not known', () => {
    const untimed = data(5, 0, { timestamp: -1 })
    expect(audit([untimed, data(5, 0, { timestamp: 1_700_000_000_000 })])).toEqual(['sequence 5 @1'])
  })

  it('a new epoch that does not start at 0', () => {
    expect(audit([data(4, 0, { epoch: 0 }), data(4, 1, { epoch: 1 })])).toEqual(['sequence 4 @1'])
    expect(report([txn(4, 0), commit(4, 1), txn(4, 1, { epoch: 1 })]).findings).toMatchObject([
      { kind: 'sequence', producerId: 4n, epoch: 1, offset: 2n, previousOffset: 1n },
    ])
    expect(message([data(4, 0), data(4, 10, { epoch: 1 })])).toMatch(
      /^epoch 1 begins at sequence 10 behind epoch 0/,
    )
  })

  it('a gap larger than what compaction removed, and a step back in a compacted log', () => {
    const gap = (found: number) =>
      auditProducers(logOf([data(5, 0), data(5, 1, { count: 6 }), data(5, found)]).batches.toSpliced(1, 1))
        .findings.length
    expect([gap(7), gap(8), gap(0), gap(1)]).toEqual([0, 1, 1, 0])
  })

  it('offsets missing inside a batch explain nothing: its sequences are counted', () => {
    expect(audit([data(5, 0, { count: 1, delta: 4 }), data(5, 1)])).toEqual(['sequence 5 @5'])
  })
})

describe('an epoch below one seen before', () => {
  it('data: each such batch, and the higher line goes on', () => {
    const epochs = [0, 3, 0, 3, 0].map((epoch, seq) =>
      data(9, epoch === 3 ? (seq - 1) / 2 : seq / 2, { epoch }),
    )
    const { findings } = report(epochs)
    expect(
      findings.map(({ kind, epoch, offset, previousOffset }) => [kind, epoch, offset, previousOffset]),
    ).toEqual([
      ['epoch', 0, 2n, 1n],
      ['epoch', 0, 4n, 3n],
    ])
    expect(findings[0]?.message).toMatch(/^epoch 0 behind epoch 3/)
  })

  it('a marker without a transaction', () => {
    expect(audit([data(9, 0, { epoch: 3 }), commit(9, 1)])).toEqual(['epoch 9 @1'])
  })
})

describe('transactions of two producers in one', () => {
  it('a marker of another epoch', () => {
    expect(audit([txn(-7, 0, { epoch: 3 }), abort(-7, 1)])).toEqual(['transaction -7 @1'])
    expect(audit([txn(-7, 0, { epoch: 3 }), commit(-7, 6)])).toEqual(['transaction -7 @1'])
    expect(message([txn(-7, 0, { epoch: 3 }), commit(-7, 6)])).toMatch(
      /^the COMMIT of epoch 6 ends the transaction of epoch 3/,
    )
    expect(message([txn(-7, 0, { epoch: 3 }), abort(-7, 5)])).toContain('KAFKA-19367')
    expect(message([txn(-7, 0, { epoch: 3 }), abort(-7, 6)])).not.toContain('KAFKA-19367')
  })

  it('data of a second epoch inside', () => {
    expect(audit([txn(-7, 0), txn(-7, 0, { epoch: 1 }), commit(-7, 1)])).toEqual(['transaction -7 @1'])
    expect(audit([txn(-7, 0, { epoch: 2 }), txn(-7, 5, { epoch: 0 }), commit(-7, 2)])).toEqual([
      'epoch -7 @1',
      'transaction -7 @1',
    ])
  })

  it('data of a second sequence line inside: told once a transaction', () => {
    const ops = [txn(-7, 0), txn(-7, 0), txn(-7, 1), txn(-7, 1), commit(-7), txn(-7, 2), abort(-7)]
    expect(audit(ops)).toEqual(['sequence -7 @1', 'transaction -7 @1', 'sequence -7 @3'])
  })

  it('a marker behind plain data: no producer writes both', () => {
    for (const marker of [commit(-7), abort(-7), commit(-7, 1)]) {
      const { findings } = report([plain(), data(-7, 0), data(-7, 1), marker])
      expect(findings).toMatchObject([
        { kind: 'transaction', producerId: -7n, offset: 3n, previousOffset: 2n },
      ])
      expect(findings[0]?.message).toMatch(
        /^the (COMMIT|ABORT) ends no transaction, .* two of them write under/,
      )
    }
    // told once: the second says no more
    expect(audit([data(-7, 0), abort(-7), abort(-7)])).toEqual(['transaction -7 @1'])
    expect(audit([data(-7, 0), barrier, abort(-7)])).toEqual([])
    expect(audit([data(-7, 0), abort(-7, 2)])).toEqual([])
    const late = { ...abort(-7), timestamp: 1000 + 86_400_000 }
    expect(audit([data(-7, 0), late])).toEqual([])
  })

  it('the marker that comes too late for a transaction that the other one ended', () => {
    const ops = [txn(-7, 0), txn(-7, 0), commit(-7), abort(-7)]
    const { findings } = report(ops)
    expect(findings.map(({ kind, offset, previousOffset }) => [kind, offset, previousOffset])).toEqual([
      ['sequence', 1n, 0n],
      ['transaction', 1n, 0n],
      ['transaction', 3n, 2n],
    ])
    expect(findings[2]?.message).toMatch(/^the ABORT has no transaction left to end: the marker at offset 2/)
  })

  it('two ends of one transaction that cannot both be its producer’s', () => {
    expect(audit([txn(3, 0), abort(3), commit(3)])).toEqual(['transaction 3 @2'])
    expect(audit([txn(3, 0), commit(3, 1), abort(3, 1)])).toEqual(['transaction 3 @2'])
    const older = { coordinatorEpoch: 4 }
    expect(audit([txn(3, 0), commit(3, 0, { coordinatorEpoch: 9 }), abort(3, 0, older)])).toEqual([
      'transaction 3 @2',
    ])
    expect(audit([txn(3, 0), commit(3, 0, older), abort(3, 0, { coordinatorEpoch: 9 })])).toEqual([])
  })

  it('plain data inside: a broker does not start', () => {
    expect(audit([txn(-7, 0), data(-7, 1), data(-7, 2), commit(-7)])).toEqual(['transaction -7 @1'])
    expect(message([txn(-7, 0), data(-7, 1)])).toContain('does not start')
    expect(audit([txn(-7, 0), data(-7, 4)])).toEqual(['sequence -7 @1', 'transaction -7 @1'])
  })

  it('a mirrored one open at a barrier (R2), where a local one may be', () => {
    const { findings } = report([txn(-8, 0, { epoch: 2 }), txn(6, 0), plain(), barrier])
    expect(findings).toMatchObject([
      {
        kind: 'transaction',
        producerId: -8n,
        sourceProducerId: 6n,
        epoch: 2,
        offset: 3n,
        previousOffset: 0n,
      },
    ])
    expect(findings[0]?.message).toContain('still open at this barrier')
    expect(audit([txn(6, 0), txn(-8, 1), barrier])).toEqual(['transaction -8 @2'])
  })

  it('another epoch than that of the local one that comes home (R3)', () => {
    expect(audit([txn(6, 0), txn(-8, 0, { epoch: 4 })])).toEqual(['transaction -8 @1'])
    expect(audit([txn(6, 0), commit(-8, 4)])).toEqual(['transaction -8 @1'])
  })
})

describe('M-17: mirrored ids meet those of the first local producer', () => {
  const mirrored = (pid: number) => [data(pid, 0), data(pid, 1)]
  const native = [0, 1, 2, 3].map((seq) => data(1, seq))

  it('(a), (d) raw, with no barrier: names the producer and both places', () => {
    const { findings } = report([...mirrored(1), ...native])
    expect(findings).toMatchObject([
      { kind: 'sequence', producerId: 1n, epoch: 0, offset: 2n, previousOffset: 1n },
    ])
    expect(findings[0]?.message).toContain('acknowledges them with old offsets and drops them')
  })

  it('(b) mapped: nothing', () => {
    expect(audit([...mirrored(-3), ...native])).toEqual([])
    expect(report([...mirrored(-3), ...native]).notes).toMatchObject([
      { kind: 'local-after-mirrored', count: 4 },
      { kind: 'ids-that-meet', count: 1, offset: 2n },
    ])
  })

  it('(c) raw, with a barrier between: nothing, but under the rule that local ids stay', () => {
    const ops = [...mirrored(1), barrier, ...native]
    expect(audit(ops)).toEqual([])
    expect(report(ops).notes).toMatchObject([{ kind: 'restart-at-barrier', count: 1, offset: 3n }])
    expect(audit(ops, { barrierScope: 'all' })).toEqual([])
    expect(audit(ops, { barrierScope: 'mirrored' })).toEqual(['sequence 1 @3'])
  })

  it('a barrier lets no producer go on at another sequence', () => {
    expect(audit([data(1, 0), barrier, data(1, 7)])).toEqual(['sequence 1 @2'])
    expect(audit([data(1, 0), barrier, data(1, 1), data(1, 0)])).toEqual(['sequence 1 @3'])
  })
})

describe('M-19: a chain', () => {
  const upstream = [data(-7, 0, { count: 3 })]
  const native = [data(-7, 0, { count: 3 })]

  it('without the barrier there are two producers as -7', () => {
    expect(audit([...upstream, ...native])).toEqual(['sequence -7 @3'])
  })

  it('with it, nothing', () => {
    expect(audit([...upstream, barrier, ...native])).toEqual([])
  })
})

describe('M-20: half of a pair was mapped', () => {
  it('the data, and not its marker', () => {
    const { findings, openTransactions } = report([txn(-10, 0), abort(8)])
    expect(findings).toMatchObject([{ kind: 'transaction', producerId: 8n, offset: 1n, previousOffset: 0n }])
    expect(findings[0]?.message).toContain('data was mapped and its marker was not')
    expect(openTransactions).toEqual([])
    expect(audit([txn(-10, 0), commit(8, 1)])).toEqual(['transaction 8 @1'])
  })

  it('the marker, and not its data: seen when the local one writes on', () => {
    expect(audit([txn(8, 0), abort(-10), txn(8, 1), abort(-10)])).toEqual(['transaction 8 @2'])
    expect(audit([txn(8, 0), abort(-10), barrier, txn(8, 1)])).toEqual([])
  })

  it('both: nothing', () => {
    expect(audit([txn(-10, 0), abort(-10)])).toEqual([])
  })

  it('a marker of a far epoch is no half of it', () => {
    expect(audit([txn(-10, 0), abort(8, 5)])).toEqual([])
  })
})

describe('transactions that hang', () => {
  it('P-14: late data behind the ABORT', () => {
    const ops = [txn(2000, 0), abort(2000), txn(2000, 1), plain(4)]
    const { findings, openTransactions } = auditProducers(logOf(ops, 143n).batches)
    expect(findings).toMatchObject([
      { kind: 'hanging-transaction', producerId: 2000n, epoch: 0, offset: 145n, previousOffset: 144n },
    ])
    expect(findings[0]?.message).toMatch(/since offset 145 .* offset 144 .* wait before \d+ bytes/)
    expect(openTransactions).toMatchObject([{ producerId: 2000n, firstOffset: 145n, recordsBehind: 5 }])
    expect(audit([txn(2000, 0), abort(2000), txn(2000, 1), commit(2000)])).toEqual([])
  })

  it('but not the next transaction, which is made later, nor one that others stand before', () => {
    expect(audit([txn(2000, 0), abort(2000), txn(2000, 1, { timestamp: 1001 })])).toEqual([])
    expect(audit([txn(2000, 0), abort(2000), plain(), txn(2000, 1)])).toEqual([])
    expect(audit([txn(2000, 0), commit(2000), txn(2000, 1)])).toEqual([])
    const goesOn = [txn(2000, 0), abort(2000), txn(2000, 1), txn(2000, 2, { timestamp: 1001 })]
    expect(audit(goesOn)).toEqual([])
  })

  it('with transaction version 2, late data has a lower epoch', () => {
    expect(audit([txn(9, 0), abort(9, 1), plain(), txn(9, 1)])).toEqual([
      'epoch 9 @3',
      'hanging-transaction 9 @3',
    ])
    expect(audit([txn(9, 0), abort(9, 1), txn(9, 0, { epoch: 1 })])).toEqual([])
  })

  it('one of which the log holds nothing for longer than a transaction may take', () => {
    const quietFor = (ms: number) => [txn(-8, 0), { ...plain(), timestamp: 1000 + ms }]
    expect(audit(quietFor(1_200_000))).toEqual([])
    expect(audit(quietFor(1_200_001))).toEqual(['hanging-transaction -8 @0'])
    expect(message(quietFor(1_500_000))).toContain('nothing of it came in the last 25 minutes of the log')
    expect(audit(quietFor(1_200_001), { transactionTimeoutMs: 900_001 })).toEqual([])
    expect(audit(quietFor(400_000), { transactionTimeoutMs: 60_000 })).toEqual(['hanging-transaction -8 @0'])
  })

  it('old timestamps of its own records do not make it old: the log’s clock counts', () => {
    expect(audit([{ ...plain(), timestamp: 9_000_000 }, txn(-8, 0, { timestamp: 5 })])).toEqual([])
  })
})

describe('a timestamp that cannot be', () => {
  const FAR = 9_000_000_000_000_000
  const farPlain = { ...plain(), timestamp: FAR }

  it('does not make open transactions old, wherever it stands and whatever batch has it', () => {
    expect(audit([txn(-8, 0), farPlain, plain()])).toEqual([])
    expect(audit([txn(-8, 0), txn(9, 0), commit(9, 0, { timestamp: FAR })])).toEqual([])
    expect(audit([txn(-8, 0), txn(9, 0, { timestamp: FAR })])).toEqual([])
    expect(report([txn(-8, 0), farPlain]).openTransactions).toMatchObject([{ idleMs: 0n }])
  })

  it.each([FAR, -1])('makes no transaction old that has no other: %d', (timestamp) => {
    const later = { ...plain(), timestamp: 1_000_000_000_000 }
    expect(audit([txn(-8, 0, { timestamp }), later, plain()])).toEqual([])
    expect(report([txn(-8, 0, { timestamp }), later]).openTransactions).toMatchObject([{ idleMs: 0n }])
    const quiet = { ...later, timestamp: later.timestamp + 1_200_001 }
    expect(audit([txn(-8, 0, { timestamp }), later, quiet])).toEqual(['hanging-transaction -8 @0'])
  })

  it('does not hide one that hangs', () => {
    const quiet = { ...plain(), timestamp: 1_201_001 }
    expect(audit([farPlain, txn(-8, 0), quiet])).toEqual(['hanging-transaction -8 @1'])
    expect(audit([txn(-8, 0, { timestamp: FAR }), plain(), txn(9, 0), quiet])).toContain(
      'hanging-transaction 9 @2',
    )
  })

  it('is one later than now', () => {
    const ops = [txn(-8, 0), { ...plain(), timestamp: 2_000_000 }]
    for (const now of [1_999_999, 1_999_999n]) expect(audit(ops, { now })).toEqual([])
    for (const now of [2_000_000, 2_000_000n])
      expect(audit(ops, { now })).toEqual(['hanging-transaction -8 @0'])
  })

  it('is noted, but for what a clock that is a little ahead gives', () => {
    const ahead = (timestamp: number) =>
      report([plain(), { ...plain(), timestamp }], { now: 5000 }).notes.map(({ kind, offset }) => [
        kind,
        offset,
      ])
    expect(ahead(305_000)).toEqual([])
    expect(ahead(305_001)).toEqual([['timestamp-ahead', 1n]])
  })

  it('makes a broker forget nobody, however many producers there are', () => {
    const audited = new ProducerAudit()
    const { batches } = logOf([data(7, 0), { ...data(8, 0), timestamp: FAR }, data(7, 4)])
    audited.take(batches[0]!)
    const { batches: many } = logOf(
      Array.from({ length: 99_999 }, (_, at) => data(100 + at, 0)),
      1n,
    )
    for (const one of many) audited.take(one)
    for (const one of batches.slice(1)) audited.take(one)
    expect(audited.finish().findings).toMatchObject([{ kind: 'sequence', producerId: 7n }])
  })
})

describe('what is not known', () => {
  it('a damaged part: sequences may be missing, and transactions may have ended', () => {
    const { batches } = logOf([txn(5, 0), abort(5, 1), txn(5, 0, { epoch: 1 }), data(6, 0), data(6, 4)])
    const audited = new ProducerAudit()
    audited.take(batches[0]!)
    audited.damaged()
    for (const one of batches.slice(2)) audited.take(one)
    const { findings, notes, compacted, openTransactions } = audited.finish()
    expect(findings.map(({ kind, producerId }) => [kind, producerId])).toEqual([['sequence', 6n]])
    expect(notes[0]).toMatchObject({ kind: 'damaged', count: 1, offset: 1n })
    expect(compacted).toBe(false)
    expect(openTransactions).toHaveLength(1)
  })

  it('a control batch that cannot be read', () => {
    const bytes = Buffer.concat([
      batch({ producerId: 5n, attributes: 0x10 }),
      batch({ baseOffset: 1n, producerId: 5n, attributes: 0x30 }),
    ])
    const { findings, notes, openTransactions } = auditProducers(recordBatches(bytes))
    expect([findings, openTransactions]).toEqual([[], []])
    expect(notes).toMatchObject([{ kind: 'unreadable-control', offset: 1n }])
  })

  it('an emptied control batch has an epoch', () => {
    expect(audit([{ kind: 'emptied', pid: 5, epoch: 3 }, data(5, 0, { epoch: 3 })])).toEqual([])
    expect(audit([data(5, 0), { kind: 'emptied', pid: 5, epoch: 3 }, data(5, 1)])).toEqual(['epoch 5 @2'])
  })

  it('other control types with a producer', () => {
    expect(report([{ kind: 'control', type: 5, pid: 7, epoch: 0 }]).notes).toMatchObject([
      { kind: 'control-type' },
    ])
  })
})

describe('the report', () => {
  it('forgets producers that a broker has forgotten, once there are many', () => {
    const audited = new ProducerAudit()
    const bytes = batch({ producerId: 0n, maxTimestamp: 1000n })
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    const take = (producerId: number, offset: number, timestamp: number) => {
      view.setBigInt64(0, BigInt(offset))
      view.setBigInt64(35, BigInt(timestamp))
      view.setBigInt64(43, BigInt(producerId))
      audited.framed(view, 0, bytes.length, 2)
    }
    for (let id = 0; id < 100_000; id++) take(id, id, 1000)
    take(100_000, 100_000, 1000 + 86_400_000)
    take(7, 100_001, 1000 + 86_400_000)
    expect(audited.finish()).toMatchObject({ findings: [], notes: [], totals: { producers: 100_002 } })
  })

  it('notes a coordinator epoch that goes back', () => {
    const ops = [
      txn(3, 0),
      commit(3, 0, { coordinatorEpoch: 9 }),
      txn(3, 1),
      abort(3, 0, { coordinatorEpoch: 4 }),
    ]
    expect(report(ops)).toMatchObject({ findings: [], notes: [{ kind: 'coordinator-epoch', offset: 3n }] })
  })

  it('lists barriers, and what it has seen', () => {
    const { barriers, totals, partition } = report([data(-7, 0), barrier, { kind: 'barrier', source: null }])
    expect(barriers).toEqual([
      { offset: 1n, sourceClusterId: 'A' },
      { offset: 2n, sourceClusterId: null },
    ])
    expect(totals).toMatchObject({ batches: 3, producers: 1, findings: 0, openTransactions: 0, barriers: 2 })
    expect(partition).toBeNull()
  })

  it('keeps so many findings and counts the others', () => {
    const ops = Array.from({ length: 10 }, () => data(5, 0))
    const { findings, totals } = report(ops, { maxFindings: 3 })
    expect([findings.length, totals.findings]).toEqual([3, 9])
    const open = report(
      [1, 2, 3].map((pid) => txn(pid, 0)),
      { maxFindings: 1 },
    )
    expect([open.openTransactions.length, open.totals.openTransactions]).toEqual([1, 3])
  })

  it('may be asked for on the way', () => {
    const audited = new ProducerAudit()
    const { batches } = logOf([txn(5, 0), { ...plain(), timestamp: 10_000_000 }, commit(5)])
    audited.take(batches[0]!)
    audited.take(batches[1]!)
    expect(audited.finish().findings).toHaveLength(1)
    audited.take(batches[2]!)
    expect(audited.finish().findings).toEqual([])
  })

  it("producerIdTest 'stock' sees what a stock broker sees", () => {
    const ops = [data(-7, 0), data(-7, 0), data(5, 0), data(5, 0)]
    expect(audit(ops, { producerIdTest: 'stock' })).toEqual(['sequence 5 @3'])
  })

  it.each([
    { maxFindings: -1 },
    { maxFindings: 1.5 },
    { producerIdExpirationMs: 0 },
    { transactionTimeoutMs: Number.NaN },
    { now: -1 },
    { now: Number.NaN },
    { now: 'now' as unknown as number },
    { now: '5' as unknown as number },
    { barrierScope: 'none' as 'all' },
    { producerIdTest: '' as 'stock' },
    { partition: 7 as unknown as string },
  ])('refuses %j', (options) => {
    expect(() => auditProducers([], options)).toThrow(InvalidArgumentError)
  })

  it('refuses what holds no batches', () => {
    expect(() => auditProducers(undefined as never)).toThrow(InvalidArgumentError)
  })
})
