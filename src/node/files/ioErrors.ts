import { LogFileError } from '../../errors.ts'

const REASONS: Record<string, string> = {
  ENOENT: 'there is no such file or directory; check the path',
  ENOTDIR: 'a part of the path is a file and no directory; check the path',
  EACCES: 'permission denied; run as the user who owns the log (often "kafka"), or as root',
  EPERM: 'not permitted; run as the user who owns the log (often "kafka"), or as root',
  EROFS: 'the file system is read-only; write to another one',
  ENOSPC: 'no space is left; free some, or write to another file system',
  EDQUOT: 'the quota is used up; free some space, or write to another file system',
  EIO: 'the disk reports an error; take the file from another replica',
  EEXIST: 'something of that name is in the way; choose another name',
  ERR_FS_FILE_TOO_LARGE: 'it is larger than 2 GiB, which no broker would read; see what it is',
  EMFILE: 'too many files are open; raise the limit (ulimit -n)',
}

/** An error of the system as one of ours, with what was being done, where, and what to do; others as they are. */
export function asLogFileError(error: unknown, action: string, file: string): unknown {
  const { code: errno, syscall, message } = error as NodeJS.ErrnoException
  if (!(error instanceof Error) || typeof errno !== 'string') return error
  const reason = REASONS[errno] ?? (syscall === undefined ? undefined : message)
  if (reason === undefined) return error
  return new LogFileError('IO_ERROR', `${file}: cannot ${action}: ${reason} (${errno})`, file, errno, {
    cause: error,
  })
}

/**
 * Runs something on a file; an error of the system becomes a LogFileError.
 * @param action completes "cannot ...", such as `read it`
 */
export async function onFile<T>(action: string, file: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw asLogFileError(error, action, file)
  }
}

/** The same for something that is done at once. */
export function atFile<T>(action: string, file: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    throw asLogFileError(error, action, file)
  }
}
