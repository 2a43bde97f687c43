import { MirrorPidError } from '../errors.ts'
import { addCounts, type BatchSums, newSums } from '../log/counts.ts'
import { verifyCompanion } from './companionFile.ts'
import { Job, type JobOptions } from './job.ts'
import { type LogPath, readLogPaths } from './logPaths.ts'
import { type SegmentVerification, verifySegment } from './segmentPasses.ts'

/** The sums over all segments. */
export interface VerifyTotals extends BatchSums {
  /** Number of segments. */
  files: number
  validBytes: number
  /** Number of corrupt batches. */
  corrupt: number
}

export interface VerifyResult {
  /** Segments. */
  files: SegmentVerification[]
  totals: VerifyTotals
  /** Damaged producer snapshots and transaction indexes, and files that the system would not read. */
  errors: MirrorPidError[]
  /** What was met and belongs to no log, with the reason. */
  leftOut: LogPath['leftOut']
}

/**
 * Verifies segment files, partition directories and log directories: each segment as `verifySegmentFile` does, and the
 * producer snapshots and transaction indexes beside them. Changes nothing.
 *
 * @param paths of segment files, partition directories or log directories
 * @throws LogFileError NOT_A_LOG, IO_ERROR where a path cannot be looked at
 * @throws InvalidArgumentError
 * @example
 * const { files } = await verifyPaths(['/data/orders-0'])
 * files.filter((file) => file.corrupt.length > 0)
 */
export async function verifyPaths(paths: readonly string[], options: JobOptions = {}): Promise<VerifyResult> {
  const job = new Job(options)
  const logs = await readLogPaths(paths)
  const files = logs
    .flatMap((log) => log.units)
    .flatMap((unit) => unit.files)
    .filter((file) => file.kind !== 'other')
  job.plan(files.reduce((sum, file) => sum + file.size, 0))
  const result = newResult()
  result.leftOut = logs.flatMap((log) => log.leftOut)
  let reached = 0
  for (const file of files) {
    try {
      if (file.kind === 'segment') addSegment(result, await verifySegment(file.path, job))
      else await verifyCompanion(file, job)
    } catch (error) {
      if (!MirrorPidError.is(error)) throw error
      result.errors.push(error)
    }
    reached += file.size
    job.reach(reached)
  }
  return result
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
