// Framing: what stands at one position of a record set (Kafka: ByteBufferLogInputStream, plus zero tails).

import {
  BATCH_LENGTH,
  CURRENT_MAGIC,
  HEADER_SIZE_UP_TO_MAGIC,
  LOG_OVERHEAD,
  MAGIC,
  MIN_BATCH_LENGTH,
  MIN_BATCH_LENGTH_V2,
} from './layout'
import {
  FRAME_BAD_MAGIC,
  FRAME_BAD_SIZE,
  FRAME_BATCH,
  FRAME_END,
  FRAME_INCOMPLETE,
  FRAME_ZEROS,
} from './status'

/** Size in bytes and magic of the batch that the last `frame` call found. */
export let frameSize: usize = 0
export let frameMagic: i32 = 0

export function loadI32(position: usize): i32 {
  return bswap<i32>(load<i32>(position))
}

export function loadI64(position: usize): i64 {
  return bswap<i64>(load<i64>(position))
}

function isZero(position: usize, end: usize): bool {
  while (end - position >= 8) {
    if (load<u64>(position) != 0) return false
    position += 8
  }
  while (position < end) {
    if (load<u8>(position) != 0) return false
    position += 1
  }
  return true
}

/**
 * Looks at one position; reads nothing at or past `end`. Lengths are compared by subtraction, so that no claimed
 * length can wrap a pointer.
 */
export function frame(position: usize, end: usize): i32 {
  const remaining = end - position
  if (remaining == 0) return FRAME_END
  if (remaining < LOG_OVERHEAD) return isZero(position, end) ? FRAME_ZEROS : FRAME_INCOMPLETE
  const batchLength = loadI32(position + BATCH_LENGTH)
  if (batchLength < MIN_BATCH_LENGTH) {
    return batchLength == 0 && isZero(position, end) ? FRAME_ZEROS : FRAME_BAD_SIZE
  }
  if (remaining < HEADER_SIZE_UP_TO_MAGIC) return FRAME_INCOMPLETE
  const magic = <i32>load<i8>(position + MAGIC)
  if (magic < 0 || magic > CURRENT_MAGIC) return FRAME_BAD_MAGIC
  if (magic == CURRENT_MAGIC && batchLength < MIN_BATCH_LENGTH_V2) return FRAME_BAD_SIZE
  if (remaining - LOG_OVERHEAD < <usize>batchLength) return FRAME_INCOMPLETE
  frameSize = LOG_OVERHEAD + <usize>batchLength
  frameMagic = magic
  return FRAME_BATCH
}
