import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadCoreSync, type RewriteOptions } from '../../src/index.ts'
import { rewriteProducerSnapshot } from '../../src/log/producerSnapshot.ts'
import { rewritePaths, rewriteSegmentFile, verifyPaths } from '../../src/node/index.ts'
import { batch, hex, pattern } from '../support/batches.ts'
import { leftovers, mainScript, readTree, type Tree, temporaryDirectories, writeTree } from './support.ts'

const newDirectory = temporaryDirectories()
const core = loadCoreSync()

const SEGMENT = '00000000000000000000.log'
const SNAPSHOT = hex(
  '0001418d07fe0000000100000000000003e80003000000010000000000000001000000010000018bcfe5680900000004ffffffffffffffff',
)
const INDEX = hex('000000000000000003e8000000000000000000000000000000020000000000000003')

const good = Buffer.concat([
  batch({ baseOffset: 0n, producerId: 5n, payload: pattern(300) }),
  batch({ baseOffset: 1n, producerId: -1n, payload: pattern(30) }),
  batch({ baseOffset: 2n, producerId: -9n, attributes: 0x30 }),
])
/** The second batch of these has a wrong CRC. */
const damaged = Buffer.concat([good, batch({ baseOffset: 3n, producerId: 5n, crc: 7, payload: pattern(50) })])
const unframed = Buffer.concat([good, batch({ batchLength: 13 })])
const unmappable = batch({ producerId: 2n ** 63n - 1n })

function rewritten(bytes: Buffer, options: RewriteOptions = {}): Buffer {
  const copy = Buffer.from(bytes)
  core.rewrite(copy, options)
  return copy
}

/** All kinds of files that a partition directory may hold, as they are and as they become. */
const partition: Tree = {
  [SEGMENT]: good,
  '00000000000000000010.log': Buffer.concat([good, Buffer.alloc(500)]),
  '00000000000000000020.log.swap': good,
  '00000000000000000030.log': Buffer.alloc(0),
  '00000000000000000000.txnindex': INDEX,
  '00000000000000000020.txnindex.swap': INDEX,
  '00000000000000000010.snapshot': SNAPSHOT,
  '00000000000000000000.index': pattern(64),
  '00000000000000000000.timeindex': pattern(24),
  '00000000000000000040.log.deleted': good,
  '00000000000000000050.log.cleaned': good,
  'leader-epoch-checkpoint': '0\n1\n0 0\n',
  'partition.metadata': 'version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ',
}
const REBUILT = [
  '00000000000000000000.index',
  '00000000000000000000.timeindex',
  '00000000000000000000.txnindex',
  '00000000000000000010.snapshot',
  '00000000000000000020.txnindex.swap',
]
const mappedPartition: Tree = {
  ...Object.fromEntries(Object.entries(partition).filter(([name]) => !REBUILT.includes(name))),
  [SEGMENT]: rewritten(good),
  '00000000000000000010.log': Buffer.concat([rewritten(good), Buffer.alloc(500)]),
  '00000000000000000020.log.swap': rewritten(good),
}

const treeOf = (tree: Tree) => readTree(writeTree(newDirectory(), tree))
const codesOf = (errors: readonly { code: string }[]) => errors.map((error) => error.code)

describe('a partition into an output directory', () => {
  it('is there whole: what holds ids is mapped, the rest is as it was', async () => {
    const root = writeTree(newDirectory(), { 'orders-0': partition })
    const result = await rewritePaths([join(root, 'orders-0')], { outDirectory: join(root, 'a', 'out') })
    expect(readTree(join(root, 'a', 'out'))).toEqual(treeOf({ 'orders-0': mappedPartition }))
    expect(readTree(join(root, 'orders-0'))).toEqual(treeOf(partition))
    expect(result.files.map((file) => [file.path, file.out])).toEqual(
      [SEGMENT, '00000000000000000010.log', '00000000000000000020.log.swap', '00000000000000000030.log'].map(
        (name) => [join(root, 'orders-0', name), join(root, 'a', 'out', 'orders-0', name)],
      ),
    )
    expect(result.companions).toEqual([])
    expect(result.rebuilt).toEqual(REBUILT.map((name) => join(root, 'orders-0', name)))
    expect(result).toMatchObject({
      copied: 4,
      errors: [],
      leftOut: [],
      totals: { files: 4, batches: 9, rewritten: 3, alreadyMapped: 3, withoutProducer: 3, control: 3 },
    })
    expect(leftovers(root)).toEqual([])
  })

  it('comes back by unmapping, but for ids that were mapped before and what a broker builds anew', async () => {
    const segment = { [SEGMENT]: good.subarray(0, 361) }
    const root = writeTree(newDirectory(), { 'orders-0': { ...segment, ...companions } })
    await rewritePaths([join(root, 'orders-0')], { outDirectory: join(root, 'out') })
    await rewritePaths([join(root, 'out', 'orders-0')], {
      outDirectory: join(root, 'back'),
      direction: 'unmap',
    })
    expect(readTree(join(root, 'back', 'orders-0'))).toEqual(treeOf(segment))
  })

  const companions = { '00000000000000000000.txnindex': INDEX, '00000000000000000010.snapshot': SNAPSHOT }

  it('keeps modes and times', async () => {
    const root = writeTree(newDirectory(), { 'orders-0': partition })
    const directory = join(root, 'orders-0')
    chmodSync(directory, 0o750)
    const names = [SEGMENT, 'leader-epoch-checkpoint']
    for (const name of names) {
      chmodSync(join(directory, name), 0o640)
      utimesSync(join(directory, name), 1_600_000_000, 1_600_000_000.5)
    }
    await rewritePaths([directory], { outDirectory: join(root, 'out') })
    expect(statSync(join(root, 'out', 'orders-0')).mode & 0o7777).toBe(0o750)
    for (const name of names) {
      const { mode, mtimeMs } = statSync(join(root, 'out', 'orders-0', name))
      expect([name, mode & 0o7777, mtimeMs]).toEqual([name, 0o640, 1_600_000_000_500])
    }
  })

  it.each([
    ['a batch that cannot be framed', { '00000000000000000060.log': unframed }, 'CORRUPT_BATCH'],
    ['a damaged snapshot', { '00000000000000000060.snapshot': pattern(56) }, 'CORRUPT_SNAPSHOT'],
    ['a damaged index', { '00000000000000000060.txnindex': pattern(34) }, 'CORRUPT_TRANSACTION_INDEX'],
    ['an id without an image', { '00000000000000000060.log': unmappable }, 'UNMAPPABLE_PRODUCER_ID'],
  ])('is not there at all with %s in it; others are', async (_name, damage, code) => {
    const root = writeTree(newDirectory(), { a: { ...partition, ...damage }, b: partition })
    const outDirectory = join(root, 'out')
    const result = await rewritePaths([join(root, 'a'), join(root, 'b')], { outDirectory })
    expect(codesOf(result.errors)).toEqual([code])
    expect(result.errors[0]).toHaveProperty('file', join(root, 'a', Object.keys(damage)[0]!))
    expect(readTree(outDirectory)).toEqual(treeOf({ b: mappedPartition }))
    expect(result.files.every((file) => file.path.startsWith(join(root, 'b')))).toBe(true)
    expect(leftovers(root)).toEqual([])
  })

  it('keeps a wrong CRC visible with patch, refuses it with verify, repairs it with recompute', async () => {
    const root = writeTree(newDirectory(), { a: { [SEGMENT]: damaged } })
    const run = (crc: 'patch' | 'verify' | 'recompute') =>
      rewritePaths([join(root, 'a')], { outDirectory: join(root, crc), crc })
    expect((await run('patch')).errors).toEqual([])
    const refused = await run('verify')
    expect(refused.errors).toMatchObject([
      { code: 'CORRUPT_BATCH', reason: 'crc', position: good.length, baseOffset: 3n, stored: 7 },
    ])
    expect(existsSync(join(root, 'verify', 'a'))).toBe(false)
    await run('recompute')
    const corruptIn = async (crc: string) => (await verifyPaths([join(root, crc, 'a')])).totals.corrupt
    expect([await corruptIn('patch'), await corruptIn('recompute')]).toEqual([1, 0])
  })

  it('removes what a killed run left of it, and nothing else', async () => {
    const root = writeTree(newDirectory(), {
      'orders-0': partition,
      out: { 'orders-0.mirrorpid-0123abcd': partition, 'orders-1.mirrorpid-0123abcd': partition },
    })
    await rewritePaths([join(root, 'orders-0')], { outDirectory: join(root, 'out') })
    expect(readTree(join(root, 'out', 'orders-0'))).toEqual(treeOf(mappedPartition))
    expect(existsSync(join(root, 'out', 'orders-0.mirrorpid-0123abcd'))).toBe(false)
    expect(existsSync(join(root, 'out', 'orders-1.mirrorpid-0123abcd'))).toBe(true)
  })
})

describe('a partition of a topic with the longest name', () => {
  it('is rewritten, and what a killed run left of it is removed', async () => {
    const name = `${'t'.repeat(249)}-0`
    const root = writeTree(newDirectory(), { [name]: { [SEGMENT]: good }, out: {} })
    const outDirectory = join(root, 'out')
    let seen: string[] = []
    await rewritePaths([join(root, name)], {
      outDirectory,
      onProgress: () => {
        seen = [...seen, ...leftovers(outDirectory)]
      },
    })
    const [temporary] = seen.map((path) => path.split('/')[0]!)
    rmSync(join(outDirectory, name), { recursive: true })
    writeTree(join(outDirectory, temporary!), { [SEGMENT]: 'half' })
    await rewritePaths([join(root, name)], { outDirectory })
    expect(readTree(outDirectory)).toEqual(treeOf({ [name]: { [SEGMENT]: rewritten(good) } }))
  })
})

describe('a log directory into an output directory', () => {
  it('takes each partition and the files beside them, without the lock', async () => {
    const root = writeTree(newDirectory(), {
      data: {
        'a-0': partition,
        'b-0': { ...partition, 'zzz.log': unframed },
        'meta.properties': 'version=1\n',
        '.kafka_cleanshutdown': '{"version":0,"brokerEpoch":3}',
        'recovery-point-offset-checkpoint': '0\n0\n',
        '.lock': '',
        'lost+found': {},
      },
    })
    const result = await rewritePaths([join(root, 'data')], { outDirectory: join(root, 'out') })
    expect(codesOf(result.errors)).toEqual(['CORRUPT_BATCH'])
    expect(result.leftOut.map((entry) => entry.path)).toEqual([join(root, 'data', 'lost+found')])
    expect(readTree(join(root, 'out'))).toEqual(
      treeOf({
        'a-0': mappedPartition,
        'meta.properties': 'version=1\n',
        '.kafka_cleanshutdown': '{"version":0,"brokerEpoch":3}',
        'recovery-point-offset-checkpoint': '0\n0\n',
      }),
    )
  })
})

describe('outputs', () => {
  const root = writeTree(newDirectory(), {
    x: { 'a-0': partition, 'b-0': partition, [SEGMENT]: good },
    y: { 'a-0': partition },
    there: { 'b-0': { file: '' } },
  })
  const x = join(root, 'x')
  const refuse = async (paths: string[], outDirectory: string) => {
    const before = readTree(root)
    const error = await rewritePaths(paths, { outDirectory }).catch((error) => error)
    expect(readTree(root)).toEqual(before)
    return error
  }

  it('are looked for before anything is written', async () => {
    const error = await refuse([join(x, 'a-0'), join(x, 'b-0')], join(root, 'there'))
    expect(error).toMatchObject({ code: 'OUTPUT_EXISTS', file: join(root, 'there', 'b-0') })
  })

  it('must differ', async () => {
    const error = await refuse([join(x, 'a-0'), join(root, 'y', 'a-0')], join(root, 'out'))
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('both become') })
  })

  it('are never beside their inputs, nor inside them', async () => {
    expect(await refuse([join(x, 'a-0')], x)).toMatchObject({ code: 'OUTPUT_EXISTS' })
    expect(await refuse([join(x, SEGMENT)], x)).toMatchObject({ code: 'OUTPUT_EXISTS' })
    for (const inside of [join(root, 'y'), join(root, 'y', 'new'), join(root, 'y', 'a-0')]) {
      const error = await refuse([join(root, 'y')], inside)
      expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('lies in') })
    }
  })

  it('are never inside their inputs by way of a link', async () => {
    const link = join(newDirectory(), 'link')
    symlinkSync(join(root, 'y'), link)
    expect(await refuse([join(root, 'y')], join(link, 'out'))).toMatchObject({ code: 'INVALID_ARGUMENT' })
  })

  it('may be in a directory whose name starts as the input’s does', async () => {
    const result = await rewritePaths([join(root, 'y')], { outDirectory: join(root, 'y2') })
    expect(result.errors).toEqual([])
  })

  it.each([{}, { outDirectory: 'x', inPlace: true }])('need one place: %o', async (options) => {
    await expect(rewritePaths([x], options)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    const { outDirectory: out, ...rest } = options as { outDirectory?: string }
    const call = rewriteSegmentFile(join(x, SEGMENT), out === undefined ? rest : { out, ...rest })
    await expect(call).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })
})

describe('a rewrite in place', () => {
  it('changes what holds ids, and a second one nothing', async () => {
    const directory = writeTree(newDirectory(), partition)
    chmodSync(join(directory, SEGMENT), 0o640)
    utimesSync(join(directory, SEGMENT), 1_600_000_000, 1_600_000_000)
    const first = await rewritePaths([directory], { inPlace: true })
    expect(readTree(directory)).toEqual(treeOf(mappedPartition))
    expect(first.files[0]).toMatchObject({ path: join(directory, SEGMENT), out: join(directory, SEGMENT) })
    expect(first.totals).toMatchObject({ rewritten: 3 })
    const { mode, mtimeMs, ino } = statSync(join(directory, SEGMENT))
    expect([mode & 0o7777, mtimeMs]).toEqual([0o640, 1_600_000_000_000])

    const second = await rewritePaths([directory], { inPlace: true })
    expect(second.totals).toMatchObject({ rewritten: 0, alreadyMapped: 6 })
    expect(statSync(join(directory, SEGMENT)).ino).toBe(ino)
    expect(readTree(directory)).toEqual(treeOf(mappedPartition))
  })

  it.each([
    ['a batch that cannot be framed', { '00000000000000000060.log': unframed }, {}, 'CORRUPT_BATCH'],
    ['a wrong CRC', { '00000000000000000060.log': damaged }, { crc: 'verify' }, 'CORRUPT_BATCH'],
    ['a damaged snapshot', { '00000000000000000060.snapshot': pattern(56) }, {}, 'CORRUPT_SNAPSHOT'],
    ['an id without an image', { '00000000000000000060.log': unmappable }, {}, 'UNMAPPABLE_PRODUCER_ID'],
  ] as const)('changes nothing in a partition with %s', async (_name, damage, options, code) => {
    const root = writeTree(newDirectory(), { 'a-0': { ...partition, ...damage }, 'b-0': partition })
    const result = await rewritePaths([root], { inPlace: true, ...options })
    expect(codesOf(result.errors)).toEqual([code])
    expect(readTree(root)).toEqual(treeOf({ 'a-0': { ...partition, ...damage }, 'b-0': mappedPartition }))
    expect(leftovers(root)).toEqual([])
  })

  it('refuses a symbolic link, and changes nothing beside it', async () => {
    const directory = writeTree(newDirectory(), partition)
    const target = join(newDirectory(), 'target.log')
    writeFileSync(target, good)
    symlinkSync(target, join(directory, '00000000000000000060.log'))
    const before = readTree(directory)
    const result = await rewritePaths([directory], { inPlace: true })
    expect(result.errors).toMatchObject([
      { code: 'IO_ERROR', message: expect.stringContaining('symbolic link') },
    ])
    expect(readTree(directory)).toEqual(before)
    expect(readFileSync(target).equals(good)).toBe(true)
  })

  it('leaves other names of a file as they were: a backup by hard links', async () => {
    const directory = writeTree(newDirectory(), { [SEGMENT]: good })
    const backup = join(newDirectory(), 'backup.log')
    linkSync(join(directory, SEGMENT), backup)
    await rewritePaths([directory], { inPlace: true })
    expect(readFileSync(backup).equals(good)).toBe(true)
    expect(readFileSync(join(directory, SEGMENT)).equals(rewritten(good))).toBe(true)
  })

  it.runIf(process.getuid?.() === 0)('keeps the owner; a copy belongs to who made it', async () => {
    const snapshot = Buffer.from(SNAPSHOT)
    rewriteProducerSnapshot(core, snapshot)
    const names = [SEGMENT, '00000000000000000010.snapshot']
    const directory = writeTree(newDirectory(), { [SEGMENT]: good, [names[1]!]: snapshot })
    for (const name of names) chownSync(join(directory, name), 1234, 1235)
    const ownersIn = (root: string) =>
      names.map((name) => {
        const { uid, gid } = statSync(join(root, name))
        return [uid, gid]
      })
    await rewritePaths([directory], { inPlace: true, direction: 'unmap' })
    const restored = rewritten(good, { direction: 'unmap' })
    expect(readTree(directory)).toEqual(treeOf({ [SEGMENT]: restored, [names[1]!]: SNAPSHOT }))
    expect(ownersIn(directory)).toEqual([
      [1234, 1235],
      [1234, 1235],
    ])
    const out = newDirectory()
    await rewritePaths([directory], { outDirectory: out, direction: 'unmap' })
    expect(ownersIn(join(out, basename(directory)))[0]).toEqual([0, process.getgid?.()])
  })

  it('removes what a killed run left beside a file', async () => {
    const directory = writeTree(newDirectory(), {
      [SEGMENT]: good,
      [`${SEGMENT}.mirrorpid-0123abcd`]: 'half',
    })
    const result = await rewritePaths([directory], { inPlace: true })
    expect(result.leftOut).toHaveLength(1)
    expect(readTree(directory)).toEqual(treeOf({ [SEGMENT]: rewritten(good) }))
  })

  it('of one segment file', async () => {
    const path = join(writeTree(newDirectory(), { [SEGMENT]: good }), SEGMENT)
    expect((await rewriteSegmentFile(path, { inPlace: true })).rewritten).toBe(1)
    expect(readFileSync(path).equals(rewritten(good))).toBe(true)
  })
})

describe('files that nobody may write to', () => {
  /** Root may write to any file by its capabilities; without them its own files are to it what they are to anybody. */
  const withoutCapabilities =
    process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search'] : []

  it('are copied with their mode', () => {
    const root = newDirectory()
    const source = join(
      writeTree(root, {
        'a-0': { [SEGMENT]: good, 'partition.metadata': 'version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ' },
      }),
      'a-0',
    )
    for (const name of [SEGMENT, 'partition.metadata']) chmodSync(join(source, name), 0o444)
    const out = join(root, 'out')
    const [program, ...args] = [...withoutCapabilities, process.execPath]
    const run = (...more: string[]) => spawnSync(program!, [...args, ...more], { encoding: 'utf8' })
    const write = `require('node:fs').openSync(${JSON.stringify(join(source, SEGMENT))}, 'r+')`
    expect(run('-e', write).stderr).toContain('EACCES')
    const { status, stderr } = run(mainScript, 'rewrite', source, '--out', out, '--quiet')
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    for (const name of [SEGMENT, 'partition.metadata']) {
      expect(statSync(join(out, 'a-0', name)).mode & 0o777).toBe(0o444)
    }
  })
})

describe('a job that ends early', () => {
  const long = Buffer.concat(
    Array.from({ length: 300 }, (_, offset) => batch({ baseOffset: BigInt(offset), producerId: 5n })),
  )

  it.each([1, 5, 20, 30])('by its signal leaves nothing half done (after %d steps)', async (steps) => {
    const root = writeTree(newDirectory(), { 'a-0': { [SEGMENT]: long }, 'b-0': { [SEGMENT]: long } })
    for (const target of [{ outDirectory: join(root, 'out') }, { inPlace: true }]) {
      const controller = new AbortController()
      let left = steps
      const onProgress = () => {
        if (left-- === 0) controller.abort(new Error('stop'))
      }
      const paths = [join(root, 'a-0'), join(root, 'b-0')]
      const job = rewritePaths(paths, { ...target, windowSize: 256, signal: controller.signal, onProgress })
      await expect(job).rejects.toThrow('stop')
      expect(leftovers(root)).toEqual([])
      const whole = [long, rewritten(long)].map((bytes) => bytes.toString('hex'))
      for (const content of Object.values(readTree(root))) expect(whole).toContain(content)
    }
  })

  it.each(['replaced', 'appended to', 'truncated'])('because the file is %s meanwhile', async (change) => {
    const directory = writeTree(newDirectory(), { [SEGMENT]: long })
    const path = join(directory, SEGMENT)
    let hasChanged = false
    const onProgress = ({ fileBytes }: { fileBytes: number }) => {
      if (hasChanged || fileBytes < 2000) return
      hasChanged = true
      if (change === 'appended to') writeFileSync(path, good, { flag: 'a' })
      else if (change === 'truncated') writeFileSync(path, long.subarray(0, 3000))
      else {
        rmSync(path)
        writeFileSync(path, long)
      }
    }
    const result = await rewritePaths([path], {
      outDirectory: join(directory, 'out'),
      windowSize: 512,
      onProgress,
    })
    expect(result.errors).toMatchObject([
      { code: 'IO_ERROR', file: path, message: expect.stringContaining('changed while it was read') },
    ])
    expect(readTree(join(directory, 'out'))).toEqual({})
  })
})

describe('progress', () => {
  it.each([{ outDirectory: 'out' }, { inPlace: true }])('ends at the whole: %o', async (target) => {
    const root = writeTree(newDirectory(), { 'a-0': partition, 'b-0': { [SEGMENT]: unframed } })
    const seen: { bytes: number; size: number }[] = []
    mkdirSync(join(root, 'out'))
    await rewritePaths([join(root, 'a-0'), join(root, 'b-0')], {
      ...('inPlace' in target ? target : { outDirectory: join(root, 'out') }),
      windowSize: 100,
      onProgress: ({ bytes, size }) => seen.push({ bytes, size }),
    })
    const { bytes, size } = seen.at(-1)!
    expect(bytes).toBe(size)
    expect(size).toBeGreaterThan(good.length)
    for (const [step, { bytes }] of seen.entries()) {
      expect(bytes).toBeGreaterThanOrEqual(seen[step - 1]?.bytes ?? 0)
      expect(bytes).toBeLessThanOrEqual(size)
    }
  })
})
