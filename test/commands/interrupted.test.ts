// What a command says when a signal ends it is what is there: on disk, and to be done.
import { spawnSync } from 'node:child_process'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { runJob } from '../../src/commands/runJob.ts'
import { failedVerification } from '../../src/node/verify/verifyPaths.ts'
import {
  type CommandOutcome,
  interruptCommand,
  type Moment,
  mainScript,
  readTree,
  runCommand,
  temporaryDirectories,
  writeTree,
} from '../node/support.ts'
import { batch, pattern } from '../support/batches.ts'

const newDirectory = temporaryDirectories()
const SEGMENTS = 60
const BATCHES = 300

const nameOf = (index: number) => `${`${index * BATCHES}`.padStart(20, '0')}.log`
const first = nameOf(0)
let tree: Record<string, Buffer>
let mapped: Record<string, string>

beforeAll(() => {
  const payload = pattern(200)
  const segmentOf = (index: number) =>
    Buffer.concat(
      Array.from({ length: BATCHES }, (_, at) =>
        batch({ baseOffset: BigInt(index * BATCHES + at), producerId: BigInt(at), payload }),
      ),
    )
  tree = Object.fromEntries(Array.from({ length: SEGMENTS }, (_, index) => [nameOf(index), segmentOf(index)]))
  const directory = writeTree(newDirectory(), tree)
  runCommand(['rewrite', directory, '--in-place'])
  mapped = readTree(directory)
})

const journalsIn = (directory: string) =>
  readdirSync(directory).filter((name) => name.endsWith('.mirrorpid-journal'))
/** Interrupts a run on a new partition at a moment of its work. */
function interrupted(
  args: (directory: string) => string[],
  moment: Moment,
  signal: NodeJS.Signals,
): CommandOutcome & { directory: string } {
  const directory = writeTree(join(newDirectory(), 'orders-0'), tree)
  return { ...interruptCommand(args(directory), signal, moment), directory }
}

describe('a signal during rewrite --in-place', () => {
  it.each([
    ['SIGINT', []],
    ['SIGTERM', ['--jobs', '2']],
    ['SIGHUP', ['--crc', 'verify', '--json']],
  ] as const)('names the journals that are there and how to go on: %s, %j', (signal, options) => {
    const { directory, stdout, stderr, ...ended } = interrupted(
      (path) => ['rewrite', path, '--in-place', ...options],
      // once the first segment is written
      { calls: 'changes', at: 1, name: nameOf(1) },
      signal,
    )
    expect(ended.signal).toBe(signal)
    const journals = journalsIn(directory)
    expect(journals.length).toBe(SEGMENTS)
    expect(stderr).toContain(`interrupted by ${signal}: what was finished stays`)
    expect(stderr).not.toContain('was removed')
    for (const name of journals.slice(0, 20)) expect(stderr).toContain(join(directory, name))
    expect(stderr).toContain(`and ${SEGMENTS - 20} more`)
    expect(stderr).toContain(`"mirrorpid rewrite ${directory} --in-place --resume"`)
    if (options[2] === '--json') {
      expect(JSON.parse(stdout)).toMatchObject({
        unfinished: Object.keys(tree).map((name) => join(directory, name)),
        errors: [{ code: 'INTERRUPTED', signal, message: stderr.trim().slice('mirrorpid: '.length) }],
      })
    } else expect(stdout).toBe('')
    expect(runCommand(['rewrite', directory, '--in-place', '--resume']).status).toBe(0)
    expect(readTree(directory)).toEqual(mapped)
  })

  it('says that nothing is half rewritten where it was still looking', () => {
    const { directory, stderr, ...ended } = interrupted(
      (path) => ['rewrite', path, '--in-place', '--crc', 'verify'],
      { calls: 'changes', at: 20 },
      'SIGINT',
    )
    expect(ended.signal).toBe('SIGINT')
    expect(journalsIn(directory)).toEqual([])
    expect(stderr).toContain('interrupted by SIGINT: nothing is half rewritten')
    rmSync(join(directory, '.mirrorpid-lock'), { force: true })
    expect(readTree(directory)).toEqual(readTree(writeTree(newDirectory(), tree)))
  })
})

it('a signal during rewrite --out says where the finished output is', () => {
  const { directory, stderr } = interrupted(
    (path) => ['rewrite', path, '--out', join(path, '..', 'out')],
    { calls: 'changes', at: 9 },
    'SIGINT',
  )
  const out = join(directory, '..', 'out')
  expect(readdirSync(out)).toEqual([])
  expect(stderr).toContain(
    `interrupted by SIGINT: unfinished output was removed, and what was finished stays in ${out}`,
  )
})

describe.runIf(process.platform === 'linux')(
  'work that never pauses, so that a signal ends it without a word',
  () => {
    const stop = '--cluster-id B --source-cluster-id A --unmarked'
    const onTerminal = (args: string) => {
      const command = `'${process.execPath}' '${mainScript}' ${args}`
      return spawnSync('script', ['-qec', command, '/dev/null'], { encoding: 'utf8' }).stdout
    }
    const forewarning = 'should this be interrupted, run it again before a broker starts on'

    it.each([
      ['stop', stop, '--dry-run'],
      ['recover', '--write', ''],
    ])('%s says before what to do then, on a terminal', (command, changing, reading) => {
      const directory = writeTree(join(newDirectory(), 'orders-0'), { [first]: batch({ producerId: -7n }) })
      const other = command === 'stop' ? `${changing} ${reading}` : reading
      expect(onTerminal(`${command} '${directory}' ${other}`)).not.toContain(forewarning)
      expect(onTerminal(`${command} '${directory}' ${changing} --json`)).not.toContain(forewarning)
      expect(onTerminal(`${command} '${directory}' ${changing} --quiet`)).not.toContain(forewarning)
      expect(onTerminal(`${command} '${directory}' ${changing}`)).toContain(
        `${forewarning} ${directory}: it does the rest`,
      )
    })
  },
)

it('a signal during a job that only reads says that nothing was changed', async () => {
  const job = runJob(
    { quiet: true },
    async ({ signal }) => {
      process.emit('SIGHUP', 'SIGHUP')
      signal.throwIfAborted()
      return failedVerification(new Error() as never)
    },
    failedVerification,
  )
  await expect(job).rejects.toThrow('interrupted by SIGHUP: nothing was changed')
})
