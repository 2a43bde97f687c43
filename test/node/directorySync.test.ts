// A file system that cannot sync a directory is named before anything is changed, whatever is to be changed.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { batch } from '../support/batches.ts'
import { mainScript, readTree, temporaryDirectories, writeTree } from './support.ts'

const newDirectory = temporaryDirectories()
const preload = fileURLToPath(new URL('noDirectorySync.mjs', import.meta.url))
const SEGMENT = '00000000000000000000.log'
const tree = {
  'orders-0': {
    [SEGMENT]: batch({ producerId: 5n }),
    'partition.metadata': 'version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ\n',
  },
}

function run(errno: string, args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', preload, mainScript, ...args], {
    encoding: 'utf8',
    env: { ...process.env, ERRNO: errno },
  })
  return { status, stdout, stderr }
}

const stop = ['--cluster-id', 'B', '--source-cluster-id', 'A', '--unmarked']
const commands: [string, (directory: string, out: string) => string[]][] = [
  ['rewrite --in-place', (directory) => ['rewrite', directory, '--in-place']],
  ['of a segment', (directory) => ['rewrite', join(directory, SEGMENT), '--in-place']],
  ['rewrite --out', (directory, out) => ['rewrite', directory, '--out', out]],
  ['of a log directory', (directory, out) => ['rewrite', join(directory, '..'), '--out', out]],
  ['stop', (directory) => ['stop', directory, ...stop]],
  ['recover --write', (directory) => ['recover', directory, '--write']],
]

describe.each(commands)('%s where directories cannot be synced', (_, argsOf) => {
  it('says so, and changes nothing', () => {
    const root = writeTree(newDirectory(), tree)
    const out = join(newDirectory(), 'out')
    const { status, stderr } = run('EINVAL', argsOf(join(root, 'orders-0'), out))
    expect(status).toBe(2)
    expect(stderr).toContain('its file system cannot make the names in a directory last')
    expect(stderr).toContain('(fsync of a directory fails with EINVAL)')
    expect(stderr.trim().split('\n')).toHaveLength(1)
    expect(readTree(root)).toEqual(readTree(writeTree(newDirectory(), tree)))
    expect(readdirSync(join(out, '..'))).toEqual([])
  })

  it('prints a document with --json', () => {
    const root = writeTree(newDirectory(), tree)
    const { status, stdout } = run('EINVAL', [
      ...argsOf(join(root, 'orders-0'), join(newDirectory(), 'out')),
      '--json',
    ])
    expect(status).toBe(2)
    expect(JSON.parse(stdout).errors).toMatchObject([{ code: 'IO_ERROR', errno: 'EINVAL' }])
  })
})

it.each([
  ['verify', []],
  ['audit', []],
  ['recover', []],
  ['stop', [...stop, '--dry-run']],
])('%s, which only reads, does not mind', (command, options) => {
  const root = writeTree(newDirectory(), tree)
  expect(run('EINVAL', [command, join(root, 'orders-0'), ...options]).status).toBe(0)
})

it.each(['ENOTSUP', 'EBADF', 'EPERM', 'ENOSYS'])('%s means the same', (errno) => {
  const root = writeTree(newDirectory(), tree)
  const { stderr } = run(errno, ['stop', join(root, 'orders-0'), ...stop])
  expect(stderr).toContain(`(fsync of a directory fails with ${errno})`)
})

it('a disk that fails is told as such', () => {
  const root = writeTree(newDirectory(), tree)
  const { status, stderr } = run('EIO', ['rewrite', join(root, 'orders-0'), '--in-place'])
  expect(status).toBe(2)
  expect(stderr).toContain('cannot make the directory last: the disk reports an error')
})
