import { randomBytes } from 'node:crypto'
import { linkSync, readdirSync, realpathSync, renameSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { LogFileError } from '../../errors.ts'
import { atFile } from '../files/ioErrors.ts'
import { syncDirectoryNow } from '../files/syncDirectory.ts'
import { isTemporaryName } from '../files/temporaryFiles.ts'
import { isGone, type LockHolder, lockHolder, type NoHolder, readHolder, writeHolder } from './lockHolder.ts'

/** Brokers leave a file of this name alone, and what we list of a partition is without it. */
const LOCK = '.mirrorpid-lock'
/** Each level is a run that was killed in the moment of a takeover; files that somebody made may name each other in a ring. */
const MAX_DEPTH = 16
/** At each, others have taken the lock and given it up again, or the file system says that it is there and that it is not. */
const MAX_ATTEMPTS = 100

export function isLockName(name: string): boolean {
  return name === LOCK
}

/** A directory that this process alone may change, as far as this package goes. */
export interface DirectoryLock {
  /** Gives it up; safe to repeat. */
  release(): void
}

/**
 * Locks a partition's directory against other runs of this package, by a file in it that names who holds it. Brokers know
 * nothing of it. The lock of a process that is gone is taken over; of several that try, one succeeds.
 *
 * A lock's file is complete when it gets its name, by a link. A lock that is taken over is replaced by a rename, which only
 * the holder of a second lock may do that is named after the first one's token: so none but the lock that was found stale
 * is ever replaced. Should that holder die, its lock is taken over in the same way.
 *
 * @throws LogFileError DIRECTORY_LOCKED, IO_ERROR
 */
export function lockDirectory(directory: string): DirectoryLock {
  const real = atFile('lock it', directory, () => realpathSync(directory))
  // what is to change in it must be able to last
  syncDirectoryNow(real)
  const holder = lockHolder()
  const path = join(real, LOCK)
  let isHeld = true
  const release = () => {
    if (!isHeld) return
    isHeld = false
    atFile('give up the lock', path, () => {
      // whoever removed it by hand may have let another in
      if (isHeldBy(path, holder.token)) rmSync(path, { force: true })
    })
  }
  atFile('lock it', directory, () => {
    acquire(path, path, holder)
    try {
      sweep(real)
    } catch (error) {
      release()
      throw error
    }
  })
  return { release }
}

/** Takes the lock at `path`: the directory's own, or one that allows to replace another. */
function acquire(path: string, lock: string, holder: LockHolder, depth = 0): void {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    if (publish(path, lock, holder)) return
    const held = readHolder(path)
    if (held === null) continue
    if (typeof held === 'string') throw notHeld(path, held)
    if (depth === MAX_DEPTH) throw notHeld(path, 'unreadable')
    if (!isGone(held)) throw locked(path, held)
    const claim = temporaryOf(lock, held.token)
    acquire(claim, lock, holder, depth + 1)
    if (isHeldBy(path, held.token)) {
      renameSync(claim, path)
      return
    }
    // somebody else was faster
    rmSync(claim, { force: true })
  }
  throw refusal(
    path,
    `others took this lock and gave it up again at each of ${MAX_ATTEMPTS} attempts`,
    'run this again when they have ended.',
  )
}

/** Removes what killed runs have left beside the lock, while that is held. */
function sweep(directory: string): void {
  for (const name of readdirSync(directory)) {
    if (!name.startsWith(`${LOCK}.`) || !isTemporaryName(name)) continue
    const path = join(directory, name)
    const holder = readHolder(path)
    if (holder === null) continue
    if (typeof holder === 'string' && holder !== 'unreadable') throw notHeld(path, holder)
    if (holder === 'unreadable' || isGone(holder)) rmSync(path, { force: true })
  }
}

function isHeldBy(path: string, token: string): boolean {
  const held = readHolder(path)
  return held !== null && typeof held !== 'string' && held.token === token
}

/** Gives the lock its name, complete; false where it is taken. */
function publish(path: string, lock: string, holder: LockHolder): boolean {
  const temporary = temporaryOf(lock, randomBytes(4).toString('hex'))
  try {
    writeHolder(temporary, holder)
    return link(temporary, path, holder)
  } finally {
    rmSync(temporary, { force: true })
  }
}

function link(temporary: string, path: string, holder: LockHolder): boolean {
  try {
    linkSync(temporary, path)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // ENOENT: the lock's holder has swept away what it could not read yet
    if (code === 'EEXIST' || code === 'ENOENT') return false
    // a file system without links; a process that is killed right here leaves half a lock, which somebody must remove
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(code ?? '')) throw error
    return writeHolder(path, holder)
  }
}

/** As the name of an unfinished output, which nothing takes for data. */
function temporaryOf(lock: string, token: string): string {
  return `${lock}.mirrorpid-${token}`
}

function refusal(
  path: string,
  why: string,
  advice: string,
  code: 'DIRECTORY_LOCKED' | 'IO_ERROR' = 'DIRECTORY_LOCKED',
): LogFileError {
  return new LogFileError(code, `${path}: ${why}. Nothing was changed; ${advice}`, path)
}

/** Where something has the name that is no lock of anybody known. It may be somebody's, so it is never removed. */
function notHeld(path: string, what: NoHolder): LogFileError {
  if (what === 'unreadable') {
    return refusal(
      path,
      'this lock cannot be read, so it is not known who holds it',
      'remove the file when no run of mirrorpid is at work on the directory.',
    )
  }
  return refusal(
    path,
    `this is ${what} under the name of a lock, and no run of mirrorpid makes such a thing`,
    'see where it comes from, and move it away.',
    'IO_ERROR',
  )
}

function locked(path: string, holder: LockHolder): LogFileError {
  const { pid, host, command, since } = holder
  const who = `process ${pid} on ${host} ("${command}", since ${since})`
  if (pid === process.pid && host === hostname()) {
    return refusal(
      path,
      `this very process (${pid}) has a log of the directory open for writing`,
      'close that first.',
    )
  }
  if (host !== hostname()) {
    return refusal(
      path,
      `${who} changes this directory, and whether it still runs cannot be seen from here`,
      'wait for it to end, or remove the file when it is gone.',
    )
  }
  return refusal(path, `${who} changes this directory`, 'wait for it to end, then run this again.')
}

/** The locks of one job, in which several files of a directory may be at work at a time. */
export class DirectoryLocks {
  readonly #held = new Map<string, { lock: DirectoryLock; uses: number }>()

  /**
   * Runs something while the directory is locked.
   * @throws LogFileError DIRECTORY_LOCKED, IO_ERROR
   */
  async while<T>(directory: string, run: () => Promise<T>): Promise<T> {
    const key = atFile('lock it', directory, () => realpathSync(directory))
    const held = this.#held.get(key) ?? { lock: lockDirectory(key), uses: 0 }
    this.#held.set(key, held)
    held.uses++
    try {
      return await run()
    } finally {
      if (--held.uses === 0) {
        this.#held.delete(key)
        held.lock.release()
      }
    }
  }
}
