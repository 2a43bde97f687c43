import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { LogFileError } from '../../errors.ts'
import { atFile } from '../files/ioErrors.ts'

/** Kafka's LogManager.LOCK_FILE_NAME, in each log directory of a running broker. */
const LOCK = '.lock'
const LOCKS = '/proc/locks'

/** A lock on a file, as Linux lists it. */
export interface ListedLock {
  pid: number
  major: number
  minor: number
  inode: bigint
}

/**
 * Refuses to go on where a running broker holds its lock on one of the log directories. It is a POSIX lock (Java's
 * `FileChannel.lock`), which Linux lists; elsewhere, of a broker on another machine, and of one in a container that is not
 * to be seen from here, nothing can be told.
 *
 * @throws LogFileError BROKER_RUNNING, naming the process; IO_ERROR
 */
export function requireNoBroker(logDirectories: readonly string[]): void {
  const files = logDirectories.map((directory) => join(directory, LOCK)).filter(existsSync)
  if (files.length === 0 || !existsSync(LOCKS)) return
  const locks = atFile('read it', LOCKS, () => listedLocks(readFileSync(LOCKS, 'latin1')))
  for (const file of files) {
    for (const lock of locks) {
      const doubt = holdsFile(lock, file)
      if (doubt !== null) throw brokerRunning(file, lock.pid, doubt)
    }
  }
}

/** Those that are held; "->" stands before one that is waited for. */
function listedLocks(text: string): ListedLock[] {
  const held = /^\d+: POSIX +\S+ +\S+ +(\d+) ([0-9a-f]+):([0-9a-f]+):(\d+) /gm
  return Array.from(text.matchAll(held), ([, pid, major, minor, inode]) => ({
    pid: Number(pid),
    major: Number.parseInt(major!, 16),
    minor: Number.parseInt(minor!, 16),
    inode: BigInt(inode!),
  }))
}

/**
 * Null where a lock is not on the file. On file systems without a device of their own (btrfs, overlays), the list may have
 * another number than the file itself; what the process has open tells then, or, if that is not to be read, the inode.
 *
 * @returns what is to be said where it is not certain; empty where it is
 */
export function holdsFile({ pid, major, minor, inode }: ListedLock, file: string): string | null {
  const { dev, ino } = atFile('read it', file, () => statSync(file, { bigint: true }))
  if (ino !== inode) return null
  const [ownMajor, ownMinor] = [majorOf(dev), minorOf(dev)]
  if (ownMajor === major && ownMinor === minor) return ''
  if (ownMajor !== 0 && major !== 0) return null
  return hasOpen(pid, dev, ino)
}

function hasOpen(pid: number, dev: bigint, ino: bigint): string | null {
  const descriptors = `/proc/${pid}/fd`
  try {
    const isOpen = readdirSync(descriptors).some((name) => {
      const opened = statSync(join(descriptors, name), { bigint: true, throwIfNoEntry: false })
      return opened?.dev === dev && opened.ino === ino
    })
    return isOpen ? '' : null
  } catch (error) {
    // it has ended since
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    return ' (so it seems: it has the number of this file on a device that is not told apart, and may not be looked at)'
  }
}

/** The parts of a device's number, as glibc's `major` and `minor` take it apart. */
function majorOf(dev: bigint): number {
  return Number(((dev >> 8n) & 0xfffn) | ((dev >> 32n) & 0xfffff000n))
}

function minorOf(dev: bigint): number {
  return Number((dev & 0xffn) | ((dev >> 12n) & 0xffffff00n))
}

function brokerRunning(file: string, pid: number, doubt: string): LogFileError {
  return new LogFileError(
    'BROKER_RUNNING',
    `${file}: process ${pid}${commandOf(pid)} holds this lock, as a running broker does${doubt}. Nothing was changed; stop the ` +
      'broker first. If it is none, or has nothing to do with these partitions: --ignore-broker (ignoreBroker: true).',
    file,
  )
}

function commandOf(pid: number): string {
  try {
    return ` (${readFileSync(`/proc/${pid}/comm`, 'utf8').trim()})`
  } catch {
    return ''
  }
}
