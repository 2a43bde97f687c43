// What Kafka 4.3.1's DumpLogSegments printed for each fixture file and variant of options, line by line.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type DumpJob, dumpJobs, errorsOf } from '../kafka/dumps.js'
import { committed, readManifest } from '../kafka/manifest.js'
import { dump } from './cli.ts'

const manifest = await readManifest(committed)
const jobs = Object.entries(manifest.partitions).flatMap(([partition, { files }]) =>
  dumpJobs(partition, Object.keys(files)),
)
const stored = (name: string) => {
  try {
    return readFileSync(join(committed, name), 'utf8')
  } catch {
    return ''
  }
}

/** Our tool takes many files with the same options in one process; Kafka's stored outputs are of one file each. */
const groups = new Map<string, DumpJob[]>()
for (const job of jobs) {
  const options = job.args.slice(0, -2).join(' ')
  groups.set(options, [...(groups.get(options) ?? []), job])
}

/** The order of the groups at a run's end. */
const KINDS = ['Mismatches', 'Found timestamp', 'Found out of order', 'The following', 'Non-consecutive']

const kindOf = (block: string) => KINDS.findIndex((kind) => block.startsWith(kind))

it('are all there', () => {
  expect(jobs.length).toBeGreaterThan(150)
  expect([...groups.keys()].sort()).toEqual(
    expect.arrayContaining([
      '',
      '--deep-iteration',
      '--print-data-log',
      '--print-data-log --skip-record-metadata',
    ]),
  )
})

describe.each([...groups])("with the options '%s'", async (options, group) => {
  const args = [...options.split(' ').filter(Boolean), '--files', group.map((job) => job.path).join(',')]
  const result = await dump(args, committed)
  const sections = new Map(
    result.stdout
      .split(/^(?=Dumping )/m)
      .map((section) => [section.slice('Dumping '.length, section.indexOf('\n')), section] as const),
  )

  it.each(group.map((job) => [job.path, job] as const))('%s: each line of stdout', (path, job) => {
    expect(sections.get(path)?.split('\n')).toEqual(stored(job.stored).split('\n'))
  })

  it('stderr', () => {
    const blocks = group.flatMap((job) => stored(errorsOf(job.stored)) || [])
    blocks.sort((a, b) => kindOf(a) - kindOf(b))
    expect(result.stderr.split('\n')).toEqual(blocks.join('').split('\n'))
  })

  it('exit status 0', () => expect(result.status).toBe(0))
})

describe('in a process of its own', () => {
  const some = jobs.filter(
    ({ path }) => /compacted-thrice-0|transactions-0/.test(path) && !/decoder/.test(path),
  )
  it.each(some.map((job) => [job.stored, job] as const))('%s', async (_name, job) => {
    const { stdout, stderr } = await dump(job.args, committed)
    expect(stdout).toBe(stored(job.stored))
    expect(stderr).toBe(stored(errorsOf(job.stored)))
  })
})
