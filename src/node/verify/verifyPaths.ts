import { type OptionKinds, requireOptions, requirePaths } from '../../core/arguments.ts'
import { MirrorPidError } from '../../errors.ts'
import { addCounts, type BatchSums, newSums } from '../../log/counts.ts'
import { JOBS_OPTIONS, Job, type JobsOptions } from '../jobs/job.ts'
import type { SegmentVerification, VerifyMode } from '../jobs/segmentTasks.ts'
import { unfinishedRewrites } from '../journal/journalErrors.ts'
import { type LogFile, type LogPath, readLogPaths } from '../paths/logPaths.ts'
import { verifyCompanion } from '../segments/companionFile.ts'
import { runTask } from '../threads/runTask.ts'
import { Workers } from '../threads/workers.ts'
import { RECORDS_OPTIONS, type RecordsOptions, verifyModeOf } from './recordsOptions.ts'

/** What `verifyPaths` takes. */
export interface VerifyPathsOptions extends JobsOptions, RecordsOptions {}

const VERIFY_OPTIONS: OptionKinds<VerifyPathsOptions> = { ...JOBS_OPTIONS, ...RECORDS_OPTIONS }

/** The sums over all segments. */
export interface VerifyTotals extends BatchSums {
  /** Number of segments. */
  files: number
  validBytes: number
  /** Number of corrupt batches. */
  corrupt: number
}

/** What was found in each file. */
export interface VerifyResult {
  /** Segments. */
  files: SegmentVerification[]
  totals: VerifyTotals
  /**
   * Damaged producer snapshots and transaction indexes, files and partitions that the system would not read, and UNFINISHED_REWRITE for
   * each segment that is not looked at, as a rewrite in place was interrupted there.
   */
  errors: MirrorPidError[]
  /** What was met and belongs to no log, with the reason. */
  leftOut: LogPath['leftOut']
}

/**
 * Verifies segment files, partition directories and log directories: each segment as `verifySegmentFile` does, and the
 * producer snapshots and transaction indexes beside them. Changes nothing. With `records` it also looks at what the batches
 * hold.
 *
 * @param paths of segment files, partition directories or log directories
 * @throws LogFileError NOT_A_LOG, IO_ERROR where a path cannot be looked at
 * @throws InvalidArgumentError
 * @example
 * const { files } = await verifyPaths(['/data/orders-0'])
 * files.filter((file) => file.corrupt.length > 0)
 * @example
 * const { totals } = await verifyPaths(['/data/orders-0'], { records: true, jobs: 2 })
 * totals.corrupt // batches
 */
export async function verifyPaths(
  paths: readonly string[],
  options: VerifyPathsOptions = {},
): Promise<VerifyResult> {
  requirePaths(paths)
  const mode = verifyModeOf(requireOptions('options of verifyPaths', options, VERIFY_OPTIONS))
  const job = Job.start(options)
  const logs = await readLogPaths(paths)
  const units = logs.flatMap((log) => log.units)
  const unfinished = new Set(units.flatMap((unit) => unit.journals).map(({ segment }) => segment))
  const files = units
    .flatMap((unit) => unit.files)
    .filter((file) => file.kind !== 'other' && !unfinished.has(file.path))
  job.plan(files.reduce((sum, file) => sum + file.size, 0))
  const result = newResult()
  result.leftOut = logs.flatMap((log) => log.leftOut)
  result.errors.push(...logs.flatMap(({ errors }) => errors), ...units.flatMap(unfinishedRewrites))
  const outcomes = await Workers.employ(job, units, options.signal, () =>
    job.each(files, (file) => verifyFile(file, job, mode)),
  )
  for (const outcome of outcomes) {
    if (MirrorPidError.is(outcome)) result.errors.push(outcome)
    else if (outcome !== null) addSegment(result, outcome)
  }
  return result
}

/** What was found in a segment, null for a companion that is fine, or what is wrong. */
async function verifyFile(
  file: LogFile,
  job: Job,
  mode: VerifyMode,
): Promise<SegmentVerification | MirrorPidError | null> {
  const part = job.part(file.size)
  try {
    if (file.kind === 'segment') return await runTask('verify', { path: file.path, mode }, part)
    await verifyCompanion(file, part)
    return null
  } catch (error) {
    if (!MirrorPidError.is(error)) throw error
    return error
  } finally {
    part.end()
  }
}

function newResult(): VerifyResult {
  const totals = { files: 0, ...newSums(), validBytes: 0, corrupt: 0 }
  return { files: [], totals, errors: [], leftOut: [] }
}

/** The result of a job that failed before it began. */
export function failedVerification(error: MirrorPidError): VerifyResult {
  return { ...newResult(), errors: [error] }
}

function addSegment(result: VerifyResult, segment: SegmentVerification): void {
  result.files.push(segment)
  result.totals.files++
  addCounts(result.totals, segment)
  result.totals.validBytes += segment.validBytes
  result.totals.corrupt += segment.corrupt.length
}
