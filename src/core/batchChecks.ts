import type { CorruptBatchFacts } from '../errors.ts'
import type { BatchCounts, Direction } from './core.ts'
import type { CrcEngine } from './crcEngine.ts'
import { ATTRIBUTES, CONTROL_FLAG, CRC, CURRENT_MAGIC, LEGACY_CRC, MAGIC, PRODUCER_ID } from './layout.ts'
import type { RecordSetCursor } from './recordSetCursor.ts'
import { FRAME_BAD_MAGIC, FRAME_BAD_SIZE, FRAME_INCOMPLETE, FRAME_ZEROS } from './status.ts'

/** What the rewrite and the verification of a record set share. */

export function newCounts(): BatchCounts {
  return {
    batches: 0,
    rewritten: 0,
    alreadyMapped: 0,
    withoutProducer: 0,
    control: 0,
    legacy: 0,
    validBytes: 0,
    trailing: { kind: 'none', bytes: 0 },
  }
}

/** Whether `direction` changes an id given as two signed 32-bit halves: map takes ids >= 0, unmap those <= -2. */
export function isChanged(high: number, low: number, direction: Direction): boolean {
  return direction === 'map' ? high >= 0 : high < 0 && !(high === -1 && low === -1)
}

/** Counts the framed batch; returns whether `direction` changes its producer id. */
export function classify(cursor: RecordSetCursor, counts: BatchCounts, direction: Direction): boolean {
  const { view, position } = cursor
  counts.batches++
  if (cursor.magic !== CURRENT_MAGIC) {
    counts.legacy++
    return false
  }
  if (view.getInt16(position + ATTRIBUTES) & CONTROL_FLAG) counts.control++
  const high = view.getInt32(position + PRODUCER_ID)
  const low = view.getInt32(position + PRODUCER_ID + 4)
  if (high === -1 && low === -1) {
    counts.withoutProducer++
    return false
  }
  if (isChanged(high, low, direction)) {
    counts.rewritten++
    return true
  }
  counts.alreadyMapped++
  return false
}

/** The CRC test of the framed batch: what is wrong, or null. */
export function checkCrc(cursor: RecordSetCursor, engine: CrcEngine): CorruptBatchFacts | null {
  const { bytes, view, position, size } = cursor
  const isLegacy = cursor.magic !== CURRENT_MAGIC
  const stored = view.getUint32(position + (isLegacy ? LEGACY_CRC : CRC))
  const computed = isLegacy
    ? engine.crc32(bytes, position + MAGIC, position + size, 0)
    : engine.crc32c(bytes, position + ATTRIBUTES, position + size, 0)
  if (stored === computed) return null
  return { position, baseOffset: cursor.baseOffset, reason: 'crc', stored, computed }
}

/** Notes how the walk ended; returns what is wrong where the next batch cannot be framed, or null. */
export function finish(cursor: RecordSetCursor, counts: BatchCounts, kind: number): CorruptBatchFacts | null {
  const { position } = cursor
  counts.validBytes = position
  if (kind === FRAME_BAD_SIZE || kind === FRAME_BAD_MAGIC) {
    const reason = kind === FRAME_BAD_SIZE ? 'size' : 'magic'
    return { position, baseOffset: cursor.baseOffset, reason, stored: null, computed: null }
  }
  if (kind === FRAME_ZEROS || kind === FRAME_INCOMPLETE) {
    const trailingKind = kind === FRAME_ZEROS ? 'zeros' : 'incomplete'
    counts.trailing = { kind: trailingKind, bytes: cursor.bytes.length - position }
  }
  return null
}
