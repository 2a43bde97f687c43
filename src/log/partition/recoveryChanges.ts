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
}

export function changesOf(events: readonly RecoveryEvent[]): RecoveryChanges {
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
  }
}
