import type { RewriteMode, RewriteReport, VerifyReport } from '../../core/core.ts'
import type { IncompleteBatch } from '../../log/batchStream.ts'
import type { JournalMode } from '../../log/journalFormat.ts'
import type { SeenIds } from '../../log/seenIds.ts'
import type { FileIdentity } from '../files/sourceFile.ts'

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

/** What a verification looks at besides sizes, CRCs and offsets. */
export interface VerifyMode {
  /** The most bytes that the records of one batch may take; null where records are not looked at. */
  maxBatchBytes: number | null
}

/** What was found in one segment. */
export interface SegmentVerification extends VerifyReport {
  path: string
  /** The last batch, where the end of the file cuts it. */
  incomplete: IncompleteBatch | null
}

/** What a pass over a segment came to. */
export interface SegmentPass {
  report: SegmentRewrite
  /** The producer ids in it, as they were before. */
  ids: SeenIds
}

/** What a look at a segment came to, before it is rewritten in place. */
export interface SegmentCheck extends SegmentPass {
  /** The file as it was. */
  stats: FileIdentity
  /** Whether there is a journal of it; not where nothing changes. */
  isJournaled: boolean
  /** Whether the file has other names too: it is to be replaced by a copy, so its journal tells of the run alone. */
  isLinked: boolean
}

/** The passes over one segment: what a thread of its own can do. Both sides can be cloned. */
export interface SegmentTasks {
  verify: { input: { path: string; mode: VerifyMode }; result: SegmentVerification }
  write: {
    input: { path: string; target: string; mode: RewriteMode; owner: 'mine' | 'kept' }
    result: SegmentPass
  }
  /** Without a journal, nothing at all is written. */
  check: { input: { path: string; journal: string | null; mode: JournalMode }; result: SegmentCheck }
  apply: { input: { path: string; journal: string }; result: { seconds: number } }
}

export type TaskName = keyof SegmentTasks
