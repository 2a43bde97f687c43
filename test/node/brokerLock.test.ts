import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { PartitionLog } from '../../src/index.ts'
import {
  directoryStorage,
  openPartitionDirectory,
  recoverPartition,
  rewritePaths,
  rewriteSegmentFile,
  stopPartition,
} from '../../src/node/index.ts'
import { holdsFile } from '../../src/node/locks/brokerLock.ts'
import { encodeOp } from '../producers/logBuilder.ts'
import { readTree, runCommand, temporaryDirectories } from './support.ts'

const newDirectory = temporaryDirectories()
const SEGMENT = '00000000000000000000.log'
const IDS = ['--cluster-id', 'B', '--source-cluster-id', 'A']
const REQUEST = { clusterId: 'B', sourceClusterId: 'A' }
const MAP = { inPlace: true, direction: 'unmap' } as const

/** A mirrored partition in a log directory of its own. */
function partition(): string {
  const directory = join(newDirectory(), 'orders-0')
  mkdirSync(directory)
  const log = PartitionLog.open(directoryStorage(directory))
  log.append(encodeOp({ kind: 'data', pid: -7, seq: 0 }), 'replication')
  log.close()
  return directory
}

const HOLD = `
import fcntl, sys
file = open(sys.argv[1], 'w')
getattr(fcntl, sys.argv[2])(file, fcntl.LOCK_EX)
print('held', flush=True)
sys.stdin.read()`

/** A process that holds a lock on a file until the test is over: POSIX's, as Java's `FileChannel.lock`, or flock's. */
async function hold(
  file: string,
  kind: 'lockf' | 'flock' = 'lockf',
): Promise<ChildProcess & { pid: number }> {
  const child = spawn('python3', ['-c', HOLD, file, kind], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const [line] = await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'close').then(() => ['python3 has ended']),
  ])
  expect(`${line}`.trim()).toBe('held')
  return child as ChildProcess & { pid: number }
}

const changes = (directory: string, ignoreBroker = false) => [
  () => stopPartition(directory, { ...REQUEST, ignoreBroker }),
  () => recoverPartition(directory, { write: true, ignoreBroker }),
  async () => openPartitionDirectory(directory, { write: true, ignoreBroker }).close(),
  async () => openPartitionDirectory(`${directory}1`, { write: true, create: true, ignoreBroker }).close(),
  () => rewriteSegmentFile(join(directory, SEGMENT), { ...MAP, ignoreBroker }),
  ...[join(directory, '..'), directory, join(directory, SEGMENT)].flatMap((path) => [
    () => rewritePaths([path], { ...MAP, ignoreBroker }),
    () => rewritePaths([path], { inPlace: true, resume: true, ignoreBroker }),
  ]),
]

// elsewhere nothing can be seen
describe.runIf(existsSync('/proc/locks'))('a broker that is running', () => {
  it('is named, and nothing is changed', async () => {
    const directory = partition()
    const lock = join(directory, '../.lock')
    const { pid } = await hold(lock)
    const before = readTree(join(directory, '..'))
    const message = expect.stringMatching(`^${lock}: process ${pid} \\(python3?[^)]*\\) holds this lock`)
    for (const change of changes(directory)) {
      await expect(change(), `${change}`).rejects.toMatchObject({
        code: 'BROKER_RUNNING',
        file: lock,
        message,
      })
      expect(readTree(join(directory, '..')), `${change}`).toEqual(before)
    }
  })

  it.each([
    ['stop', '', IDS],
    ['recover', '', ['--write']],
    ['rewrite', '', ['--in-place', '--unmap']],
    ['rewrite', '..', ['--in-place', '--unmap']],
    ['rewrite', SEGMENT, ['--in-place', '--resume']],
  ])('is named by the commands: %s %s', async (command, path, flags) => {
    const directory = partition()
    const lock = join(directory, '../.lock')
    const { pid } = await hold(lock)
    const before = readTree(join(directory, '..'))
    const args = [command, join(directory, path), ...flags]
    const { status, stderr } = runCommand(args)
    expect(status).toBe(2)
    expect(stderr).toMatch(new RegExp(`^mirrorpid: ${lock}: process ${pid} .*--ignore-broker`))
    expect(readTree(join(directory, '..'))).toEqual(before)
    expect(runCommand([...args, '--ignore-broker']).status).toBe(0)
  })

  it('is no hindrance to what changes nothing, and may be ignored', async () => {
    const directory = partition()
    await hold(join(directory, '../.lock'))
    await recoverPartition(directory)
    await stopPartition(directory, { ...REQUEST, dryRun: true })
    openPartitionDirectory(directory).close()
    await rewritePaths([directory], { outDirectory: newDirectory() })
    for (const change of changes(directory, true)) await change()
  })

  it('is seen through links, of the partition and of the log directory', async () => {
    const directory = partition()
    await hold(join(directory, '../.lock'))
    const link = join(newDirectory(), 'orders-0')
    symlinkSync(directory, link)
    const whole = join(newDirectory(), 'kafka')
    symlinkSync(join(directory, '..'), whole)
    for (const path of [link, join(whole, 'orders-0')]) {
      await expect(stopPartition(path, REQUEST)).rejects.toMatchObject({ code: 'BROKER_RUNNING' })
    }
    await expect(rewritePaths([whole], MAP)).rejects.toMatchObject({ code: 'BROKER_RUNNING' })

    const linked = join(newDirectory(), 'orders-0')
    symlinkSync(partition(), linked)
    await hold(join(linked, '..', '.lock'))
    await expect(stopPartition(linked, REQUEST)).rejects.toMatchObject({ code: 'BROKER_RUNNING' })
  })

  it('holds a POSIX lock, on that very file, for as long as it runs', async () => {
    const directory = partition()
    const lock = join(directory, '../.lock')
    await hold(lock, 'flock')
    await hold(join(directory, '../.locked'))
    await hold(join(partition(), '../.lock'))
    const before = statSync(lock)
    await stopPartition(directory, REQUEST)
    expect(statSync(lock)).toEqual(before)
    const other = partition()
    const child = await hold(join(other, '../.lock'))
    child.kill('SIGKILL')
    await once(child, 'close')
    await stopPartition(other, REQUEST)
  })
})

describe.runIf(existsSync('/proc/locks'))('where the list of locks has another device than the file', () => {
  it('what the process has open tells, but not on a device that is told apart', async () => {
    const file = join(newDirectory(), '.lock')
    const { pid } = await hold(file)
    const { ino: inode } = statSync(file, { bigint: true })
    const elsewhere = { major: 0, minor: 0xfffff }
    expect(holdsFile({ pid, ...elsewhere, inode }, file)).toBe('')
    expect(holdsFile({ pid: process.pid, ...elsewhere, inode }, file)).toBeNull()
    expect(holdsFile({ pid, ...elsewhere, inode: inode + 1n }, file)).toBeNull()
  })
})

it.each([
  ['rewrite', ['--out', 'somewhere']],
  ['recover', []],
])('%s has --ignore-broker for what changes files', (command, flags) => {
  const { status, stderr } = runCommand([command, partition(), '--ignore-broker', ...flags])
  expect([status, stderr]).toEqual([2, expect.stringContaining("option '--ignore-broker' goes with '--")])
})
