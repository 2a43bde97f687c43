import {
  chmodSync,
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loadCoreSync, MirrorPidError } from '../../src/index.ts'
import { jsCore } from '../../src/js.ts'
import { type RewriteResult, rewritePaths, rewriteSegmentFile } from '../../src/node/index.ts'
import { recordSets, rewriteOptions, wholeBatches } from '../support/arbitraries.ts'
import { batch, hex, pattern } from '../support/batches.ts'
import { quickOrLong } from '../support/counts.ts'
import { readTree, runCommand, temporaryDirectories, writeTree } from './support.ts'

const newDirectory = temporaryDirectories()
const core = loadCoreSync()
const SEGMENT = '00000000000000000000.log'

/** Batches of all sizes: read whole, passed over behind their headers, near to each other and far apart. */
const logs = fc
  .array(
    fc.oneof(
      wholeBatches,
      recordSets,
      fc
        .record({
          producerId: fc.constantFrom(0n, 5n, 2n ** 32n - 1n, 2n ** 63n - 2n, -7n, -1n),
          size: fc.oneof(fc.nat(100), fc.nat(9000), fc.nat(70_000)),
          crc: fc.option(fc.constant(1), { nil: undefined, freq: 10 }),
        })
        .map(({ producerId, size, crc }) =>
          batch({ producerId, payload: pattern(size), ...(crc === undefined ? {} : { crc }) }),
        ),
    ),
    { maxLength: 8 },
  )
  .map((parts) => Buffer.concat(parts))

async function outcomeOf(run: () => Promise<object>): Promise<object> {
  try {
    const { path: _path, out: _out, seconds: _seconds, ...report } = (await run()) as Record<string, unknown>
    return report
  } catch (error) {
    if (!MirrorPidError.is(error)) throw error
    return error.toJSON()
  }
}

describe('a segment in place', () => {
  it.each([
    ['wasm', undefined],
    ['js', jsCore()],
  ] as const)(
    'becomes what an output file would be, with the same report or error (%s)',
    async (_name, core) => {
      const directory = newDirectory()
      const [path, out] = [join(directory, SEGMENT), join(directory, 'out.log')]
      const windowSizes = fc.oneof(fc.integer({ min: 61, max: 400 }), fc.constantFrom(4096, 1024 * 1024))
      await fc.assert(
        fc.asyncProperty(logs, windowSizes, rewriteOptions, async (bytes, windowSize, options) => {
          writeFileSync(path, bytes)
          rmSync(out, { force: true })
          const job = { ...options, windowSize, ...(core && { core }) }
          const there = await outcomeOf(() => rewriteSegmentFile(path, { ...job, force: true, out }))
          const here = await outcomeOf(() => rewriteSegmentFile(path, { ...job, force: true, inPlace: true }))
          expect(here).toEqual(there)
          expect(readFileSync(path).equals(existsSync(out) ? readFileSync(out) : bytes)).toBe(true)
          // and nothing is left beside it
          expect(Object.keys(readTree(directory)).sort()).toEqual(
            existsSync(out) ? [SEGMENT, 'out.log'] : [SEGMENT],
          )
        }),
        { numRuns: quickOrLong(50, 250) },
      )
    },
  )

  it('is the same file as before, with its mode and times', async () => {
    const bytes = Buffer.concat([
      batch({ producerId: 5n, payload: pattern(50_000) }),
      batch({ producerId: 6n }),
    ])
    const path = join(writeTree(newDirectory(), { [SEGMENT]: bytes }), SEGMENT)
    chmodSync(path, 0o640)
    utimesSync(path, 1_600_000_000, 1_600_000_000.5)
    const before = statSync(path)
    await rewriteSegmentFile(path, { inPlace: true })
    const { ino, mode, size, mtimeMs } = statSync(path)
    expect([ino, mode, size, mtimeMs]).toEqual([before.ino, before.mode, before.size, 1_600_000_000_500])
    expect(core.verify(readFileSync(path))).toMatchObject({ alreadyMapped: 2, corrupt: [] })
  })

  it('with other names is replaced by a copy, as those keep the old bytes', async () => {
    const bytes = batch({ producerId: 5n })
    const path = join(writeTree(newDirectory(), { [SEGMENT]: bytes }), SEGMENT)
    const backup = join(newDirectory(), 'backup.log')
    linkSync(path, backup)
    await rewriteSegmentFile(path, { inPlace: true })
    expect(readFileSync(backup).equals(bytes)).toBe(true)
    expect(statSync(path).ino).not.toBe(statSync(backup).ino)
    expect(core.verify(readFileSync(path)).alreadyMapped).toBe(1)
  })
})

describe('a segment that changes while others are checked', () => {
  it.each(['appended to', 'replaced'])('(%s) is not touched', async (change) => {
    const names = [SEGMENT, '00000000000000000001.log']
    const bytes = names.map((_, at) => batch({ baseOffset: BigInt(at), producerId: 5n }))
    const directory = writeTree(newDirectory(), { [names[0]!]: bytes[0]!, [names[1]!]: bytes[1]! })
    const path = join(directory, SEGMENT)
    const changed = change === 'replaced' ? batch({ producerId: 6n }) : Buffer.concat([bytes[0]!, bytes[1]!])
    let isDone = false
    const onProgress = ({ file }: { file: string }) => {
      if (isDone || !file.endsWith(names[1]!)) return
      isDone = true
      if (change === 'replaced') rmSync(path)
      writeFileSync(path, changed)
    }
    const { errors, files } = await rewritePaths([directory], { inPlace: true, onProgress })
    expect(errors).toMatchObject([{ code: 'IO_ERROR', message: expect.stringContaining('it changed') }])
    expect(files).toEqual([])
    expect(readTree(directory)).toEqual({
      [names[0]!]: changed.toString('hex'),
      [names[1]!]: bytes[1]!.toString('hex'),
    })
  })
})

describe('the command', () => {
  const partition = () => writeTree(newDirectory(), { [SEGMENT]: batch({ producerId: 5n }) })

  it('says that there is nothing to resume', () => {
    const directory = partition()
    const { status, stdout, stderr } = runCommand(['rewrite', directory, '--in-place', '--resume'])
    expect([status, stdout, stderr]).toEqual([
      0,
      'nothing to resume: no rewrite in place was interrupted here\n',
      '',
    ])
  })

  it.each([
    [['--out', 'x', '--resume'], 'cannot be used with'],
    [['--in-place', '--resume', '--unmap'], 'cannot be used with'],
    [['--in-place', '--resume', '--crc', 'verify'], 'cannot be used with'],
    [['--resume'], "goes with '--in-place'"],
    [['--in-place', '--resume', '--dry-run'], 'cannot be used with'],
  ])('refuses %j', (flags, message) => {
    const { status, stderr } = runCommand(['rewrite', partition(), ...flags])
    expect([status, stderr]).toEqual([2, expect.stringContaining(message)])
  })
})

describe('a dry run', () => {
  const names = [SEGMENT, '00000000000000000002.log']
  const tree = {
    [names[0]!]: Buffer.concat([batch({ producerId: 5n }), batch({ baseOffset: 1n, producerId: -9n })]),
    [names[1]!]: batch({ baseOffset: 2n, producerId: 6n, payload: pattern(9000) }),
    '00000000000000000000.index': pattern(8),
    'leader-epoch-checkpoint': '0\n1\n0 0\n',
  }
  /** All that a directory tells, times and inodes too. */
  const stateOf = (directory: string) => [
    readTree(directory),
    ['.', ...readdirSync(directory)].map((name) => {
      const { ino, mode, mtimeMs, ctimeMs } = statSync(join(directory, name))
      return [name, ino, mode, mtimeMs, ctimeMs]
    }),
  ]
  const withoutTimes = ({ files, totals, ...rest }: RewriteResult) => ({
    ...rest,
    dryRun: null,
    totals: { ...totals, seconds: 0 },
    files: files.map((file) => ({ ...file, seconds: 0 })),
  })

  it.each(['map', 'unmap'] as const)(
    'in place changes nothing, and tells what the run does (%s)',
    async (direction) => {
      const directory = writeTree(newDirectory(), tree)
      const before = stateOf(directory)
      const dry = await rewritePaths([directory], { inPlace: true, direction, dryRun: true })
      expect(stateOf(directory)).toEqual(before)
      expect(dry.dryRun).toBe(true)
      expect(withoutTimes(dry)).toEqual(
        withoutTimes(await rewritePaths([directory], { inPlace: true, direction })),
      )
      expect(stateOf(directory)).not.toEqual(before)
    },
  )

  it('into a directory makes none, and refuses what is there', async () => {
    const root = writeTree(newDirectory(), { 'orders-0': tree, there: { 'orders-0': {} } })
    const before = readTree(root)
    const options = { outDirectory: join(root, 'out') }
    const dry = await rewritePaths([join(root, 'orders-0')], { ...options, dryRun: true })
    expect([existsSync(options.outDirectory), readTree(root)]).toEqual([false, before])
    expect(withoutTimes(dry)).toEqual(withoutTimes(await rewritePaths([join(root, 'orders-0')], options)))
    const there = { outDirectory: join(root, 'there'), dryRun: true }
    await expect(rewritePaths([join(root, 'orders-0')], there)).rejects.toMatchObject({
      code: 'OUTPUT_EXISTS',
    })
  })

  it('tells of damage as the run does, and of an interrupted run', async () => {
    const directory = writeTree(newDirectory(), { ...tree, [names[1]!]: batch({ batchLength: 13 }) })
    const options = { inPlace: true, dryRun: true }
    expect((await rewritePaths([directory], options)).errors).toMatchObject([{ code: 'CORRUPT_BATCH' }])
    writeFileSync(`${join(directory, SEGMENT)}.mirrorpid-journal`, 'x')
    expect((await rewritePaths([directory], options)).errors).toMatchObject([{ code: 'UNFINISHED_REWRITE' }])
    await expect(rewritePaths([directory], { ...options, resume: true })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
  })

  it('by the command says that nothing was changed', () => {
    const directory = writeTree(newDirectory(), tree)
    const before = stateOf(directory)
    const { status, stdout, stderr } = runCommand(['rewrite', directory, '--in-place', '--dry-run'])
    expect(status).toBe(0)
    expect(stdout).toContain('in place (dry run: nothing was changed): 3 batches: 2 mapped')
    expect(stderr).toContain('1 producer snapshot or index would be removed')
    expect(stateOf(directory)).toEqual(before)
  })
})

describe('files that a broker builds anew', () => {
  const snapshot = hex('000148674bc700000000')
  const index = { '00000000000000000000.index': pattern(8), '00000000000000000000.txnindex': Buffer.alloc(0) }
  const segment = { [SEGMENT]: batch({ producerId: -7n }) }

  it.each([
    [
      'go with restored ids where there is a producer snapshot',
      { '00000000000000000001.snapshot': snapshot },
      true,
    ],
    ['do not where there is none', {}, false],
  ])('%s', async (_name, snapshots, isKept) => {
    const root = writeTree(newDirectory(), { 'orders-0': { ...segment, ...index, ...snapshots } })
    const directory = join(root, 'orders-0')
    const names = isKept ? [...Object.keys({ ...index, ...snapshots }), SEGMENT].sort() : [SEGMENT]
    await rewritePaths([directory], { outDirectory: join(root, 'out'), direction: 'unmap' })
    await rewritePaths([directory], { inPlace: true, direction: 'unmap' })
    expect(readdirSync(directory).sort()).toEqual(names)
    expect(readTree(join(root, 'out', 'orders-0'))).toEqual(readTree(directory))
  })

  it('are removed from a log that is mapped already, and from one without producers', async () => {
    for (const producerId of [-7n, -1n]) {
      const directory = writeTree(newDirectory(), {
        [SEGMENT]: batch({ producerId }),
        '00000000000000000001.snapshot': snapshot,
      })
      const { rebuilt } = await rewritePaths([directory], { inPlace: true })
      expect([rebuilt, readdirSync(directory)]).toEqual([
        [join(directory, '00000000000000000001.snapshot')],
        [SEGMENT],
      ])
    }
  })

  it('are left alone under names that no broker gives', async () => {
    const foreign = { 'contents.index': 'a', 'old.timeindex': 'b', '7.txnindex': '', 'notes.index.swap': 'c' }
    const directory = writeTree(newDirectory(), { [SEGMENT]: batch({ producerId: 5n }), ...foreign })
    const { rebuilt } = await rewritePaths([directory], { inPlace: true })
    const { [SEGMENT]: _, ...others } = readTree(directory)
    expect([rebuilt, others]).toEqual([[], readTree(writeTree(newDirectory(), foreign))])
  })
})
