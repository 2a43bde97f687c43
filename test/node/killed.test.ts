import { createHash } from 'node:crypto'
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { loadCoreSync } from '../../src/index.ts'
import { batch, pattern } from '../support/batches.ts'
import { quickOrLong } from '../support/counts.ts'
import { interruptCommand, leftovers, runCommand, temporaryDirectories, writeTree } from './support.ts'

// The real command line, killed at calls to the file system that are spread over its whole run.

const newDirectory = temporaryDirectories()
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

describe('killed at any moment', () => {
  it('an output directory holds a partition whole or not at all, and a second run works', () => {
    const out = join(newDirectory(), 'out')
    const args = ['rewrite', source, '--out', out, '--quiet']
    let killed = 0
    for (let at = 1, signal: string | null = 'SIGKILL'; signal !== null; at += quickOrLong(6, 2)) {
      rmSync(out, { recursive: true, force: true })
      signal = interruptCommand(args, 'SIGKILL', { calls: 'changes', at }).signal
      if (signal !== null) killed++
      expect(digests(source)).toEqual(before)
      if (existsSync(join(out, 'orders-0'))) {
        expect(digests(join(out, 'orders-0'))).toEqual(after)
        expect(runCommand(args).status).toBe(2)
      } else {
        expect(runCommand(args)).toMatchObject({ status: 0, stderr: '' })
        expect(digests(join(out, 'orders-0'))).toEqual(after)
      }
      expect(leftovers(out)).toEqual([])
    }
    expect(killed).toBeGreaterThan(5)
  })

  it.each([1, 3])('in place, by %d jobs, a second run finishes it', (jobs) => {
    const directory = join(newDirectory(), 'orders-0')
    const args = ['rewrite', directory, '--in-place', '--quiet', '--jobs', `${jobs}`]
    const states = new Set<string>()
    for (let at = 1, signal: string | null = 'SIGKILL'; signal !== null; at += quickOrLong(24, 7)) {
      rmSync(directory, { recursive: true, force: true })
      cpSync(source, directory, { recursive: true })
      signal = interruptCommand(args, 'SIGKILL', { calls: 'changes', at }).signal
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
    expect([...states]).toEqual(expect.arrayContaining(['old,old,old', 'new,new,new']))
  })

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('by %s it cleans up and dies of it', (signal) => {
    const out = join(newDirectory(), 'out')
    const outcome = interruptCommand(['rewrite', source, '--out', out], signal, { calls: 'changes', at: 9 })
    expect(outcome.signal).toBe(signal)
    expect(outcome.stderr).toContain(`interrupted by ${signal}`)
    expect(leftovers(out)).toEqual([])
  })
})
