import type { RecoveryEvent } from './logOptions.ts'

/** What was cut off a segment, in bytes. */
export type Cut = Omit<Extract<RecoveryEvent, { kind: 'cut' }>, 'kind'>

/** What opening a log took from its files. */
export interface RecoveryChanges {
  cut: Cut[]
  /** Segments behind what was cut. */
  removedSegments: { segment: bigint; bytes: number }[]
  /** Names of files that a broker had left in the middle of something. */
  leftovers: string[]
  /** Names of files that end as such do but are no broker's: they are left alone. */
  foreignFiles: string[]
  /** Where records lie below the first segment, by the log start offset that a checkpoint notes. */
  tiered?: { logStartOffset: bigint; firstOffset: bigint }
}

export function changesOf(events: readonly RecoveryEvent[]): RecoveryChanges {
  const tiered = events.find((event) => event.kind === 'tiered')
  return {
    cut: events.flatMap((event) => {
      if (event.kind !== 'cut') return []
      const { kind: _, ...cut } = event
      return [cut]
    }),
    removedSegments: events.flatMap((event) =>
      event.kind === 'removed' ? [{ segment: event.segment, bytes: event.bytes }] : [],
    ),
    leftovers: events.flatMap((event) => (event.kind === 'leftover' ? [event.name] : [])),
    foreignFiles: events.flatMap((event) => (event.kind === 'foreign' ? [event.name] : [])),
    ...(tiered === undefined
      ? {}
      : { tiered: { logStartOffset: tiered.logStartOffset, firstOffset: tiered.firstOffset } }),
  }
}

/** What whoever works on such a partition must know. */
export function describeTiered({
  logStartOffset,
  firstOffset,
}: NonNullable<RecoveryChanges['tiered']>): string {
  return (
    `the log start offset ${logStartOffset}, of a checkpoint, lies below the first segment, ${firstOffset}: the records ` +
    'between are in tiered storage, or were deleted since. They are not looked at, so producers and transactions that are ' +
    'known from them alone are not known here. The leader epochs of all of them are kept.'
  )
}
