import type { RewriteMode } from '../../core/core.ts'
import type { JournalMode } from '../../log/journalFormat.ts'
import type { CheckedJournal } from './journalCheck.ts'
import { invalidJournal } from './journalErrors.ts'

/** A journal that an interrupted run left, and that fits its segment. */
export interface LeftJournal extends CheckedJournal {
  path: string
  segment: string
}

/** The interrupted runs that the journals of a partition tell of. */
export interface LeftRuns {
  /** How the run over the whole partition went about it; null where there was none. */
  mode: RewriteMode | null
  /** Its journals. */
  whole: LeftJournal[]
  /** Journals of runs over a segment alone, each with a mode of its own. */
  alone: LeftJournal[]
  /**
   * Journals of a run over the whole partition before that one, which had finished them and was killed while its own took
   * their places: there is nothing more to do by them.
   */
  earlier: LeftJournal[]
}

/**
 * Tells the runs apart that left these journals. One over a segment alone came after one over the partition, which would
 * have removed its journal. Runs over the partition change nothing while journals of an earlier one are there: so where
 * two went about it in different ways, all journals of one are done, and none of the other.
 * @throws LogFileError INVALID_JOURNAL where no runs leave such journals
 */
export function runsOf(left: readonly LeftJournal[]): LeftRuns {
  const alone = left.filter(({ header }) => header.scope === 'segment')
  const ofPartition = left.filter(({ header }) => header.scope === 'partition')
  // where nothing is left to be done by any, one that holds changes knows more than one that only tells of its run
  const last = ofPartition.find(({ isDone }) => !isDone) ?? ofPartition.find(hasChanges) ?? ofPartition[0]
  if (last === undefined) return { mode: null, whole: [], alone, earlier: [] }
  const whole = ofPartition.filter(({ header }) => isSameMode(header, last.header))
  const earlier = ofPartition.filter((journal) => !whole.includes(journal))
  const odd = earlier.find((journal) => !journal.isDone || (last.isDone && hasChanges(journal)))
  if (odd === undefined) return { mode: modeOf(last), whole, alone, earlier }
  throw invalidJournal(
    odd.path,
    `it is of a run over the whole partition ${describeMode(odd)}, and ${last.path} is of one ${describeMode(last)}, ` +
      'which no interruption leaves side by side',
  )
}

function hasChanges({ header }: LeftJournal): boolean {
  return header.changes > 0
}

export function modeOf({ header: { crc, direction } }: LeftJournal): RewriteMode {
  return { crc, direction }
}

/** Whether a journal is of a run that goes about it as another one: in the same way, over as much. */
export function isOfSuchRun({ header }: LeftJournal, mode: JournalMode): boolean {
  return header.scope === mode.scope && isSameMode(header, mode)
}

function isSameMode(one: RewriteMode, other: RewriteMode): boolean {
  return one.crc === other.crc && one.direction === other.direction
}

function describeMode({ header: { crc, direction } }: LeftJournal): string {
  return `with direction ${direction} and crc ${crc}`
}
