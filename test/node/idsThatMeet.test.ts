import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeMirrorPidReset, loadCoreSync } from '../../src/index.ts'
import { type RewritePathsOptions, rewritePaths, rewriteSegmentFile } from '../../src/node/index.ts'
import { batch, hex, pattern } from '../support/batches.ts'
import { leftovers, readTree, runCommand, temporaryDirectories, writeTree } from './support.ts'

// Two producers that the mapping would put under one id: found in the whole partition, before anything is written.

const newDirectory = temporaryDirectories()
const core = loadCoreSync()
const nameOf = (base: number) => `${base}`.padStart(20, '0').concat('.log')

type Item = bigint | 'barrier'

const encode = (item: Item, offset: number) =>
  item === 'barrier'
    ? Buffer.from(
        encodeMirrorPidReset({
          baseOffset: BigInt(offset),
          leaderEpoch: 0,
          timestamp: 0n,
          sourceClusterId: 'x'.repeat(300),
        }),
      )
    : batch({ baseOffset: BigInt(offset), producerId: item, payload: pattern(offset % 3 === 0 ? 900 : 7) })

/** Cut before the items of these numbers. */
function segmentsOf(items: readonly Item[], cuts: readonly number[]): Record<string, Buffer> {
  const bases = [...new Set([0, ...cuts.filter((cut) => cut < items.length)])].sort((a, b) => a - b)
  return Object.fromEntries(
    bases.map((base, at) => {
      const held = items.slice(base, bases[at + 1] ?? items.length)
      return [nameOf(base), Buffer.concat(held.map((item, index) => encode(item, base + index)))]
    }),
  )
}

/** Whether two ids with one image stand in one stretch between barriers; without barriers where ids are restored. */
function isMeeting(items: readonly Item[], direction: 'map' | 'unmap'): boolean {
  let seen: bigint[] = []
  for (const item of items) {
    if (item === 'barrier') {
      if (direction === 'map') seen = []
    } else {
      if (item !== -1n && seen.includes(-(item + 2n))) return true
      seen.push(item)
    }
  }
  return false
}

const items = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom<Item>(5n, -7n, 6n, -8n, -1n, 900n) },
    { weight: 1, arbitrary: fc.constant<Item>('barrier') },
  ),
  { minLength: 1, maxLength: 12 },
)

describe('ids that meet in a partition', () => {
  it('are found wherever its segments and windows end, and nothing is written', async () => {
    await fc.assert(
      fc.asyncProperty(
        items,
        fc.array(fc.nat(12), { maxLength: 4 }),
        fc.constantFrom('map' as const, 'unmap' as const),
        fc.constantFrom(61, 97, 1000, 1024 * 1024),
        async (items, cuts, direction, windowSize) => {
          const root = newDirectory()
          const tree = segmentsOf(items, cuts)
          const directory = writeTree(join(root, 'orders-0'), tree)
          const before = readTree(directory)
          const codes = isMeeting(items, direction) ? ['PRODUCER_IDS_MEET'] : []
          const run = async (options: RewritePathsOptions) =>
            (await rewritePaths([directory], { direction, windowSize, ...options })).errors.map(
              ({ code }) => code,
            )
          const out = join(root, 'out')
          expect(await run({ inPlace: true, dryRun: true })).toEqual(codes)
          expect(await run({ outDirectory: out, dryRun: true })).toEqual(codes)
          expect(existsSync(out)).toBe(false)
          expect(readTree(directory)).toEqual(before)

          const mapped = Object.fromEntries(
            Object.entries(tree).map(([name, bytes]) => {
              const copy = Buffer.from(bytes)
              core.rewrite(copy, { direction })
              return [name, copy.toString('hex')]
            }),
          )
          expect(await run({ outDirectory: out })).toEqual(codes)
          expect(readTree(out)).toEqual(
            codes.length > 0
              ? {}
              : Object.fromEntries(
                  Object.entries(mapped).map(([name, bytes]) => [`orders-0/${name}`, bytes]),
                ),
          )
          expect(await run({ inPlace: true })).toEqual(codes)
          expect(readTree(directory)).toEqual(codes.length > 0 ? before : mapped)
          expect(leftovers(root)).toEqual([])
          if (codes.length > 0) expect(await run({ inPlace: true, force: true })).toEqual([])
          expect(readTree(directory)).toEqual(mapped)
        },
      ),
      { numRuns: 150 },
    )
  })

  it('are found by two threads as by one, which name the same ones', async () => {
    const all = Array.from({ length: 60 }, (_, at): Item => (at === 31 ? 'barrier' : BigInt((at * 7) % 20)))
    const tree = segmentsOf([...all, -3n, -4n, 'barrier'], [20, 40])
    const directory = writeTree(join(newDirectory(), 'orders-0'), tree)
    const results = []
    for (const jobs of ['1', '2']) {
      const { status, stdout } = runCommand(['rewrite', directory, '--in-place', '--json', '--jobs', jobs])
      expect(status).toBe(1)
      results.push(JSON.parse(stdout).errors)
    }
    expect(results[1]).toEqual(results[0])
    expect(results[0]).toMatchObject([
      { producerId: '1', firstOffset: '3', otherProducerId: '-3', otherFirstOffset: '60', pairs: 2 },
    ])
  })
})

describe('the command', () => {
  const tree = segmentsOf([-7n, -7n, 3n, 5n], [2])

  it('names both ids and where they begin, ends with 1 and writes nothing; --force goes on and warns', () => {
    const root = writeTree(newDirectory(), { 'orders-0': tree, 'other-0': segmentsOf([3n], []) })
    const directory = join(root, 'orders-0')
    const before = readTree(directory)
    for (const target of [['--in-place'], ['--in-place', '--dry-run'], ['--out', join(root, 'out')]]) {
      const { status, stderr } = runCommand(['rewrite', directory, join(root, 'other-0'), ...target])
      expect([target, status, stderr]).toEqual([
        target,
        1,
        expect.stringContaining(
          `${directory}: producers -7 (first at offset 0) and 5 (first at offset 3) would both become -7`,
        ),
      ])
      expect(readTree(directory)).toEqual(before)
    }
    expect(readdirSync(join(root, 'out'))).toEqual(['other-0'])
    const forced = runCommand(['rewrite', directory, '--in-place', '--force', '--quiet'])
    expect([forced.status, forced.stderr]).toEqual([0, expect.stringContaining('warning: ')])
    expect(forced.stderr).toContain('no barrier tells them apart')
  })

  it('notes those that a barrier tells apart, and refuses to restore them', () => {
    const directory = writeTree(join(newDirectory(), 'orders-0'), segmentsOf([-7n, 'barrier', 5n, 6n], [3]))
    const unmapped = runCommand(['rewrite', directory, '--in-place', '--unmap'])
    expect([unmapped.status, unmapped.stderr]).toEqual([1, expect.stringContaining('would both become 5')])
    const { status, stderr } = runCommand(['rewrite', directory, '--in-place'])
    expect([status, stderr]).toEqual([
      0,
      expect.stringContaining(
        `note: ${directory}: producers -7 (first at offset 0) and 5 (first at offset 2) become one -7; a barrier stands`,
      ),
    ])
  })

  it('goes on with damage no more than without --force', () => {
    const damaged = Buffer.concat([
      encode(-7n, 0),
      encode(5n, 1),
      batch({ baseOffset: 2n, producerId: 1n, crc: 7 }),
    ])
    const directory = writeTree(join(newDirectory(), 'orders-0'), { [nameOf(0)]: damaged })
    const before = readTree(directory)
    const { status, stderr } = runCommand(['rewrite', directory, '--in-place', '--force', '--crc', 'verify'])
    expect([status, stderr]).toEqual([1, expect.stringContaining('is damaged')])
    expect(readTree(directory)).toEqual(before)
  })
})

describe('a segment alone', () => {
  it('is refused for its own ids, not for those of others', async () => {
    const directory = writeTree(newDirectory(), segmentsOf([-7n, 5n, -7n], [2]))
    const [both, one] = [join(directory, nameOf(0)), join(directory, nameOf(2))]
    const before = readTree(directory)
    const facts = {
      code: 'PRODUCER_IDS_MEET',
      file: both,
      firstOffset: 0n,
      otherFirstOffset: 1n,
    }
    for (const target of [{ out: join(directory, 'x') }, { inPlace: true }]) {
      await expect(rewriteSegmentFile(both, target)).rejects.toMatchObject(facts)
      expect(readTree(directory)).toEqual(before)
    }
    expect((await rewriteSegmentFile(one, { inPlace: true })).alreadyMapped).toBe(1)
    expect((await rewriteSegmentFile(both, { inPlace: true, force: true })).rewritten).toBe(1)
  })
})

describe('the ids of companions', () => {
  /** Of producer 1000, whose last offset is 1. */
  const snapshot = hex(
    '0001418d07fe0000000100000000000003e80003000000010000000000000001000000010000018bcfe5680900000004ffffffffffffffff',
  )
  const aborted = hex('000000000000000003e8000000000000000000000000000000020000000000000003')
  const mapped = Buffer.from(aborted)
  mapped.writeBigInt64BE(-1002n, 2)

  it.each([
    ['a mapped one of before', { '00000000000000000000.txnindex': mapped }, [1000n], true],
    [
      'a mapped one of before, behind a barrier',
      { '00000000000000000000.txnindex': mapped },
      [1n, 1n, 1n, 'barrier', 1000n],
      false,
    ],
    ['a local one that was mapped since', { '00000000000000000002.snapshot': snapshot }, [-1002n], false],
  ] as const)('%s', async (_name, companions, held, isRefused) => {
    const directory = writeTree(join(newDirectory(), 'orders-0'), { ...segmentsOf(held, []), ...companions })
    const { errors } = await rewritePaths([directory], { inPlace: true })
    expect(errors.map(({ code }) => code)).toEqual(isRefused ? ['PRODUCER_IDS_MEET'] : [])
  })

  it.each([
    ['of before the log', 2n, true],
    ['of a batch of the log, which was mapped without it', 1n, false],
  ])('a local one in a snapshot that goes with a restored log: %s', async (_name, start, isRefused) => {
    const name = start.toString().padStart(20, '0')
    const mappedBatch = batch({ producerId: -1002n, baseOffset: start })
    const directory = writeTree(join(newDirectory(), 'orders-0'), {
      [`${name}.log`]: mappedBatch,
      '00000000000000000002.snapshot': snapshot,
    })
    const before = readTree(directory)
    const codes = isRefused ? ['PRODUCER_IDS_MEET'] : []
    const out = join(newDirectory(), 'out')
    for (const options of [{ inPlace: true, dryRun: true }, { outDirectory: out }, { inPlace: true }]) {
      const { errors } = await rewritePaths([directory], { direction: 'unmap', ...options })
      expect(errors.map(({ code }) => code)).toEqual(codes)
    }
    if (!isRefused) return
    expect(readTree(directory)).toEqual(before)
    const { errors, meetings } = await rewritePaths([directory], {
      inPlace: true,
      direction: 'unmap',
      force: true,
    })
    expect(errors).toEqual([])
    expect(meetings).toMatchObject([{ producerId: 1000n, firstOffset: 1n, otherProducerId: -1002n }])
  })
})
