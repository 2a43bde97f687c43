import type { CrcEngine } from '../../core/crcEngine.ts'
import {
  ATTRIBUTES,
  BATCH_LENGTH,
  CRC,
  CURRENT_MAGIC,
  HEADER_SIZE,
  HEADER_SIZE_UP_TO_MAGIC,
  LOG_OVERHEAD,
  MAGIC,
} from '../../core/layout.ts'
import { nextPlausible } from '../batchSearch.ts'
import { scanBatches } from './segmentScan.ts'
import { readPart, type StoredFile } from './storage.ts'

const WINDOW = 256 * 1024
/** What may be read again for what only looks like a batch; beyond it, the search counts as successful. */
const MIN_BUDGET = 64 * 1024 * 1024

/**
 * Whether a place in a segment from which a batch does not fit into what is left is damage: a whole batch lies behind it, or
 * the rest is one whose length alone is wrong. Otherwise a process that died has left its last write half done there.
 *
 * @param lowestOffset where the log ends without the rest; a batch that follows does not go below it
 */
export function holdsWholeBatch(
  file: StoredFile,
  position: number,
  engine: CrcEngine,
  lowestOffset: bigint,
): boolean {
  return (
    isWholeButForLength(file, position, engine) || isBatchBehind(file, position + 1, engine, lowestOffset)
  )
}

/** The CRC of a batch does not cover its length. */
function isWholeButForLength(file: StoredFile, position: number, engine: CrcEngine): boolean {
  const header = readPart(file, position, HEADER_SIZE)
  if (header.length < HEADER_SIZE || header[MAGIC] !== CURRENT_MAGIC) return false
  let crc = 0
  for (let at = position + ATTRIBUTES; at < file.size; at += WINDOW) {
    const piece = readPart(file, at, WINDOW)
    crc = engine.crc32c(piece, 0, piece.length, crc)
  }
  return crc === new DataView(header.buffer).getUint32(CRC)
}

function isBatchBehind(file: StoredFile, from: number, engine: CrcEngine, lowestOffset: bigint): boolean {
  let budget = Math.max(MIN_BUDGET, 4 * (file.size - from))
  for (let position = from; position < file.size; ) {
    const bytes = readPart(file, position, WINDOW)
    if (bytes.length < HEADER_SIZE_UP_TO_MAGIC) return false
    const left = file.size - position
    // a header must be at hand as a whole
    const limit = bytes.length === left ? left : bytes.length - HEADER_SIZE + 1
    for (let at = 0; at < limit; at++) {
      const view = new DataView(bytes.buffer, at, bytes.length - at)
      at += nextPlausible(bytes.subarray(at), view, limit - at, left - at)
      if (at >= limit) break
      const size = LOG_OVERHEAD + new DataView(bytes.buffer).getInt32(at + BATCH_LENGTH)
      const { value, done } = scanBatches(file, position + at, position + at + size, engine).next()
      if (!done && value.batch.baseOffset >= lowestOffset) return true
      budget -= size
      if (budget <= 0) return true
    }
    position += limit
  }
  return false
}
