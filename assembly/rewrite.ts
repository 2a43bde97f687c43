// Rewrite in place: a first pass checks everything, a second one writes, so a call that fails has changed nothing.

import { checkCrc, classify, finish, isChanged, UNMAPPABLE_PRODUCER_ID } from './checks'
import { crc32c } from './crc'
import { frame, frameMagic, frameSize, loadI32, loadI64 } from './frame'
import {
  ATTRIBUTES,
  BATCH_LENGTH,
  CRC,
  CURRENT_MAGIC,
  LOG_OVERHEAD,
  PRODUCER_EPOCH,
  PRODUCER_ID,
} from './layout'
import { patchLong } from './patch'
import { REPORT_FAULT_POSITION, resetReport, set } from './report'
import { CRC_RECOMPUTE, CRC_VERIFY, DIRECTION_MAP, FRAME_BATCH, STATUS_OK, STATUS_UNMAPPABLE } from './status'

/**
 * Where the first batches to change are, noted by the first pass. By the second pass their headers have left the nearer
 * caches when the record set is large; a few at a time they are fetched side by side, and not one after the other.
 */
const PLACES: usize = memory.data(65536, 16)
const MOST_PLACES: usize = 16384
const SIDE_BY_SIDE: usize = 16

let places: usize = 0
/** Behind the last of them. */
let afterPlaces: usize = 0
/** Takes what is fetched ahead, or the loads would be left out. */
const FETCHED: usize = memory.data(4)

/** What rewrite does before its first write: returns a STATUS_ and leaves the report, and changes nothing. */
export function check(start: usize, byteLength: usize, crcMode: i32, direction: i32): i32 {
  const end = start + byteLength
  resetReport()
  places = 0
  afterPlaces = end
  let position = start
  let kind = frame(position, end)
  while (kind == FRAME_BATCH) {
    const size = frameSize
    if (crcMode == CRC_VERIFY) {
      const status = checkCrc(start, position)
      if (status != STATUS_OK) return status
    }
    if (classify(position, direction)) {
      if (direction == DIRECTION_MAP && loadI64(position + PRODUCER_ID) == UNMAPPABLE_PRODUCER_ID) {
        set(REPORT_FAULT_POSITION, <u32>(position - start))
        return STATUS_UNMAPPABLE
      }
      if (places < MOST_PLACES) {
        store<usize>(PLACES + (places << 2), position)
        if (++places == MOST_PLACES) afterPlaces = position + size
      }
    }
    position += size
    kind = frame(position, end)
  }
  return finish(start, position, end, kind)
}

/** Rewrites a batch that the direction changes. */
function writeBatch(position: usize, crcMode: i32): void {
  const size = LOG_OVERHEAD + <usize>loadI32(position + BATCH_LENGTH)
  const before = loadI64(position + PRODUCER_ID)
  // -(p + 2) = ~p - 1, with no middle step that could overflow; it is its own inverse
  const after = ~before - 1
  store<i64>(position + PRODUCER_ID, bswap<i64>(after))
  const crc =
    crcMode == CRC_RECOMPUTE
      ? crc32c(position + ATTRIBUTES, size - ATTRIBUTES, 0)
      : patchLong(<u32>loadI32(position + CRC), before ^ after, <u32>(size - PRODUCER_EPOCH))
  store<u32>(position + CRC, bswap<u32>(crc))
}

function write(end: usize, crcMode: i32, direction: i32): void {
  const endPlaces = PLACES + (places << 2)
  let place = PLACES
  while (place < endPlaces) {
    const next = min(place + (SIDE_BY_SIDE << 2), endPlaces)
    let sum: u32 = 0
    for (let at = place; at < next; at += 4) {
      const position = load<usize>(at)
      sum ^= load<u32>(position + BATCH_LENGTH) ^ load<u32>(position + PRODUCER_EPOCH)
    }
    store<u32>(FETCHED, sum)
    for (; place < next; place += 4) writeBatch(load<usize>(place), crcMode)
  }
  let position = afterPlaces
  while (frame(position, end) == FRAME_BATCH) {
    const size = frameSize
    if (frameMagic == CURRENT_MAGIC && isChanged(loadI64(position + PRODUCER_ID), direction)) {
      writeBatch(position, crcMode)
    }
    position += size
  }
}

/** Rewrites the record set of byteLength bytes at start; returns a STATUS_ and leaves the report. */
export function rewrite(start: usize, byteLength: usize, crcMode: i32, direction: i32): i32 {
  const status = check(start, byteLength, crcMode, direction)
  if (status == STATUS_OK) write(start + byteLength, crcMode, direction)
  return status
}
