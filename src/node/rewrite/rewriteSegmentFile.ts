import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import {
  checkRewriteOptions,
  type OptionKinds,
  REWRITE_OPTIONS,
  requireOptions,
  requireText,
} from '../../core/arguments.ts'
import type { RewriteOptions } from '../../core/core.ts'
import { InvalidArgumentError } from '../../errors.ts'
import { onFile } from '../files/ioErrors.ts'
import { requireAbsent, viaTemporary } from '../files/temporaryFiles.ts'
import { JOB_OPTIONS, Job, type JobOptions } from '../jobs/job.ts'
import type { SegmentRewrite } from '../jobs/segmentTasks.ts'
import { requireFinished } from '../journal/journalErrors.ts'
import { DirectoryLocks } from '../locks/directoryLock.ts'
import { journalsOf } from '../paths/logPaths.ts'
import { writeSegment } from '../segments/segmentPasses.ts'
import { judgeSegment } from './idsThatMeet.ts'
import { requireChangeable, rewriteInPlace } from './inPlaceRewrite.ts'
import { requireOtherTopic } from './internalTopics.ts'
import { noFiles } from './partitionRewrite.ts'

export interface RewriteSegmentOptions extends RewriteOptions, JobOptions {
  /** The file to write, which must not be there. Exactly one of `out` and `inPlace` is given. */
  out?: string
  /** Rewrite the file itself, by a journal as `rewritePaths` does, once all of it is found to be fine. */
  inPlace?: boolean
  /** With `inPlace`, default false: where a broker is seen to be at work on the log directory, the call fails with BROKER_RUNNING. */
  ignoreBroker?: boolean
  /** Go on where the mapping puts two producers of the file under one id. Default false. */
  force?: boolean
}

const SEGMENT_OPTIONS: OptionKinds<RewriteSegmentOptions> = {
  ...REWRITE_OPTIONS,
  ...JOB_OPTIONS,
  out: 'string',
  inPlace: 'boolean',
  ignoreBroker: 'boolean',
  force: 'boolean',
}

/**
 * Rewrites the producer ids of one segment file of any size in a few megabytes of memory. The report is that of
 * `core.rewrite` on the whole file, with positions in the file. The output gets its name when it is complete and on
 * disk, never before; its mode and times are those of the original, and in place its owner too. Companions
 * (`.snapshot`, `.txnindex`) are not touched: `rewritePaths` takes a whole partition directory.
 *
 * @param path the segment; in place no symbolic link
 * @throws CorruptBatchError, UnmappableProducerIdError as `core.rewrite` does; nothing was written then
 * @throws ProducerIdsMeetError where two producers of it would be under one id; InternalTopicError
 * @throws LogFileError IO_ERROR, OUTPUT_EXISTS where `out` is there already, and where a rewrite in place was interrupted:
 *   UNFINISHED_REWRITE with `out`, and with `inPlace` where that was to go over the whole partition; INVALID_JOURNAL with
 *   `inPlace`; DIRECTORY_LOCKED where another run changes the directory, BROKER_RUNNING where a broker does
 * @throws CorruptCheckpointError with `inPlace`, where a small file of the broker is there and cannot be read
 * @throws InvalidArgumentError
 * @example
 * const report = await rewriteSegmentFile('00000000000000000000.log', { out: 'mapped.log', crc: 'verify' })
 * report.rewritten // batches whose id changed
 */
export async function rewriteSegmentFile(
  path: string,
  options: RewriteSegmentOptions,
): Promise<SegmentRewrite> {
  requireText('path', path)
  const {
    out,
    inPlace = false,
    force = false,
  } = requireOptions('options of rewriteSegmentFile', options, SEGMENT_OPTIONS)
  if ((out === undefined) !== inPlace) {
    throw new InvalidArgumentError('give exactly one of out (the file to write) and inPlace: true')
  }
  const rewrite = checkRewriteOptions(options)
  const job = Job.start(options)
  const { size } = await onFile('read it', path, () => stat(path))
  await requireOtherTopic(path)
  const journals = await journalsOf(path)
  if (out !== undefined) {
    job.plan(size)
    requireFinished({ journals })
    await requireAbsent(out)
    const { report } = await viaTemporary(out, 'new', async (temporary) =>
      judgeSegment(await writeSegment(path, temporary, job, rewrite, 'mine'), rewrite.direction, force),
    )
    return { ...report, out }
  }
  requireChangeable([dirname(path)], options)
  job.plan(2 * size)
  const done = noFiles()
  const part = job.part(2 * size)
  await rewriteInPlace(
    { directory: null, files: [{ path, kind: 'segment', size }], journals },
    part,
    rewrite,
    done,
    new DirectoryLocks(),
    force,
  )
  part.end()
  return done.files[0]!
}
