import { basename } from 'node:path'
import type { Direction } from '../../core/core.ts'
import { baseOffsetOfName } from '../../log/fileNames.ts'
import { MeetingIds } from '../../log/meetingIds.ts'
import { type MetProducerIds, ProducerIdsMeetError } from '../../log/producerIdsMeetError.ts'
import { mergingOf, type SeenIds } from '../../log/seenIds.ts'
import type { SegmentPass, SegmentRewrite } from '../jobs/segmentTasks.ts'
import { replacedSegments } from '../paths/logPaths.ts'

/** Pairs of producer ids of one partition of which the mapping makes one each, and that were let through. */
export interface IdsThatMeet extends MetProducerIds {
  /** The partition's directory, or the segment file. */
  path: string
  /** Whether barriers stand between them, which tell the two producers apart; otherwise `force` let them through. */
  hasBarrier: boolean
}

/** What was seen of a partition's segments, each by its path, in log order. */
export function meetingOf(
  segments: readonly { path: string; ids: SeenIds }[],
  direction: Direction,
): MeetingIds {
  const meeting = new MeetingIds(mergingOf(direction))
  const replaced = replacedSegments(segments.map(({ path }) => path))
  for (const { path, ids } of segments) if (!replaced.has(path)) meeting.append(ids)
  return meeting
}

/** Of the first of a partition's segments; null where there is none. */
export function startOffsetOf(segments: readonly { path: string }[]): bigint | null {
  const [first = null] = segments.flatMap(({ path }) => baseOffsetOfName(basename(path)) ?? []).sort(byOffset)
  return first
}

function byOffset(one: bigint, other: bigint): number {
  return one < other ? -1 : Number(one > other)
}

/**
 * The pairs that are let through.
 * @throws ProducerIdsMeetError
 */
export function judgeIds(
  meeting: MeetingIds,
  path: string,
  direction: Direction,
  force: boolean,
): IdsThatMeet[] {
  const { met, apart } = meeting
  if (met !== null && !force)
    throw new ProducerIdsMeetError(met, { file: path, consequence: adviceOf(direction) })
  const notes: IdsThatMeet[] = []
  if (met !== null) notes.push({ path, hasBarrier: false, ...met })
  if (apart !== null) notes.push({ path, hasBarrier: true, ...apart })
  return notes
}

/**
 * The same for a segment alone.
 * @throws ProducerIdsMeetError
 */
export function judgeSegment(
  { report, ids }: SegmentPass,
  direction: Direction,
  force: boolean,
): { report: SegmentRewrite; meetings: IdsThatMeet[] } {
  const { path } = report
  return { report, meetings: judgeIds(meetingOf([{ path, ids }], direction), path, direction, force) }
}

function adviceOf(direction: Direction): string {
  const why =
    direction === 'map'
      ? 'No barrier (MIRROR_PID_RESET) stands between them: a local producer wrote to a log that was mapped, or it was mapped ' +
        'in part'
      : 'No barrier helps: brokers that take restored ids know none'
  return `${why}. Nothing of it was changed; --force (force: true) goes on all the same.`
}
