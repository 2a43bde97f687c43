import { rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { JournalMode } from '../../log/journalFormat.ts'
import { onFile } from '../files/ioErrors.ts'
import { syncDirectory } from '../files/syncDirectory.ts'
import { journalPathOf } from '../files/temporaryFiles.ts'
import type { Job } from '../jobs/job.ts'
import type { LogJournal } from '../paths/logPaths.ts'
import { applyJournal } from './journalApply.ts'
import { checkJournal } from './journalCheck.ts'
import { invalidJournal, requireNoneOfPartition } from './journalErrors.ts'
import { isOfSuchRun, type LeftJournal, type LeftRuns, runsOf } from './leftRuns.ts'

/**
 * - `ready`: nothing was done by it yet
 * - `begun`: its segment is neither old nor new
 * - `done`: its segment is new, and lasts
 */
type State = 'ready' | 'begun' | 'done'

/** The journals of one partition, from the moment they count until they are removed. */
export class Journals {
  readonly #states = new Map<string, State>()
  /** To be removed when the journals of this run count. */
  #superseded: readonly LeftJournal[] = []

  /**
   * Does what the journals say that interrupted runs left, each in the mode of its run. All are checked before anything is
   * done by one of them.
   * @param scope how far this run is to go
   * @param finished is told of each segment
   * @returns the runs that left them
   * @throws LogFileError INVALID_JOURNAL, IO_ERROR, UNFINISHED_REWRITE where one of them was to go further
   */
  async finishLeft(
    left: readonly LogJournal[],
    job: Job,
    scope: JournalMode['scope'],
    finished: (journal: { segment: string; grownBy: number }) => void,
  ): Promise<LeftRuns> {
    const checked: LeftJournal[] = []
    for (const { path, segment } of left) {
      if (segment === null) throw invalidJournal(path, 'its segment is gone')
      checked.push({ path, segment, ...(await checkJournal(segment, path, job)) })
    }
    const runs = runsOf(checked)
    if (scope === 'segment') requireNoneOfPartition(runs)
    const apply = async (journals: readonly LeftJournal[]) => {
      for (const { path, segment, grownBy } of journals) {
        job.signal?.throwIfAborted()
        await this.use(segment, () => applyJournal(segment, path, job))
        finished({ segment, grownBy })
      }
    }
    await apply(runs.earlier)
    // once those of the later run are done too, nothing would tell which run that was
    await this.#remove(runs.earlier.map(({ segment }) => segment))
    await apply(checked.filter((journal) => !runs.earlier.includes(journal)))
    return runs
  }

  /**
   * Goes on in another way than the runs whose journals were finished. Where those ran over the partition, their journals
   * tell that it is not all done, until those of this run do. One of a run over a segment alone is removed at once before
   * one over the partition: beside the journals of that, it would tell of a run that came later.
   */
  async supersede({ whole, alone }: LeftRuns, mode: JournalMode): Promise<void> {
    this.#superseded = [...whole, ...alone].filter((journal) => !isOfSuchRun(journal, mode))
    if (mode.scope === 'partition') await this.#remove(alone.map(({ segment }) => segment))
  }

  /**
   * Lets journals count that were written under temporary names: from here on, a killed run is finished by the next.
   * @param mode that of the run which wrote them
   */
  async publish(
    written: readonly { segment: string; temporary: string }[],
    mode: JournalMode,
  ): Promise<void> {
    for (const { segment, temporary } of written) {
      const path = journalPathOf(segment)
      await onFile('rename it', temporary, () => rename(temporary, path))
      this.#states.set(segment, 'ready')
    }
    if (written[0] !== undefined) await syncDirectory(dirname(written[0].segment))
    // where this run has none, those of the same direction tell as much; the others would undo what it does
    const doomed = this.#superseded.filter(
      ({ segment, header }) =>
        this.#states.get(segment) === 'done' && (written.length > 0 || header.direction !== mode.direction),
    )
    await this.#remove(doomed.map(({ segment }) => segment))
  }

  /** Does what the journal of a segment says. */
  async use<T>(segment: string, apply: (journal: string) => Promise<T>): Promise<T> {
    this.begin(segment)
    const result = await apply(journalPathOf(segment))
    this.#states.set(segment, 'done')
    return result
  }

  /** From here on, what the journal is of is changed. */
  begin(segment: string): void {
    this.#states.set(segment, 'begun')
  }

  /**
   * Removes them where all is done, or nothing was begun. Otherwise they stay, all of them, as after a kill: what they are
   * of is neither old nor new, and the next run finishes it.
   * @returns the segments whose journals stay
   */
  async end(isDone: boolean): Promise<string[]> {
    const segments = [...this.#states.keys()]
    if (!isDone && [...this.#states.values()].some((state) => state !== 'ready')) return segments
    await this.#remove(segments)
    return []
  }

  async #remove(segments: readonly string[]): Promise<void> {
    const paths = segments.map(journalPathOf)
    for (const path of paths) await onFile('remove it', path, () => rm(path, { force: true }))
    if (paths[0] !== undefined) await syncDirectory(dirname(paths[0]))
    for (const segment of segments) this.#states.delete(segment)
  }
}
