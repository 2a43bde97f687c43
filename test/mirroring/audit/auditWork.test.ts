import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ProducerAudit, recordBatches } from '../../../src/index.ts'
import { jsCore } from '../../../src/js.ts'
import { BatchStream } from '../../../src/log/batchStream.ts'
import { AuditWork } from '../../../src/mirroring/audit/auditWork.ts'
import { type BatchOp, data, encodeOp, logOf } from '../../producers/logBuilder.ts'
import { batch, legacyEntry, pattern } from '../../support/batches.ts'
import { healthyLog } from './healthyLogs.ts'
import { found } from './support.ts'

const core = jsCore()

/** The bytes through windows, with the offsets of what was damaged. */
function streamed(bytes: Uint8Array, largest: number, windowSize: number) {
  const audit = new ProducerAudit()
  const damaged: [number, string][] = []
  const work = new AuditWork(core, audit, ({ position, reason }) => damaged.push([position, reason]))
  const stream = new BatchStream(bytes.length, largest, work)
  let left = new Uint8Array(0)
  for (let at = 0; at < bytes.length && !stream.isSettled; at += windowSize) {
    const window = Buffer.concat([left, bytes.subarray(at, at + windowSize)])
    left = window.subarray(stream.feed(window))
  }
  return { report: audit.finish(), damaged, incomplete: stream.incomplete }
}

const large = (offset: number, seq: number, crc?: number) =>
  batch({
    baseOffset: BigInt(offset),
    producerId: 5n,
    baseSequence: seq,
    payload: pattern(900),
    ...(crc === undefined ? {} : { crc }),
  })

describe('the batches of a stream', () => {
  it('give the same report whatever the windows are', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 130, max: 700 }), (seed, largest) => {
        const ops: BatchOp[] = [...healthyLog(seed, { length: 25 }), data(0, 9), data(0, 9)]
        const { bytes, batches } = logOf(ops)
        const audit = new ProducerAudit()
        for (const one of batches) audit.take(one)
        expect(streamed(bytes, largest, 2 * largest).report).toEqual(audit.finish())
      }),
      { numRuns: 100 },
    )
  })

  it('are taken by their header where they are larger than a window', () => {
    const bytes = Buffer.concat([large(0, 0), large(1, 1), large(2, 1)])
    const { report, damaged } = streamed(bytes, 100, 200)
    expect(found(report)).toEqual(['sequence 5 @2'])
    expect([damaged, report.totals.bytes]).toEqual([[], bytes.length])
  })

  it('a large control batch cannot be read', () => {
    const { notes } = streamed(
      batch({ producerId: 5n, attributes: 0x30, payload: pattern(900) }),
      100,
      200,
    ).report
    expect(notes).toMatchObject([{ kind: 'unreadable-control' }])
  })

  it('are left out where their CRC is wrong, small or large', () => {
    const small = Buffer.from(encodeOp(data(5, 7), 1n))
    small[40]! ^= 1
    const bytes = Buffer.concat([large(0, 0), small, large(2, 9, 1), large(3, 3), large(4, 9)])
    const { report, damaged } = streamed(bytes, 100, 200)
    expect(damaged).toEqual([
      [961, 'crc'],
      [961 + small.length, 'crc'],
    ])
    expect(found(report)).toEqual(['sequence 5 @4'])
    expect(report.notes).toMatchObject([{ kind: 'damaged', count: 2 }, { kind: 'compaction-gap' }])
    expect(report.compacted).toBe(false)
  })

  it('end where nothing can be read any more, and go on in the next file', () => {
    const bytes = Buffer.concat([
      encodeOp(data(5, 0), 0n),
      batch({ batchLength: 3 }),
      encodeOp(data(5, 9), 1n),
    ])
    const { report, damaged } = streamed(bytes, 100, 200)
    expect([damaged.map(([, reason]) => reason), report.totals.batches]).toEqual([['size'], 1])
  })

  it('of magic 0 and 1 have no producer', () => {
    const bytes = Buffer.concat([
      legacyEntry({ magic: 0, offset: 4n }),
      legacyEntry({ magic: 1, offset: 9n, value: pattern(900) }),
      encodeOp(data(5, 0), 10n),
    ])
    const { report } = streamed(bytes, 100, 200)
    expect([report.findings, report.compacted, report.totals.batches]).toEqual([[], false, 3])
    expect([...recordBatches(bytes)]).toHaveLength(3)
  })
})
