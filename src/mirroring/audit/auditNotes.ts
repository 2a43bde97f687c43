import { describePair, type MetProducerIds } from '../../log/producerIdsMeetError.ts'
import type { AuditNote } from './auditReport.ts'

const TEXTS = {
  'compaction-gap': 'batches with gaps before them in their sequences, where compaction has removed offsets',
  'marker-without-transaction':
    'markers without an open transaction: written twice, or for a transaction whose records were removed or that wrote nothing here',
  'coordinator-epoch':
    'markers of a lower coordinator epoch than the one before: of another cluster, or written before Kafka 2.5 (KAFKA-9144)',
  'came-home': 'transactions that began under a local id and went on, or ended, under its mapped one',
  'local-transaction-at-barrier':
    'open transactions of local producers that a barrier ended: they count as aborted',
  'restart-at-barrier':
    'producers with ids >= 0 that start anew behind a barrier; a broker that keeps those (barrierScope "mirrored") would take their first batches for resends',
  'local-after-mirrored':
    'batches of producers with ids >= 0 behind mapped ones with no barrier between: a stop without a barrier, or a log that was mapped in part',
  expired: 'producers that came back after a broker had forgotten them (producer.id.expiration.ms)',
  'timestamp-ahead':
    'batches of a timestamp later than now, or than the last change of their segment file: whether transactions hang is judged without them',
  damaged:
    'damaged parts, left out: what stands there is not known, so open transactions before it were forgotten',
  'unreadable-control': 'control batches that cannot be read, left out',
  'control-type':
    'control batches of another type with a producer id: Apache Kafka does not start on a log that holds one',
  'offsets-go-back': 'batches whose offsets are not above those before (see mirrorpid verify)',
} as const

export type NoteKind = keyof typeof TEXTS

/** The notes of a log: a handful, however long it is. */
export class AuditNotes {
  readonly #notes = new Map<NoteKind, AuditNote>()

  add(kind: NoteKind, offset: bigint): void {
    const note = this.#notes.get(kind)
    if (note !== undefined) note.count++
    else this.#notes.set(kind, { kind, count: 1, offset, message: TEXTS[kind] })
  }

  toArray(): AuditNote[] {
    return [...this.#notes.values()]
  }
}

/** Two ids of the log that a mapping would make one. */
export function noteOfMeeting(met: MetProducerIds): AuditNote {
  const { otherFirstOffset, mappedProducerId, pairs } = met
  const message =
    `${describePair(met)} would become one ${mappedProducerId} in a mirror of this log, or in a rewrite of it: no barrier stands ` +
    'between them'
  return { kind: 'ids-that-meet', count: pairs, offset: otherFirstOffset ?? 0n, message }
}
