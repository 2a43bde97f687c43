import { basename } from 'node:path'
import type { RewriteOptions, RewriteReport, VerifyReport } from '../core/core.ts'
import { BatchStream, type IncompleteBatch } from '../log/batchStream.ts'
import { baseOffsetOfName } from '../log/fileNames.ts'
import { RewriteWork } from '../log/rewriteWork.ts'
import { VerifyWork } from '../log/verifyWork.ts'
import type { Job } from './job.ts'
import { OutputFile } from './outputFile.ts'
import { requireUnchanged, type SourceFile, withSource } from './sourceFile.ts'
import { streamFile } from './streamFile.ts'
import { viaTemporary } from './temporaryFiles.ts'

/** What became of one segment. */
export interface SegmentRewrite extends RewriteReport {
  path: string
  /** Where the rewritten segment is; in place the same as `path`. */
  out: string
  /** Size of the file. */
  bytes: number
  seconds: number
  /** The last batch, where the end of the file cuts it; it is kept byte for byte. */
  incomplete: IncompleteBatch | null
}

/** What was found in one segment. */
export interface SegmentVerification extends VerifyReport {
  path: string
  /** The last batch, where the end of the file cuts it. */
  incomplete: IncompleteBatch | null
}

/** Passes over a segment and changes nothing. */
export function verifySegment(path: string, job: Job): Promise<SegmentVerification> {
  return withSource(path, async (source) => {
    const work = new VerifyWork(job.core, baseOffsetOfName(basename(path)))
    const stream = new BatchStream(source.size, job.windowSize, work)
    await streamFile(source, stream, job, null)
    return { path, ...work.counts, incomplete: stream.incomplete }
  })
}

/** Passes over a segment as a rewrite does, and writes nothing: throws what a rewrite would throw. */
export function checkSegment(path: string, job: Job, options: RewriteOptions): Promise<SegmentRewrite> {
  return withSource(path, (source) => rewriteSource(source, job, options, null))
}

/**
 * Writes the rewritten segment to a new file, finished and lasting.
 * @param target must not be there; it is left half written when this fails
 */
export function writeSegment(
  path: string,
  target: string,
  job: Job,
  options: RewriteOptions,
  owner: 'mine' | 'kept',
): Promise<SegmentRewrite> {
  return withSource(path, async (source) => {
    const began = performance.now()
    const output = await OutputFile.create(target)
    try {
      const report = await rewriteSource(source, job, options, output)
      await output.finish(source.stats, owner)
      await requireUnchanged(source)
      return { ...report, seconds: secondsSince(began) }
    } catch (error) {
      await output.abandon()
      throw error
    }
  })
}

/** Puts the rewritten segment in the place of one that `checkSegment` has passed. */
export async function replaceSegment(
  checked: SegmentRewrite,
  job: Job,
  options: RewriteOptions,
): Promise<SegmentRewrite> {
  const { path } = checked
  const report = await viaTemporary(path, 'replace', (temporary) =>
    writeSegment(path, temporary, job, options, 'kept'),
  )
  return { ...report, seconds: checked.seconds + report.seconds }
}

async function rewriteSource(
  source: SourceFile,
  job: Job,
  options: RewriteOptions,
  output: OutputFile | null,
): Promise<SegmentRewrite> {
  const { path, size } = source
  const began = performance.now()
  const work = new RewriteWork(job.core, options, path)
  const stream = new BatchStream(size, job.windowSize, work)
  await streamFile(source, stream, job, output)
  if (output !== null) {
    for (const { position, crc } of work.lateCrcs) output.write(bigEndian(crc), position)
  }
  return {
    path,
    out: path,
    bytes: size,
    seconds: secondsSince(began),
    ...work.counts,
    incomplete: stream.incomplete,
  }
}

function secondsSince(began: number): number {
  return (performance.now() - began) / 1000
}

function bigEndian(value: number): Uint8Array {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, value)
  return bytes
}
