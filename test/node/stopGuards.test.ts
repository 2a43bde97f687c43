import { cpSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { PartitionLog } from '../../src/index.ts'
import { decodeProperties } from '../../src/node/checkpoints/javaProperties.ts'
import { directoryStorage, rewritePaths, stopPartition } from '../../src/node/index.ts'
import { encodeOp } from '../producers/logBuilder.ts'
import { readTree, temporaryDirectories } from './support.ts'

const newDirectory = temporaryDirectories()
const REQUEST = { clusterId: 'B', sourceClusterId: 'A', now: () => 5000n }
const fixtures = fileURLToPath(new URL('../fixtures/kafka-4.3.1', import.meta.url))

/** The path of a mirrored partition with three offsets, in a log directory of its own. */
function partition(name = 'orders-0'): string {
  const directory = join(newDirectory(), name)
  mkdirSync(directory)
  const log = PartitionLog.open(directoryStorage(directory))
  for (let seq = 0; seq < 3; seq++) {
    log.append(encodeOp({ kind: 'data', pid: -7, seq }, log.logEndOffset), 'replication')
  }
  log.close()
  return directory
}

const beside = (directory: string, name: string, text: string) =>
  writeFileSync(join(directory, '..', name), text)

/** Refused in a run and in a dry run, before anything is written. */
async function expectRefused(
  directory: string,
  expected: object,
  root = join(directory, '..'),
): Promise<void> {
  const before = readTree(root)
  for (const dryRun of [true, false]) {
    await expect(stopPartition(directory, { ...REQUEST, dryRun })).rejects.toMatchObject(expected)
    expect(readTree(root)).toEqual(before)
  }
}

describe("the cluster's id in meta.properties", () => {
  it.each(['A', 'Z'])('must not be another one (%s), however it is written', async (id) => {
    const names = new RegExp(
      `meta\\.properties names the cluster "${id}", ${id === 'A' ? 'which is' : 'not "B"'}`,
    )
    for (const line of [
      `cluster.id=${id}`,
      `cluster.id = ${id}`,
      `  cluster.id:${id}  `,
      `cluster.id\t: ${id}`,
      `cluster.id ${id}`,
      `cluster\\u002eid=${id}`,
      `cluster.id=\\\n   ${id}`,
      `cluster.id=B\ncluster.id=${id}`,
    ]) {
      for (const end of ['\n', '\r\n', '']) {
        const directory = partition()
        beside(
          directory,
          'meta.properties',
          `#\n#Sun Nov 29 18:39:08 UTC 2026\nnode.id=1\nversion=1\n${line}${end}`,
        )
        await expectRefused(directory, {
          code: 'STOP_REFUSED',
          reason: 'cluster',
          message: expect.stringMatching(names),
        })
      }
    }
  })

  it('may be this one, or none', async () => {
    for (const text of [
      'version=1\ncluster.id = B\n',
      'version=+01\r\rcluster.id : B\r',
      'version=0\n#cluster.id=A\n!cluster.id=A\n',
      'version=0\nmy.cluster.id=A\n',
      'version=1\ncluster.id=\n',
    ]) {
      const directory = partition()
      beside(directory, 'meta.properties', text)
      expect((await stopPartition(directory, REQUEST)).lastMirroredOffset).toBe(3n)
    }
  })

  it('is looked for where a link leads to, and where the link is', async () => {
    const real = partition()
    beside(real, 'meta.properties', 'version=1\ncluster.id=A\n')
    const link = join(newDirectory(), 'orders-0')
    symlinkSync(real, link)
    await expectRefused(link, { reason: 'cluster' }, join(real, '..'))

    const moved = join(newDirectory(), 'disk2')
    renameSync(partition(), moved)
    const linked = join(newDirectory(), 'orders-0')
    symlinkSync(moved, linked)
    beside(linked, 'meta.properties', 'version=1\ncluster.id=A\n')
    await expectRefused(linked, { reason: 'cluster' }, moved)
  })
})

it('checkpoints are those of where a link leads to, or else of the link', async () => {
  const stale = '0\n1\norders 0 99\n'
  const real = partition()
  beside(real, 'log-start-offset-checkpoint', stale)
  const link = join(newDirectory(), 'anything')
  symlinkSync(real, link)
  await expectRefused(link, { reason: 'records' }, join(real, '..'))

  const moved = join(newDirectory(), 'disk2')
  renameSync(partition(), moved)
  const linked = join(newDirectory(), 'orders-0')
  symlinkSync(moved, linked)
  beside(linked, 'log-start-offset-checkpoint', stale)
  await expectRefused(linked, { reason: 'records' }, moved)
})

it.each([
  ['__cluster_metadata-0', /the cluster's metadata/],
  ['orders-0.0123456789abcdef0123456789abcdef-delete', /about to delete/],
  ['orders-0.0123456789abcdef0123456789abcdef-future', /not finished moving/],
  ['orders-0.0123456789abcdef0123456789abcdef-stray', /set aside/],
])('%s is no mirror’s, also behind a link', async (name, message) => {
  const directory = partition(name)
  const expected = { code: 'NOT_A_LOG', message: expect.stringMatching(message) }
  await expectRefused(directory, expected)
  const link = join(newDirectory(), 'orders-0')
  symlinkSync(directory, link)
  await expectRefused(link, expected, directory)
})

it('a log of a broker with a damaged batchLength in the middle loses nothing', async () => {
  for (const [name, at, byte] of [
    ['00000000000000000007.log', 8, 0x40],
    ['00000000000000000000.log', 8, 0x40],
    ['00000000000000000012.log', 8, 0x7f],
  ] as const) {
    const directory = join(newDirectory(), 'd-0')
    cpSync(join(fixtures, 'segments-0'), directory, { recursive: true })
    const bytes = readFileSync(join(directory, name))
    bytes[at] = byte
    writeFileSync(join(directory, name), bytes)
    await expectRefused(directory, { code: 'CORRUPT_BATCH', message: expect.stringContaining(name) })
  }
})

it('a rewritten copy does not take the state of the mirror along', async () => {
  const directory = partition()
  await stopPartition(directory, REQUEST)
  const outDirectory = join(newDirectory(), 'out')
  const { companions, copied } = await rewritePaths([directory], { outDirectory, direction: 'unmap' })
  const before = readTree(directory)
  const { 'mirror-state.json': state, ...others } = before
  expect(state).toBeDefined()
  expect(Object.keys(readTree(join(outDirectory, 'orders-0'))).sort()).toEqual(Object.keys(others).sort())
  expect(copied + companions.length + 1).toBe(Object.keys(others).length)
})

describe("Java's properties", () => {
  it.each([
    ['a=b', 'a', 'b'],
    ['a = b c ', 'a', 'b c '],
    ['a\u00a0= \fb\v', 'a\u00a0', 'b\v'],
    ['\\\n#a=b', '#a', 'b'],
    ['a\\=b=c', 'a=b', 'c'],
    ['a\\ b c', 'a b', 'c'],
    ['a==b', 'a', '=b'],
    ['a', 'a', ''],
    ['a=x\\:y\\u0041\\n', 'a', 'x:yA\n'],
    ['a=b\\\\\nc=d', 'a', 'b\\'],
    ['a=b\\\r\n  c', 'a', 'bc'],
    ['a=b\\\n#c', 'a', 'b#c'],
  ])('%j', (text, key, value) => {
    expect(decodeProperties(Buffer.from(text, 'latin1'), 'file').get(key)).toBe(value)
  })
})
