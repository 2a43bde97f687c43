import type { Job } from '../jobs/job.ts'
import type { SegmentTasks, TaskName } from '../jobs/segmentTasks.ts'
import { applyJournal } from '../journal/journalApply.ts'
import { checkSegment, verifySegment, writeSegment } from '../segments/segmentPasses.ts'

type Task<Name extends TaskName> = (
  input: SegmentTasks[Name]['input'],
  job: Job,
) => Promise<SegmentTasks[Name]['result']>

const tasks: { [Name in TaskName]: Task<Name> } = {
  verify: ({ path, mode }, job) => verifySegment(path, job, mode),
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
