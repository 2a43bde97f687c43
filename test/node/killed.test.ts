import { createHash } from 'node:crypto'
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { loadCoreSync } from '../../src/index.ts'
import { batch, pattern } from '../support/batches.ts'
import { interruptCommand, leftovers, runCommand, temporaryDirectories, writeTree } from './support.ts'

// The real command line, killed at moments spread over its whole run.

const newDirectory = temporaryDirectories()
const KILLS = 20
const SEGMENTS = ['00000000000000000000.log', '00000000000000001000.log', '00000000000000002000.log']

/** Each file's name with a digest of its bytes. */
function digests(directory: string): Map<string, string> {
  return new Map(
    readdirSync(directory)
      // what the next run takes over
      .filter((name) => name !== '.mirrorpid-lock')
      .sort()
      .map((name) => [
        name,
        createHash('sha256')
          .update(readFileSync(join(directory, name)))
          .digest('hex'),
      ]),
  )
}

let source: string
let before: Map<string, string>
let after: Map<string, string>

beforeAll(() => {
  const payload = pattern(16384)
  const segments = SEGMENTS.map((name): [string, Buffer] => {
    const base = Number(name.slice(0, 20))
    const batches = Array.from({ length: 600 }, (_, at) =>
      batch({ baseOffset: BigInt(base + at), producerId: BigInt(at), payload }),
    )
    return [name, Buffer.concat(batches)]
  })
  source = join(newDirectory(), 'orders-0')
  writeTree(source, {
    ...Object.fromEntries(segments),
    'partition.metadata': 'version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ',
  })
  before = digests(source)
  for (const [, bytes] of segments) loadCoreSync().rewrite(bytes)
  after = digests(
    writeTree(newDirectory(), {
      ...Object.fromEntries(segments),
      'partition.metadata': 'version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ',
    }),
  )
})

/** How long a run takes, in milliseconds. */
function timed(run: () => void): number {
  const began = performance.now()
  run()
  return performance.now() - began
}

describe('killed at any moment', () => {
  it('an output directory holds a partition whole or not at all, and a second run works', async () => {
    const out = join(newDirectory(), 'out')
    const args = ['rewrite', source, '--out', out, '--quiet']
    let duration = timed(() => runCommand(args))
    expect(digests(join(out, 'orders-0'))).toEqual(after)
    let killed = 0
    for (let kill = 0; kill < KILLS; kill++) {
      rmSync(out, { recursive: true, force: true })
      const { signal } = await interruptCommand(args, (duration * (kill + 1)) / KILLS, 'SIGKILL')
      if (signal === 'SIGKILL') killed++
      expect(digests(source)).toEqual(before)
      if (existsSync(join(out, 'orders-0'))) {
        expect(digests(join(out, 'orders-0'))).toEqual(after)
        expect(runCommand(args).status).toBe(2)
      } else {
        // the first run may have been slow, and then half of the kills would come too late
        const again = timed(() => expect(runCommand(args)).toMatchObject({ status: 0, stderr: '' }))
        duration = Math.min(duration, again)
        expect(digests(join(out, 'orders-0'))).toEqual(after)
      }
      expect(leftovers(out)).toEqual([])
    }
    expect(killed).toBeGreaterThan(KILLS / 2)
  })

  it.each([1, 3])('in place, by %d jobs, a second run finishes it', async (jobs) => {
    const directory = join(newDirectory(), 'orders-0')
    const args = ['rewrite', directory, '--in-place', '--quiet', '--jobs', `${jobs}`]
    cpSync(source, directory, { recursive: true })
    const duration = timed(() => runCommand(args))
    expect(digests(directory)).toEqual(after)
    const states = new Set<string>()
    for (let kill = 0; kill < KILLS; kill++) {
      rmSync(directory, { recursive: true })
      cpSync(source, directory, { recursive: true })
      await interruptCommand(args, (duration * (kill + 1)) / KILLS, 'SIGKILL')
      const found = digests(directory)
      for (const name of leftovers(directory)) found.delete(name)
      const journaled = SEGMENTS.filter((name) => found.delete(`${name}.mirrorpid-journal`))
      expect([...found.keys()]).toEqual([...before.keys()])
      for (const [name, digest] of found) {
        if (!journaled.includes(name)) expect([before.get(name), after.get(name)]).toContain(digest)
      }
      states.add(SEGMENTS.map((name) => (found.get(name) === before.get(name) ? 'old' : 'new')).join())
      expect(runCommand(args).status).toBe(0)
      expect(digests(directory)).toEqual(after)
    }
    expect(states.has('old,old,old')).toBe(true)
  })

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('by %s it cleans up and dies of it', async (signal) => {
    const root = newDirectory()
    const out = join(root, 'out')
    const args = ['rewrite', source, '--out', out]
    const isAtWork = () => existsSync(out) && leftovers(out).length > 0
    const interrupt = () => {
      rmSync(out, { recursive: true, force: true })
      return interruptCommand(args, isAtWork, signal)
    }
    let outcome = await interrupt()
    // on a busy machine the command may be done before the signal is sent
    for (let attempt = 0; attempt < 4 && outcome.signal === null; attempt++) outcome = await interrupt()
    expect(outcome.signal).toBe(signal)
    expect(outcome.stderr).toContain(`interrupted by ${signal}`)
    expect(existsSync(out) ? leftovers(out) : []).toEqual([])
  })
})
