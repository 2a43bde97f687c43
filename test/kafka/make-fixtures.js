// Makes the fixtures with a real broker: node test/kafka/make-fixtures.js [--out DIR]
import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import {
  chmod,
  copyFile,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { kafkaVersion } from './build.js'
import { dumpJobs, errorsOf } from './dumps.js'
import { findProblems, partitions } from './expectations.js'
import { judge, kafkaDumps } from './judge.js'
import { startJava } from './jvm.js'

const COMMAND = 'node test/kafka/make-fixtures.js'
const MINUTES = 5

/** What the broker writes on its own, beside the topics of the scenarios. */
const INTERNAL = {
  '__cluster_metadata-0': 'the metadata log of KRaft: leader changes and other control records, no producers',
  '__consumer_offsets-0': 'offsets of consumer groups, some committed in transactions',
  '__transaction_state-0': "the transaction coordinator's own log",
}

/** @typedef {{ directory: string, holds: string, steps?: string[] }} Topic */

const { values } = parseArgs({ options: { out: { type: 'string' } } })
const out = values.out
  ? resolve(values.out)
  : fileURLToPath(new URL(`../fixtures/kafka-${await kafkaVersion()}`, import.meta.url))
await refuseForeign(out)

const work = await mkdtemp(join(tmpdir(), 'mirrorpid-kafka-'))
/** @type {import('node:child_process').ChildProcess | undefined} */
let broker
process.on('exit', () => {
  broker?.kill('SIGKILL')
  // The broker may still be writing for a moment.
  rmSync(work, { recursive: true, force: true, maxRetries: 20 })
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1))

const made = await runBroker()
const set = join(work, 'set')
const described = await copyPartitions(made, set)
await describeFiles(described, set)
await writeDumps(described, set)
await writeFile(
  join(set, 'manifest.json'),
  `${JSON.stringify({ kafkaVersion: made.kafkaVersion, command: COMMAND, partitions: described }, null, 2)}\n`,
)
await replace(out, set)
console.error(`fixtures: ${out}`)
// Open sockets of nobody are left, but an exit handler has to remove the work directory.
process.exit()

async function runBroker() {
  const log = join(work, 'broker.log')
  const child = await startJava('mirrorpid.kafka.MakeFixtures', [work], {
    properties: {
      'org.slf4j.simpleLogger.logFile': log,
      'org.slf4j.simpleLogger.defaultLogLevel': 'info',
      // The codecs unpack native libraries, which a broker that is killed does not clean up.
      'java.io.tmpdir': work,
    },
  })
  broker = child
  child.stderr.pipe(process.stderr)
  // Its stdin stays open as long as this process lives: the broker ends itself when it closes.
  const timer = setTimeout(() => child.kill('SIGKILL'), MINUTES * 60_000)
  const status = await new Promise((done) => child.on('close', (code, signal) => done(code ?? signal)))
  clearTimeout(timer)
  broker = undefined
  if (status !== 0) {
    const lines = await readFile(log, 'utf8').catch(() => '')
    throw new Error(
      `the broker ended with ${status}; its log ends with:\n${lines.split('\n').slice(-40).join('\n')}`,
    )
  }
  /** @type {{ kafkaVersion: string, topics: Record<string, Topic> }} */
  const made = JSON.parse(await readFile(join(work, 'made.json'), 'utf8'))
  return made
}

/**
 * @param {{ topics: Record<string, Topic> }} made
 * @param {string} set
 */
async function copyPartitions({ topics }, set) {
  /** @type {Record<string, any>} */
  const described = {}
  for (const partition of partitions) {
    const internal = Object.entries(INTERNAL).find(([name]) => name === partition)?.[1]
    const topic = internal
      ? { directory: `copies/${partition}`, holds: internal }
      : topics[partition.slice(0, -2)]
    if (!topic) throw new Error(`no scenario has made ${partition}`)
    const { directory, ...description } = topic
    await copyPartition(join(work, directory), join(set, partition))
    described[partition] = description
  }
  return described
}

/**
 * @param {string} from
 * @param {string} to
 */
async function copyPartition(from, to) {
  await mkdir(to, { recursive: true })
  for (const name of await readdir(from)) {
    // On its way to being deleted.
    if (name.endsWith('.deleted')) continue
    await copyFile(join(from, name), join(to, name))
    // Kafka makes its checkpoints read-only; a checkout does not.
    await chmod(join(to, name), 0o644)
  }
}

/**
 * Sizes and digests of the files, what Kafka counts in the segments, and whether all is there that should be.
 *
 * @param {Record<string, any>} described
 * @param {string} set
 */
async function describeFiles(described, set) {
  const judged = await judge(partitions.map((partition) => join(set, partition)))
  const problems = partitions.flatMap((partition) =>
    findProblems(
      partition,
      judged.filter((file) => dirname(file.path) === join(set, partition)),
    ),
  )
  if (problems.length > 0)
    throw new Error(`the fixtures are not what they should be:\n${problems.join('\n')}`)
  for (const partition of partitions) {
    /** @type {Record<string, any>} */
    const files = {}
    for (const name of (await readdir(join(set, partition))).sort()) {
      const path = join(set, partition, name)
      const bytes = await readFile(path)
      const verdict = judged.find((file) => file.path === path)
      files[name] = {
        size: bytes.length,
        sha256: createHash('sha256').update(bytes).digest('hex'),
        ...(verdict && 'facts' in verdict ? { facts: verdict.facts } : {}),
      }
    }
    described[partition].files = files
  }
}

/**
 * @param {Record<string, any>} described
 * @param {string} set
 */
async function writeDumps(described, set) {
  const jobs = partitions.flatMap((partition) => dumpJobs(partition, Object.keys(described[partition].files)))
  const results = await kafkaDumps(
    jobs.map((job) => job.args),
    { cwd: set },
  )
  for (const [i, { path, stored }] of jobs.entries()) {
    const result = results[i]
    if (result?.status !== 0) throw new Error(`DumpLogSegments failed on ${path}: ${result?.stderr}`)
    await mkdir(dirname(join(set, stored)), { recursive: true })
    await writeFile(join(set, stored), result.stdout)
    if (result.stderr !== '') await writeFile(join(set, errorsOf(stored)), result.stderr)
  }
}

/**
 * The old set is gone only when the new one is complete and beside it.
 *
 * @param {string} directory
 * @param {string} set
 */
async function replace(directory, set) {
  const fresh = `${directory}.new`
  await rm(fresh, { recursive: true, force: true })
  await cp(set, fresh, { recursive: true })
  await rm(directory, { recursive: true, force: true })
  await rename(fresh, directory)
}

/**
 * A directory that is not a fixture set stays.
 *
 * @param {string} directory
 */
async function refuseForeign(directory) {
  const names = await readdir(directory).catch((error) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  if (names.length === 0) return
  await stat(join(directory, 'manifest.json')).catch(() => {
    throw new Error(`${directory} holds something else than fixtures: not touched`)
  })
}
