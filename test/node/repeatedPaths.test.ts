import { readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { auditPaths, rewritePaths, verifyPaths } from '../../src/node/index.ts'
import { batch } from '../support/batches.ts'
import { readTree, temporaryDirectories, writeTree } from './support.ts'

const newDirectory = temporaryDirectories()
const SEGMENT = '00000000000000000000.log'
const segment = Buffer.concat([
  batch({ baseOffset: 0n, producerId: 5n }),
  batch({ baseOffset: 1n, producerId: 9n }),
])
const snapshotless = {
  [SEGMENT]: segment,
  'partition.metadata': 'version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ',
}

/** A log directory with two partitions; a link leads to it. */
function logDirectory(): { root: string; partition: string; file: string; link: string } {
  const above = newDirectory()
  const root = writeTree(join(above, 'kafka'), {
    'orders-0': snapshotless,
    'orders-1': snapshotless,
    'meta.properties': 'version=0',
  })
  symlinkSync(root, join(above, 'link'))
  const partition = join(root, 'orders-0')
  return { root, partition, file: join(partition, SEGMENT), link: join(above, 'link') }
}
type Place = ReturnType<typeof logDirectory>

const cases: [string, (place: Place) => string[], (place: Place) => string[]][] = [
  ['a segment twice', ({ file }) => [file, `${file}`], ({ file }) => [file]],
  ['a partition twice', ({ partition }) => [partition, `${partition}/`], ({ partition }) => [partition]],
  ['a partition and its segment', ({ partition, file }) => [file, partition], ({ partition }) => [partition]],
  ['a partition and its log directory', ({ root, partition }) => [partition, root], ({ root }) => [root]],
  ['a log directory and its partition', ({ root, partition }) => [root, partition], ({ root }) => [root]],
  ['a log directory twice', ({ root }) => [root, root], ({ root }) => [root]],
  ['a link beside what it leads to', ({ root, link }) => [root, link], ({ root }) => [root]],
  [
    'all at once',
    ({ root, partition, file, link }) => [file, link, partition, root, file],
    ({ root }) => [root],
  ],
]

describe.each(cases)('%s', (_name, repeated, once) => {
  it('is verified, audited and rewritten once', async () => {
    const place = logDirectory()
    const verified = await verifyPaths(repeated(place))
    expect(verified.totals).toEqual((await verifyPaths(once(place))).totals)
    expect(new Set(verified.files.map(({ path }) => path)).size).toBe(verified.files.length)

    const audited = await auditPaths(repeated(place))
    expect(audited.totals).toEqual((await auditPaths(once(place))).totals)
    const sources = (paths: string[]) => paths.map((path) => ({ name: 'A', path }))
    const asSource = await auditPaths([], { sources: sources(repeated(place)) })
    expect(asSource.totals).toEqual((await auditPaths([], { sources: sources(once(place)) })).totals)

    const [out, expected] = [newDirectory(), newDirectory()]
    const { seconds: _, ...totals } = (await rewritePaths(repeated(place), { outDirectory: out })).totals
    const { seconds: __, ...counted } = (await rewritePaths(once(place), { outDirectory: expected })).totals
    expect(totals).toEqual(counted)
    expect(readTree(out)).toEqual(readTree(expected))

    for (const jobs of [1, 3]) {
      const inPlace = logDirectory()
      const { errors, files } = await rewritePaths(repeated(inPlace), { inPlace: true, jobs })
      expect(errors).toEqual([])
      expect(files.map(({ batches, rewritten }) => [batches, rewritten])).toEqual(
        verified.files.map(() => [2, 2]),
      )
    }
  })
})

it('of two names for a source both are kept', async () => {
  const { partition } = logDirectory()
  const { totals } = await auditPaths([], {
    sources: ['A', 'B'].map((name) => ({ name, path: partition })),
  })
  expect(totals.sourceLogs).toBe(2)
  expect(readdirSync(partition)).toHaveLength(2)
})
