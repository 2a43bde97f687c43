import { appendFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadCoreSync } from '../../src/index.ts'
import { rewritePaths, verifyPaths } from '../../src/node/index.ts'
import { batch, hex } from '../support/batches.ts'
import { readTree, temporaryDirectories, writeTree } from './support.ts'

// A run in place that does not come to its end, without being killed: what it leaves is finished like that of a killed one.

const newDirectory = temporaryDirectories()
const core = loadCoreSync()
const SEGMENTS = ['00000000000000000000.log', '00000000000000001000.log', '00000000000000002000.log']
const SNAPSHOT = hex(
  '0001418d07fe0000000100000000000003e80003000000010000000000000001000000010000018bcfe5680900000004ffffffffffffffff',
)
const native = SEGMENTS.map((name) =>
  batch({ baseOffset: BigInt(Number(name.slice(0, 20))), producerId: 5n }),
)
const mapped = native.map((bytes) => {
  const copy = Buffer.from(bytes)
  core.rewrite(copy)
  return copy
})

const newPartition = () =>
  writeTree(join(newDirectory(), 'orders-0'), {
    ...Object.fromEntries(SEGMENTS.map((name, at) => [name, native[at]!])),
    '00000000000000001000.snapshot': SNAPSHOT,
  })
const out = join(newDirectory(), 'out')
await rewritePaths([newPartition()], { outDirectory: out })

const isMapped = (directory: string, at: number) =>
  readFileSync(join(directory, SEGMENTS[at]!)).equals(mapped[at]!)
const journalsIn = (directory: string) =>
  readdirSync(directory).filter((name) => name.endsWith('.mirrorpid-journal'))

/** Runs in place and does something once, when so many segments are rewritten. */
async function runUntil(directory: string, count: number, then: (controller: AbortController) => void) {
  const controller = new AbortController()
  let hasCome = false
  const onProgress = () => {
    if (hasCome || SEGMENTS.filter((_, at) => isMapped(directory, at)).length < count) return
    hasCome = true
    then(controller)
  }
  return rewritePaths([directory], { inPlace: true, signal: controller.signal, onProgress })
}

const stop = (controller: AbortController) => controller.abort(new Error('stop'))

async function expectFinished(directory: string): Promise<void> {
  const { errors, unfinished } = await rewritePaths([directory], { inPlace: true, resume: true })
  expect([errors, unfinished, journalsIn(directory)]).toEqual([[], [], []])
  expect(readTree(directory)).toEqual(readTree(join(out, 'orders-0')))
}

describe('a run in place that is ended by its signal', () => {
  it('before anything has changed leaves nothing', async () => {
    const directory = newPartition()
    const before = readTree(directory)
    await expect(runUntil(directory, 0, stop)).rejects.toThrow('stop')
    expect(readTree(directory)).toEqual(before)
  })

  it.each([1, 2])('after %d of 3 segments is finished by --resume', async (count) => {
    const directory = newPartition()
    await expect(runUntil(directory, count, stop)).rejects.toThrow('stop')
    expect(SEGMENTS.filter((_, at) => isMapped(directory, at))).toHaveLength(count)
    expect(journalsIn(directory)).toHaveLength(3)
    const { errors } = await verifyPaths([directory])
    expect(errors.map(({ code }) => code)).toContain('UNFINISHED_REWRITE')
    await expectFinished(directory)
  })
})

describe('a run in place that fails after something has changed', () => {
  it('names the segments whose journals stay', async () => {
    const directory = newPartition()
    const last = join(directory, SEGMENTS[2]!)
    const more = batch({ baseOffset: 2001n, producerId: 6n })
    const { errors, unfinished } = await runUntil(directory, 1, () => appendFileSync(last, more))
    expect(errors.map(({ code }) => code)).toEqual(['IO_ERROR'])
    expect(unfinished).toEqual(SEGMENTS.map((name) => join(directory, name)))
    const resumed = await rewritePaths([directory], { inPlace: true, resume: true })
    expect(resumed).toMatchObject({ errors: [], unfinished: [], grown: [{ path: last, bytes: more.length }] })
    expect(core.verify(readFileSync(last)).rewritten).toBe(0)
    expect(journalsIn(directory)).toEqual([])
  })
})
