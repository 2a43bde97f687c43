import { closeSync, fsyncSync, openSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { LogFileError } from '../../errors.ts'
import { asLogFileError, atFile, onFile } from './ioErrors.ts'

/**
 * Kafka passes over the systems that cannot open a directory (Utils.flushDir), and over nothing else: on a file system that
 * cannot sync one, a broker fails. So do we, and ask for it before anything is changed.
 */
const CANNOT_OPEN: readonly string[] = ['win32', 'os390']

/** What fsync of a directory fails with where the file system has none: CIFS and FUSE above all. */
const LACKING: readonly string[] = ['EINVAL', 'EBADF', 'EISDIR', 'EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP']

/**
 * Makes the names in a directory last through a crash of the machine.
 * @throws LogFileError IO_ERROR
 */
export async function syncDirectory(directory: string): Promise<void> {
  if (CANNOT_OPEN.includes(process.platform)) return
  const handle = await onFile('open it', directory, () => open(directory, 'r'))
  try {
    await handle.sync()
  } catch (error) {
    throw notSynced(error, directory)
  } finally {
    await handle.close()
  }
}

/** The same at once. */
export function syncDirectoryNow(directory: string): void {
  if (CANNOT_OPEN.includes(process.platform)) return
  const descriptor = atFile('open it', directory, () => openSync(directory, 'r'))
  try {
    fsyncSync(descriptor)
  } catch (error) {
    throw notSynced(error, directory)
  } finally {
    closeSync(descriptor)
  }
}

function notSynced(error: unknown, directory: string): unknown {
  const { code = '' } = error as NodeJS.ErrnoException
  if (!LACKING.includes(code)) return asLogFileError(error, 'make the directory last', directory)
  return new LogFileError(
    'IO_ERROR',
    `${directory}: its file system cannot make the names in a directory last (fsync of a directory fails with ${code}), as ` +
      'network shares (CIFS) and some FUSE file systems cannot: after a loss of power, files could be gone, or old ones back. ' +
      'A broker fails on it, too. Work on a local file system, and copy the result.',
    directory,
    code,
    { cause: error },
  )
}
