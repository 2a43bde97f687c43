import { accessSync, constants, fchmodSync, fchownSync, fstatSync, type Stats, statSync } from 'node:fs'
import { LogFileError } from '../../errors.ts'
import { atFile } from './ioErrors.ts'

/** Whose a new file should be: of a file beside it, or of the one in whose place it comes. */
export type Owner = Pick<Stats, 'uid' | 'gid' | 'mode'>

const GROUP_MAY_WRITE = 0o060
const ALL_MAY_WRITE = 0o006
const S_ISGID = 0o2000
const S_ISVTX = 0o1000

/**
 * Gives a new file its model's owner, group and mode. Who may not give files away keeps it, in the model's group, whose
 * members, the owner among them, may use it as they may use the model.
 * @throws LogFileError IO_ERROR where the owner could not use it
 */
export function giveLike(model: Owner, descriptor: number, path: string): void {
  const { uid, gid, mode } = model
  const own = fstatSync(descriptor)
  const isGiven =
    (own.uid === uid && own.gid === gid) ||
    isPermitted(() => fchownSync(descriptor, uid, gid)) ||
    own.gid === gid ||
    isPermitted(() => fchownSync(descriptor, own.uid, gid))
  fchmodSync(descriptor, (mode & 0o7777) | 0o600)
  if (!isUsable(model, fstatSync(descriptor).uid, isGiven)) throw notServed(path, model.uid)
}

function isPermitted(change: () => void): boolean {
  try {
    change()
    return true
  } catch (error) {
    // EINVAL: an owner that this container knows nothing of
    if (['EPERM', 'EINVAL'].includes((error as NodeJS.ErrnoException).code ?? '')) return false
    throw error
  }
}

/** Whether the owner of a model may read and write a file with its mode, of a user and in its group or not. */
function isUsable({ uid, mode }: Owner, user: number, isInGroup: boolean): boolean {
  if (uid === user) return true
  return (
    (isInGroup && (mode & GROUP_MAY_WRITE) === GROUP_MAY_WRITE) || (mode & ALL_MAY_WRITE) === ALL_MAY_WRITE
  )
}

/**
 * To be called before anything in a directory is changed: the owner of these files must be able to go on with those that
 * take their place or come beside them.
 * @throws LogFileError IO_ERROR
 */
export function requireUsableByOwner(directory: string, files: readonly string[]): void {
  const place = atFile('read it', directory, () => statSync(directory))
  for (const file of files.length === 0 ? [directory] : files) {
    const model = atFile('read it', file, () => statSync(file))
    if (!canServe(model, place)) throw notServed(file, model.uid)
  }
}

/**
 * The same, and this user must be allowed to read and to write all of them.
 * @throws LogFileError IO_ERROR
 */
export function requireWritable(directory: string, files: readonly string[]): void {
  const { R_OK, W_OK, X_OK } = constants
  atFile('write to it', directory, () => accessSync(directory, W_OK | X_OK))
  for (const file of files) atFile('write to it', file, () => accessSync(file, R_OK | W_OK))
  requireUsableByOwner(directory, files)
}

function canServe(model: Owner, place: Owner): boolean {
  const user = process.geteuid?.() ?? 0
  // root gives files away
  if (user === 0 || user === model.uid) return true
  // there only the owner of a file, or of the directory, may rename and remove it
  if ((place.mode & S_ISVTX) !== 0 && user !== place.uid) return false
  const isGroupKept = (place.mode & S_ISGID) !== 0 && place.gid === model.gid
  const groups = [process.getegid?.(), ...(process.getgroups?.() ?? [])]
  return isUsable(model, user, isGroupKept || groups.includes(model.gid))
}

function notServed(path: string, owner: number): LogFileError {
  return new LogFileError(
    'IO_ERROR',
    `${path}: it belongs to the user ${owner}, who could not go on with the files that this user makes beside it. Nothing was ` +
      `changed; run as the user ${owner} (often "kafka"), or as root`,
    path,
    'EPERM',
  )
}
