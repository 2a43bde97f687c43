import { rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { onFile } from '../files/ioErrors.ts'
import { journalPathOf, syncDirectory } from '../files/temporaryFiles.ts'
import type { Job } from '../jobs/job.ts'
import type { RewriteMode } from '../jobs/segmentTasks.ts'
import type { LogJournal } from '../paths/logPaths.ts'
import { applyJournal } from './journalApply.ts'
import { checkJournal } from './journalCheck.ts'
import { invalidJournal } from './journalErrors.ts'

/**
 * - `ready`: nothing was done by it yet
 * - `begun`: its segment is neither old nor new
 * - `done`: its segment is new, and lasts
 */
type State = 'ready' | 'begun' | 'done'

/** The journals of one partition, from the moment they count until they are removed. */
export class Journals {
  readonly #states = new Map<string, State>()

  /**
   * Finishes what an interrupted run left. All its journals are checked before anything is done by one of them.
   * @param finished is told of each segment
   * @returns how that run went about it; null where there is nothing to finish
   * @throws LogFileError INVALID_JOURNAL, IO_ERROR
   */
  async finishLeft(
    left: readonly LogJournal[],
    job: Job,
    finished: (journal: { segment: string; grownBy: number }) => void,
  ): Promise<RewriteMode | null> {
    let mode: RewriteMode | null = null
    const checked: { path: string; segment: string; grownBy: number }[] = []
    for (const { path, segment } of left) {
      if (segment === null) throw invalidJournal(path, 'its segment is gone')
      const { header, grownBy } = await checkJournal(segment, path, job)
      const { crc, direction } = header
      mode ??= { crc, direction }
      checked.push({ path, segment, grownBy })
    }
    for (const { path, segment, grownBy } of checked) {
      job.signal?.throwIfAborted()
      await this.use(segment, () => applyJournal(segment, path, job))
      finished({ segment, grownBy })
    }
    return mode
  }

  /** Lets journals count that were written under temporary names: from here on, a killed run is finished by the next. */
  async publish(written: readonly { segment: string; temporary: string }[]): Promise<void> {
    for (const { segment, temporary } of written) {
      const path = journalPathOf(segment)
      await onFile('rename it', temporary, () => rename(temporary, path))
      this.#states.set(segment, 'ready')
    }
    if (written[0] !== undefined) await syncDirectory(dirname(written[0].segment))
  }

  /** Does what the journal of a segment says. */
  async use<T>(segment: string, apply: (journal: string) => Promise<T>): Promise<T> {
    this.#states.set(segment, 'begun')
    const result = await apply(journalPathOf(segment))
    this.#states.set(segment, 'done')
    return result
  }

  /** Removes them, but for those of segments that are neither old nor new. */
  async remove(): Promise<void> {
    const paths = [...this.#states]
      .filter(([, state]) => state !== 'begun')
      .map(([segment]) => journalPathOf(segment))
    for (const path of paths) await onFile('remove it', path, () => rm(path, { force: true }))
    if (paths[0] !== undefined) await syncDirectory(dirname(paths[0]))
  }
}
