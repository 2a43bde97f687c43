import { basename, dirname, resolve } from 'node:path'
import type { CorruptBatchFacts } from '../../errors.ts'
import { BatchStream, type IncompleteBatch } from '../../log/batchStream.ts'
import { isPartitionName } from '../../log/fileNames.ts'
import { AuditWork, type PassedOffsets } from '../../mirroring/audit/auditWork.ts'
import type { BatchTaker } from '../../mirroring/audit/batchTaker.ts'
import { withSource } from '../files/sourceFile.ts'
import type { Job } from '../jobs/job.ts'
import { type LogFile, type LogUnit, replacedSegments } from '../paths/logPaths.ts'
import { streamFile } from '../segments/streamFile.ts'

/** A batch that was left out, as its CRC is wrong, or a place behind which a segment cannot be read. */
export interface DamagedBatch extends CorruptBatchFacts {
  path: string
}

/** A last batch of a segment that its end cuts. */
export interface CutBatch extends IncompleteBatch {
  path: string
}

/** What of a log was not audited. The first are kept, all counted. */
export interface LogDamage {
  damaged: DamagedBatch[]
  incomplete: CutBatch[]
  count: number
}

/** What a log is called: its directory, or for a segment file alone the one that it lies in, if that is a partition's. */
export function partitionOf({ directory, files }: LogUnit): string {
  if (directory !== null) return basename(resolve(directory))
  const path = resolve(files[0]?.path ?? '')
  const parent = basename(dirname(path))
  return isPartitionName(parent) ? parent : basename(path)
}

export function segmentsOf({ files }: LogUnit): LogFile[] {
  const segments = files.filter((file) => file.kind === 'segment')
  const replaced = replacedSegments(segments.map(({ path }) => path))
  return segments.filter(({ path }) => !replaced.has(path))
}

/** Gives all batches of a log to an audit, segment after segment. */
export async function feedLog(
  unit: LogUnit,
  taker: BatchTaker,
  job: Job,
  damage: LogDamage,
  limit: number,
): Promise<void> {
  const segments = segmentsOf(unit)
  const passed: PassedOffsets | null = segments.some(({ path }) => path.endsWith('.swap'))
    ? { next: 0n }
    : null
  for (const { path, size } of segments) {
    const part = job.part(size)
    const onDamage = (facts: CorruptBatchFacts) => {
      if (damage.count++ < limit) damage.damaged.push({ ...facts, path })
    }
    try {
      await withSource(path, async (source) => {
        taker.modifiedAt?.(source.stats.mtimeMs)
        const stream = new BatchStream(
          source.size,
          job.windowSize,
          new AuditWork(job.core, taker, onDamage, passed),
        )
        await streamFile(source, stream, part, null)
        if (stream.incomplete !== null && damage.count++ < limit)
          damage.incomplete.push({ ...stream.incomplete, path })
      })
    } finally {
      part.end()
    }
  }
}
