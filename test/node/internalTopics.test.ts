import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { rewriteSegmentFile } from '../../src/node/index.ts'
import { batch } from '../support/batches.ts'
import { readTree, runCommand, temporaryDirectories, writeTree } from './support.ts'

// __transaction_state and __cluster_metadata hold producer ids in record values, which no rewrite of headers reaches.

const newDirectory = temporaryDirectories()
const SEGMENT = '00000000000000000000.log'
const bytes = batch({ producerId: 5n })
const INTERNAL = [
  '__cluster_metadata-0',
  '__transaction_state-0',
  '__transaction_state-12',
  `__transaction_state-3.${'0123456789abcdef'.repeat(2)}-stray`,
]
const OTHERS = ['__consumer_offsets-1', 'my__transaction_state-0', '__transaction_state_copy-0', 'orders-0']

function logDirectory(): string {
  const names = [...INTERNAL, ...OTHERS]
  return writeTree(newDirectory(), {
    data: {
      ...Object.fromEntries(names.map((name) => [name, { [SEGMENT]: bytes }])),
      'meta.properties': 'version=1\ncluster.id=A\n',
    },
  })
}

const isMapped = (path: string) => !readFileSync(join(path, SEGMENT)).equals(bytes)

describe('internal topics whose values hold ids', () => {
  it.each([[[]], [['--quiet']]])('are left out of a copy, each named, with exit 0 (%j)', (flags) => {
    const root = logDirectory()
    const [data, out] = [join(root, 'data'), join(root, 'out')]
    const { status, stderr } = runCommand(['rewrite', data, '--out', out, ...flags])
    expect(status).toBe(0)
    for (const name of INTERNAL) {
      expect(stderr.split('\n').filter((line) => line.includes(join(data, name)))).toHaveLength(1)
      expect(existsSync(join(out, name))).toBe(false)
    }
    for (const name of OTHERS) expect([name, isMapped(join(out, name))]).toEqual([name, true])
  })

  it('are skipped in place, and listed', () => {
    const data = join(logDirectory(), 'data')
    const { status, stdout } = runCommand(['rewrite', data, '--in-place', '--json'])
    expect(status).toBe(0)
    expect(JSON.parse(stdout).leftOut.map(({ path }: { path: string }) => path)).toEqual(
      INTERNAL.map((name) => join(data, name)),
    )
    for (const name of INTERNAL) expect([name, isMapped(join(data, name))]).toEqual([name, false])
    for (const name of OTHERS) expect([name, isMapped(join(data, name))]).toEqual([name, true])
  })

  it.each([
    ['directory', (data: string) => join(data, '__transaction_state-0')],
    ['segment', (data: string) => join(data, '__transaction_state-0', SEGMENT)],
    [
      'link',
      (data: string) => {
        symlinkSync(join(data, '__transaction_state-0'), join(data, '..', 'link'))
        return join(data, '..', 'link')
      },
    ],
  ])('are refused where a path names one: a %s', (_name, pathIn) => {
    for (const isBesideAll of [false, true]) {
      const root = logDirectory()
      const data = join(root, 'data')
      const before = readTree(join(data, '__transaction_state-0'))
      const path = pathIn(data)
      const others = isBesideAll ? [data] : [join(data, '__consumer_offsets-1')]
      const { status, stderr } = runCommand(['rewrite', ...others, path, '--in-place'])
      expect([status, stderr]).toEqual([
        2,
        expect.stringContaining(`${path}: its record values hold producer ids`),
      ])
      expect(readTree(join(data, '__transaction_state-0'))).toEqual(before)
      expect(isMapped(join(data, '__consumer_offsets-1'))).toBe(true)
    }
  })

  it('are refused by rewriteSegmentFile', async () => {
    const data = join(logDirectory(), 'data')
    const path = join(data, '__cluster_metadata-0', SEGMENT)
    await expect(rewriteSegmentFile(path, { inPlace: true })).rejects.toMatchObject({
      code: 'INTERNAL_TOPIC',
      file: path,
    })
  })
})
