import { dirname } from 'node:path'
import { LogFileError } from '../../errors.ts'
import type { LogUnit } from '../paths/logPaths.ts'
import type { LeftRuns } from './leftRuns.ts'

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

/**
 * By a segment's path alone, a run over its partition cannot be finished; and without the journal, nothing would tell any
 * more that the rest of it waits.
 * @throws LogFileError UNFINISHED_REWRITE
 */
export function requireNoneOfPartition({ whole, earlier }: LeftRuns): void {
  const [journal] = [...whole, ...earlier]
  if (journal === undefined) return
  throw new LogFileError(
    'UNFINISHED_REWRITE',
    `${journal.path}: it was the rewrite in place of the whole partition that was interrupted, so it cannot be finished in ` +
      `${journal.segment} alone; finish it by "mirrorpid rewrite ${dirname(journal.path)} --in-place --resume"`,
    journal.path,
  )
}

/** @throws LogFileError UNFINISHED_REWRITE */
export function requireFinished(unit: Pick<LogUnit, 'journals'>): void {
  const [error] = unfinishedRewrites(unit)
  if (error !== undefined) throw error
}
