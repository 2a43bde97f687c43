import type { Job } from './job.ts'
import { applyJournal } from './journalApply.ts'
import type { RewriteMode } from './partitionRewrite.ts'
import {
  checkSegment,
  type SegmentCheck,
  type SegmentRewrite,
  type SegmentVerification,
  verifySegment,
  writeSegment,
} from './segmentPasses.ts'

/** The passes over one segment: what a thread of its own can do. Both sides can be cloned. */
export interface SegmentTasks {
  verify: { input: { path: string }; result: SegmentVerification }
  write: {
    input: { path: string; target: string; mode: RewriteMode; owner: 'mine' | 'kept' }
    result: SegmentRewrite
  }
  check: { input: { path: string; journal: string; mode: RewriteMode }; result: SegmentCheck }
  apply: { input: { path: string; journal: string }; result: { seconds: number } }
}

export type TaskName = keyof SegmentTasks

type Task<Name extends TaskName> = (
  input: SegmentTasks[Name]['input'],
  job: Job,
) => Promise<SegmentTasks[Name]['result']>

const tasks: { [Name in TaskName]: Task<Name> } = {
  verify: ({ path }, job) => verifySegment(path, job),
  write: ({ path, target, mode, owner }, job) => writeSegment(path, target, job, mode, owner),
  check: ({ path, journal, mode }, job) => checkSegment(path, journal, job, mode),
  apply: ({ path, journal }, job) => applyJournal(path, journal, job),
}

/** Does one pass on this thread. */
export function runHere<Name extends TaskName>(
  name: Name,
  input: SegmentTasks[Name]['input'],
  job: Job,
): Promise<SegmentTasks[Name]['result']> {
  return tasks[name](input, job)
}

/** Does one pass: on a thread of the job's, where it has some. */
export function runTask<Name extends TaskName>(
  name: Name,
  input: SegmentTasks[Name]['input'],
  job: Job,
): Promise<SegmentTasks[Name]['result']> {
  return job.workers === null ? runHere(name, input, job) : job.workers.run(name, input, job)
}
