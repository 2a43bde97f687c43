import { readFile } from 'node:fs/promises'
import type { Direction } from '../../core/core.ts'
import { isMirroredProducerId } from '../../core/producerId.ts'
import type { CompanionReport } from '../../log/companion.ts'
import type { MeetingIds } from '../../log/meetingIds.ts'
import {
  readProducerSnapshot,
  rewriteProducerSnapshot,
  verifyProducerSnapshot,
} from '../../log/producerSnapshot.ts'
import {
  readTransactionIndex,
  rewriteTransactionIndex,
  verifyTransactionIndex,
} from '../../log/transactionIndex.ts'
import { onFile } from '../files/ioErrors.ts'
import { OutputFile } from '../files/outputFile.ts'
import { requireUnchanged, type SourceFile, withSource } from '../files/sourceFile.ts'
import { viaTemporary } from '../files/temporaryFiles.ts'
import type { Job } from '../jobs/job.ts'
import type { LogFile } from '../paths/logPaths.ts'

/** What became of a producer snapshot or a transaction index. */
export interface CompanionRewrite extends CompanionReport {
  path: string
  /** In place the same as `path`. */
  out: string
  kind: 'snapshot' | 'txnindex'
  /** Size of the file. */
  bytes: number
}

/** What is asked of the ids of a companion. */
export interface CompanionIds {
  /**
   * Has those of the segments, and takes the mapped ones: a producer of before the log may be one that readers still know.
   * Local ones come into no file beside a mapped log. Of a restored one they are taken where they are of before the log: the
   * snapshot goes with it. One within the log that no segment knows was mapped with its batches.
   */
  meeting: MeetingIds
  /** Of the first segment; null where there is none. */
  startOffset: bigint | null
  /** To go on where two ids of the companion itself meet. */
  force: boolean
}

/** @throws CorruptCompanionError */
export async function verifyCompanion(file: LogFile, job: Job): Promise<void> {
  const progress = job.begin(file.path, file.size)
  const bytes = await onFile('read it', file.path, () => readFile(file.path))
  if (file.kind === 'snapshot') verifyProducerSnapshot(job.core, bytes, file.path)
  else verifyTransactionIndex(bytes, file.path)
  progress.end()
}

/**
 * Throws what a rewrite would throw, and writes nothing.
 * @param ids where those that it holds go; null where nobody asks
 */
export function checkCompanion(
  file: LogFile,
  job: Job,
  direction: Direction,
  ids: CompanionIds | null,
): Promise<CompanionRewrite> {
  return withSource(file.path, async (source) => (await rewritten(file, source, job, direction, ids)).report)
}

/** Writes the rewritten companion to a new file, finished and lasting. */
export function writeCompanion(
  file: LogFile,
  target: string,
  job: Job,
  direction: Direction,
  owner: 'mine' | 'kept',
  ids: CompanionIds | null = null,
): Promise<CompanionRewrite> {
  return withSource(file.path, async (source) => {
    const { bytes, report } = await rewritten(file, source, job, direction, ids)
    const output = await OutputFile.create(target)
    try {
      output.write(bytes, 0)
      await output.finish(source.stats, owner)
      await requireUnchanged(source)
      return report
    } catch (error) {
      await output.abandon()
      throw error
    }
  })
}

/** Puts the rewritten companion in the place of one that `checkCompanion` has passed. */
export function replaceCompanion(file: LogFile, job: Job, direction: Direction): Promise<CompanionRewrite> {
  return viaTemporary(file.path, 'replace', (temporary) =>
    writeCompanion(file, temporary, job, direction, 'kept'),
  )
}

/** Companions are small, a few bytes for each producer or aborted transaction, so they are held whole. */
async function rewritten(
  file: LogFile,
  source: SourceFile,
  job: Job,
  direction: Direction,
  ids: CompanionIds | null,
): Promise<{ bytes: Uint8Array; report: CompanionRewrite }> {
  const { path, size } = source
  const progress = job.begin(path, size)
  const bytes = await onFile('read it', path, () => source.handle.readFile())
  const kind = file.kind === 'snapshot' ? 'snapshot' : 'txnindex'
  if (ids !== null) takeIds(kind, bytes, path, job, ids, direction)
  const options = { direction, file: path, force: ids?.force ?? true }
  const { entries, rewritten } =
    kind === 'snapshot'
      ? rewriteProducerSnapshot(job.core, bytes, options)
      : rewriteTransactionIndex(bytes, options)
  progress.end()
  return { bytes, report: { path, out: path, kind, bytes: size, entries, rewritten } }
}

function takeIds(
  kind: CompanionRewrite['kind'],
  bytes: Uint8Array,
  path: string,
  { core }: Job,
  { meeting, startOffset }: CompanionIds,
  direction: Direction,
): void {
  const isBefore = (offset: bigint | null) => offset !== null && startOffset !== null && offset < startOffset
  const take = (producerId: bigint, offset: bigint | null) => {
    if (isMirroredProducerId(producerId) || (direction === 'unmap' && isBefore(offset)))
      meeting.takePoint(producerId, offset)
  }
  if (kind === 'txnindex') {
    for (const { producerId, firstOffset, lastOffset } of readTransactionIndex(bytes, path)) {
      take(producerId, firstOffset)
      take(producerId, lastOffset)
    }
    return
  }
  for (const { producerId, currentTxnFirstOffset, lastBatch } of readProducerSnapshot(core, bytes, path)) {
    take(producerId, lastBatch?.lastOffset ?? currentTxnFirstOffset)
  }
}
