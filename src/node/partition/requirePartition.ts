import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { LogFileError } from '../../errors.ts'
import { isNumberedSegment } from '../../log/fileNames.ts'
import { logDirectoriesOf } from '../checkpoints/checkpoints.ts'
import { atFile } from '../files/ioErrors.ts'
import { isTemporaryName } from '../files/temporaryFiles.ts'
import { requireFinished } from '../journal/journalErrors.ts'
import { requireNoBroker } from '../locks/brokerLock.ts'
import { type DirectoryLock, isLockName, lockDirectory } from '../locks/directoryLock.ts'
import { journalsAmong } from '../paths/logPaths.ts'

/** What a broker writes into the directory of a partition before its first segment. */
const METADATA = 'partition.metadata'

/**
 * A log that is opened makes files, so the directory must be a partition's.
 * @param isNew whether an empty one will do, for a partition that begins
 * @returns the names in it
 * @throws LogFileError NOT_A_LOG, IO_ERROR
 */
export function requireSegments(directory: string, { isNew = false } = {}): string[] {
  const names = namesIn(directory)
  const isEmpty = names.every((name) => name === METADATA || isLockName(name) || isTemporaryName(name))
  if (names.some(isNumberedSegment) || (isNew && isEmpty)) return names
  throw notAPartition(directory)
}

/**
 * The same, and none of the segments may be half rewritten.
 * @throws LogFileError NOT_A_LOG, UNFINISHED_REWRITE, IO_ERROR
 */
export function requirePartition(directory: string, { isNew = false } = {}): void {
  const names = requireSegments(directory, { isNew })
  requireFinished({ journals: journalsAmong(names.map((name) => join(directory, name))) })
}

/**
 * Locks a partition's directory, so that a lock's file comes into no other. Whether a segment is half rewritten is looked at
 * afterwards: before, another run may be at work on it.
 * @throws LogFileError BROKER_RUNNING, DIRECTORY_LOCKED; as `requirePartition` does
 */
export function lockPartition(
  directory: string,
  { isNew = false, ignoreBroker = false }: { isNew?: boolean; ignoreBroker?: boolean | undefined } = {},
): DirectoryLock {
  requireSegments(directory, { isNew })
  if (!ignoreBroker) requireNoBroker(logDirectoriesOf([directory]))
  const lock = lockDirectory(directory)
  try {
    requirePartition(directory, { isNew })
    return lock
  } catch (error) {
    lock.release()
    throw error
  }
}

function namesIn(directory: string): string[] {
  return atFile('list it', directory, () => {
    try {
      return readdirSync(directory)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') throw notAPartition(directory)
      throw error
    }
  })
}

function notAPartition(directory: string): LogFileError {
  return new LogFileError(
    'NOT_A_LOG',
    `${directory}: one partition directory is needed, with segments such as 00000000000000000000.log in it`,
    directory,
  )
}
