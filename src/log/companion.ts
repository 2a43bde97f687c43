import type { OptionKinds } from '../core/arguments.ts'
import type { Direction } from '../core/core.ts'
import { mapProducerId, unmapProducerId } from '../core/producerId.ts'
import { UnmappableProducerIdError } from '../errors.ts'

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
}

export const COMPANION_OPTIONS: OptionKinds<CompanionOptions> = { direction: 'any', file: 'any' }

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

/** Writes the changed ids; `checkProducerIds` has passed. */
export function writeProducerIds(view: DataView, idsAt: Iterable<number>, direction: Direction): void {
  for (const at of idsAt) view.setBigInt64(at, changed(view.getBigInt64(at), direction))
}

function changed(producerId: bigint, direction: Direction): bigint {
  return direction === 'map' ? mapProducerId(producerId) : unmapProducerId(producerId)
}
