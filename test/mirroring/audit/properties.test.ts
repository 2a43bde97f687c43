import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type AuditOptions,
  type AuditReport,
  auditProducers,
  CorruptBatchError,
  mapProducerId,
  ProducerAudit,
  type RecordBatch,
  recordBatches,
} from '../../../src/index.ts'
import { type BatchOp, logOf } from '../../producers/logBuilder.ts'
import { mirroredLog } from '../../producers/mirroredLogs.ts'
import { random } from '../../producers/sequences.ts'
import { recordSets } from '../../support/arbitraries.ts'
import { quickOrLong } from '../../support/counts.ts'
import { cleaned } from './cleaner.ts'
import { healthyLog } from './healthyLogs.ts'

const RUNS = { numRuns: quickOrLong(75, 300) }
const seeds = fc.integer()

const mappedOps = (ops: readonly BatchOp[]): BatchOp[] =>
  ops.map((op) => (op.pid === undefined ? op : { ...op, pid: Number(mapProducerId(BigInt(op.pid))) }))

describe('a healthy log has no findings', () => {
  it('as it is', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        expect(auditProducers(logOf(healthyLog(seed)).batches).findings).toEqual([])
      }),
      RUNS,
    )
  })

  it('nor has its mirror, or the mirror of that', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const { findings, notes } = auditProducers(logOf(mappedOps(healthyLog(seed))).batches)
        // what a barrier ends here was a local transaction there
        expect(findings.filter(({ message }) => !message.includes('at this barrier'))).toEqual([])
        expect(notes.map(({ kind }) => kind)).not.toContain('came-home')
      }),
      RUNS,
    )
  })

  it('nor has it once the cleaner was at work', () => {
    fc.assert(
      fc.property(seeds, seeds, (seed, cleaning) => {
        expect(auditProducers(cleaned(healthyLog(seed), cleaning)).findings).toEqual([])
      }),
      RUNS,
    )
  })

  it('nor has any end of it: a log starts where retention has left it', () => {
    fc.assert(
      fc.property(seeds, fc.nat(60), (seed, from) => {
        expect(auditProducers(logOf(healthyLog(seed)).batches.slice(from)).findings).toEqual([])
      }),
      RUNS,
    )
  })
})

describe('two logs under the same ids', () => {
  it('have findings for each id under which one writes after the other', () => {
    fc.assert(
      fc.property(seeds, seeds, seeds, (one, two, order) => {
        const next = random(order)
        const logs = [healthyLog(one, { isFresh: true }), healthyLog(two, { isFresh: true })].map((ops) => [
          ...ops,
        ])
        const wrote = [new Set<number>(), new Set<number>()]
        const meeting = new Set<bigint>()
        const merged: BatchOp[] = []
        while (logs.some((log) => log.length > 0)) {
          const which = logs[0]!.length > 0 && (logs[1]!.length === 0 || next() < 0.5) ? 0 : 1
          const op = logs[which]!.shift()!
          merged.push({ ...op, timestamp: 1_700_000_000_000 + merged.length })
          if (op.pid === undefined || (op.kind !== 'data' && op.kind !== 'txn')) continue
          wrote[which]!.add(op.pid)
          if (wrote[1 - which]!.has(op.pid)) meeting.add(BigInt(op.pid))
        }
        const { findings } = auditProducers(logOf(merged).batches)
        expect(new Set(findings.map(({ producerId }) => producerId))).toEqual(meeting)
      }),
      RUNS,
    )
  })
})

describe('any bytes', () => {
  const options: fc.Arbitrary<AuditOptions> = fc.record({
    producerIdTest: fc.constantFrom('mirror' as const, 'stock' as const),
    barrierScope: fc.constantFrom('any' as const, 'mirrored' as const, 'all' as const),
    isInternalTopic: fc.boolean(),
    maxFindings: fc.nat(5),
  })

  const damagedLogs = fc
    .tuple(
      seeds,
      fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 80 }), fc.nat(255)), { maxLength: 12 }),
    )
    .map(([seed, changes]) => {
      const { bytes, batches } = logOf(mirroredLog(seed))
      for (const [which, at, value] of changes) {
        const { position, sizeInBytes } = batches[which % batches.length]!
        const isFraming = at >= 8 && at <= 16
        if (!isFraming && at < sizeInBytes) bytes[position + at] = value
      }
      return bytes
    })

  function whole(bytes: Uint8Array): RecordBatch[] {
    const batches: RecordBatch[] = []
    try {
      for (const batch of recordBatches(bytes)) batches.push(batch)
    } catch (error) {
      if (!(error instanceof CorruptBatchError)) throw error
    }
    return batches
  }

  function expectBounded(
    { findings, openTransactions, barriers, notes, totals }: AuditReport,
    limit: number,
  ): void {
    expect(Math.max(findings.length, openTransactions.length, barriers.length)).toBeLessThanOrEqual(limit)
    expect(notes.length).toBeLessThan(12)
    expect(totals.findings).toBeGreaterThanOrEqual(findings.length)
  }

  it('are audited, in bounded room', () => {
    fc.assert(
      fc.property(fc.oneof(recordSets, damagedLogs), options, (bytes, given) => {
        expectBounded(auditProducers(whole(bytes), given), given.maxFindings!)
      }),
      RUNS,
    )
  })

  it('may be framed wherever they lie, and a header may come alone', () => {
    fc.assert(
      fc.property(damagedLogs, fc.nat(7), (bytes, shift) => {
        const shared = new Uint8Array(new SharedArrayBuffer(bytes.length + 8), shift, bytes.length)
        shared.set(bytes)
        const expected = auditProducers(whole(bytes))
        expect(auditProducers(whole(shared))).toEqual(expected)
        const alone = new ProducerAudit()
        for (const { bytes: batch, magic } of whole(bytes)) {
          const header = batch.slice(0, 61)
          alone.framed(new DataView(header.buffer), 0, batch.length, magic)
        }
        expect(alone.finish().totals.batches).toBe(expected.totals.batches)
      }),
      RUNS,
    )
  })
})
