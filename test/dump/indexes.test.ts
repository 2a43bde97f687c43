import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DumpOptions } from '../../src/dump/dumpOptions.ts'
import { dumpOffsetIndex } from '../../src/dump/indexDump.ts'
import { TextFormat } from '../../src/dump/textFormat.ts'
import { dumpTimeIndex } from '../../src/dump/timeIndexDump.ts'
import { OffsetIndex } from '../../src/log/offsetIndex.ts'
import { dataBatch, dumpOptions, memorySource, printed } from './support.ts'

const batches = Array.from({ length: 50 }, (_, index) => dataBatch(index * 2))
const log = Buffer.concat(batches)
const size = batches[0]!.length
const starts = batches.map((_, index) => Buffer.concat(batches.slice(0, index)).length)
const TIME = 1700000000000n

function offsetIndex(entries: readonly (readonly [number, number])[]): Buffer {
  const bytes = Buffer.alloc(entries.length * 8)
  for (const [index, [offset, position]] of entries.entries()) {
    bytes.writeInt32BE(offset, index * 8)
    bytes.writeInt32BE(position, index * 8 + 4)
  }
  return bytes
}

function timeIndex(entries: readonly (readonly [bigint, number])[]): Buffer {
  const bytes = Buffer.alloc(entries.length * 12)
  for (const [index, [timestamp, offset]] of entries.entries()) {
    bytes.writeBigInt64BE(timestamp, index * 12)
    bytes.writeInt32BE(offset, index * 12 + 8)
  }
  return bytes
}

function dumpOffsets(index: Uint8Array, given: Partial<DumpOptions> = {}) {
  const options = dumpOptions(given)
  return printed(new TextFormat(options), options, (session, report) =>
    dumpOffsetIndex(memorySource(index), memorySource(log), session, report, 0n),
  )
}

function dumpTimes(index: Uint8Array, offsets: Uint8Array | null, bytes: Uint8Array = log) {
  const options = dumpOptions()
  return printed(new TextFormat(options), options, (session, report) =>
    dumpTimeIndex(
      memorySource(index),
      memorySource(bytes),
      offsets === null ? null : memorySource(offsets),
      session,
      report,
      0n,
    ),
  )
}

describe('an offset index', () => {
  it('that fits has no findings', async () => {
    const entries = starts.map((start, index) => [index * 2 + 1, start] as const)
    const { lines, report } = await dumpOffsets(Buffer.concat([offsetIndex(entries), Buffer.alloc(8000)]))
    expect(lines).toHaveLength(50)
    expect(report.findingCount).toBe(0)
  })

  it('is looked up as by a binary search', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 40 }),
        fc.nat({ max: 30 }),
        fc.array(fc.nat({ max: 70 }), { maxLength: 30 }),
        (offsets, zeros, asked) => {
          const entries = offsets.sort((a, b) => a - b).map((offset) => [offset, offset * 10] as const)
          const bytes = Buffer.concat([offsetIndex(entries), Buffer.alloc(zeros * 8)])
          const index = new OffsetIndex(memorySource(bytes), 0n)
          for (const offset of asked) {
            const expected = entries.findLast(([known]) => known <= offset)?.[1] ?? 0
            expect(index.lookup(BigInt(offset))).toBe(expected)
          }
        },
      ),
    )
  })

  it('of any bytes is dumped to its end', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), fc.boolean(), async (bytes, checksIndexSanity) => {
        await dumpOffsets(bytes, { checksIndexSanity })
        await dumpTimes(bytes, bytes)
      }),
      { numRuns: 300 },
    )
  })
})

describe('a time index', () => {
  const entries = batches.map((_, index) => [TIME + BigInt(index), index * 2 + 1] as const)

  it('is checked without an offset index too, and with one that is empty or wrong', async () => {
    const fitting = timeIndex([[TIME + 1n, 1]])
    for (const offsets of [null, Buffer.alloc(0), offsetIndex([[1, 0]]), offsetIndex([[1, 7]])]) {
      const { report } = await dumpTimes(fitting, offsets)
      expect(report.findingCount).toBe(offsets?.at(7) === 7 ? 1 : 0)
    }
  })

  it('lists what is wrong', async () => {
    const { report, lines } = await dumpTimes(timeIndex(entries), null)
    expect(lines).toHaveLength(50)
    // each batch has the timestamps TIME and TIME + 1
    expect(report.timestampMismatches.count).toBe(49)
    expect(report.offsetsNotFound.count).toBe(0)
    const astray = await dumpTimes(
      timeIndex([
        [TIME + 1n, 2],
        [TIME + 1n, 999],
        [TIME + 1n, 3],
      ]),
      null,
    )
    expect([...astray.report.offsetsNotFound.inOrder()]).toEqual([
      [2n, 3n],
      [999n, -1n],
    ])
    expect([...astray.report.outOfOrderTimestamps.inOrder()]).toEqual([[TIME + 1n, TIME + 1n]])
  })

  it('of a damaged log says so and goes on', async () => {
    const damaged = Buffer.from(log)
    damaged[61] = 0x7f // a record's length
    damaged.writeInt32BE(3, size * 5 + 8) // a batch's
    const { report, findings, lines } = await dumpTimes(timeIndex(entries), null, damaged)
    expect(lines).toHaveLength(50)
    expect(findings).toMatchObject([{ kind: 'records' }])
    expect(report.offsetsNotFound.count).toBe(45)
  })

  it('made to lead back and forth does not take for ever', async () => {
    const long = Buffer.concat(Array.from({ length: 20_000 }, (_, index) => dataBatch(index * 2)))
    const back = Array.from({ length: 5000 }, (_, index) => [TIME + 1n, index % 2 ? 1 : 39_999] as const)
    const began = performance.now()
    const { findings } = await dumpTimes(timeIndex(back), null, long)
    expect(findings).toMatchObject([{ kind: 'index', message: expect.stringContaining('too far') }])
    expect(performance.now() - began).toBeLessThan(30_000)
  })
})
