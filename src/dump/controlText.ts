import { MalformedBytes } from '../bytes/byteReader.ts'
import { InvalidRecordError } from '../errors.ts'
import { type ControlRecord, parseControlRecord } from '../formats/controlRecord.ts'
import { controlRecordTypeName, parseControlKey } from '../formats/controlRecordType.ts'
import { NO_SEQUENCE } from '../formats/recordBatch.ts'
import { kafkaJson } from './kafkaJson.ts'

/** What a control record says: the record, or why it cannot be read. */
export type ControlReading = { record: ControlRecord } | { fault: string; type: number | null }

/** Reads a control record; a damaged one is no error here. */
export function readControl(key: Uint8Array | null, value: Uint8Array | null): ControlReading {
  const record = { offset: 0n, timestamp: 0n, sequence: NO_SEQUENCE, key, value, headers: [] }
  try {
    return { record: parseControlRecord(record) }
  } catch (error) {
    if (!(error instanceof MalformedBytes || error instanceof InvalidRecordError)) throw error
    return { fault: error.message, type: typeOf(key) }
  }
}

function typeOf(key: Uint8Array | null): number | null {
  try {
    return parseControlKey(key).type
  } catch {
    return null
  }
}

/** What Kafka's tool adds to the line of a control record; MIRROR_PID_RESET in the same manner. */
export function controlText(
  reading: ControlReading,
  key: Uint8Array | null,
  value: Uint8Array | null,
): string {
  if ('fault' in reading) {
    const type = reading.type === null ? 'UNKNOWN' : `${controlRecordTypeName(reading.type)}(${reading.type})`
    return ` controlType: ${type} ${rawText(key, value)}`
  }
  const { record } = reading
  switch (record.name) {
    case 'ABORT':
    case 'COMMIT':
      return ` endTxnMarker: ${record.name} coordinatorEpoch: ${record.coordinatorEpoch}`
    case 'LEADER_CHANGE':
      return ` LeaderChange: ${kafkaJson(controlJson(record))}`
    case 'SNAPSHOT_HEADER':
      return ` SnapshotHeader ${kafkaJson(controlJson(record))}`
    case 'SNAPSHOT_FOOTER':
      return ` SnapshotFooter ${kafkaJson(controlJson(record))}`
    case 'KRAFT_VERSION':
      return ` KRaftVersion ${kafkaJson(controlJson(record))}`
    case 'KRAFT_VOTERS':
      return ` KRaftVoters ${kafkaJson(controlJson(record))}`
    case 'MIRROR_PID_RESET':
      return ` MirrorPidReset ${kafkaJson(controlJson(record))}`
    default:
      return ` controlType: UNKNOWN(${record.type})`
  }
}

/** The fields of a control record's value, in the order of its schema. */
export function controlJson(control: ControlRecord): Record<string, unknown> {
  const { name, type: _type, record: _record, ...fields } = control
  if (name !== 'MIRROR_PID_RESET') return fields
  const { version, sourceClusterId } = fields as Partial<Record<string, unknown>>
  return sourceClusterId === null ? { version } : { version, sourceClusterId }
}

/** The bytes of a control record that nobody can read. */
export function rawText(key: Uint8Array | null, value: Uint8Array | null): string {
  return `key: ${hex(key)} value: ${hex(value)}`
}

const MOST_BYTES = 64

export function hex(bytes: Uint8Array | null): string {
  if (bytes === null) return 'null'
  const digits = Array.from(bytes.subarray(0, MOST_BYTES), (byte) => byte.toString(16).padStart(2, '0'))
  return bytes.length > MOST_BYTES
    ? `0x${digits.join('')}... (${bytes.length} bytes)`
    : `0x${digits.join('')}`
}
