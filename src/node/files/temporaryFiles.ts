import { createHash, randomBytes } from 'node:crypto'
import { lstat, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { LogFileError } from '../../errors.ts'
import { onFile } from './ioErrors.ts'
import { syncDirectory } from './syncDirectory.ts'

/**
 * Output is written under a temporary name beside its final one and gets that by a rename, so that under a final name
 * there is never half a file. No broker and no command of ours takes a temporary name for data.
 */

const SUFFIX = /\.mirrorpid-[0-9a-f]{8}$/
const SUFFIX_LENGTH = 19
/** As long as a temporary suffix, or shorter. */
const JOURNAL_SUFFIX = '.mirrorpid-journal'
/** What file systems allow, in bytes. The name of a partition may come near it: 249 for the topic alone. */
const MAX_NAME_LENGTH = 255

/** Whether a name is that of an unfinished output: of a run that goes on, or of one that was killed. */
export function isTemporaryName(name: string): boolean {
  return SUFFIX.test(name)
}

/** Whether a name is that of a journal: of a rewrite in place that goes on, or of one that was killed. */
export function isJournalName(name: string): boolean {
  return name.endsWith(JOURNAL_SUFFIX)
}

/** Where the journal of a segment's rewrite is, while it is about to be done or half done. */
export function journalPathOf(segment: string): string {
  return join(dirname(segment), stem(segment) + JOURNAL_SUFFIX)
}

/**
 * Makes a file or a directory under a temporary name beside `path`, then gives it that name and makes it last. When that
 * fails, nothing of it is left, but for a failure of the last sync: then all is there and may not last.
 * @param place `new`: nothing has the name yet; `replace`: the output takes the place of the file that has it
 */
export async function viaTemporary<T>(
  path: string,
  place: 'new' | 'replace',
  make: (temporary: string) => Promise<T>,
): Promise<T> {
  await removeLeftovers([path])
  // what cannot last is not begun
  await syncDirectory(dirname(path))
  const temporary = temporaryName(path)
  try {
    const result = await make(temporary)
    // it may have come up since the job looked
    if (place === 'new') await requireAbsent(path)
    await onFile('rename its finished copy', path, () => rename(temporary, path))
    await syncDirectory(dirname(path))
    return result
  } catch (error) {
    await rm(temporary, { recursive: true, force: true }).catch(() => {})
    throw error
  }
}

export function temporaryName(path: string): string {
  return join(dirname(path), `${stem(path)}.mirrorpid-${randomBytes(4).toString('hex')}`)
}

/** What all temporary names of an output begin with: its own name, or where that is too long, a digest of it. */
function stem(path: string): string {
  const name = basename(path)
  if (Buffer.byteLength(name) + SUFFIX_LENGTH <= MAX_NAME_LENGTH) return name
  return `${name.slice(0, 40)}-${createHash('sha256').update(name).digest('hex').slice(0, 16)}`
}

/**
 * Removes what killed runs left of these outputs, all of one directory. Should such a run be at work still, the rename
 * that comes first takes the name from it at one stroke, so that it fails and never publishes what is half removed.
 */
export async function removeLeftovers(paths: readonly string[]): Promise<void> {
  if (paths[0] === undefined) return
  const directory = dirname(paths[0])
  const stems = new Map(paths.map((path) => [stem(path), path]))
  await onFile('remove what an interrupted run left', directory, async () => {
    for (const entry of await readdir(directory)) {
      const path = stems.get(entry.replace(SUFFIX, ''))
      if (!isTemporaryName(entry) || path === undefined) continue
      const doomed = temporaryName(path)
      try {
        await rename(join(directory, entry), doomed)
      } catch (error) {
        // the run that it is of has just finished it, or another one has removed it
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') continue
        throw error
      }
      await rm(doomed, { recursive: true, force: true })
    }
  })
}

/** @throws LogFileError OUTPUT_EXISTS */
export async function requireAbsent(path: string): Promise<void> {
  if (!(await isThere(path))) return
  throw new LogFileError(
    'OUTPUT_EXISTS',
    `${path}: is there already, and outputs are never overwritten; move it away, or choose another output directory`,
    path,
  )
}

/** Whether anything has this name, be it a link that leads nowhere. */
export function isThere(path: string): Promise<boolean> {
  return onFile('look at it', path, async () => {
    try {
      await lstat(path)
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
      throw error
    }
  })
}
