import { basename } from 'node:path'
import type { RewriteMode } from '../../core/core.ts'
import type { RecordsCheck } from '../../formats/recordsCheck.ts'
import { BatchStream } from '../../log/batchStream.ts'
import { baseOffsetOfName } from '../../log/fileNames.ts'
import { HeaderChanges } from '../../log/headerChanges.ts'
import type { JournalMode } from '../../log/journalFormat.ts'
import { MeetingIds } from '../../log/meetingIds.ts'
import { RewriteWork } from '../../log/rewriteWork.ts'
import { mergingOf } from '../../log/seenIds.ts'
import { VerifyWork } from '../../log/verifyWork.ts'
import { OutputFile } from '../files/outputFile.ts'
import { requireUnchanged, type SourceFile, withSource } from '../files/sourceFile.ts'
import type { Job } from '../jobs/job.ts'
import type {
  SegmentCheck,
  SegmentPass,
  SegmentRewrite,
  SegmentVerification,
  VerifyMode,
} from '../jobs/segmentTasks.ts'
import { JournalWriter } from '../journal/journalWriter.ts'
import { largestWhole, scanFile, streamFile, WINDOWS_A_TURN } from './streamFile.ts'

/** Passes over a segment and changes nothing. */
export function verifySegment(
  path: string,
  job: Job,
  { maxBatchBytes }: VerifyMode,
): Promise<SegmentVerification> {
  return withSource(path, async (source) => {
    const records = maxBatchBytes === null ? null : await loadRecordsCheck(maxBatchBytes)
    const work = new VerifyWork(job.core, baseOffsetOfName(basename(path)), records)
    const stream = new BatchStream(source.size, job.windowSize, work)
    await streamFile(source, stream, job, null, records === null ? WINDOWS_A_TURN : 1)
    return { path, ...work.counts, incomplete: stream.incomplete }
  })
}

/** Loaded where it is asked for: other passes need no codecs. */
async function loadRecordsCheck(maxBatchBytes: number): Promise<RecordsCheck> {
  const { loadNativeCodecs } = await import('./nativeCodecs.ts')
  const { RecordsCheck } = await import('../../formats/recordsCheck.ts')
  return new RecordsCheck(await loadNativeCodecs(), maxBatchBytes)
}

/**
 * Writes the rewritten segment to a new file, finished and lasting.
 * @param target must not be there; it is left half written when this fails
 */
export function writeSegment(
  path: string,
  target: string,
  job: Job,
  mode: RewriteMode,
  owner: 'mine' | 'kept',
): Promise<SegmentPass> {
  return withSource(path, async (source) => {
    const began = performance.now()
    const output = await OutputFile.create(target)
    try {
      const meeting = new MeetingIds(mergingOf(mode.direction))
      const work = new RewriteWork(job.core, mode, path, meeting)
      const stream = new BatchStream(source.size, job.windowSize, work)
      await streamFile(source, stream, job, output)
      for (const { position, crc } of work.lateCrcs) output.write(bigEndian(crc), position)
      await output.finish(source.stats, owner)
      await requireUnchanged(source)
      return { report: reportOf(source, work, stream, began), ids: meeting.seen }
    } catch (error) {
      await output.abandon()
      throw error
    }
  })
}

/** What is held of a journal until it is written. */
const CHANGES_HELD = 256 * 1024

/**
 * Passes over a segment as a rewrite does, and throws what a rewrite would throw. What it would change goes into a
 * journal, finished and lasting. One of a segment that is to be replaced by a copy holds no changes: it tells, until the
 * whole partition is done, that the rest of it waits.
 * @param journal must not be there, and is not there afterwards where there is nothing for it; it is left half written
 *   when this fails. Null to write none.
 */
export function checkSegment(
  path: string,
  journal: string | null,
  job: Job,
  mode: JournalMode,
): Promise<SegmentCheck> {
  return withSource(path, async (source) => {
    const began = performance.now()
    const isLinked = source.stats.nlink > 1
    const changes = isLinked || journal === null ? null : new HeaderChanges()
    const meeting = new MeetingIds(mergingOf(mode.direction))
    const work = new RewriteWork(job.core, mode, path, meeting, changes)
    const stream = new BatchStream(source.size, largestWhole(job), work)
    let writer: JournalWriter | null = null
    const writeChanges = async (journal: string, changes: HeaderChanges | null) => {
      writer ??= await JournalWriter.create(journal, path, job.core)
      if (changes !== null) writer.take(changes)
      return writer
    }
    try {
      await scanFile(source, stream, job, async () => {
        if (journal !== null && changes !== null && changes.byteLength >= CHANGES_HELD) {
          await writeChanges(journal, changes)
        }
      })
      const isJournaled =
        journal !== null && work.counts.rewritten > 0 && (!isLinked || mode.scope === 'partition')
      if (isJournaled) await (await writeChanges(journal, changes)).finish(source, mode)
      await requireUnchanged(source)
      const { dev, ino, size, mtimeMs } = source.stats
      return {
        report: reportOf(source, work, stream, began),
        ids: meeting.seen,
        stats: { dev, ino, size, mtimeMs },
        isJournaled,
        isLinked,
      }
    } catch (error) {
      await (writer as JournalWriter | null)?.abandon()
      throw error
    }
  })
}

/**
 * Writes a journal without changes: that a run over the partition of this segment, in which nothing is to be changed,
 * has begun to change other files.
 */
export function markRun(path: string, journal: string, job: Job, mode: JournalMode): Promise<void> {
  return withSource(path, async (source) => {
    const writer = await JournalWriter.create(journal, path, job.core)
    try {
      await writer.finish(source, mode)
    } catch (error) {
      await writer.abandon()
      throw error
    }
  })
}

function reportOf(
  { path, size }: SourceFile,
  { counts }: RewriteWork,
  { incomplete }: BatchStream,
  began: number,
): SegmentRewrite {
  const seconds = (performance.now() - began) / 1000
  return { path, out: path, bytes: size, seconds, ...counts, incomplete }
}

function bigEndian(value: number): Uint8Array {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, value)
  return bytes
}
