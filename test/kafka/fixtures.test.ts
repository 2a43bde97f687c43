import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { dumpJobs, errorsOf } from './dumps.js'
import { findProblems, partitions } from './expectations.js'
import { type DumpResult, type JudgedFile, judge, kafkaDumps } from './judge.js'
import { committed, readManifest } from './manifest.js'

const manifest = await readManifest(committed)

describe('the files', () => {
  it('are those of the manifest', async () => {
    expect(Object.keys(manifest.partitions).sort()).toEqual([...partitions].sort())
    for (const [partition, { files }] of Object.entries(manifest.partitions)) {
      const names = await readdir(join(committed, partition))
      expect(names.sort(), partition).toEqual(Object.keys(files).sort())
      for (const name of names) {
        const bytes = await readFile(join(committed, partition, name))
        const sha256 = createHash('sha256').update(bytes).digest('hex')
        expect({ name, size: bytes.length, sha256 }).toMatchObject({ name, ...withoutFacts(files[name]) })
      }
    }
  })

  it('hold no path of the machine that made them', async () => {
    for (const name of await readdir(committed, { recursive: true })) {
      const text = await readFile(join(committed, name), 'latin1').catch(() => '')
      expect(/\/(tmp|home|root|work|Users)\//.exec(text), name).toBeNull()
    }
  })
})

const judged = new Map<string, JudgedFile[]>()
beforeAll(async () => {
  // In one JVM: one for each partition takes ten times as long.
  const files = await judge(partitions.map((partition) => join(committed, partition)))
  for (const partition of partitions) {
    judged.set(
      partition,
      files.filter((file) => dirname(file.path) === join(committed, partition)),
    )
  }
})

describe.each(partitions)("%s, read with Kafka's classes", (partition) => {
  it('is sound and holds what it is there for', () => {
    expect(findProblems(partition, judged.get(partition) ?? [])).toEqual([])
  })

  it('has the counts of the manifest', () => {
    const files = manifest.partitions[partition]?.files ?? {}
    const facts = (judged.get(partition) ?? []).flatMap((file) =>
      'facts' in file ? [[nameOf(file.path), file.facts] as const] : [],
    )
    const expected = Object.entries(files).flatMap(([name, file]) =>
      file.facts ? [[name, file.facts] as const] : [],
    )
    expect(facts).toEqual(expected)
  })
})

describe('the stored dumps', () => {
  const jobs = partitions.flatMap((partition) =>
    dumpJobs(partition, Object.keys(manifest.partitions[partition]?.files ?? {})),
  )
  let results: DumpResult[]
  beforeAll(async () => {
    results = await kafkaDumps(
      jobs.map((job) => job.args),
      { cwd: committed },
    )
  })

  it('are all there, and no others', async () => {
    const stored = await readdir(join(committed, 'dumps'), { recursive: true })
    const dumps = stored.filter((name) => name.endsWith('.txt') && !name.endsWith('.stderr.txt'))
    expect(dumps.map((name) => `dumps/${name.replaceAll('\\', '/')}`).sort()).toEqual(
      jobs.map((job) => job.stored).sort(),
    )
  })

  it.each(jobs.map((job, i) => [job.stored, i] as const))(
    '%s is what DumpLogSegments prints',
    async (stored, i) => {
      const result = results[i]
      expect(result?.status).toBe(0)
      expect(lines(result?.stdout)).toEqual(lines(await readFile(join(committed, stored), 'utf8')))
      const errors = await readFile(join(committed, errorsOf(stored)), 'utf8').catch(() => '')
      expect(lines(result?.stderr)).toEqual(lines(errors))
    },
  )
})

function withoutFacts(file: { size: number; sha256: string } | undefined) {
  return { size: file?.size, sha256: file?.sha256 }
}

function nameOf(path: string): string {
  return relative(dirname(path), path)
}

function lines(text: string | undefined): string[] | undefined {
  return text?.split('\n')
}
