import type { OptionKinds } from '../core/arguments.ts'
import type { Direction } from '../core/core.ts'
import { mapProducerId, unmapProducerId } from '../core/producerId.ts'
import { UnmappableProducerIdError } from '../errors.ts'
import { MeetingIds } from './meetingIds.ts'
import { ProducerIdsMeetError } from './producerIdsMeetError.ts'
import { mergingOf } from './seenIds.ts'

/** What the two companions of segments that hold producer ids have in common: fixed-size entries with one id each. */

export interface CompanionReport {
  /** Number of entries. */
  entries: number
  /** Those whose producer id the direction changes. */
  rewritten: number
}

/** How the ids of a producer snapshot or a transaction index are rewritten. */
export interface CompanionOptions {
  /** Default `map`. */
  direction?: Direction
  /** Named in errors. */
  file?: string | null
  /** Go on where two ids of the file become one. Default false. */
  force?: boolean
}

export const COMPANION_OPTIONS: OptionKinds<CompanionOptions> = {
  direction: 'any',
  file: 'any',
  force: 'boolean',
}

/** Counts what `direction` changes and refuses an id without an image, before anything is written. */
export function checkProducerIds(
  view: DataView,
  idsAt: Iterable<number>,
  direction: Direction,
  file: string | null,
): CompanionReport {
  const report: CompanionReport = { entries: 0, rewritten: 0 }
  for (const at of idsAt) {
    const producerId = view.getBigInt64(at)
    report.entries++
    try {
      if (changed(producerId, direction) !== producerId) report.rewritten++
    } catch (error) {
      if (!(error instanceof UnmappableProducerIdError)) throw error
      throw new UnmappableProducerIdError(producerId, { position: at, baseOffset: null }, file)
    }
  }
  return report
}

/**
 * Of one file alone, nobody can tell whether a barrier stands between two ids.
 * @throws ProducerIdsMeetError
 */
export function requireNoneMeet(
  ids: Iterable<{ producerId: bigint; offset: bigint | null }>,
  { direction = 'map', file = null, force = false }: CompanionOptions,
): void {
  if (force) return
  const meeting = new MeetingIds(mergingOf(direction))
  for (const { producerId, offset } of ids) meeting.takePoint(producerId, offset)
  const { met } = meeting
  if (met === null) return
  const consequence = 'Nothing was changed; force: true goes on all the same.'
  throw new ProducerIdsMeetError(met, { file, consequence })
}

/** Writes the changed ids; `checkProducerIds` has passed. */
export function writeProducerIds(view: DataView, idsAt: Iterable<number>, direction: Direction): void {
  for (const at of idsAt) view.setBigInt64(at, changed(view.getBigInt64(at), direction))
}

function changed(producerId: bigint, direction: Direction): bigint {
  return direction === 'map' ? mapProducerId(producerId) : unmapProducerId(producerId)
}
