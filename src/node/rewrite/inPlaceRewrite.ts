import { rm } from 'node:fs/promises'
import type { RewriteMode } from '../../core/core.ts'
import type { JournalMode } from '../../log/journalFormat.ts'
import {
  logDirectoriesOf,
  requireReadableInLogDirectory,
  requireReadableInPartition,
} from '../checkpoints/checkpoints.ts'
import { requireUsableByOwner } from '../files/ownership.ts'
import { requireNoLink, requireUnchanged } from '../files/sourceFile.ts'
import { removeLeftovers, temporaryName, viaTemporary } from '../files/temporaryFiles.ts'
import type { Job } from '../jobs/job.ts'
import type { SegmentRewrite } from '../jobs/segmentTasks.ts'
import { Journals } from '../journal/journals.ts'
import { type LeftRuns, modeOf } from '../journal/leftRuns.ts'
import { requireNoBroker } from '../locks/brokerLock.ts'
import type { DirectoryLocks } from '../locks/directoryLock.ts'
import { directoryOf, type LogFile, type LogUnit, readUnitAgain } from '../paths/logPaths.ts'
import { replaceCompanion } from '../segments/companionFile.ts'
import { markRun } from '../segments/segmentPasses.ts'
import { runTask } from '../threads/runTask.ts'
import { type CheckedFiles, type CheckedSegment, checkFiles, type IdsQuestion } from './partitionCheck.ts'
import type { RewrittenFiles } from './partitionRewrite.ts'
import { removeRebuilt } from './rebuiltFiles.ts'

/**
 * To be called before the first of these partition directories is changed: all their log directories are looked at. What is
 * half rewritten is finished all the same. To tell what would be, a broker may be at work.
 *
 * @throws LogFileError BROKER_RUNNING, IO_ERROR; CorruptCheckpointError
 */
export function requireChangeable(
  partitions: readonly string[],
  { ignoreBroker, resume, dryRun }: { ignoreBroker?: boolean; resume?: boolean; dryRun?: boolean },
): void {
  const logDirectories = logDirectoriesOf(partitions)
  if (!ignoreBroker && !dryRun) requireNoBroker(logDirectories)
  if (!resume) for (const directory of logDirectories) requireReadableInLogDirectory(directory)
}

/**
 * Rewrites a partition's files where they are: of segments the headers that change, companions by a copy that takes
 * their place; what a broker builds anew is removed.
 *
 * First everything is checked, so that damage anywhere in the partition changes nothing in it, and what is about to
 * change in each segment is written to a journal beside it, which is on disk before the first header is. A run that is
 * killed before that has changed nothing; of one that is killed later, the next does what the journals say, and then the
 * rest, as the mapping changes nothing twice. Where more than one file changes and no header does, a journal without changes
 * tells of the run. The journals are removed when the whole partition is done; a run that fails or is ended after it began to
 * change something leaves them, too.
 *
 * The directory is locked meanwhile, so that no other run of this package changes it.
 *
 * @param mode null to finish what interrupted runs left, each in its mode and over what it was to rewrite, and to do nothing
 *   where there is nothing left
 * @param done takes the files as they are finished: what was rewritten stays so when a later file fails
 * @param force to go on where ids meet
 */
export async function rewriteInPlace(
  unit: LogUnit,
  job: Job,
  mode: RewriteMode | null,
  done: RewrittenFiles,
  locks: DirectoryLocks,
  force: boolean,
): Promise<void> {
  const directory = directoryOf(unit)
  await locks.while(directory, async () => {
    if (mode !== null) requireReadableInPartition(directory)
    const now = await readUnitAgain(unit)
    const changed = now.files.filter(({ kind }) => kind !== 'other').map(({ path }) => path)
    requireUsableByOwner(directory, changed)
    await rewriteLocked(now, job, mode, done, force)
  })
}

async function rewriteLocked(
  unit: LogUnit,
  job: Job,
  mode: RewriteMode | null,
  done: RewrittenFiles,
  force: boolean,
): Promise<void> {
  const journals = new Journals()
  const scope = unit.directory === null ? 'segment' : 'partition'
  let isDone = false
  try {
    const left = await journals.finishLeft(unit.journals, job, scope, ({ segment, grownBy }) => {
      done.resumed.push(segment)
      if (grownBy > 0) done.grown.push({ path: segment, bytes: grownBy })
    })
    const runs = runsToFinish(unit, left)
    done.finishedRuns.push(...runs.map(({ path, mode: { crc, direction } }) => ({ path, crc, direction })))
    if (mode === null) {
      for (const { files, mode } of runs) await rewriteFiles(files, job, mode, journals, done, null)
    } else {
      const ownMode = { ...mode, scope } as const
      await journals.supersede(left, ownMode)
      // a run over the partition has asked for the ids before it began, one over a segment for those of the segment
      const mixed = new Set(left.alone.map(({ segment }) => segment))
      const path = unit.directory ?? unit.files[0]?.path ?? ''
      const question = left.whole.length > 0 ? null : { path, force, mixed }
      await rewriteFiles(unit.files, job, ownMode, journals, done, question)
    }
    isDone = true
  } finally {
    done.unfinished.push(...(await journals.end(isDone)))
  }
}

/** What each interrupted run was to rewrite. A run over a segment alone came later than one over the partition. */
function runsToFinish(
  { directory, files }: LogUnit,
  { mode, alone }: LeftRuns,
): { path: string; files: LogFile[]; mode: JournalMode }[] {
  const runs: ReturnType<typeof runsToFinish> = alone.map((journal) => ({
    path: journal.segment,
    files: files.filter(({ path }) => path === journal.segment),
    mode: { ...modeOf(journal), scope: 'segment' },
  }))
  if (mode === null || directory === null) return runs
  const others = files.filter(({ path }) => !alone.some(({ segment }) => segment === path))
  return [{ path: directory, files: others, mode: { ...mode, scope: 'partition' } }, ...runs]
}

async function rewriteFiles(
  files: readonly LogFile[],
  job: Job,
  mode: JournalMode,
  journals: Journals,
  done: RewrittenFiles,
  question: IdsQuestion | null,
): Promise<void> {
  const { segments, companions, rebuilt, meetings, journaled } = await checkAndPublish(
    files,
    job,
    mode,
    journals,
    question,
  )
  done.meetings.push(...meetings)
  if (rebuilt.length > 0) {
    if (journaled !== null) journals.begin(journaled)
    await removeRebuilt(rebuilt)
    done.rebuilt.push(...rebuilt.map(({ path }) => path))
  }
  const reports: SegmentRewrite[] = []
  try {
    await job.each([...segments.entries()], async ([index, segment]) => {
      reports[index] = await rewriteSegment(segment, job, mode, journals)
    })
  } finally {
    done.files.push(...reports.filter((report) => report !== undefined))
  }
  for (const { file, report } of companions) {
    if (report.rewritten > 0 && journaled !== null) journals.begin(journaled)
    done.companions.push(report.rewritten === 0 ? report : await replaceCompanion(file, job, mode.direction))
  }
}

/**
 * Passes over everything; when all is fine, the journals count.
 * @returns what was found, and a segment of which there is a journal; null for none
 */
async function checkAndPublish(
  files: readonly LogFile[],
  job: Job,
  mode: JournalMode,
  journals: Journals,
  question: IdsQuestion | null,
): Promise<CheckedFiles & { journaled: string | null }> {
  const held = files.filter(({ kind }) => kind !== 'other')
  await removeLeftovers(held.map(({ path }) => path))
  const temporaries = new Map(
    held.flatMap(({ path, kind }) => (kind === 'segment' ? [[path, temporaryName(path)] as const] : [])),
  )
  const written = (segment: string) => ({ segment, temporary: temporaries.get(segment)! })
  try {
    for (const { path } of held) await requireNoLink(path)
    const checked = await checkFiles(files, job, mode, question, (segment) => written(segment).temporary)
    const { segments, companions, rebuilt } = checked
    const journaled = segments
      .filter(({ isJournaled }) => isJournaled)
      .map(({ report }) => written(report.path))
    // what changes other files only, and more than one, has to be told of too
    const changed = companions.filter(({ report }) => report.rewritten > 0).length + rebuilt.length
    if (journaled.length === 0 && changed > 1 && segments[0] !== undefined) {
      const marked = written(segments[0].report.path)
      await markRun(marked.segment, marked.temporary, job, mode)
      journaled.push(marked)
    }
    await journals.publish(journaled, mode)
    return { ...checked, journaled: journaled[0]?.segment ?? null }
  } catch (error) {
    for (const temporary of temporaries.values()) await rm(temporary, { force: true }).catch(() => {})
    throw error
  }
}

async function rewriteSegment(
  { report, stats, isJournaled, isLinked }: CheckedSegment,
  job: Job,
  mode: RewriteMode,
  journals: Journals,
): Promise<SegmentRewrite> {
  const { path } = report
  if (report.rewritten === 0) return report
  job.signal?.throwIfAborted()
  await requireUnchanged({ path, stats })
  if (!isLinked) {
    const { seconds } = await journals.use(path, (journal) => runTask('apply', { path, journal }, job))
    return { ...report, seconds: report.seconds + seconds }
  }
  // it has other names, which keep the old bytes: a backup by hard links
  const written = await viaTemporary(path, 'replace', async (target) => {
    const copy = await runTask('write', { path, target, mode, owner: 'kept' }, job)
    if (isJournaled) journals.begin(path)
    return copy.report
  })
  return { ...written, out: path, seconds: report.seconds + written.seconds }
}
