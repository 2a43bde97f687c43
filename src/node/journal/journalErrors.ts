import { LogFileError } from '../../errors.ts'
import type { LogUnit } from '../paths/logPaths.ts'

/** A journal that cannot be trusted: nothing is done by it. */
export function invalidJournal(journal: string, fault: string): LogFileError {
  return new LogFileError(
    'INVALID_JOURNAL',
    `${journal}: this journal of an interrupted rewrite in place cannot be used: ${fault}. Nothing was changed. Take the ` +
      'segment from another replica; or remove the journal and run "mirrorpid verify": a batch that the interruption ' +
      'cut through has a wrong CRC, and a rewrite does the rest.',
    journal,
  )
}

/** What there is to say of each journal that an interrupted rewrite in place left in a partition. */
export function unfinishedRewrites({ journals }: Pick<LogUnit, 'journals'>): LogFileError[] {
  return journals.map(
    ({ path, segment }) =>
      new LogFileError(
        'UNFINISHED_REWRITE',
        `${path}: a rewrite in place was interrupted, or still goes on, and ${segment ?? 'its segment, which is gone,'} ` +
          'may be half rewritten; when none goes on, finish it by "mirrorpid rewrite --in-place --resume" on the same path',
        path,
      ),
  )
}

/** @throws LogFileError UNFINISHED_REWRITE */
export function requireFinished(unit: Pick<LogUnit, 'journals'>): void {
  const [error] = unfinishedRewrites(unit)
  if (error !== undefined) throw error
}
