import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { lockDirectory } from '../../src/node/locks/directoryLock.ts'
import { isGone, lockHolder } from '../../src/node/locks/lockHolder.ts'
import { temporaryDirectories } from './support.ts'

const newDirectory = temporaryDirectories()
const child = fileURLToPath(new URL('./lockAndHold.js', import.meta.url))
const LOCK = '.mirrorpid-lock'
const RACERS = 6

/** The pid of a process that is gone. */
const deadPid = (): number => spawnSync(process.execPath, ['-e', '']).pid

const staleHolder = () => ({ ...lockHolder(), pid: deadPid(), started: null })

function plant(directory: string, holder: object, name = LOCK): void {
  writeFileSync(join(directory, name), JSON.stringify(holder))
}

const refused = (directory: string) =>
  expect(() => lockDirectory(directory)).toThrow(expect.objectContaining({ code: 'DIRECTORY_LOCKED' }))

/** Processes that try to have the lock, all from the moment when the last of them is ready; resolves to what became of each. */
async function race(directory: string, mode = 'hold'): Promise<string[]> {
  const racers = Array.from({ length: RACERS }, () => {
    const racer = spawn(process.execPath, [child, directory, mode], { stdio: ['pipe', 'pipe', 'inherit'] })
    const lines: string[] = []
    const ready = once(racer.stdout, 'data')
    racer.stdout.setEncoding('utf8').on('data', (text: string) => lines.push(...text.trim().split('\n')))
    const ended = once(racer, 'close').then(() => lines.slice(1).join())
    return { racer, ready, ended }
  })
  await Promise.all(racers.map(({ ready }) => ready))
  for (const { racer } of racers) racer.stdin.end('!')
  return (await Promise.all(racers.map(({ ended }) => ended))).flatMap((outcomes) => outcomes.split(','))
}

describe('a lock', () => {
  it('is held by one at a time, says by whom, and leaves nothing', () => {
    const directory = newDirectory()
    const lock = lockDirectory(directory)
    expect(JSON.parse(readFileSync(join(directory, LOCK), 'utf8'))).toMatchObject({
      pid: process.pid,
      host: hostname(),
      command: expect.any(String),
      since: expect.stringMatching(/^\d{4}-/),
    })
    refused(directory)
    expect(() => lockDirectory(directory)).toThrow(`this very process (${process.pid})`)
    lock.release()
    const next = lockDirectory(directory)
    // what was given up is not given up again
    lock.release()
    refused(directory)
    next.release()
    expect(readdirSync(directory)).toEqual([])
  })

  it('is not removed where it became another one’s', () => {
    const directory = newDirectory()
    const lock = lockDirectory(directory)
    const other = { ...lockHolder(), host: 'elsewhere' }
    plant(directory, other)
    lock.release()
    expect(JSON.parse(readFileSync(join(directory, LOCK), 'utf8'))).toEqual(other)
  })

  it.each([
    ['whose process is gone', () => staleHolder()],
    ['whose process had its pid before this one', () => ({ ...lockHolder(), started: '1' })],
    ['of before the machine was started', () => ({ ...lockHolder(), boot: 'another' })],
  ])('%s is taken over', (_name, holder) => {
    const directory = newDirectory()
    plant(directory, holder())
    const lock = lockDirectory(directory)
    refused(directory)
    lock.release()
    expect(readdirSync(directory)).toEqual([])
  })

  it('whose takeover was killed is taken over, and so on', () => {
    const directory = newDirectory()
    const chain = Array.from({ length: 5 }, () => staleHolder())
    plant(directory, chain[0]!)
    for (const [at, holder] of chain.slice(1).entries()) {
      plant(directory, holder, `${LOCK}.mirrorpid-${chain[at]!.token}`)
    }
    lockDirectory(directory).release()
    expect(readdirSync(directory)).toEqual([])
  })

  it.each([
    [
      'of a process at work',
      () => ({ ...lockHolder(), pid: process.ppid, started: null }),
      /wait for it to end/,
    ],
    ['of another host', () => ({ ...staleHolder(), host: 'elsewhere' }), /elsewhere.*remove the file/],
    ['of another container', () => ({ ...staleHolder(), pids: 'pid:[1]' }), /process \d+ on/],
    ['that is half written', () => '{"pid":', /cannot be read/],
    ['that is empty', () => '', /cannot be read/],
    ['without a token', () => ({ ...staleHolder(), token: '../../x' }), /cannot be read/],
    ['of no process', () => ({ ...staleHolder(), pid: -1 }), /cannot be read/],
    ['of no object', () => 'null', /cannot be read/],
  ])('%s is left, and named', (_name, holder, message) => {
    const directory = newDirectory()
    const held = holder()
    writeFileSync(join(directory, LOCK), typeof held === 'string' ? held : JSON.stringify(held))
    refused(directory)
    expect(() => lockDirectory(directory)).toThrow(message)
    expect(() => lockDirectory(directory)).toThrow(join(directory, LOCK))
    expect(readdirSync(directory)).toEqual([LOCK])
  })

  it('in a ring of locks that name each other is refused', () => {
    const directory = newDirectory()
    const holder = staleHolder()
    plant(directory, holder)
    plant(directory, holder, `${LOCK}.mirrorpid-${holder.token}`)
    refused(directory)
  })

  it('knows its own process to be there', () => {
    expect(isGone(lockHolder())).toBe(false)
  })
})

describe('processes that race', () => {
  it.each([
    ['a free lock', () => {}],
    ['a stale lock', (directory: string) => plant(directory, staleHolder())],
    [
      'a stale lock, whose takeover was killed',
      (directory: string) => {
        const holder = staleHolder()
        plant(directory, holder)
        plant(directory, staleHolder(), `${LOCK}.mirrorpid-${holder.token}`)
      },
    ],
  ])('for %s are never two at once', async (_name, prepare) => {
    for (let round = 0; round < 4; round++) {
      const directory = newDirectory()
      prepare(directory)
      const outcomes = await race(directory)
      expect(outcomes).not.toContain('TWO AT ONCE')
      expect(outcomes.filter((outcome) => !['held', 'DIRECTORY_LOCKED'].includes(outcome))).toEqual([])
      expect(outcomes).toContain('held')
      expect(readdirSync(directory)).toEqual([])
    }
  })

  it('and die while they have it leave what the next take over, one at a time', async () => {
    const directory = newDirectory()
    for (let round = 0; round < 4; round++) {
      const outcomes = await race(directory, 'die')
      expect(outcomes.filter((outcome) => !['', 'DIRECTORY_LOCKED'].includes(outcome))).toEqual([])
      expect(existsSync(join(directory, LOCK))).toBe(true)
      const next = await race(directory)
      expect(next).toContain('held')
      expect(next).not.toContain('TWO AT ONCE')
      expect(readdirSync(directory)).toEqual([])
    }
  })
})

it('is no lock where the directory is none', () => {
  const path = join(newDirectory(), 'gone')
  expect(() => lockDirectory(path)).toThrow(expect.objectContaining({ code: 'IO_ERROR', errno: 'ENOENT' }))
  mkdirSync(path)
  lockDirectory(path).release()
})

it('is not held where what is beside it cannot be removed', () => {
  const directory = newDirectory()
  const inTheWay = join(directory, `${LOCK}.mirrorpid-0123abcd`)
  mkdirSync(inTheWay)
  expect(() => lockDirectory(directory)).toThrow(expect.objectContaining({ code: 'IO_ERROR' }))
  expect(existsSync(join(directory, LOCK))).toBe(false)
  rmdirSync(inTheWay)
  lockDirectory(directory).release()
})
