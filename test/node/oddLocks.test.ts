import { spawnSync } from 'node:child_process'
import { cpSync, lstatSync, mkdirSync, readdirSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { lockDirectory } from '../../src/node/locks/directoryLock.ts'
import { lockHolder } from '../../src/node/locks/lockHolder.ts'
import { mainScript, readTree, temporaryDirectories } from './support.ts'

// What may have the name of a lock and is none: whoever meets it must say so, and not hang, nor remove it. Commands run in
// processes of their own, as one that hangs could not be ended here.

const faults = vi.hoisted(() => ({ link: null as string | null }))
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>()
  return {
    ...fs,
    linkSync(from: string, to: string) {
      if (faults.link === null) return fs.linkSync(from, to)
      throw Object.assign(new Error(faults.link), { code: faults.link, syscall: 'link' })
    },
  }
})

const newDirectory = temporaryDirectories()
const fixture = fileURLToPath(new URL('../fixtures/kafka-4.3.1/transactions-0', import.meta.url))
const LOCK = '.mirrorpid-lock'
const LEFT = `${LOCK}.mirrorpid-0123abcd`
const SECONDS = 20

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
  faults.link = null
})

const ODDITIES: [string, (path: string) => unknown][] = [
  ['a symbolic link', (path) => symlinkSync('gone', path)],
  ['a symbolic link', (path) => symlinkSync('leader-epoch-checkpoint', path)],
  ['a symbolic link', (path) => symlinkSync(path, path)],
  ['a directory', (path) => mkdirSync(path)],
  ['a pipe', (path) => expect(spawnSync('mkfifo', [path]).status).toBe(0)],
  [
    'a socket',
    (path) =>
      new Promise<void>((resolve) => {
        const server = createServer().listen(path, resolve)
        closing.push(() => server.close())
      }),
  ],
]

const STOP = ['--cluster-id', 'B', '--source-cluster-id', 'A', '--unmarked']
const COMMANDS: [string, string[]][] = [
  ['rewrite', ['--in-place']],
  ['recover', ['--write']],
  ['stop', STOP],
]

async function withOddity(name: string, make: (path: string) => unknown): Promise<[string, string]> {
  const directory = join(newDirectory(), 'transactions-0')
  cpSync(fixture, directory, { recursive: true })
  const path = join(directory, name)
  await make(path)
  return [directory, path]
}

const what = (path: string) => {
  const stats = lstatSync(path)
  return [stats.mode, stats.ino, stats.isSymbolicLink() ? readlinkSync(path) : null]
}

describe.skipIf(process.platform === 'win32').each(ODDITIES)('%s', (is, make) => {
  it.each(COMMANDS)('in the place of the lock ends %s', async (command, args) => {
    const [directory, path] = await withOddity(LOCK, make)
    const before = [readTree(directory), what(path)]
    const { status, stderr, error } = spawnSync(process.execPath, [mainScript, command, directory, ...args], {
      encoding: 'utf8',
      timeout: SECONDS * 1000,
      killSignal: 'SIGKILL',
    })
    expect([error?.message, status]).toEqual([undefined, 2])
    expect(stderr).toContain(`${path}: this is ${is}`)
    expect(stderr).toContain('Nothing was changed')
    expect([readTree(directory), what(path)]).toEqual(before)
  })

  it('under the name of what a killed run leaves is told of, and the lock is given up', async () => {
    const [directory, path] = await withOddity(LEFT, make)
    const before = what(path)
    expectRefusal(directory, { code: 'IO_ERROR', message: expect.stringContaining(`${path}: this is ${is}`) })
    expect(what(path)).toEqual(before)
    expect(readdirSync(directory)).not.toContain(LOCK)
  })

  it('where the lock of a process that is gone would be replaced is told of', async () => {
    const { pid } = spawnSync(process.execPath, ['-e', ''])
    const stale = { ...lockHolder(), pid, started: null, token: '0123abcd' }
    const [directory, path] = await withOddity(LEFT, make)
    writeFileSync(join(directory, LOCK), JSON.stringify(stale))
    expectRefusal(directory, { code: 'IO_ERROR', message: expect.stringContaining(`${path}: this is ${is}`) })
    expect(readdirSync(directory)).toEqual(expect.arrayContaining([LOCK, LEFT]))
  })
})

/** In a process of its own, which is killed where it hangs. */
function expectRefusal(directory: string, expected: object): void {
  const child = fileURLToPath(new URL('./lockAndHold.js', import.meta.url))
  const { stdout, error } = spawnSync(process.execPath, [child, directory, 'explain'], {
    encoding: 'utf8',
    timeout: SECONDS * 1000,
    killSignal: 'SIGKILL',
  })
  expect(error?.message).toBeUndefined()
  expect(JSON.parse(stdout)).toEqual(expected)
}

it.each(['EEXIST', 'ENOENT'])('a lock that is there (%s) and is not ends the attempts', (code) => {
  const directory = newDirectory()
  faults.link = code
  expect(() => lockDirectory(directory)).toThrow(
    expect.objectContaining({ code: 'DIRECTORY_LOCKED', message: expect.stringContaining('100 attempts') }),
  )
  expect(readdirSync(directory)).toEqual([])
})
