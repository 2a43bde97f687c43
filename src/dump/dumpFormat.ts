import type { RecordCursor } from '../formats/recordCursor.ts'
import type { OffsetIndexEntry } from '../log/offsetIndex.ts'
import type { ProducerSnapshotEntry } from '../log/producerSnapshot.ts'
import type { TimeIndexEntry } from '../log/timeIndex.ts'
import type { TransactionIndexEntry } from '../log/transactionIndex.ts'
import type { FramedBatch } from './batchLine.ts'
import type { ControlReading } from './controlText.ts'
import type { FileReport } from './fileReport.ts'
import type { RecordPlace } from './recordPlace.ts'
import type { TextBuffer } from './textBuffer.ts'

/** What a dumped file is. */
export type DumpKind = 'log' | 'checkpoint' | 'index' | 'timeindex' | 'txnindex' | 'snapshot' | 'unknown'

/** What the name of a log or a checkpoint says of it. */
export type LogHead =
  | { kind: 'log'; baseOffset: bigint }
  | { kind: 'checkpoint'; endOffset: bigint; epoch: number }
  | { kind: 'bootstrap' }

/** What `--explain` says of a batch. */
export interface BatchNotes {
  /** Of a mapped producer id: the id in the cluster that it comes from. */
  sourceProducerId: bigint | null
  /** Of a MIRROR_PID_RESET: where what is before it was mirrored from, null where the barrier does not say. */
  barrier: { sourceClusterId: string | null } | null
}

/** A record of magic 0 or 1. */
export interface LegacyRecord {
  key: Uint8Array | null
  value: Uint8Array | null
  isValid: boolean
  /** The stored CRC. */
  crc: number
}

/** What a message decoder makes of a record; null is not shown. */
export interface DecodedMessage {
  key: string | null
  value: string | null
}

/** How a dump is written: as Kafka's lines, as JSON, or not at all. All goes to `out`, from where the caller takes it. */
export interface DumpFormat {
  readonly out: TextBuffer
  begin(): void
  /** @param path as it was given */
  beginFile(path: string, kind: DumpKind): void
  logHead(head: LogHead): void
  batch(batch: FramedBatch, notes: BatchNotes | null): void
  /** A record of the last batch; what the decoder made of it where there is one. */
  record(place: RecordPlace, cursor: RecordCursor, message: DecodedMessage | null): void
  controlRecord(place: RecordPlace, cursor: RecordCursor, reading: ControlReading): void
  legacyRecord(place: RecordPlace, record: LegacyRecord): void
  endBatch(): void
  /** Bytes behind the last batch that are none. */
  trailing(bytes: number, name: string): void
  indexEntry(entry: OffsetIndexEntry): void
  timeIndexEntry(entry: TimeIndexEntry): void
  transaction(entry: TransactionIndexEntry): void
  producer(entry: ProducerSnapshotEntry): void
  emptyIndex(path: string): void
  passedSanityCheck(path: string): void
  endFile(report: FileReport): void
  end(findings: number, errors: readonly Error[]): void
}
