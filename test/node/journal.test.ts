import { existsSync, linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32c } from '@node-rs/crc32'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loadCoreSync, type RewriteOptions } from '../../src/index.ts'
import type { JournalMode } from '../../src/log/journalFormat.ts'
import { journalPathOf } from '../../src/node/files/temporaryFiles.ts'
import { rewritePaths, rewriteSegmentFile, verifyPaths, verifySegmentFile } from '../../src/node/index.ts'
import { Job } from '../../src/node/jobs/job.ts'
import { checkSegment } from '../../src/node/segments/segmentPasses.ts'
import { batch, pattern } from '../support/batches.ts'
import { readTree, type Tree, temporaryDirectories, writeTree } from './support.ts'

const newDirectory = temporaryDirectories()
const core = loadCoreSync()
const SEGMENT = '00000000000000000000.log'
const JOURNAL = `${SEGMENT}.mirrorpid-journal`

/** A batch in whose payload another one stands, header and all: where a hostile journal might point. */
const inner = batch({ baseOffset: 7n, producerId: 77n, payload: pattern(20) })
const segment = Buffer.concat([
  batch({ baseOffset: 0n, producerId: 5n, payload: pattern(100) }),
  batch({ baseOffset: 1n, producerId: -1n, payload: pattern(30) }),
  batch({ baseOffset: 2n, producerId: 2n ** 40n, payload: inner }),
  batch({ baseOffset: 3n, producerId: 4_294_967_295n, payload: pattern(64) }),
])
const POSITIONS = [0, 252, 394]

function rewritten(bytes: Buffer, options: RewriteOptions = {}): Buffer {
  const copy = Buffer.from(bytes)
  core.rewrite(copy, options)
  return copy
}
const mapped = rewritten(segment)

/** A partition in which a run over it, or over its segment, was killed right before its first header. */
async function interrupted(
  bytes: Buffer = segment,
  options: RewriteOptions & Partial<Pick<JournalMode, 'scope'>> = {},
  tree: Tree = {},
): Promise<{ directory: string; path: string; journal: string }> {
  const directory = writeTree(newDirectory(), { [SEGMENT]: bytes, ...tree })
  const path = join(directory, SEGMENT)
  const mode = {
    crc: options.crc ?? 'patch',
    direction: options.direction ?? 'map',
    scope: options.scope ?? 'partition',
  } as const
  const { isJournaled } = await checkSegment(path, join(directory, 'made'), Job.start({}), mode)
  expect(isJournaled).toBe(true)
  renameSync(join(directory, 'made'), journalPathOf(path))
  return { directory, path, journal: join(directory, JOURNAL) }
}

/** Writes a journal with right CRCs, whatever its changes. */
function journalOf(
  changes: readonly [position: bigint, producerId: bigint, oldCrc: number, newCrc: number][],
  header: { size?: number; count?: number; direction?: number; scope?: number; version?: number } = {},
): Buffer {
  const head = Buffer.alloc(64)
  head.write('MPIDJRNL')
  head.writeUInt16BE(header.version ?? 1, 8)
  head.writeUInt8(header.direction ?? 0, 10)
  head.writeBigUInt64BE(BigInt(header.size ?? segment.length), 16)
  head.writeDoubleBE(1.7e12, 24)
  head.writeDoubleBE(1.7e12, 32)
  head.writeBigUInt64BE(BigInt(header.count ?? changes.length), 40)
  head.writeUInt8(header.scope ?? 0, 48)
  head.writeUInt32BE(crc32c(head.subarray(0, 60)), 60)
  const body = Buffer.concat(
    changes.map(([position, producerId, oldCrc, newCrc]) => {
      const change = Buffer.alloc(24)
      change.writeBigUInt64BE(position, 0)
      change.writeBigInt64BE(producerId, 8)
      change.writeUInt32BE(oldCrc, 16)
      change.writeUInt32BE(newCrc, 20)
      return change
    }),
  )
  const block = Buffer.alloc(8)
  block.writeUInt32BE(changes.length, 0)
  block.writeUInt32BE(crc32c(body), 4)
  return changes.length === 0 ? head : Buffer.concat([head, block, body])
}

type Change = Parameters<typeof journalOf>[0][number]
const changeAt = (position: number): Change => [
  BigInt(position),
  segment.readBigInt64BE(position + 43),
  segment.readUInt32BE(position + 17),
  mapped.readUInt32BE(position + 17),
]
const right = POSITIONS.map((position) => changeAt(position))

async function expectRefused(directory: string): Promise<void> {
  const before = readTree(directory)
  for (const resume of [true, false]) {
    const { errors, resumed } = await rewritePaths([directory], { inPlace: true, resume })
    expect(errors).toMatchObject([{ code: 'INVALID_JOURNAL', file: join(directory, JOURNAL) }])
    expect(resumed).toEqual([])
  }
  expect(readTree(directory)).toEqual(before)
}

describe('the journal of a killed run', () => {
  it('holds what is documented', async () => {
    const { path, journal } = await interrupted()
    const made = readFileSync(journal)
    const expected = journalOf(right)
    // the times are those of the file
    expected.set(made.subarray(24, 40), 24)
    expected.writeUInt32BE(crc32c(expected.subarray(0, 60)), 60)
    expect(made.toString('hex')).toBe(expected.toString('hex'))
    expect(readFileSync(path).equals(segment)).toBe(true)
  })

  it.each([
    ['a run that resumes', { resume: true }, mapped],
    ['a run in the same mode', {}, mapped],
    ['a run that goes the other way', { direction: 'unmap' }, segment],
  ] as const)('is finished by %s, and removed', async (_name, options, result) => {
    const { directory, path } = await interrupted()
    const done = await rewritePaths([directory], { inPlace: true, ...options })
    expect([done.errors, done.resumed]).toEqual([[], [path]])
    expect(readTree(directory)).toEqual({ [SEGMENT]: result.toString('hex') })
  })

  it('of a run that went back is finished in that direction', async () => {
    const { directory } = await interrupted(mapped, { direction: 'unmap' })
    await rewritePaths([directory], { inPlace: true, resume: true })
    expect(readTree(directory)).toEqual({ [SEGMENT]: segment.toString('hex') })
  })

  it('of a run that made CRCs anew is finished with those', async () => {
    const damaged = Buffer.from(segment)
    damaged[100]! ^= 1
    const { directory, path } = await interrupted(damaged, { crc: 'recompute' })
    await rewritePaths([directory], { inPlace: true, resume: true })
    expect(readFileSync(path).equals(rewritten(damaged, { crc: 'recompute' }))).toBe(true)
    expect((await verifyPaths([directory])).totals.corrupt).toBe(0)
  })

  it('is finished whatever part of its bytes was written', async () => {
    const changed = POSITIONS.flatMap((at) =>
      [17, 18, 19, 20, 43, 44, 45, 46, 47, 48, 49, 50].map((b) => at + b),
    )
    const { directory, path, journal } = await interrupted()
    const made = readFileSync(journal)
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.boolean(), { minLength: changed.length, maxLength: changed.length }),
        async (isNew) => {
          const bytes = Buffer.from(segment)
          for (const [index, at] of changed.entries()) if (isNew[index]) bytes[at] = mapped[at]!
          writeFileSync(path, bytes)
          writeFileSync(journal, made)
          const { errors } = await rewritePaths([directory], { inPlace: true, resume: true })
          expect(errors).toEqual([])
          expect(readFileSync(path).equals(mapped)).toBe(true)
        },
      ),
      { numRuns: 200 },
    )
  })

  it('keeps the modification time that the segment had', async () => {
    const { directory, path, journal } = await interrupted()
    const made = readFileSync(journal)
    writeFileSync(path, segment)
    await rewritePaths([directory], { inPlace: true })
    const { mtimeMs } = statSync(path)
    expect(mtimeMs).toBeCloseTo(made.readDoubleBE(32), 2)
  })

  it('of one segment file is finished by the function for one', async () => {
    const { path, journal } = await interrupted(segment, { scope: 'segment' })
    await expect(verifySegmentFile(path)).rejects.toMatchObject({ code: 'UNFINISHED_REWRITE', file: journal })
    const out = join(newDirectory(), 'out.log')
    await expect(rewriteSegmentFile(path, { out })).rejects.toMatchObject({ code: 'UNFINISHED_REWRITE' })
    expect(existsSync(out)).toBe(false)
    expect(await rewriteSegmentFile(path, { inPlace: true })).toMatchObject({
      alreadyMapped: 3,
      rewritten: 0,
    })
    expect([readFileSync(path).equals(mapped), existsSync(journal)]).toEqual([true, false])
  })

  it('stops other jobs, each at that segment or partition alone', async () => {
    const { directory, journal } = await interrupted(
      segment,
      {},
      { '00000000000000000009.log': batch({ baseOffset: 9n }) },
    )
    const other = writeTree(newDirectory(), { [SEGMENT]: segment })
    const unfinished = {
      code: 'UNFINISHED_REWRITE',
      file: journal,
      message: expect.stringContaining('--resume'),
    }
    const verified = await verifyPaths([directory, other])
    expect(verified.errors).toMatchObject([unfinished])
    expect(verified.totals).toMatchObject({ files: 2, batches: 5, corrupt: 0 })
    const outDirectory = join(newDirectory(), 'out')
    const copied = await rewritePaths([directory, other], { outDirectory })
    expect(copied.errors).toMatchObject([unfinished])
    expect(Object.keys(readTree(outDirectory))).toHaveLength(1)
    await expect(verifyPaths([journal])).rejects.toMatchObject({ code: 'NOT_A_LOG' })
  })

  it('is all that resuming looks for', async () => {
    const directory = writeTree(newDirectory(), { [SEGMENT]: segment })
    const { errors, resumed, files } = await rewritePaths([directory], { inPlace: true, resume: true })
    expect([errors, resumed, files]).toEqual([[], [], []])
    expect(readTree(directory)).toEqual({ [SEGMENT]: segment.toString('hex') })
    for (const options of [
      { outDirectory: 'x' },
      { inPlace: true, crc: 'patch' },
      { inPlace: true, direction: 'map' },
    ] as const) {
      await expect(rewritePaths([directory], { ...options, resume: true })).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
      })
    }
  })
})

describe('a journal that cannot be trusted is refused, and nothing is touched', () => {
  it('when it is cut at any byte', async () => {
    const { directory, journal } = await interrupted()
    const made = readFileSync(journal)
    for (let end = 0; end < made.length; end++) {
      writeFileSync(journal, made.subarray(0, end))
      const { errors } = await rewritePaths([directory], { inPlace: true })
      expect([end, errors]).toMatchObject([end, [{ code: 'INVALID_JOURNAL' }]])
    }
    await expectRefused(directory)
    expect(readFileSync(join(directory, SEGMENT)).equals(segment)).toBe(true)
  })

  it('when any bit of it is flipped', async () => {
    const { directory, journal, path } = await interrupted()
    const made = readFileSync(journal)
    for (let bit = 0; bit < made.length * 8; bit++) {
      const copy = Buffer.from(made)
      copy[bit >> 3]! ^= 1 << (bit & 7)
      writeFileSync(journal, copy)
      const { errors } = await rewritePaths([directory], { inPlace: true })
      expect([bit, errors]).toMatchObject([bit, [{ code: 'INVALID_JOURNAL' }]])
    }
    expect(readFileSync(path).equals(segment)).toBe(true)
  })

  it.each<[string, Buffer]>([
    ['bytes behind its end', Buffer.concat([journalOf(right), Buffer.alloc(8)])],
    ['fewer changes than it says', journalOf(right, { count: 4 })],
    ['more changes than it says', journalOf(right, { count: 2 })],
    ['another version', journalOf(right, { version: 2 })],
    ['an unknown direction', journalOf(right, { direction: 2 })],
    ['an unknown scope', journalOf(right, { scope: 2 })],
    ['the other direction', journalOf(right, { direction: 1 })],
    ['another size of the segment', journalOf(right, { size: segment.length + 1 })],
    [
      'a change inside a payload',
      journalOf([[313n, 77n, inner.readUInt32BE(17), rewritten(inner).readUInt32BE(17)]]),
    ],
    ['a change between batches', journalOf([[1n, 5n, 0, 0]])],
    ['a change behind the end', journalOf([[BigInt(segment.length), 5n, 0, 0]])],
    ['a change whose header crosses the end', journalOf([[BigInt(segment.length - 60), 5n, 0, 0]])],
    ['a change far outside', journalOf([[2n ** 52n, 5n, 0, 0]])],
    ['a change below zero', journalOf([[2n ** 64n - 1n, 5n, 0, 0]])],
    ['changes in the wrong order', journalOf([...right].reverse())],
    ['a change twice', journalOf([right[0]!, right[0]!])],
    ['a change of a batch without a producer', journalOf([[161n, -1n, 0, 0]])],
    ['another old id', journalOf([[0n, 6n, right[0]![2], right[0]![3]]])],
    ['another old CRC', journalOf([[0n, 5n, (right[0]![2] ^ 1) >>> 0, right[0]![3]]])],
    [
      'a new CRC that is not that of the new id',
      journalOf([[0n, 5n, right[0]![2], (right[0]![3] ^ 1) >>> 0]]),
    ],
    ['an empty block', Buffer.concat([journalOf([]), Buffer.alloc(8)])],
    ['a block that claims 4 GiB', Buffer.concat([journalOf([]), Buffer.alloc(8, 255)])],
  ])('with %s', async (_name, journal) => {
    const directory = writeTree(newDirectory(), { [SEGMENT]: segment, [JOURNAL]: journal })
    await expectRefused(directory)
  })

  it('but a right one is not: the journals here are', async () => {
    const directory = writeTree(newDirectory(), { [SEGMENT]: segment, [JOURNAL]: journalOf(right) })
    await rewritePaths([directory], { inPlace: true, resume: true })
    expect(readTree(directory)).toEqual({ [SEGMENT]: mapped.toString('hex') })
  })

  it('beside another segment of the same size', async () => {
    const { directory, path } = await interrupted()
    const other = Buffer.from(segment)
    other.writeUInt32BE(0x12345678, 252 + 17)
    writeFileSync(path, other)
    await expectRefused(directory)
  })

  it('when its segment is gone, or another one is damaged', async () => {
    const { directory, path } = await interrupted(
      segment,
      {},
      { '00000000000000000009.log': batch({ baseOffset: 9n, producerId: 5n }) },
    )
    rmSync(path)
    await expectRefused(directory)
    writeFileSync(path, segment)
    writeFileSync(join(directory, '00000000000000000009.log.mirrorpid-journal'), 'x')
    const before = readTree(directory)
    const { errors } = await rewritePaths([directory], { inPlace: true })
    expect(errors).toMatchObject([{ code: 'INVALID_JOURNAL' }])
    expect(readTree(directory)).toEqual(before)
  })
})

describe('a segment that was given another name meanwhile', () => {
  it('is finished under both: they are one file', async () => {
    const { directory, path } = await interrupted()
    const backup = join(newDirectory(), 'backup.log')
    linkSync(path, backup)
    await rewritePaths([directory], { inPlace: true })
    expect(readFileSync(backup).equals(mapped)).toBe(true)
  })
})
