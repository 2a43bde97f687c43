import { CorruptBatchError, UnmappableProducerIdError } from '../errors.ts'
import { checkCrc, classify, finish, isChanged, newCounts } from './batchChecks.ts'
import type { CrcMode, Direction, RewriteReport } from './core.ts'
import type { CrcEngine } from './crcEngine.ts'
import { ATTRIBUTES, CRC, CURRENT_MAGIC, PRODUCER_EPOCH, PRODUCER_ID } from './layout.ts'
import { RecordSetCursor } from './recordSetCursor.ts'
import { FRAME_BATCH } from './status.ts'

/**
 * Rewrites a record set where it lies, touching headers only (in `patch` mode it reads nothing else). A first pass
 * checks everything, a second one writes, so a call that throws has changed nothing.
 */
export function rewriteRecords(
  bytes: Uint8Array,
  crc: CrcMode,
  direction: Direction,
  engine: CrcEngine,
): RewriteReport {
  const report = check(new RecordSetCursor(bytes), crc, direction, engine)
  if (report.rewritten > 0) writeRecords(new RecordSetCursor(bytes), crc, direction, engine)
  return report
}

function check(
  cursor: RecordSetCursor,
  crc: CrcMode,
  direction: Direction,
  engine: CrcEngine,
): RewriteReport {
  const report = newCounts()
  let kind = cursor.frame()
  while (kind === FRAME_BATCH) {
    checkBatch(cursor, report, crc, direction, engine)
    cursor.advance()
    kind = cursor.frame()
  }
  const unreadable = finish(cursor, report, kind)
  if (unreadable !== null) throw new CorruptBatchError(unreadable)
  return report
}

/** Counts the framed batch, and throws where it must not be rewritten. */
export function checkBatch(
  cursor: RecordSetCursor,
  report: RewriteReport,
  crc: CrcMode,
  direction: Direction,
  engine: CrcEngine,
): void {
  const corrupt = crc === 'verify' ? checkCrc(cursor, engine) : null
  if (corrupt !== null) throw new CorruptBatchError(corrupt)
  if (classify(cursor, report, direction) && direction === 'map') requireImage(cursor)
}

function requireImage(cursor: RecordSetCursor): void {
  const { view, position } = cursor
  if (view.getInt32(position + PRODUCER_ID) !== 0x7fffffff) return
  if (view.getInt32(position + PRODUCER_ID + 4) !== -1) return
  const producerId = view.getBigInt64(position + PRODUCER_ID)
  throw new UnmappableProducerIdError(producerId, { position, baseOffset: cursor.baseOffset })
}

/** The second pass, once all is checked. */
export function writeRecords(
  cursor: RecordSetCursor,
  crc: CrcMode,
  direction: Direction,
  engine: CrcEngine,
): void {
  for (; cursor.frame() === FRAME_BATCH; cursor.advance()) {
    if (cursor.magic === CURRENT_MAGIC) writeBatch(cursor, crc, direction, engine)
  }
}

/**
 * Rewrites the framed batch, if `direction` changes it. Only `recompute` reads beyond its header.
 * -(p + 2) = ~p - 1 on two 32-bit halves: no BigInt on the hot path, no step that overflows, its own inverse.
 */
export function writeBatch(
  cursor: RecordSetCursor,
  crc: CrcMode,
  direction: Direction,
  engine: CrcEngine,
): void {
  const { bytes, view, position, size } = cursor
  const high = view.getInt32(position + PRODUCER_ID)
  const low = view.getInt32(position + PRODUCER_ID + 4)
  if (!isChanged(high, low, direction)) return
  const newLow = (~low - 1) | 0
  const newHigh = low === -1 ? (~high - 1) | 0 : ~high
  view.setInt32(position + PRODUCER_ID, newHigh)
  view.setInt32(position + PRODUCER_ID + 4, newLow)
  const newCrc =
    crc === 'recompute'
      ? engine.crc32c(bytes, position + ATTRIBUTES, position + size, 0)
      : engine.patchCrc(view.getUint32(position + CRC), high ^ newHigh, low ^ newLow, size - PRODUCER_EPOCH)
  view.setUint32(position + CRC, newCrc)
}
