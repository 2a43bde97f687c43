// The installed tarball on runtimes that are not Node: as a library, in threads, and each of its commands.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { imported, POOLED, POOLED_OUTPUT, REQUIRED, THREADS } from './programs.ts'
import { fixture, placeIn, segments, segmentsModule, tourSource } from './support.ts'
import { TOUR } from './tourOutput.ts'
import { RUNTIMES } from './versions.ts'

/** As the command, in a process that sends itself a signal when there is unfinished output. */
const INTERRUPTED = `
import { existsSync, readdirSync } from 'node:fs'
const [signal, out] = process.argv.splice(2, 2)
const isAtWork = () => existsSync(out) && readdirSync(out).some((name) => name.includes('.mirrorpid-'))
const timer = setInterval(() => {
  if (!isAtWork()) return
  clearInterval(timer)
  process.kill(process.pid, signal)
}, 1)
await import('../node_modules/mirrorpid/dist/commands/main.js')`

const LIBRARY = `
import { rewritePaths, stopPartition, verifyPaths } from 'mirrorpid/node'
let steps = 0
const onProgress = () => steps++
const { errors, totals } = await rewritePaths(['many-0'], { outDirectory: 'library', jobs: 2, onProgress })
console.log(errors.length, totals.rewritten, steps > 0)
const signal = AbortSignal.abort(new Error('ended'))
console.log(await verifyPaths(['library'], { jobs: 2, signal }).catch((error) => error.message))
const missing = await verifyPaths(['nowhere'], { jobs: 2 }).catch((error) => error)
console.log(missing.code, missing.errno)
const damaged = await rewritePaths(['damaged-0'], { inPlace: true, jobs: 2, crc: 'verify' })
console.log(damaged.errors.map(({ code, position, baseOffset }) => [code, position, baseOffset].join()).join())
const stopped = await stopPartition('stopped-0', { clusterId: 'B', sourceClusterId: 'A', unmarked: true })
console.log(stopped.leaderEpoch)`

const SIZE = 3_000_000
const NAMES = ['00000000000000000000.log', '00000000000000100000.log', '00000000000000200000.log']

/** Segments that take a thread several turns, of one batch again and again. */
async function manyBatches(): Promise<Record<string, Buffer>> {
  const segment = (await segments())['idempotent-none-0']!
  const batch = segment.subarray(0, 12 + segment.readInt32BE(8))
  const count = Math.ceil(SIZE / batch.length)
  const bytesOf = (name: string) => {
    const bytes = Buffer.concat(Array.from({ length: count }, () => batch))
    const offset = BigInt(name.slice(0, 20))
    // not in the CRC
    for (let at = 0; at < count; at++) bytes.writeBigInt64BE(offset + 4n * BigInt(at), at * batch.length)
    return bytes
  }
  return Object.fromEntries(NAMES.map((name) => [name, bytesOf(name)]))
}

const main = join(inject('project'), 'node_modules', 'mirrorpid', 'dist', 'commands', 'main.js')

const runtimes = {
  bun: { name: 'Bun', args: [] },
  deno: { name: 'Deno', args: ['run', '--allow-all', '--no-lock'] },
} as const

describe.each(Object.entries(RUNTIMES))('on %s %s', (key, version) => {
  const { name, args } = runtimes[key as keyof typeof RUNTIMES]
  const binary = inject('runtimes')[key as keyof typeof RUNTIMES]
  if (binary === null) console.warn(`npm has no ${name} ${version} for this machine: its tests are skipped.`)

  describe.skipIf(binary === null)(name, () => {
    let place: string
    let many: Record<string, Buffer>

    beforeAll(async () => {
      place = await placeIn(inject('project'), {
        'tour.js': await tourSource(),
        'segments.js': await segmentsModule(),
        'imported.js': imported('await mirrorpid.loadCore()'),
        'plain.js': imported('(await import("mirrorpid/js")).jsCore()'),
        'required.cjs': REQUIRED,
        'threads.js': THREADS,
        'pooled.js': POOLED,
        'library.js': LIBRARY,
        'interrupted.js': INTERRUPTED,
      })
      many = await manyBatches()
      for (const directory of ['many-0', 'damaged-0']) {
        mkdirSync(join(place, directory))
        for (const [name, bytes] of Object.entries(many)) writeFileSync(join(place, directory, name), bytes)
      }
      const damaged = Buffer.from(many[NAMES[1]!]!)
      damaged[100]! ^= 1
      writeFileSync(join(place, 'damaged-0', NAMES[1]!), damaged)
      cpSync(fixture('transactions-0'), join(place, 'stopped-0'), { recursive: true })
    })

    /** What never ends is a failure. */
    const start = (path: string, more: string[], cwd = place) => {
      const env = { ...process.env, DENO_NO_UPDATE_CHECK: '1', DENO_DIR: join(place, '.deno') }
      const limit = { timeout: 60_000, killSignal: 'SIGKILL' } as const
      const { status, signal, stdout, stderr } = spawnSync(path, more, {
        cwd,
        encoding: 'utf8',
        env,
        ...limit,
      })
      return { status, signal, stdout, stderr }
    }
    const run = (...more: string[]) => start(binary!, [...args, ...more])
    const fine = (stdout: string) => ({ status: 0, signal: null, stdout: `${stdout}\n`, stderr: '' })

    it('is that version', () => {
      const { stdout } = spawnSync(binary!, ['--version'], { encoding: 'utf8' })
      expect(stdout).toContain(version)
    })

    it('is imported, with either core', () => {
      expect(run('imported.js')).toEqual(fine(TOUR.wasm))
      expect(run('plain.js')).toEqual(fine(TOUR['without wasm']))
    })

    it('is required, with the state of the import', () => {
      expect(run('required.cjs')).toEqual(fine(`function true\n${TOUR.wasm}`))
    })

    it('works in threads', () => {
      expect(run('threads.js')).toEqual(fine(`${TOUR.wasm}\n${TOUR.wasm}`))
    })

    it('changes the bytes that it is given where they are, and none beside them', () => {
      // that Buffers are of a pool, the first line, is Node's way
      const [, ...lines] = POOLED_OUTPUT.split('\n')
      const { status, stdout } = run('pooled.js')
      expect([status, ...stdout.trim().split('\n').slice(1)]).toEqual([0, ...lines])
    })

    it('does the work on files, with threads, progress, errors and signals', () => {
      const { stdout, ...ended } = run('library.js')
      expect(ended).toEqual({ status: 0, signal: null, stderr: '' })
      const batches = Object.values(many).reduce(
        (sum, bytes) => sum + bytes.length / (12 + bytes.readInt32BE(8)),
        0,
      )
      expect(stdout.split('\n')).toEqual([
        `0 ${batches} true`,
        'ended',
        'IO_ERROR ENOENT',
        'CORRUPT_BATCH,0,100000',
        expect.stringMatching(/^\d+$/),
        '',
      ])
    })

    it('does what Node does by each command', () => {
      const stop = ['stop', 'logs/transactions-0', '--cluster-id', 'B', '--source-cluster-id', 'A']
      const places = ['on-node', `on-${key}`].map((directory) => join(place, directory))
      for (const directory of places) {
        for (const name of ['transactions-0', 'segments-0', 'idempotent-zstd-0']) {
          cpSync(fixture(name), join(directory, 'logs', name), { recursive: true })
        }
      }
      for (const more of [
        ['--version'],
        ['rewrite', 'logs', '--out', 'out', '--crc', 'verify', '--jobs', '2'],
        ['verify', 'out', '--jobs', '2'],
        ['verify', 'out', '--records', '--jobs', '2', '--json'],
        ['verify', 'nowhere'],
        ['verify', '../damaged-0', '--jobs', '2'],
        ['rewrite', 'logs', '--in-place', '--jobs', '2'],
        ['rewrite', 'logs', '--in-place', '--jobs', '2'],
        ['dump', 'logs/transactions-0', '--explain'],
        ['dump', 'logs/idempotent-zstd-0', '--print-data-log', '--json'],
        ['audit', 'logs', '--json'],
        ['recover', 'logs/transactions-0', '--cluster-id', 'B', '--json'],
        [...stop, '--dry-run'],
        stop,
        ['recover', 'logs/transactions-0', '--cluster-id', 'B', '--write'],
        ['simulate', 'chain', '--policy', 'default'],
        ['simulate', 'failback', '--json'],
      ]) {
        const expected = start(process.execPath, [main, ...more], places[0])
        const ended = start(binary!, [...args, main, ...more], places[1])
        expect([more, untimed(ended)]).toEqual([more, untimed(expected)])
      }
      const [expected, own] = places.map(contentIn)
      expect(own).toEqual(expected)
      expect(Object.keys(own!).length).toBeGreaterThan(20)
    })

    it.runIf(process.platform === 'linux')('leaves out, and names, a file whose name is not UTF-8', () => {
      const directory = join(place, 'odd-0')
      mkdirSync(directory)
      writeFileSync(join(directory, NAMES[0]!), '')
      const pathOf = (name: string) =>
        Buffer.concat([Buffer.from(`${directory}/`), Buffer.from(name, 'latin1')])
      for (const name of ['x\xe9.log', 'y\xe9.log']) writeFileSync(pathOf(name), '')
      // what the first becomes as text
      writeFileSync(join(directory, 'x\ufffd.log'), '')
      const { status, stdout, stderr } = run(main, 'verify', 'odd-0')
      expect([status, stdout.trim().split('\n').length]).toEqual([0, 3])
      for (const name of ['x', 'y']) {
        expect(stderr).toMatch(new RegExp(`odd-0/${name}\ufffd.log was left out: its name .* is not UTF-8`))
      }
    })

    it.each([
      ['SIGINT', '1'],
      ['SIGTERM', '2'],
    ])('is ended by %s, with %s jobs, and cleans up', (signal, jobs) => {
      const out = `out-${signal}`
      const rewrite = ['rewrite', 'many-0', '--out', out, '--jobs', jobs]
      const ended = run('interrupted.js', signal, out, ...rewrite)
      expect(ended).toMatchObject({ signal, stdout: '' })
      expect(ended.stderr).toContain(`interrupted by ${signal}`)
      expect(existsSync(join(place, out)) ? readdirSync(join(place, out)) : []).toEqual([])
    })
  })
})

/** Without the times of a run. */
const untimed = (ended: object) =>
  JSON.stringify(ended).replaceAll(/"seconds\\": ?[\d.e-]+| in [\d.]+ s\b/g, '')

/** Each file below a directory in hex; of the partition that was stopped, which holds the time of that, only the size. */
function contentIn(directory: string): Record<string, string | number> {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const contentOf = (path: string) =>
    path.includes('transactions-0') ? statSync(path).size : readFileSync(path, 'hex')
  return Object.fromEntries(paths.sort().map((path) => [path.slice(directory.length), contentOf(path)]))
}
