import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { loadCoreSync } from '../../src/index.ts'
import { rewriteProducerSnapshot } from '../../src/log/producerSnapshot.ts'
import { rewritePaths, verifyPaths } from '../../src/node/index.ts'
import { batch, hex, pattern } from '../support/batches.ts'
import { leftovers, mainScript, readTree, type Tree, temporaryDirectories, writeTree } from './support.ts'

// A rewrite in place that ends at each of its file-system calls in turn: killed there (writes are cut short, too), or
// by a loss of power, which also undoes a part of all that no sync had made last.

const newDirectory = temporaryDirectories()
const core = loadCoreSync()
const preload = pathToFileURL(join(import.meta.dirname, 'crashAt.mjs')).href

const SEGMENTS = ['00000000000000000000.log', '00000000000000001000.log']
const SNAPSHOT = '00000000000000001000.snapshot'
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
const source: Tree = {
  [SEGMENTS[0]!]: segment(0),
  [SEGMENTS[1]!]: segment(1000),
  [SNAPSHOT]: snapshot,
  'partition.metadata': 'version: 0',
}

function mapped(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes)
  core.rewrite(copy)
  return copy
}
const mappedSnapshot = Buffer.from(snapshot)
rewriteProducerSnapshot(core, mappedSnapshot)
const target: Tree = {
  ...source,
  [SEGMENTS[0]!]: mapped(segment(0)),
  [SEGMENTS[1]!]: mapped(segment(1000)),
  [SNAPSHOT]: mappedSnapshot,
}

/** Each file's name with a digest of its bytes, which is short where a test fails. */
const digestsIn = (directory: string) =>
  Object.fromEntries(
    // what the next run takes over
    Object.entries(readTree(directory))
      .filter(([name]) => name !== '.mirrorpid-lock')
      .map(([name, bytes]) => [name, createHash('sha256').update(bytes).digest('hex')]),
  )
const before = digestsIn(writeTree(newDirectory(), source))
const after = digestsIn(writeTree(newDirectory(), target))

/** Runs the command until the call of that number; 0 runs it to its end. */
function runUntil(
  directory: string,
  at: number,
  mode: 'kill' | 'power',
): Promise<{ signal: NodeJS.Signals | null; stderr: string }> {
  const args = ['--import', preload, mainScript, 'rewrite', directory, '--in-place', '--quiet', '--jobs', '1']
  const child = spawn(process.execPath, args, {
    env: { ...process.env, CRASH_AT: `${at}`, CRASH_MODE: mode },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  return new Promise((resolve) => {
    child.on('close', (_status, signal) => resolve({ signal, stderr }))
  })
}

const journalsIn = (directory: string) =>
  readdirSync(directory).filter((name) => name.endsWith('.mirrorpid-journal'))

/** What a crash left: it must be told, and no run may leave anything but the whole. */
async function checkRecovery(directory: string): Promise<string> {
  const found = digestsIn(directory)
  const journals = journalsIn(directory)
  let state = leftovers(directory).length > 0 ? 'unpublished' : 'clean'
  for (const name of SEGMENTS) {
    const isWhole = [before[name], after[name]].includes(found[name]!)
    if (journals.includes(`${name}.mirrorpid-journal`)) state = isWhole ? 'published' : 'half'
    // half rewritten without a journal, nobody could tell nor help
    else expect([name, isWhole]).toEqual([name, true])
  }
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
  expect(digestsIn(unmapped)).toEqual(before)

  const again = await rewritePaths([directory], { inPlace: true })
  expect(again.errors).toEqual([])
  expect(digestsIn(directory)).toEqual(after)
  return state
}

describe.each(['kill', 'power'] as const)('a crash by %s', (mode) => {
  it('at any step leaves what the next run finishes, whichever it is', { timeout: 300_000 }, async () => {
    const directory = join(newDirectory(), 'orders-0')
    writeTree(directory, source)
    const whole = await runUntil(directory, 0, mode)
    expect(digestsIn(directory)).toEqual(after)
    const steps = Number(/steps (\d+)/.exec(whole.stderr)?.[1])
    expect(steps).toBeGreaterThan(20)
    const states = new Set<string>()
    for (let at = 1; at <= steps; at++) {
      rmSync(directory, { recursive: true })
      writeTree(directory, source)
      const { signal } = await runUntil(directory, at, mode)
      expect([at, signal]).toEqual([at, 'SIGKILL'])
      states.add(await checkRecovery(directory))
    }
    expect([...states].sort()).toEqual(['clean', 'half', 'published', 'unpublished'])
  })
})
