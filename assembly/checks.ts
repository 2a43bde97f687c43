// What rewrite and verify share: the CRC test of one batch, its place in the counts, and how a walk ends.

import { crc32, crc32c } from './crc'
import { frameMagic, frameSize, loadI32, loadI64 } from './frame'
import { ATTRIBUTES, CONTROL_FLAG, CRC, CURRENT_MAGIC, LEGACY_CRC, MAGIC, PRODUCER_ID } from './layout'
import {
  count,
  REPORT_ALREADY_MAPPED,
  REPORT_BATCHES,
  REPORT_CONTROL,
  REPORT_FAULT_COMPUTED,
  REPORT_FAULT_POSITION,
  REPORT_FAULT_STORED,
  REPORT_LEGACY,
  REPORT_REWRITTEN,
  REPORT_TRAILING_BYTES,
  REPORT_TRAILING_KIND,
  REPORT_VALID_BYTES,
  REPORT_WITHOUT_PRODUCER,
  set,
} from './report'
import {
  DIRECTION_MAP,
  FRAME_BAD_MAGIC,
  FRAME_BAD_SIZE,
  STATUS_BAD_CRC,
  STATUS_BAD_MAGIC,
  STATUS_BAD_SIZE,
  STATUS_OK,
} from './status'

export const NO_PRODUCER_ID: i64 = -1
/** The one id without an image: -(2^63 - 1 + 2) is below the smallest int64. */
export const UNMAPPABLE_PRODUCER_ID: i64 = i64.MAX_VALUE

/** Whether `direction` changes this id: map takes the ids >= 0, unmap those <= -2. */
export function isChanged(producerId: i64, direction: i32): bool {
  return direction == DIRECTION_MAP ? producerId >= 0 : producerId < NO_PRODUCER_ID
}

/** Counts the framed batch at `position`; returns whether `direction` changes its producer id. */
export function classify(position: usize, direction: i32): bool {
  count(REPORT_BATCHES)
  if (frameMagic != CURRENT_MAGIC) {
    count(REPORT_LEGACY)
    return false
  }
  // the flags stand in the low byte of the big-endian attributes
  if (<i32>load<u8>(position + ATTRIBUTES + 1) & CONTROL_FLAG) count(REPORT_CONTROL)
  const producerId = loadI64(position + PRODUCER_ID)
  if (producerId == NO_PRODUCER_ID) {
    count(REPORT_WITHOUT_PRODUCER)
    return false
  }
  if (isChanged(producerId, direction)) {
    count(REPORT_REWRITTEN)
    return true
  }
  count(REPORT_ALREADY_MAPPED)
  return false
}

/** Checks the CRC of the framed batch at `position`; a wrong one is left in the report. */
export function checkCrc(start: usize, position: usize): i32 {
  const isLegacy = frameMagic != CURRENT_MAGIC
  const stored = <u32>loadI32(position + (isLegacy ? LEGACY_CRC : CRC))
  const computed = isLegacy
    ? crc32(position + MAGIC, frameSize - MAGIC, 0)
    : crc32c(position + ATTRIBUTES, frameSize - ATTRIBUTES, 0)
  if (stored == computed) return STATUS_OK
  set(REPORT_FAULT_POSITION, <u32>(position - start))
  set(REPORT_FAULT_STORED, stored)
  set(REPORT_FAULT_COMPUTED, computed)
  return STATUS_BAD_CRC
}

/** Records how the walk from `start` ended at `position` with a frame that is no batch. */
export function finish(start: usize, position: usize, end: usize, frameKind: i32): i32 {
  set(REPORT_VALID_BYTES, <u32>(position - start))
  if (frameKind == FRAME_BAD_SIZE || frameKind == FRAME_BAD_MAGIC) {
    set(REPORT_FAULT_POSITION, <u32>(position - start))
    return frameKind == FRAME_BAD_SIZE ? STATUS_BAD_SIZE : STATUS_BAD_MAGIC
  }
  set(REPORT_TRAILING_KIND, <u32>frameKind)
  set(REPORT_TRAILING_BYTES, <u32>(end - position))
  return STATUS_OK
}
