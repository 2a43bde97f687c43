// Rewrite in place: a first pass checks everything, a second one writes, so a call that fails has changed nothing.

import { checkCrc, classify, finish, isChanged, UNMAPPABLE_PRODUCER_ID } from './checks'
import { crc32c } from './crc'
import { frame, frameMagic, frameSize, loadI32, loadI64 } from './frame'
import { ATTRIBUTES, CRC, CURRENT_MAGIC, PRODUCER_EPOCH, PRODUCER_ID } from './layout'
import { patchLong } from './patch'
import { REPORT, REPORT_FAULT_POSITION, REPORT_REWRITTEN, resetReport, set } from './report'
import { CRC_RECOMPUTE, CRC_VERIFY, DIRECTION_MAP, FRAME_BATCH, STATUS_OK, STATUS_UNMAPPABLE } from './status'

function check(start: usize, end: usize, crcMode: i32, direction: i32): i32 {
  resetReport()
  let position = start
  let kind = frame(position, end)
  while (kind == FRAME_BATCH) {
    if (crcMode == CRC_VERIFY) {
      const status = checkCrc(start, position)
      if (status != STATUS_OK) return status
    }
    if (
      classify(position, direction) &&
      direction == DIRECTION_MAP &&
      loadI64(position + PRODUCER_ID) == UNMAPPABLE_PRODUCER_ID
    ) {
      set(REPORT_FAULT_POSITION, <u32>(position - start))
      return STATUS_UNMAPPABLE
    }
    position += frameSize
    kind = frame(position, end)
  }
  return finish(start, position, end, kind)
}

function write(start: usize, end: usize, crcMode: i32, direction: i32): void {
  let position = start
  while (frame(position, end) == FRAME_BATCH) {
    const size = frameSize
    if (frameMagic == CURRENT_MAGIC) {
      const before = loadI64(position + PRODUCER_ID)
      if (isChanged(before, direction)) {
        // -(p + 2) = ~p - 1, with no middle step that could overflow; it is its own inverse
        const after = ~before - 1
        store<i64>(position + PRODUCER_ID, bswap<i64>(after))
        const crc =
          crcMode == CRC_RECOMPUTE
            ? crc32c(position + ATTRIBUTES, size - ATTRIBUTES, 0)
            : patchLong(<u32>loadI32(position + CRC), before ^ after, <u32>(size - PRODUCER_EPOCH))
        store<u32>(position + CRC, bswap<u32>(crc))
      }
    }
    position += size
  }
}

/** Rewrites the record set of byteLength bytes at start; returns a STATUS_ and leaves the report. */
export function rewrite(start: usize, byteLength: usize, crcMode: i32, direction: i32): i32 {
  const end = start + byteLength
  const status = check(start, end, crcMode, direction)
  if (status == STATUS_OK && load<u32>(REPORT + REPORT_REWRITTEN) != 0) write(start, end, crcMode, direction)
  return status
}
