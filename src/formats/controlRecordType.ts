import { ByteReader, MalformedBytes } from '../bytes/byteReader.ts'
import { ByteWriter } from '../bytes/byteWriter.ts'

/** Types of control records. Source: Kafka's ControlRecordType; MIRROR_PID_RESET is KIP-1279's. */
export const ControlRecordType = {
  ABORT: 0,
  COMMIT: 1,
  LEADER_CHANGE: 2,
  SNAPSHOT_HEADER: 3,
  SNAPSHOT_FOOTER: 4,
  KRAFT_VERSION: 5,
  KRAFT_VOTERS: 6,
  MIRROR_PID_RESET: 7,
} as const

export type ControlRecordTypeName = keyof typeof ControlRecordType

const NAMES = Object.keys(ControlRecordType) as ControlRecordTypeName[]

/** The name of a type's number, or `UNKNOWN`. */
export function controlRecordTypeName(type: number): ControlRecordTypeName | 'UNKNOWN' {
  return NAMES[type] ?? 'UNKNOWN'
}

/** A control record's key: version 0 and the type. */
export function encodeControlKey(type: number): Uint8Array<ArrayBuffer> {
  return new ByteWriter().int16(0).int16(type).finish()
}

/** Reads a control record's key. A version above 0 is read as 0, as Kafka does; bytes behind the type are ignored. */
export function parseControlKey(key: Uint8Array | null): { version: number; type: number } {
  if (key === null || key.length < 4) {
    throw new MalformedBytes(`a control record's key has ${key?.length ?? 'no'} bytes; it needs 4`, 0)
  }
  const reader = new ByteReader(key)
  const version = reader.int16()
  if (version < 0) throw new MalformedBytes(`a control record's key has version ${version}`, 0)
  return { version, type: reader.int16() }
}
