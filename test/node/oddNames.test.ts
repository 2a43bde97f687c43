import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { auditPaths, rewritePaths, verifyPaths } from '../../src/node/index.ts'
import { readLogPath } from '../../src/node/paths/logPaths.ts'
import { batch } from '../support/batches.ts'
import { runCommand, temporaryDirectories, writeTree } from './support.ts'

// A file system that takes any bytes for a name has names that Node gives with U+FFFD in them, under which nothing is there.

const newDirectory = temporaryDirectories()
const SEGMENT = '00000000000000000000.log'
const segment = batch({ baseOffset: 0n, producerId: 5n })
const partition = { [SEGMENT]: segment }

/** The path of a name that is given by its bytes, each of them a character. */
const inside = (directory: string, name: string) =>
  Buffer.concat([Buffer.from(`${directory}/`), Buffer.from(name, 'latin1')])

function writePartition(path: Buffer): void {
  mkdirSync(path)
  writeFileSync(Buffer.concat([path, Buffer.from(`/${SEGMENT}`)]), segment)
}

const commands: [string, (directory: string) => Promise<{ leftOut: { path: string; reason: string }[] }>][] =
  [
    ['verify', (directory) => verifyPaths([directory])],
    ['audit', (directory) => auditPaths([directory])],
    ['rewrite --in-place', (directory) => rewritePaths([directory], { inPlace: true })],
    [
      'rewrite --out',
      (directory) => rewritePaths([directory], { outDirectory: join(newDirectory(), 'out') }),
    ],
  ]

const cases: [string, string, string, (path: Buffer) => void][] = [
  ['a partition', '.', 'caf\xe9-0', writePartition],
  ['a directory', '.', 'caf\xe9', (path) => mkdirSync(path)],
  ['a file beside partitions', '.', 'x\xe9.txt', (path) => writeFileSync(path, '')],
  ['a file of a partition', 'orders-0', 'x\xe9.txt', (path) => writeFileSync(path, '')],
  ['a segment of a partition', 'orders-0', 'x\xe9.log', (path) => writeFileSync(path, segment)],
  ['a directory in a partition', 'orders-0', '\xff', (path) => mkdirSync(path)],
  ['a link in a partition', 'orders-0', '\xff', (path) => symlinkSync(SEGMENT, path)],
]

describe.skipIf(process.platform !== 'linux')('a name that is not UTF-8', () => {
  describe.each(cases)('of %s', (_, where, name, make) => {
    const asText = Buffer.from(name, 'latin1').toString()
    const escaped = name.replace('\xe9', '\\xe9').replace('\xff', '\\xff')

    /** With a neighbour whose name is what Node makes of the other one, or without. */
    function logDirectory(hasTwin: boolean): string {
      const directory = writeTree(newDirectory(), { 'orders-0': partition })
      make(inside(join(directory, where), name))
      if (hasTwin) {
        const twin = join(directory, where, asText)
        if (where === '.' && !name.includes('.')) writeTree(twin, partition)
        else writeFileSync(twin, name.endsWith('.log') ? segment : '')
      }
      return directory
    }

    it.each(commands)('%s leaves it out, and says so', async (_, run) => {
      for (const hasTwin of [false, true]) {
        const { leftOut } = await run(logDirectory(hasTwin))
        expect(leftOut.map(({ path, reason }) => [basename(path), reason])).toEqual([
          [asText, `its name (${escaped}) is not UTF-8; rename it`],
        ])
      }
    })

    it('its neighbours are all there, once', async () => {
      const { units, ownFiles } = await readLogPath(logDirectory(true))
      const files = [...units.flatMap((unit) => unit.files), ...ownFiles].map(({ path }) => path)
      expect(files).toHaveLength(2)
      expect(new Set(files).size).toBe(2)
    })
  })

  it('is warned of by the commands', () => {
    const directory = writeTree(newDirectory(), { 'orders-0': partition })
    writePartition(inside(directory, 'caf\xe9-0'))
    writeFileSync(inside(join(directory, 'orders-0'), 'x\xe9.txt'), '')
    for (const args of [
      ['verify', directory],
      ['audit', directory],
      ['rewrite', directory, '--out', join(newDirectory(), 'out')],
      ['rewrite', directory, '--in-place'],
    ]) {
      const { status, stderr } = runCommand(args)
      expect([args[0], status]).toEqual([args[0], 0])
      expect(stderr).toMatch(/caf\ufffd-0 was left out: its name \(caf\\xe9-0\) is not UTF-8/)
      expect(stderr).toMatch(/x\ufffd\.txt was left out: its name \(x\\xe9\.txt\) is not UTF-8/)
    }
  })

  it('of all that a directory holds is named', async () => {
    const one = newDirectory()
    writePartition(inside(one, 'caf\xe9-0'))
    const other = newDirectory()
    writeFileSync(inside(other, 'x\xe9.log'), segment)
    for (const directory of [one, other]) {
      await expect(verifyPaths([directory])).rejects.toMatchObject({
        code: 'NOT_A_LOG',
        message: expect.stringMatching(/left out: its name \((caf\\xe9-0|x\\xe9\.log)\) is not UTF-8/),
      })
    }
  })

  it('does not make two partitions, or two segments, one', async () => {
    const [directory, links] = [newDirectory(), newDirectory()]
    for (const [at, name] of ['caf\xe8-0', 'caf\xe9-0'].entries()) {
      writePartition(inside(directory, name))
      symlinkSync(inside(directory, name), join(links, `orders-${at}`))
    }
    const paths = readdirSync(links).map((name) => join(links, name))
    expect((await verifyPaths(paths)).files.map(({ path }) => path)).toEqual(
      paths.map((path) => join(path, SEGMENT)),
    )
    const segments = paths.map((path) => join(path, SEGMENT))
    expect((await verifyPaths(segments)).files).toHaveLength(2)
    expect((await verifyPaths([paths[0]!, segments[0]!, segments[1]!])).files).toHaveLength(2)
  })
})
