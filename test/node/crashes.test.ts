import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, linkSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { loadCoreSync } from '../../src/index.ts'
import { rewritePaths, verifyPaths } from '../../src/node/index.ts'
import { batch, hex, pattern } from '../support/batches.ts'
import { quickOrLong } from '../support/counts.ts'
import { leftovers, mainScript, readTree, type Tree, temporaryDirectories, writeTree } from './support.ts'

// A rewrite in place that ends at each of its file-system calls in turn: killed there (writes are cut short, too), or
// by a loss of power, which also undoes a part of all that no sync had made last.

const newDirectory = temporaryDirectories()
const core = loadCoreSync()
const preload = pathToFileURL(join(import.meta.dirname, 'crashAt.mjs')).href

const SEGMENTS = ['00000000000000000000.log', '00000000000000001000.log']
/** Near ones, which are written in one go, and far ones. */
const sizes = [300, 20_000, 70_000, 61, 40_000, 5_000, 90_000]
const segment = (base: number) =>
  Buffer.concat(
    sizes.map((size, at) =>
      batch({ baseOffset: BigInt(base + at), producerId: BigInt(at * 1000), payload: pattern(size, at + 1) }),
    ),
  )
const snapshot = hex(
  '0001418d07fe0000000100000000000003e80003000000010000000000000001000000010000018bcfe5680900000004ffffffffffffffff',
)
const INDEXES = ['00000000000000000000.index', '00000000000000001000.index']
/** What a broker builds anew. */
const rebuilt: Tree = {
  [INDEXES[0]!]: pattern(64),
  [INDEXES[1]!]: pattern(64),
  '00000000000000000000.timeindex': pattern(24),
  '00000000000000001000.snapshot': snapshot,
  '00000000000000002000.snapshot': snapshot,
}
const source: Tree = {
  [SEGMENTS[0]!]: segment(0),
  [SEGMENTS[1]!]: segment(1000),
  ...rebuilt,
  'partition.metadata': 'version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ',
}

function mapped(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes)
  core.rewrite(copy)
  return copy
}
const target: Tree = {
  [SEGMENTS[0]!]: mapped(segment(0)),
  [SEGMENTS[1]!]: mapped(segment(1000)),
  'partition.metadata': 'version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ',
}
/** Of which no segment is to be changed. */
const mappedSegments: Tree = { ...target, ...rebuilt }

/** Each file's name with a digest of its bytes, which is short where a test fails. */
const digestsIn = (directory: string) =>
  Object.fromEntries(
    // what the next run takes over
    Object.entries(readTree(directory))
      .filter(([name]) => name !== '.mirrorpid-lock')
      .map(([name, bytes]) => [name, createHash('sha256').update(bytes).digest('hex')]),
  )
const digestsOf = (tree: Tree) => digestsIn(writeTree(newDirectory(), tree))
const native = digestsOf(source)
const after = digestsOf(target)

/** Runs the command until the call of that number, or to its end; resolves to the signal that ended it. */
function runUntil(directory: string, at: number, mode: 'kill' | 'power'): Promise<NodeJS.Signals | null> {
  const args = ['--import', preload, mainScript, 'rewrite', directory, '--in-place', '--quiet', '--jobs', '1']
  const child = spawn(process.execPath, args, {
    env: { ...process.env, CRASH_AT: `${at}`, CRASH_MODE: mode },
    stdio: 'ignore',
  })
  return new Promise((resolve) => {
    child.on('close', (_status, signal) => resolve(signal))
  })
}

/** Calls between two crashes. */
const STRIDE = quickOrLong(3, 1)

const journalsIn = (directory: string) =>
  readdirSync(directory).filter((name) => name.endsWith('.mirrorpid-journal'))

/** All that a broker builds anew is there, or it finds that it has to: with no index, it recovers whatever else is there. */
function checkRebuilt(found: Record<string, string>): void {
  if (Object.keys(rebuilt).every((name) => name in found)) return
  expect(INDEXES.filter((name) => name in found).length).toBeLessThan(INDEXES.length)
  if (Object.keys(rebuilt).some((name) => !INDEXES.includes(name) && !(name in found))) {
    expect(INDEXES.filter((name) => name in found)).toEqual([])
  }
}

/** What a crash left: it must be told, and no run may leave anything but the whole. */
async function checkRecovery(directory: string, before: Record<string, string>): Promise<string> {
  const found = digestsIn(directory)
  const journals = journalsIn(directory)
  let state = leftovers(directory).length > 0 ? 'unpublished' : 'clean'
  for (const name of SEGMENTS) {
    const isWhole = [before[name], after[name]].includes(found[name]!)
    if (journals.includes(`${name}.mirrorpid-journal`)) state = isWhole ? 'published' : 'half'
    // half rewritten without a journal, nobody could tell nor help
    else expect([name, isWhole]).toEqual([name, true])
  }
  // nor where some files are rewritten and others are not
  const files = Object.fromEntries(Object.keys(before).map((name) => [name, found[name]]))
  if (journals.length === 0) expect([before, after]).toContainEqual(files)
  checkRebuilt(found)
  const { errors } = await verifyPaths([directory])
  expect(errors.map(({ code }) => code)).toEqual(journals.map(() => 'UNFINISHED_REWRITE'))

  const resumed = join(newDirectory(), 'resumed')
  cpSync(directory, resumed, { recursive: true })
  const resume = await rewritePaths([resumed], { inPlace: true, resume: true })
  expect(resume.errors).toEqual([])
  expect(resume.resumed).toHaveLength(journals.length)
  if (journals.length > 0) expect(digestsIn(resumed)).toEqual(after)
  else expect(digestsIn(resumed)).toEqual(found)

  const unmapped = join(newDirectory(), 'unmapped')
  cpSync(directory, unmapped, { recursive: true })
  await rewritePaths([unmapped], { inPlace: true, direction: 'unmap' })
  const restored = digestsIn(unmapped)
  checkRebuilt(restored)
  expect({ ...native, ...restored }).toEqual(native)
  for (const name of Object.keys(target)) expect(restored).toHaveProperty([name])

  const again = await rewritePaths([directory], { inPlace: true })
  expect(again.errors).toEqual([])
  expect(digestsIn(directory)).toEqual(after)
  return state
}

const PARTITIONS: { what: string; tree: Tree; isLinked?: true; states: string[] }[] = [
  { what: 'a partition', tree: source, states: ['clean', 'half', 'published', 'unpublished'] },
  // replaced by copies, one after the other
  {
    what: 'one whose segments have other names',
    tree: source,
    isLinked: true,
    states: ['clean', 'published', 'unpublished'],
  },
  {
    what: 'one whose segments are mapped already',
    tree: mappedSegments,
    states: ['clean', 'published', 'unpublished'],
  },
]

describe.each(['kill', 'power'] as const)('a crash by %s', (mode) => {
  it.each(PARTITIONS)(
    'at any step leaves what the next run finishes, whichever it is, of $what',
    { timeout: 300_000 },
    async ({ tree, isLinked, states }) => {
      const root = newDirectory()
      const [directory, backup] = [join(root, 'orders-0'), join(root, 'backup')]
      const before = digestsOf(tree)
      const write = () => {
        rmSync(directory, { recursive: true, force: true })
        rmSync(backup, { recursive: true, force: true })
        writeTree(directory, tree)
        mkdirSync(backup)
        if (isLinked) for (const name of SEGMENTS) linkSync(join(directory, name), join(backup, name))
      }
      const seen = new Set<string>()
      let at = 1 - STRIDE
      for (let isOver = false; !isOver; ) {
        at += STRIDE
        write()
        isOver = (await runUntil(directory, at, mode)) === null
        if (isOver) expect(digestsIn(directory)).toEqual(after)
        seen.add(await checkRecovery(directory, before))
        for (const [name, digest] of Object.entries(digestsIn(backup))) expect(digest).toBe(before[name])
      }
      expect(at).toBeGreaterThan(12)
      expect([...seen].sort()).toEqual(states)
    },
  )
})
