import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fchmodSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  type Stats,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { basename } from 'node:path'

/** Who holds a lock, as its file says it, in JSON. */
export interface LockHolder {
  pid: number
  host: string
  /** What the process was started as. */
  command: string
  /** When it took the lock, in ISO 8601. */
  since: string
  /** Tells locks of one process from each other: eight hex digits. */
  token: string
  /** Which start of the machine it belongs to; null where the system does not tell, as on all but Linux. */
  boot: string | null
  /** The pids that its own is one of. */
  pids: string | null
  /** When the process began, in ticks since the machine's start: a pid is used again. */
  started: string | null
}

/** This process, about to take a lock. */
export function lockHolder(): LockHolder {
  return {
    pid: process.pid,
    host: hostname(),
    command: [basename(process.argv[1] ?? process.execPath), ...process.argv.slice(2)]
      .join(' ')
      .slice(0, 500),
    since: new Date().toISOString(),
    token: randomBytes(4).toString('hex'),
    boot: bootId(),
    pids: pidNamespace(),
    started: startOf(process.pid),
  }
}

/** Writes the file and makes it last; false where there is one. */
export function writeHolder(path: string, holder: LockHolder): boolean {
  let descriptor: number
  try {
    descriptor = openSync(path, 'wx', 0o644)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
  try {
    // all may see who holds it, whatever the umask
    fchmodSync(descriptor, 0o644)
    writeFileSync(descriptor, `${JSON.stringify(holder)}\n`)
    fsyncSync(descriptor)
    return true
  } finally {
    closeSync(descriptor)
  }
}

/** What a lock's name may be of, where nobody is known to hold it: a file with something else in it, or no file at all. */
export type NoHolder = 'unreadable' | 'a symbolic link' | 'a directory' | 'a pipe' | 'a socket' | 'a device'

/** Null where there is no lock. */
export function readHolder(path: string): LockHolder | NoHolder | null {
  let text: string
  try {
    // a link may lead nowhere, and a pipe gives nothing until somebody writes to it
    const oddity = oddityOf(lstatSync(path))
    if (oddity !== null) return oddity
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  try {
    const { pid, host, command, since, token, boot, pids, started } = JSON.parse(text) as LockHolder
    const isWhole =
      Number.isSafeInteger(pid) &&
      pid > 0 &&
      [host, command, since].every((field) => typeof field === 'string')
    // a token becomes part of a file's name
    if (!isWhole || !/^[0-9a-f]{8}$/.test(token)) return 'unreadable'
    const known = (field: unknown) => (typeof field === 'string' ? field : null)
    return { pid, host, command, since, token, boot: known(boot), pids: known(pids), started: known(started) }
  } catch {
    return 'unreadable'
  }
}

function oddityOf(stats: Stats): NoHolder | null {
  if (stats.isFile()) return null
  if (stats.isSymbolicLink()) return 'a symbolic link'
  if (stats.isDirectory()) return 'a directory'
  if (stats.isFIFO()) return 'a pipe'
  return stats.isSocket() ? 'a socket' : 'a device'
}

/** Whether the process is gone for certain. */
export function isGone({ pid, host, boot, pids, started }: LockHolder): boolean {
  if (host !== hostname()) return false
  const now = bootId()
  if (boot !== null && now !== null && boot !== now) return true
  // of a container's processes nothing is known outside of it
  if (pids !== pidNamespace()) return false
  try {
    process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
  const startedNow = startOf(pid)
  return started !== null && startedNow !== null && started !== startedNow
}

function bootId(): string | null {
  return textOf(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())
}

function pidNamespace(): string | null {
  return textOf(() => readlinkSync('/proc/self/ns/pid'))
}

/** The command's name in it may hold anything, so what is looked for is counted from behind that. */
function startOf(pid: number): string | null {
  return textOf(() => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
  })
}

function textOf(read: () => string | null): string | null {
  try {
    return process.platform === 'linux' ? read() : null
  } catch {
    return null
  }
}
