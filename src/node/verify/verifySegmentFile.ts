import { stat } from 'node:fs/promises'
import { type OptionKinds, requireOptions, requireText } from '../../core/arguments.ts'
import { onFile } from '../files/ioErrors.ts'
import { JOB_OPTIONS, Job, type JobOptions } from '../jobs/job.ts'
import type { SegmentVerification } from '../jobs/segmentTasks.ts'
import { requireFinished } from '../journal/journalErrors.ts'
import { journalsOf } from '../paths/logPaths.ts'
import { verifySegment } from '../segments/segmentPasses.ts'
import { RECORDS_OPTIONS, type RecordsOptions, verifyModeOf } from './recordsOptions.ts'

/** What `verifySegmentFile` takes. */
export interface VerifySegmentOptions extends JobOptions, RecordsOptions {}

const VERIFY_OPTIONS: OptionKinds<VerifySegmentOptions> = { ...JOB_OPTIONS, ...RECORDS_OPTIONS }

/**
 * Verifies one segment file of any size in a few megabytes of memory: what `core.verify` checks, with positions in the
 * file, and the offsets, which go up from batch to batch and from the number in the file's name. With `records` also what
 * the batches hold, one batch in memory at a time.
 *
 * @throws LogFileError IO_ERROR, UNFINISHED_REWRITE
 * @throws InvalidArgumentError
 * @throws MirrorPidError OUT_OF_MEMORY for a large batch, with `records`
 * @example
 * const { corrupt, trailing } = await verifySegmentFile('00000000000000000000.log')
 * @example
 * const { corrupt } = await verifySegmentFile('00000000000000000000.log', { records: true })
 * corrupt.map(describeCorruptBatch)
 */
export async function verifySegmentFile(
  path: string,
  options: VerifySegmentOptions = {},
): Promise<SegmentVerification> {
  requireText('path', path)
  const mode = verifyModeOf(requireOptions('options of verifySegmentFile', options, VERIFY_OPTIONS))
  const job = Job.start(options)
  const { size } = await onFile('read it', path, () => stat(path))
  job.plan(size)
  requireFinished({ journals: await journalsOf(path) })
  return verifySegment(path, job, mode)
}
