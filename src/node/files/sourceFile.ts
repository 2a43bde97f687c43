import type { Stats } from 'node:fs'
import { type FileHandle, lstat, open, stat } from 'node:fs/promises'
import { LogFileError } from '../../errors.ts'
import { atFile, onFile } from './ioErrors.ts'
import { readFully } from './wholeTransfers.ts'

/** A file that is being read, as it was when it was opened. */
export interface SourceFile {
  readonly path: string
  readonly handle: FileHandle
  /** Bytes. */
  readonly size: number
  readonly stats: Stats
}

/** Opens a file, uses it, and closes it whatever happens. */
export async function withSource<T>(path: string, use: (source: SourceFile) => Promise<T>): Promise<T> {
  const handle = await onFile('open it', path, () => open(path, 'r'))
  try {
    const stats = await onFile('read it', path, () => handle.stat())
    return await use({ path, handle, size: stats.size, stats })
  } finally {
    // nothing was written through it that could be lost
    await handle.close().catch(() => {})
  }
}

/** Fills the room from a position on, at once. A file that ends before has become shorter since it was looked at. */
export function readWhole(
  { path, handle }: Pick<SourceFile, 'path' | 'handle'>,
  room: Uint8Array,
  position: number,
): void {
  const filled = atFile('read it', path, () => readFully(handle.fd, room, position))
  if (filled < room.length) throw changedMeanwhile(path)
}

/** What tells a file from another one, and from itself after a change. */
export type FileIdentity = Pick<Stats, 'dev' | 'ino' | 'size' | 'mtimeMs'>

/** Refuses to go on with a file that somebody else wrote to, or replaced, since it was opened. */
export async function requireUnchanged({
  path,
  stats,
}: {
  path: string
  stats: FileIdentity
}): Promise<void> {
  const now = await onFile('read it', path, () => stat(path))
  const isSame =
    now.dev === stats.dev && now.ino === stats.ino && now.size === stats.size && now.mtimeMs === stats.mtimeMs
  if (!isSame) throw changedMeanwhile(path)
}

export function changedMeanwhile(path: string): LogFileError {
  return new LogFileError(
    'IO_ERROR',
    `${path}: it changed while it was read, so a broker or another program is at work on it; stop that first`,
    path,
  )
}

/**
 * Refuses a symbolic link: the new file would take the link's place and leave its target as it was. A file with more
 * hard links is fine: the other names keep the old bytes, as a backup by hard links wants it.
 */
export async function requireNoLink(path: string): Promise<void> {
  const stats = await onFile('read it', path, () => lstat(path))
  if (!stats.isSymbolicLink()) return
  throw new LogFileError(
    'IO_ERROR',
    `${path}: a symbolic link cannot be rewritten in place, since the new file would replace the link; give the path ` +
      'that it points to',
    path,
  )
}
