import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { build } from './build.js'
import { findProblems, partitions } from './expectations.js'
import { judge, type SegmentFacts } from './judge.js'
import { committed, readManifest } from './manifest.js'

const script = fileURLToPath(new URL('make-fixtures.js', import.meta.url))

let directory: string
let temporary: string
beforeEach(async () => {
  await build()
  directory = await mkdtemp(join(tmpdir(), 'mirrorpid-maker-'))
  temporary = join(directory, 'tmp')
  await mkdir(temporary)
})
afterEach(() => rm(directory, { recursive: true, force: true }))

it('makes the same set again with a real broker', async () => {
  const out = join(directory, 'made')
  const maker = start(out)
  expect(await ended(maker)).toMatchObject({ status: 0 })

  const judged = await judge(partitions.map((partition) => join(out, partition)))
  const problems = partitions.flatMap((partition) =>
    findProblems(
      partition,
      judged.filter((file) => dirname(file.path) === join(out, partition)),
    ),
  )
  expect(problems).toEqual([])
  expect(await stableFacts(out)).toEqual(await stableFacts(committed))
  expect(await readdir(temporary)).toEqual([])
}, 300_000)

it('leaves nothing behind when it is interrupted', async () => {
  const out = join(directory, 'made')
  const maker = start(out)
  // The first line comes when the broker is up and one topic is written.
  maker.stderr?.once('data', () => maker.kill('SIGINT'))
  expect(await ended(maker)).toMatchObject({ status: 1 })
  await expect(readdir(out)).rejects.toMatchObject({ code: 'ENOENT' })
  expect(await readdir(temporary)).toEqual([])
}, 120_000)

it('does not replace a directory that holds something else', async () => {
  await writeFile(join(directory, 'letter.txt'), 'dear reader')
  const { status, stderr } = await ended(start(directory))
  expect(status).toBe(1)
  expect(stderr).toContain('holds something else')
})

function start(out: string): ChildProcess {
  return spawn(process.execPath, [script, '--out', out], {
    env: { ...process.env, TMPDIR: temporary },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
}

async function ended(child: ChildProcess): Promise<{ status: number | null; stderr: string }> {
  let stderr = ''
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    stderr += text
  })
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve))
  return { status, stderr }
}

/** All but sizes, which depend on the times in the records, and what the brokers write as it suits them. */
async function stableFacts(directory: string): Promise<Record<string, Partial<SegmentFacts>>> {
  const { partitions } = await readManifest(directory)
  const stable: Record<string, Partial<SegmentFacts>> = {}
  for (const [partition, { files }] of Object.entries(partitions)) {
    if (partition.startsWith('__')) continue
    for (const [name, { facts }] of Object.entries(files)) {
      if (!facts) continue
      const { validBytes: _, ...rest } = facts
      stable[`${partition}/${name}`] = rest
    }
  }
  return stable
}
