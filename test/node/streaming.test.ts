import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Core, CorruptBatchFacts, RewriteOptions } from '../../src/index.ts'
import { loadCoreSync, MirrorPidError } from '../../src/index.ts'
import { jsCore } from '../../src/js.ts'
import { BatchStream, type BatchWork } from '../../src/log/batchStream.ts'
import { RewriteWork } from '../../src/log/rewriteWork.ts'
import { VerifyWork } from '../../src/log/verifyWork.ts'
import { rewriteSegmentFile, verifySegmentFile } from '../../src/node/index.ts'
import { recordSets, rewriteOptions, wholeBatches } from '../support/arbitraries.ts'
import { batch, legacyEntry, pattern } from '../support/batches.ts'
import { temporaryDirectories } from './support.ts'

const cores: [string, Core][] = [
  ['wasm', loadCoreSync()],
  ['js', jsCore()],
]

/** Feeds bytes as a file is fed: `step` bytes at a time behind what was left over. Changes them in place. */
function feed(bytes: Buffer, step: number, work: BatchWork): BatchStream {
  const stream = new BatchStream(bytes.length, step, work)
  let start = 0
  for (let end = 0; end < bytes.length; ) {
    end = Math.min(end + step, bytes.length)
    // a window of its own, so that nothing outside can be looked at
    const window = Uint8Array.prototype.slice.call(bytes, start, end)
    const done = stream.feed(window)
    bytes.set(window.subarray(0, done), start)
    start += done
    expect(end - start).toBeLessThanOrEqual(step)
  }
  expect(start).toBe(bytes.length)
  return stream
}

interface Outcome {
  report?: unknown
  error?: unknown
  after?: string
}

function outcomeOf(bytes: Buffer, run: (copy: Buffer) => unknown): Outcome {
  const copy = Buffer.from(bytes)
  try {
    return { report: run(copy), after: copy.toString('hex') }
  } catch (error) {
    if (!MirrorPidError.is(error)) throw error
    return { error: error.toJSON() }
  }
}

function rewriteInPieces(core: Core, bytes: Buffer, step: number, options: RewriteOptions): Outcome {
  return outcomeOf(bytes, (copy) => {
    const work = new RewriteWork(core, options, null)
    feed(copy, step, work)
    for (const { position, crc } of work.lateCrcs) copy.writeUInt32BE(crc, position)
    return work.counts
  })
}

const steps = fc.oneof(fc.integer({ min: 61, max: 300 }), fc.integer({ min: 300, max: 9000 }))

/** Record sets in which many batches are larger than many windows. */
const longRecordSets = fc
  .tuple(
    recordSets,
    fc.array(
      fc.oneof(
        wholeBatches,
        fc
          .record({
            producerId: fc.constantFrom(5n, 2n ** 63n - 1n, -7n, -1n),
            size: fc.integer({ min: 0, max: 5000 }),
            isDamaged: fc.boolean(),
          })
          .map(({ producerId, size, isDamaged }) =>
            batch({ producerId, payload: pattern(size), ...(isDamaged ? { crc: 1 } : {}) }),
          ),
        fc
          .record({
            magic: fc.constantFrom(0 as const, 1 as const),
            size: fc.nat(3000),
            isDamaged: fc.boolean(),
          })
          .map(({ magic, size, isDamaged }) =>
            legacyEntry({ magic, value: pattern(size), ...(isDamaged ? { crc: 1 } : {}) }),
          ),
      ),
      { maxLength: 4 },
    ),
  )
  .map(([set, batches]) => Buffer.concat([...batches, set]))

describe.each(cores)('a stream of windows, on %s', (_name, core) => {
  it('rewrites as the core does in one piece: bytes, report and error', () => {
    fc.assert(
      fc.property(longRecordSets, steps, rewriteOptions, (bytes, step, options) => {
        const whole = outcomeOf(bytes, (copy) => core.rewrite(copy, options))
        expect(rewriteInPieces(core, bytes, step, options)).toEqual(whole)
      }),
      { numRuns: 1500 },
    )
  })

  it('verifies as the core does in one piece, and lists each batch once', () => {
    fc.assert(
      fc.property(longRecordSets, steps, (bytes, step) => {
        const whole = core.verify(Buffer.from(bytes))
        const work = new VerifyWork(core, null)
        feed(Buffer.from(bytes), step, work)
        const { corrupt, ...counts } = work.counts
        expect({ ...counts, corrupt: corrupt.filter((entry) => entry.reason !== 'offset') }).toEqual(whole)
        const positions = corrupt.map((entry) => entry.position)
        expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b))
      }),
      { numRuns: 1000 },
    )
  })
})

describe('a segment file', () => {
  const newDirectory = temporaryDirectories()
  const directory = newDirectory()
  const path = join(directory, 'x.log')
  const out = join(directory, 'out.log')

  it('is rewritten and verified as the core does with all its bytes', async () => {
    const core = loadCoreSync()
    await fc.assert(
      fc.asyncProperty(longRecordSets, steps, rewriteOptions, async (bytes, windowSize, options) => {
        writeFileSync(path, bytes)
        rmSync(out, { force: true })
        const whole = outcomeOf(bytes, (copy) => core.rewrite(copy, options))
        let outcome: Outcome
        try {
          const written = await rewriteSegmentFile(path, { out, windowSize, force: true, ...options })
          const { path: _path, out: _out, bytes: size, seconds, incomplete, ...report } = written
          expect(size).toBe(bytes.length)
          expect(seconds).toBeGreaterThanOrEqual(0)
          expect(incomplete?.has ?? 0).toBe(report.trailing.kind === 'incomplete' ? report.trailing.bytes : 0)
          outcome = { report, after: readFileSync(out, 'hex') }
        } catch (error) {
          if (!MirrorPidError.is(error)) throw error
          outcome = { error: error.toJSON() }
        }
        expect(inFile(outcome)).toEqual(inFile(whole))
        expect(readFileSync(path).equals(bytes)).toBe(true)

        const { path: _, incomplete, corrupt, ...counts } = await verifySegmentFile(path, { windowSize })
        const isOfCore = (entry: CorruptBatchFacts) => entry.reason !== 'offset'
        expect({ ...counts, corrupt: corrupt.filter(isOfCore) }).toEqual(core.verify(bytes))
      }),
      { numRuns: 300 },
    )
  })

  /** Without the file's name, which only the file's side knows. */
  function inFile({ error, ...rest }: Outcome): Outcome {
    if (error === undefined) return rest
    const { file, message, ...facts } = error as Record<string, unknown>
    return { error: { ...facts, message: String(message).replace(`${path}: `, '') } }
  }
})

describe('the tail of a stream', () => {
  const core = loadCoreSync()
  const good = batch({ baseOffset: 1n, producerId: 5n, payload: pattern(100) })

  it.each([
    ['zeros longer than any window', Buffer.alloc(100_000), { kind: 'zeros', bytes: 100_000 }, null],
    ['eleven zeros, too few for a header', Buffer.alloc(11), { kind: 'zeros', bytes: 11 }, null],
    ['a cut batch', good.subarray(0, 40), { kind: 'incomplete', bytes: 40 }, { wants: 161, has: 40 }],
    ['a cut header', good.subarray(0, 11), { kind: 'incomplete', bytes: 11 }, { wants: null, has: 11 }],
  ])('is %s', (_name, tail, trailing, incomplete) => {
    const bytes = Buffer.concat([good, tail])
    const work = new RewriteWork(core, {}, null)
    const stream = feed(bytes, 64, work)
    expect(work.counts).toMatchObject({ batches: 1, rewritten: 1, validBytes: good.length, trailing })
    expect(stream.incomplete).toEqual(incomplete && { position: good.length, ...incomplete })
    expect(bytes.subarray(good.length).equals(tail)).toBe(true)
  })

  it('is corrupt when zeros end in something else, however late', () => {
    const tail = Buffer.alloc(10_000)
    tail[9_999] = 1
    const bytes = Buffer.concat([good, tail])
    const facts = { position: good.length, baseOffset: 0n, reason: 'size', stored: null, computed: null }
    expect(() => feed(Buffer.from(bytes), 64, new RewriteWork(core, {}, null))).toThrow(
      expect.objectContaining({ code: 'CORRUPT_BATCH', ...facts }),
    )
    const work = new VerifyWork(core, null)
    feed(bytes, 64, work)
    expect(work.counts).toMatchObject({ validBytes: good.length, corrupt: [facts] })
  })

  it('never makes room for a claimed size', () => {
    const liar = batch({ producerId: 5n, batchLength: 2_147_483_647 })
    const work = new RewriteWork(core, {}, null)
    const stream = feed(Buffer.concat([good, liar]), 64, work)
    expect(stream.incomplete).toEqual({ position: good.length, wants: 2_147_483_659, has: 61 })
  })
})

describe('offsets of a segment', () => {
  const core = loadCoreSync()
  const verify = (batches: Buffer[], baseOffset: bigint | null = null, step = 4096) => {
    const work = new VerifyWork(core, baseOffset)
    feed(Buffer.concat(batches), step, work)
    return work.counts.corrupt.map(({ reason, baseOffset }) => [reason, baseOffset])
  }

  it.each([64, 4096])('must go up from batch to batch (windows of %d)', (step) => {
    const payload = pattern(200)
    const at = (baseOffset: bigint, lastOffsetDelta = 0) => batch({ baseOffset, lastOffsetDelta, payload })
    expect(verify([at(0n, 4), at(5n), at(9n)], 0n, step)).toEqual([])
    expect(verify([at(0n, 4), at(4n)], 0n, step)).toEqual([['offset', 4n]])
    expect(verify([at(5n), at(5n), at(6n)], 0n, step)).toEqual([['offset', 5n]])
    expect(verify([at(5n, -1)], 0n, step)).toEqual([['offset', 5n]])
    expect(verify([at(5n)], 6n, step)).toEqual([['offset', 5n]])
    expect(verify([at(5n)], 5n, step)).toEqual([])
    expect(verify([at(2n ** 63n - 1n)], 5n, step)).toEqual([])
  })

  it('go up over entries of magic 0 and 1 too', () => {
    const legacy = (offset: bigint) => legacyEntry({ magic: 1, offset })
    expect(verify([legacy(3n), legacy(4n), batch({ baseOffset: 5n })])).toEqual([])
    expect(verify([legacy(3n), legacy(3n)])).toEqual([['offset', 3n]])
  })

  it('are not asked of a batch with a wrong CRC', () => {
    const damaged = batch({ baseOffset: 9n, crc: 1 })
    expect(verify([damaged, batch({ baseOffset: 5n })])).toEqual([['crc', 9n]])
  })
})
