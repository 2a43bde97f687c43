import type { CrcEngine } from '../core/crcEngine.ts'
import { CorruptCompanionError } from '../errors.ts'
import { isMirrored } from './int64.ts'

/**
 * The `.snapshot` file: a broker's producer state up to the offset in its name. Version 1, the only one; big-endian.
 * Source: Kafka's ProducerStateManager (readSnapshot, writeSnapshot) and ProducerSnapshot.
 */

const VERSION_AT = 0 // i16
const SNAPSHOT_CRC_AT = 2 // u32, CRC-32C of [count, end of file)
const SNAPSHOT_COUNT_AT = 6 // i32
export const SNAPSHOT_ENTRIES_AT = 10
const VERSION = 1

/** Fields of an entry: byte offsets from its start. */
export const SNAPSHOT_ENTRY_SIZE = 46
export const ENTRY_PRODUCER_ID = 0 // i64
export const ENTRY_PRODUCER_EPOCH = 8 // i16
export const ENTRY_LAST_SEQUENCE = 10 // i32
export const ENTRY_LAST_OFFSET = 14 // i64; below 0 where only markers are known of the producer
export const ENTRY_OFFSET_DELTA = 22 // i32
export const ENTRY_TIMESTAMP = 26 // i64
export const ENTRY_COORDINATOR_EPOCH = 34 // i32
export const ENTRY_TXN_FIRST_OFFSET = 38 // i64; below 0 for none

/**
 * Checks a snapshot as a broker does before it trusts it; returns the number of entries. Bytes behind the last one are
 * accepted where the CRC covers them, as Kafka does.
 *
 * @throws CorruptCompanionError CORRUPT_SNAPSHOT where Kafka would not take the file
 */
export function checkSnapshot(bytes: Uint8Array, engine: CrcEngine, file: string | null = null): number {
  const corrupt = (fault: string, position: number) =>
    new CorruptCompanionError('CORRUPT_SNAPSHOT', fault, position, file)
  if (bytes.length < SNAPSHOT_ENTRIES_AT) {
    throw corrupt(`${bytes.length} bytes, but the header alone has ${SNAPSHOT_ENTRIES_AT}`, bytes.length)
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const version = view.getInt16(VERSION_AT)
  if (version !== VERSION) throw corrupt(`version ${version}, expected ${VERSION}`, VERSION_AT)
  const stored = view.getUint32(SNAPSHOT_CRC_AT)
  const computed = engine.crc32c(bytes, SNAPSHOT_COUNT_AT, bytes.length, 0)
  if (stored !== computed) {
    throw corrupt(`stored CRC 0x${stored.toString(16)}, computed 0x${computed.toString(16)}`, SNAPSHOT_CRC_AT)
  }
  const count = view.getInt32(SNAPSHOT_COUNT_AT)
  const space = Math.floor((bytes.length - SNAPSHOT_ENTRIES_AT) / SNAPSHOT_ENTRY_SIZE)
  if (count < 0 || count > space) throw corrupt(`claims ${count} entries, has ${space}`, SNAPSHOT_COUNT_AT)
  return count
}

/** Whether an entry of a snapshot is of a mapped id. */
export function holdsMirrored(bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = SNAPSHOT_ENTRIES_AT; at + SNAPSHOT_ENTRY_SIZE <= bytes.length; at += SNAPSHOT_ENTRY_SIZE) {
    if (isMirrored(view.getInt32(at), view.getInt32(at + 4))) return true
  }
  return false
}

/** Memory for a snapshot of `count` entries, header written; `sealSnapshot` follows when they are. */
export function newSnapshot(count: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(SNAPSHOT_ENTRIES_AT + count * SNAPSHOT_ENTRY_SIZE)
  const view = new DataView(bytes.buffer)
  view.setInt16(VERSION_AT, VERSION)
  view.setInt32(SNAPSHOT_COUNT_AT, count)
  return bytes
}

/** Writes the CRC, after all else is written. */
export function sealSnapshot(bytes: Uint8Array, engine: CrcEngine): void {
  const crc = engine.crc32c(bytes, SNAPSHOT_COUNT_AT, bytes.length, 0)
  new DataView(bytes.buffer, bytes.byteOffset).setUint32(SNAPSHOT_CRC_AT, crc)
}
