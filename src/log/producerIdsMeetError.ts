import { MirrorPidError } from '../errors.ts'

/** Pairs of producer ids of one partition of which the mapping makes one each: how many, and the one that is met first. */
export interface MetProducerIds {
  /** The id that comes first in the log, and the base offset of its first batch. */
  producerId: bigint
  /** Null where only a producer snapshot knows the id, and no offset of it. */
  firstOffset: bigint | null
  /** The other one. */
  otherProducerId: bigint
  otherFirstOffset: bigint | null
  /** What both become. */
  mappedProducerId: bigint
  pairs: number
}

/**
 * Two producers of one partition that the mapping would put under one id: p and -(p + 2), with no barrier between them;
 * or, where ids are restored, with or without one. `force` goes on all the same.
 *
 * @example
 * const { errors } = await rewritePaths(['/kafka'], { outDirectory: '/mapped' })
 * for (const error of errors) if (error instanceof ProducerIdsMeetError) console.error(error.producerId, error.otherProducerId)
 */
export class ProducerIdsMeetError extends MirrorPidError implements MetProducerIds {
  readonly producerId: bigint
  readonly firstOffset: bigint | null
  readonly otherProducerId: bigint
  readonly otherFirstOffset: bigint | null
  readonly mappedProducerId: bigint
  readonly pairs: number
  /** Of the partition or the file; null where there is none. */
  readonly file: string | null

  /** @param consequence what was done by then, and what to do: sentences */
  constructor(met: MetProducerIds, { file, consequence }: { file: string | null; consequence: string }) {
    super('PRODUCER_IDS_MEET', `${file === null ? '' : `${file}: `}${describeMeeting(met)}. ${consequence}`)
    this.producerId = met.producerId
    this.firstOffset = met.firstOffset
    this.otherProducerId = met.otherProducerId
    this.otherFirstOffset = met.otherFirstOffset
    this.mappedProducerId = met.mappedProducerId
    this.pairs = met.pairs
    this.file = file
  }
}

function describeMeeting(met: MetProducerIds): string {
  const { mappedProducerId } = met
  return (
    `${describePair(met)} would both become ${mappedProducerId}: a broker takes batches of one for resends of the other, and ` +
    'ends the transactions of one by the markers of the other'
  )
}

/** "producers -7 (first at offset 0) and 5 (first at offset 3), the first of 2 such pairs,". */
export function describePair(met: MetProducerIds): string {
  const { producerId, firstOffset, otherProducerId, otherFirstOffset, pairs } = met
  const rest = pairs > 1 ? `, the first of ${pairs} such pairs,` : ''
  return `producers ${producerId} (${placeOf(firstOffset)}) and ${otherProducerId} (${placeOf(otherFirstOffset)})${rest}`
}

function placeOf(firstOffset: bigint | null): string {
  return firstOffset === null ? 'in a producer snapshot' : `first at offset ${firstOffset}`
}
