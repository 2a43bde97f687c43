import { ByteReader, MalformedBytes } from '../bytes/byteReader.ts'
import { InvalidArgumentError, InvalidRecordError } from '../errors.ts'
import { ControlRecordType, parseControlKey } from './controlRecordType.ts'
import { parseEndTransactionMarker } from './endTransactionMarker.ts'
import {
  type KRaftVersionRecord,
  type LeaderChangeMessage,
  parseKRaftVersion,
  parseLeaderChange,
  parseSnapshotFooter,
  parseSnapshotHeader,
  parseVoters,
  type SnapshotFooterRecord,
  type SnapshotHeaderRecord,
  type VotersRecord,
} from './kraftRecords.ts'
import { decodeMirrorPidReset, type MirrorPidReset } from './mirrorPidReset.ts'
import { type KafkaRecord, parseRecords } from './record.ts'
import { type RecordBatch, requireBatch } from './recordBatch.ts'

/** What a control record says, by its type. */
export type ControlRecordValue =
  | { name: 'ABORT' | 'COMMIT'; version: number; coordinatorEpoch: number }
  | ({ name: 'LEADER_CHANGE' } & LeaderChangeMessage)
  | ({ name: 'SNAPSHOT_HEADER' } & SnapshotHeaderRecord)
  | ({ name: 'SNAPSHOT_FOOTER' } & SnapshotFooterRecord)
  | ({ name: 'KRAFT_VERSION' } & KRaftVersionRecord)
  | ({ name: 'KRAFT_VOTERS' } & VotersRecord)
  | ({ name: 'MIRROR_PID_RESET' } & MirrorPidReset)
  | { name: 'UNKNOWN' }

/**
 * A control record: its type's number and name, what its value says, and the record itself. An unknown type has the name
 * `UNKNOWN`; its number and bytes are still there.
 */
export type ControlRecord = ControlRecordValue & { type: number; record: KafkaRecord }

function parseValue(type: number, reader: ByteReader, value: Uint8Array): ControlRecordValue {
  switch (type) {
    case ControlRecordType.ABORT:
      return { name: 'ABORT', ...parseEndTransactionMarker(reader) }
    case ControlRecordType.COMMIT:
      return { name: 'COMMIT', ...parseEndTransactionMarker(reader) }
    case ControlRecordType.LEADER_CHANGE:
      return { name: 'LEADER_CHANGE', ...parseLeaderChange(reader) }
    case ControlRecordType.SNAPSHOT_HEADER:
      return { name: 'SNAPSHOT_HEADER', ...parseSnapshotHeader(reader) }
    case ControlRecordType.SNAPSHOT_FOOTER:
      return { name: 'SNAPSHOT_FOOTER', ...parseSnapshotFooter(reader) }
    case ControlRecordType.KRAFT_VERSION:
      return { name: 'KRAFT_VERSION', ...parseKRaftVersion(reader) }
    case ControlRecordType.KRAFT_VOTERS:
      return { name: 'KRAFT_VOTERS', ...parseVoters(reader) }
    case ControlRecordType.MIRROR_PID_RESET:
      return { name: 'MIRROR_PID_RESET', ...decodeMirrorPidReset(value) }
    default:
      return { name: 'UNKNOWN' }
  }
}

/** What one record of a control batch says; for callers that hold the decoded record. */
export function parseControlRecord(record: KafkaRecord): ControlRecord {
  const { type } = parseControlKey(record.key)
  const value = record.value ?? new Uint8Array(0)
  return { ...parseValue(type, new ByteReader(value), value), type, record }
}

/**
 * The records of a control batch. Markers hold one; KRaft's batches may hold several; a batch that compaction emptied
 * holds none and means nothing any more.
 *
 * @throws InvalidRecordError for a key under four bytes or a value that is too short for its type
 * @throws InvalidArgumentError for a batch that is no control batch
 * @see Kafka's ControlRecordType and ControlRecordUtils
 * @example
 * for (const batch of recordBatches(records)) if (batch.isControl) console.log(decodeControlRecords(batch).length)
 */
export function decodeControlRecords(batch: RecordBatch): ControlRecord[] {
  return readControlBatch(batch, (records) => records.map(parseControlRecord))
}

/**
 * The type of a control batch's first record, by its key alone, which is all that a consumer looks at; null for an empty
 * batch.
 */
export function controlTypeOf(batch: RecordBatch): number | null {
  return readControlBatch(batch, ([first]) => (first === undefined ? null : parseControlKey(first.key).type))
}

function readControlBatch<T>(batch: RecordBatch, read: (records: KafkaRecord[]) => T): T {
  if (!requireBatch(batch).isControl) {
    throw new InvalidArgumentError(`the batch at base offset ${batch.baseOffset} is no control batch`)
  }
  const place = { baseOffset: batch.baseOffset }
  if (batch.compressionType !== 0) {
    throw new InvalidRecordError(
      `the control batch at base offset ${batch.baseOffset} is compressed; none is`,
      place,
    )
  }
  try {
    return read(parseRecords(batch, batch.payload))
  } catch (error) {
    if (!(error instanceof MalformedBytes || error instanceof InvalidRecordError)) throw error
    const message = `control batch at base offset ${batch.baseOffset}: ${error.message}`
    throw new InvalidRecordError(message, { ...place, position: error.position ?? 0 })
  }
}

/**
 * The first record of a control batch, which is all that Kafka's producer state and consumers look at; null for an empty
 * batch.
 *
 * @throws InvalidRecordError for a key under four bytes or a value that is too short for its type
 * @throws InvalidArgumentError for a batch that is no control batch
 * @example
 * for (const batch of recordBatches(records)) if (batch.isControl) console.log(decodeControlRecord(batch)?.name)
 */
export function decodeControlRecord(batch: RecordBatch): ControlRecord | null {
  return decodeControlRecords(batch)[0] ?? null
}
