import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import * as built from '../../dist/node/index.js'
import * as errors from '../../src/errors.ts'
import { Job } from '../../src/node/jobs/job.ts'
import { receiveError, transferError } from '../../src/node/threads/errorTransfer.ts'
import { batch, pattern } from '../support/batches.ts'
import {
  interruptCommand,
  leftovers,
  readTree,
  runCommand,
  type Tree,
  temporaryDirectories,
  writeTree,
} from './support.ts'

// Threads run the built package, so what starts them is taken from there too; `npm test` builds it.

const newDirectory = temporaryDirectories()
const fixtures = fileURLToPath(new URL('../fixtures/kafka-4.3.1', import.meta.url))
const FAR = 2n ** 62n + 1n

/** Partitions with several segments, some of them damaged, so that there is something of each kind to report. */
const tree: Tree = Object.fromEntries(
  Array.from({ length: 4 }, (_, partition): [string, Tree] => [
    `orders-${partition}`,
    Object.fromEntries(
      Array.from({ length: 5 }, (_, at): [string, Uint8Array] => [
        `0000000000000000000${at}.log`,
        Buffer.concat([
          batch({ baseOffset: BigInt(at), producerId: BigInt(at), payload: pattern(20_000 * (5 - at)) }),
          ...(partition === 2 && at > 1 ? [batch({ baseOffset: FAR, producerId: 5n, crc: at })] : []),
        ]),
      ]),
    ),
  ]),
)

/** What differs between two runs. */
const withoutTimes = (json: string, ...roots: string[]) =>
  roots.reduce(
    (text, root) => text.replaceAll(root, 'ROOT'),
    json.replace(/"seconds": [\d.e-]+/g, '"seconds": 0'),
  )

describe('several jobs', () => {
  it.each([
    ['verify', []],
    ['rewrite', ['--out', 'out', '--crc', 'verify']],
    ['rewrite', ['--in-place', '--crc', 'verify']],
    ['rewrite', ['--in-place', '--unmap']],
  ])('report what one does, in the same order, and write the same: %s %j', (command, flags) => {
    const outcomes = ['1', '2', '4'].map((jobs) => {
      const root = writeTree(newDirectory(), { data: tree })
      const args = flags.map((flag) => (flag === 'out' ? join(root, 'out') : flag))
      const { status, stdout, stderr } = runCommand([
        command,
        join(root, 'data'),
        ...args,
        '--jobs',
        jobs,
        '--json',
      ])
      return {
        status,
        stdout: withoutTimes(stdout, root),
        stderr: withoutTimes(stderr, root),
        tree: readTree(root),
      }
    })
    expect(outcomes[1]).toEqual(outcomes[0])
    expect(outcomes[2]).toEqual(outcomes[0])
    expect(outcomes[0]!.stdout).toContain('orders-3')
  })

  it('take a broker’s log directory as one does', () => {
    const [one, four] = ['1', '4'].map((jobs) => {
      const out = join(newDirectory(), 'out')
      expect(runCommand(['rewrite', fixtures, '--out', out, '--jobs', jobs, '--quiet']).status).toBe(0)
      return readTree(out)
    })
    expect(four).toEqual(one)
  })

  it('throw errors of the same classes, with every field', async () => {
    const root = writeTree(newDirectory(), tree)
    const outDirectory = join(newDirectory(), 'out')
    const { errors, files } = await built.rewritePaths([root], { outDirectory, crc: 'verify', jobs: 3 })
    expect(files).toHaveLength(15)
    expect(errors).toHaveLength(1)
    const [error] = errors
    const path = join(root, 'orders-2', '00000000000000000002.log')
    expect(error).toMatchObject({
      code: 'CORRUPT_BATCH',
      baseOffset: FAR,
      stored: 2,
      file: path,
      reason: 'crc',
    })
    expect(error?.constructor.name).toBe('CorruptBatchError')
    expect(error).toBeInstanceOf((await import('../../dist/index.js')).CorruptBatchError)
  })

  it('tell of their progress, to the end', async () => {
    const root = writeTree(newDirectory(), tree)
    const seen: built.JobProgress[] = []
    await built.verifyPaths([root], { jobs: 3, onProgress: (progress) => seen.push(progress) })
    const last = seen.at(-1)!
    expect(last.bytes).toBe(last.size)
    for (const [step, { bytes }] of seen.entries())
      expect(bytes).toBeGreaterThanOrEqual(seen[step - 1]?.bytes ?? 0)
    expect(new Set(seen.map(({ file }) => file)).size).toBeGreaterThan(10)
  })

  it.each([0, 3, 20])(
    'end with their signal and leave nothing that is not finished later (after %d steps)',
    async (steps) => {
      for (const target of [{ inPlace: true }, { outDirectory: join(newDirectory(), 'out') }]) {
        const root = writeTree(newDirectory(), tree)
        const before = readTree(root)
        const controller = new AbortController()
        let left = steps
        const onProgress = () => {
          if (left-- === 0) controller.abort(new Error('stop'))
        }
        const job = { ...target, jobs: 3, windowSize: 4096, signal: controller.signal, onProgress }
        await expect(built.rewritePaths([root], job)).rejects.toThrow('stop')
        expect(leftovers(root)).toEqual([])
        if ('outDirectory' in target) {
          expect(readTree(root)).toEqual(before)
          expect(readdirSync(target.outDirectory).filter((name) => name.includes('mirrorpid'))).toEqual([])
          continue
        }
        const names = Object.keys(readTree(root)).filter((name) => !name.endsWith('.mirrorpid-journal'))
        expect(names).toEqual(Object.keys(before))
        const { errors } = await built.rewritePaths([root], { inPlace: true, resume: true, jobs: 3 })
        expect(errors).toEqual([])
        expect(Object.keys(readTree(root))).toEqual(names)
      }
    },
  )

  it('do not begin when the signal came before', async () => {
    const root = writeTree(newDirectory(), tree)
    const call = built.verifyPaths([root], { jobs: 2, signal: AbortSignal.abort(new Error('stop')) })
    await expect(call).rejects.toThrow('stop')
  })

  it.skipIf(process.platform === 'win32')('die of SIGINT, and clean up', () => {
    const payload = pattern(100_000)
    const segments = Array.from({ length: 4 }, (_, at): [string, Buffer] => [
      `0000000000000000000${at}.log`,
      Buffer.concat(Array.from({ length: 60 }, () => batch({ producerId: 5n, payload }))),
    ])
    const root = writeTree(newDirectory(), { 'a-0': Object.fromEntries(segments) })
    const out = join(root, 'out')
    const args = ['rewrite', join(root, 'a-0'), '--out', out, '--jobs', '3']
    const { signal, stderr } = interruptCommand(args, 'SIGINT', { calls: 'changes', at: 20 })
    expect([signal, stderr]).toEqual(['SIGINT', expect.stringContaining('interrupted by SIGINT')])
    expect(readdirSync(out)).toEqual([])
  })
})

describe('one job', () => {
  /** Ends the process where a thread is started. */
  const trap = `data:text/javascript,${encodeURIComponent(`
    import threads from 'node:worker_threads'
    import { syncBuiltinESMExports } from 'node:module'
    threads.Worker = class { constructor() { console.error('a thread'); process.exit(77) } }
    syncBuiltinESMExports()`)}`

  it.each([
    ['1', 'several segments', tree, 0],
    ['auto', 'several small segments', tree, 0],
    ['4', 'one segment', { a: { '00000000000000000000.log': batch() } }, 0],
    ['4', 'several segments', tree, 77],
  ] as const)('needs no thread: --jobs %s with %s', (jobs, _name, content, status) => {
    const root = writeTree(newDirectory(), content)
    const args = ['rewrite', root, '--out', join(newDirectory(), 'out'), '--quiet']
    if (jobs !== 'auto') args.push('--jobs', jobs)
    expect(runCommand(args, { nodeArgs: ['--import', trap] }).status).toBe(status)
  })
})

describe('the number of jobs', () => {
  it.each(['0', '65', '-1', '1.5', 'x', ''])('is refused: %j', (jobs) => {
    const { status, stderr } = runCommand(['verify', fixtures, '--jobs', jobs])
    expect([status, stderr]).toEqual([2, expect.stringContaining('from 1 to 64')])
  })

  it.each([0, 65, 1.5, Number.NaN])('is refused by the functions: %d', async (jobs) => {
    await expect(built.verifyPaths([fixtures], { jobs })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })

  it('goes with no core of one thread', () => {
    const { core } = Job.start({})
    expect(() => Job.start({ core, jobs: 2 })).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
  })
})

describe('an error that crosses threads', () => {
  const facts = { position: 7, baseOffset: FAR, reason: 'crc', stored: 1, computed: 2 } as const
  const samples: errors.MirrorPidError[] = [
    new errors.CorruptBatchError(facts, 'x.log'),
    new errors.UnmappableProducerIdError(2n ** 63n - 1n, { position: 3, baseOffset: null }, 'x.log'),
    new errors.CorruptCompanionError('CORRUPT_SNAPSHOT', 'it is odd', 5, 'x.snapshot'),
    new errors.LogFileError('IO_ERROR', 'no', 'x.log', 'ENOSPC', { cause: new Error('disk') }),
    new errors.InvalidArgumentError('no'),
    new errors.WasmUnavailableError('no', { cause: new TypeError('no') }),
    new errors.DecompressionLimitError('lz4', 5),
    new errors.InvalidRecordError('no', { position: 4, baseOffset: FAR }),
    new errors.BatchTooLargeError(1, FAR, 3, 4),
    new errors.MirrorPidError('OUT_OF_MEMORY', 'no'),
  ]

  it.each(samples.map((error): [string, errors.MirrorPidError] => [error.name, error]))(
    'is the same: %s',
    (_name, error) => {
      const received = receiveError(structuredClone(transferError(error)))
      expect(received.constructor).toBe(error.constructor)
      expect(received).toBeInstanceOf(Error)
      expect(errors.MirrorPidError.is(received)).toBe(true)
      expect({ ...received }).toEqual({ ...error })
      expect(received.toJSON()).toEqual(error.toJSON())
      expect([received.message, received.stack, received.name]).toEqual([
        error.message,
        error.stack,
        error.name,
      ])
      expect((received.cause as Error | undefined)?.message).toBe((error.cause as Error | undefined)?.message)
    },
  )

  it('of every class of errors.ts has been tried', () => {
    const classes = Object.values(errors).filter(
      (value) => typeof value === 'function' && 'captureStackTrace' in value,
    )
    expect(new Set(samples.map((error) => error.constructor as unknown))).toEqual(new Set(classes))
  })
})

describe('threads', () => {
  it('are a matter of one module', () => {
    const source = fileURLToPath(new URL('../../src', import.meta.url))
    const names = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    )
    const using = names.filter((name) => /'tinypool'/.test(readFileSync(join(source, name), 'utf8')))
    expect(using).toEqual([join('node', 'threads', 'workers.ts')])
  })
})
