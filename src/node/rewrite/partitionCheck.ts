import { basename, join } from 'node:path'
import type { RewriteMode } from '../../core/core.ts'
import type { JournalMode } from '../../log/journalFormat.ts'
import { MIRROR_STATE_FILE } from '../../mirroring/mirrorStateFile.ts'
import { requireReadableInPartition } from '../checkpoints/checkpoints.ts'
import type { Job } from '../jobs/job.ts'
import type { SegmentCheck } from '../jobs/segmentTasks.ts'
import { requireFinished } from '../journal/journalErrors.ts'
import { directoryOf, type LogFile, type LogUnit } from '../paths/logPaths.ts'
import { type CompanionRewrite, checkCompanion } from '../segments/companionFile.ts'
import { runTask } from '../threads/runTask.ts'
import { type IdsThatMeet, judgeIds, meetingOf, startOffsetOf } from './idsThatMeet.ts'
import type { RewrittenFiles } from './partitionRewrite.ts'
import { filesToRebuild } from './rebuiltFiles.ts'

/** What a look at a partition's files came to: nothing was changed. */
export interface CheckedFiles {
  segments: CheckedSegment[]
  companions: CheckedCompanion[]
  /** To be left out or removed. */
  rebuilt: LogFile[]
  meetings: IdsThatMeet[]
}

export type CheckedSegment = Omit<SegmentCheck, 'ids'>

export interface CheckedCompanion {
  file: LogFile
  report: CompanionRewrite
}

/** What is asked of the ids of a partition, or of a segment alone. */
export interface IdsQuestion {
  /** Named in errors. */
  path: string
  force: boolean
  /** Segments that are not asked: what an interrupted run has mapped there is one producer with what it has not. */
  mixed: ReadonlySet<string>
}

/**
 * Passes over everything, and throws what a rewrite would throw.
 * @param question null where the ids were asked for before: by a run that was interrupted
 * @param journalOf where the journal of a segment is written to; null for none
 */
export async function checkFiles(
  files: readonly LogFile[],
  job: Job,
  mode: JournalMode,
  question: IdsQuestion | null,
  journalOf: (segment: string) => string | null,
): Promise<CheckedFiles> {
  const { direction } = mode
  const segments = files.filter(({ kind }) => kind === 'segment')
  const passes = await job.each(segments, async ({ path }) => {
    const { ids, ...check } = await runTask('check', { path, journal: journalOf(path), mode }, job)
    return { path, ids, check }
  })
  const meeting =
    question === null
      ? null
      : meetingOf(
          passes.filter(({ path }) => !question.mixed.has(path)),
          direction,
        )
  const rebuilt = filesToRebuild(files, direction)
  const companions: CheckedCompanion[] = []
  const startOffset = startOffsetOf(segments)
  for (const file of files) {
    if (file.kind !== 'snapshot' && file.kind !== 'txnindex') continue
    const isKept = !rebuilt.includes(file)
    const ids = meeting === null ? null : { meeting, startOffset, force: !isKept || question?.force === true }
    const report = await checkCompanion(file, job, direction, ids)
    if (isKept) companions.push({ file, report })
  }
  const meetings =
    meeting === null || question === null ? [] : judgeIds(meeting, question.path, direction, question.force)
  return { segments: passes.map(({ check }) => check), companions, rebuilt, meetings }
}

/**
 * Tells what a rewrite would do, and does nothing.
 * @param out what the files would become; null in place
 */
export async function rewriteDry(
  unit: LogUnit,
  job: Job,
  mode: RewriteMode,
  done: RewrittenFiles,
  force: boolean,
  out: string | null,
): Promise<void> {
  requireFinished(unit)
  if (out === null) requireReadableInPartition(directoryOf(unit))
  const { directory, files } = unit
  const scope = directory === null ? 'segment' : 'partition'
  const question = { path: directory ?? files[0]?.path ?? '', force, mixed: new Set<string>() }
  const checked = await checkFiles(files, job, { ...mode, scope }, question, () => null)
  const outOf = (path: string) => (out === null ? path : directory === null ? out : join(out, basename(path)))
  done.files.push(...checked.segments.map(({ report }) => ({ ...report, out: outOf(report.path) })))
  done.companions.push(...checked.companions.map(({ report }) => ({ ...report, out: outOf(report.path) })))
  const isCopied = (file: LogFile) =>
    file.kind === 'other' && !checked.rebuilt.includes(file) && basename(file.path) !== MIRROR_STATE_FILE
  if (out !== null) done.copied = files.filter(isCopied).length
  done.rebuilt.push(...checked.rebuilt.map(({ path }) => path))
  done.meetings.push(...checked.meetings)
}
