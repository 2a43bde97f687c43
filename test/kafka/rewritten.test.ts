// The rewritten fixtures, judged by Kafka: its own record classes, its dump tool, its snapshot and index readers.
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { partitions as allPartitions } from './expectations.js'
import { type JudgedFile, type JudgedLog, judge, kafkaDumps } from './judge.js'
import { committed } from './manifest.js'

const isRebuilt = (name: string) => /\.(index|timeindex|txnindex|snapshot)$/.test(name)
const ids = /^__(transaction_state|cluster_metadata)-/
/** Those whose record values hold no ids. */
const partitions = allPartitions.filter((partition) => !ids.test(partition))

const run = promisify(execFile)
const main = fileURLToPath(new URL('../../dist/commands/main.js', import.meta.url))

const map = (producerId: string) => {
  const id = BigInt(producerId)
  return (id < 0n ? id : -(id + 2n)).toString()
}

const ways = ['patch', 'verify', 'recompute'] as const
let directory: string
const originals = new Map<string, JudgedFile>()
const rewritten = new Map<string, JudgedFile>()
const restored = new Map<string, JudgedFile>()

async function judgeAll(root: string, into: Map<string, JudgedFile>): Promise<void> {
  for (const file of await judge(partitions.map((partition) => join(root, partition)))) {
    into.set(relative(root, file.path), file)
  }
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mirrorpid-kafka-'))
  const sources = partitions.map((partition) => join(committed, partition))
  for (const crc of ways) {
    await run(process.execPath, [main, 'rewrite', ...sources, '--out', join(directory, crc), '--crc', crc])
  }
  const mapped = partitions.map((partition) => join(directory, 'patch', partition))
  await run(process.execPath, [main, 'rewrite', ...mapped, '--out', join(directory, 'back'), '--unmap'])
  await judgeAll(committed, originals)
  await judgeAll(join(directory, 'patch'), rewritten)
  await judgeAll(join(directory, 'back'), restored)
})

afterAll(() => rm(directory, { recursive: true, force: true }))

function logs(files: Map<string, JudgedFile>): [string, JudgedLog][] {
  return [...files].filter((entry): entry is [string, JudgedLog] => entry[1].kind === 'log')
}

describe('a rewritten partition', () => {
  it('has the same files, but for those that a broker builds anew', () => {
    expect(originals.size).toBeGreaterThan(20)
    const kept = [...originals.keys()].filter((name) => !isRebuilt(name))
    expect([...rewritten.keys()].sort()).toEqual(kept.sort())
  })

  it('is valid in every batch for Kafka’s DefaultRecordBatch, with the mapped ids and all else as it was', () => {
    let changed = 0
    for (const [name, log] of logs(rewritten)) {
      const original = originals.get(name) as JudgedLog
      expect(log.error, name).toBeUndefined()
      expect(log.batches.length, name).toBe(original.batches.length)
      for (const [index, batch] of log.batches.entries()) {
        const before = original.batches[index]!
        const place = `${name} at ${batch.position}`
        expect(batch.isValid, place).toBe(true)
        expect(batch, place).toEqual({
          ...before,
          producerId: map(before.producerId),
          hasProducerId: false,
          checksum: expect.any(Number),
        })
        if (batch.producerId !== before.producerId) changed++
      }
    }
    expect(changed).toBeGreaterThan(100)
  })

  it('passes Kafka’s dump tool: each line as before but for the id and the CRC', async () => {
    const names = logs(originals).map(([name]) => name)
    const options = ['--deep-iteration', '--print-data-log']
    const before = await kafkaDumps(
      names.map((name) => ['--files', name, ...options]),
      { cwd: committed },
    )
    const after = await kafkaDumps(
      names.map((name) => ['--files', name, ...options]),
      { cwd: join(directory, 'patch') },
    )
    for (const [index, name] of names.entries()) {
      const expected = before[index]!.stdout.replace(
        /producerId: (-?\d+)/g,
        (_, id: string) => `producerId: ${map(id)}`,
      ).replace(/ crc: \d+/g, ' crc: _')
      expect(after[index]!.stdout.replace(/ crc: \d+/g, ' crc: _'), name).toBe(expected)
      expect(after[index]!.stdout, name).not.toContain('isvalid: false')
      expect(after[index]!.status, name).toBe(0)
    }
  })

  it('is the same whichever way the CRC is made', async () => {
    for (const partition of partitions) {
      for (const name of await readdir(join(directory, 'patch', partition))) {
        const [patched, ...others] = await Promise.all(
          ways.map((crc) => readFile(join(directory, crc, partition, name))),
        )
        for (const other of others) expect(other.equals(patched!), `${partition}/${name}`).toBe(true)
      }
    }
  })

  it('comes back byte for byte', async () => {
    for (const partition of partitions) {
      for (const name of (await readdir(join(committed, partition))).filter((name) => !isRebuilt(name))) {
        const original = await readFile(join(committed, partition, name))
        const back = await readFile(join(directory, 'back', partition, name))
        expect(back.equals(original), `${partition}/${name}`).toBe(true)
      }
    }
    expect([...restored.keys()].sort()).toEqual([...rewritten.keys()].sort())
  })
})
