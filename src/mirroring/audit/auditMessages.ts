import type { AuditedTransaction } from './auditedProducer.ts'
import type { OwnOverlap, SourceRange } from './sourceProducers.ts'

/** One sentence a finding: what stands in the log, and what a reader of it gets wrong. */

const HALF_OF_ALL_SEQUENCES = 2 ** 30

export function wrongSequence(found: number, expected: number, distance: number): string {
  return distance < HALF_OF_ALL_SEQUENCES
    ? `sequence ${found} where ${expected} comes next, and nothing was removed between: two producers write under this id, or ` +
        'records were lost, and a broker refuses what the one that wrote before sends next'
    : `sequence ${found} comes again where ${expected} comes next: two producers write under this id, and a broker takes ` +
        'batches of one for resends of the other, acknowledges them with old offsets and drops them'
}

export function newEpochSequence(epoch: number, previous: number, found: number): string {
  return (
    `epoch ${epoch} begins at sequence ${found} behind epoch ${previous}, and not at 0: two producers write under this id, ` +
    'and a broker refuses what the one of the lower epoch sends next'
  )
}

export function lowerEpoch(epoch: number, known: number): string {
  return (
    `epoch ${epoch} behind epoch ${known}: two producers write under this id, and a broker that replays the log (it only ` +
    'warns) forgets the last batches of each at every turn and lets the fenced one write'
  )
}

export function lowerMarkerEpoch(epoch: number, known: number): string {
  return (
    `a marker of epoch ${epoch} behind epoch ${known}: it is another producer's, and a broker that replays the log (it ` +
    'only warns) takes the lower epoch for the current one'
  )
}

export function otherEpochInside(epoch: number, openEpoch: number, firstOffset: bigint): string {
  return (
    `data of epoch ${epoch} inside the transaction of epoch ${openEpoch} that is open since offset ${firstOffset}: one marker ` +
    'decides for both, so committed records are dropped or aborted ones shown'
  )
}

export function otherLineInside(firstOffset: bigint): string {
  return (
    `data of another sequence inside the transaction that is open since offset ${firstOffset}: one marker decides for both ` +
    'producers, so committed records are dropped or aborted ones shown'
  )
}

export function plainDataInside(firstOffset: bigint): string {
  return (
    `data outside transactions while the transaction since offset ${firstOffset} is open: Kafka refuses that in recovery ` +
    'too (InvalidTxnState), so a broker that tracks this id does not start with this log'
  )
}

export function foreignMarker(
  name: string,
  epoch: number,
  { firstOffset, epoch: openEpoch }: AuditedTransaction,
): string {
  const fate = name === 'COMMIT' ? 'shown as committed' : 'dropped as aborted'
  const caveat =
    name === 'ABORT' && epoch === openEpoch + 2
      ? '; Kafka 4.0.0 wrote such an epoch itself when it fenced a producer (KAFKA-19367)'
      : ''
  return (
    `the ${name} of epoch ${epoch} ends the transaction of epoch ${openEpoch} that is open since offset ${firstOffset}: it is ` +
    `another producer's, and its records are ${fate} whatever their own producer does${caveat}`
  )
}

export function secondMarker(name: string, previousOffset: bigint): string {
  const fate =
    name === 'COMMIT' ? 'records that it commits were dropped' : 'records that it aborts were shown'
  return (
    `the ${name} has no transaction left to end: the marker at offset ${previousOffset} has ended it in its place, so ` +
    `${fate}`
  )
}

export function markerBehindPlainData(name: string, producerId: bigint, previousOffset: bigint): string {
  return (
    `the ${name} ends no transaction, and the data of ${producerId} before it, at offset ${previousOffset}, is of none: a ` +
    'producer is transactional or it is not, so two of them write under this id, and its sequences and epochs are of both'
  )
}

export function halfMapped(producerId: bigint, mapped: bigint, firstOffset: bigint): string {
  return (
    `the marker of ${producerId} belongs to the transaction that is open since offset ${firstOffset} under ${mapped}: data ` +
    'was mapped and its marker was not, so the transaction stays open and the last stable offset stands still'
  )
}

export function halfUnmapped(producerId: bigint, leftHomeAt: bigint | null): string {
  return (
    `${producerId} writes on with no barrier between, although its transaction went on under its mapped id at offset ` +
    `${leftHomeAt}: only some of its batches were mapped, and readers tell aborted records by the wrong id`
  )
}

export function openAtBarrier(firstOffset: bigint): string {
  return (
    `the mirrored transaction since offset ${firstOffset} is still open at this barrier: the stop did not settle it, so it ` +
    'counts as aborted, also where its source has committed it'
  )
}

export function hanging(
  { firstOffset, lateAfter }: AuditedTransaction,
  bytes: number,
  idleMs: number,
): string {
  const reason =
    lateAfter === null
      ? `nothing of it came in the last ${Math.floor(idleMs / 60_000)} minutes of the log`
      : `it began behind its own end at offset ${lateAfter} (a delayed request)`
  return (
    `the transaction since offset ${firstOffset} is open and ${reason}: no marker will come, and readers of committed ` +
    `records wait before ${bytes} bytes for ever`
  )
}

/** `isAmong`: whether by their timestamps the second begins before the first ends. */
export function sharedId(mapped: bigint, before: SourceRange, after: SourceRange, isAmong: boolean): string {
  const order = isAmong
    ? `the batch at offset ${after.firstOffset} of ${after.source} would fall among those of ${before.source}`
    : `the batch at offset ${after.firstOffset} of ${after.source} would follow those of ${before.source}`
  return (
    `${describeRange(before)} and ${describeRange(after)} become one ${mapped} in a mirror of both, where by their ` +
    `timestamps ${order}: ${consequence(before, after)}`
  )
}

export function ownId(mapped: bigint, { before, after, offset }: OwnOverlap): string {
  return (
    `producers ${before.producerId} and ${after.producerId} of ${after.source} become one ${mapped} in a mirror of it, and at ` +
    `offset ${offset} no barrier stands between them: a broker takes batches of one for resends of the other, or fences it`
  )
}

function describeRange({
  source,
  producerId,
  firstOffset,
  lastOffset,
  lowestEpoch,
  highestEpoch,
}: SourceRange): string {
  const epochs =
    lowestEpoch === highestEpoch ? `epoch ${lowestEpoch}` : `epochs ${lowestEpoch} to ${highestEpoch}`
  return `producer ${producerId} of ${source} (offsets ${firstOffset} to ${lastOffset}, ${epochs})`
}

function consequence(a: SourceRange, b: SourceRange): string {
  return a.lowestEpoch <= b.highestEpoch && b.lowestEpoch <= a.highestEpoch
    ? 'a broker takes batches of one for resends of the other, acknowledges and drops them'
    : 'a broker fences the one of the lower epoch'
}
