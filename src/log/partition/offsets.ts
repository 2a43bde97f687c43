/** The largest int64. A log may end there, so no record has it. */
export const MAX_OFFSET = 2n ** 63n - 1n

/** How far above a segment's base offset its offsets may be, and how far into its file a batch may begin: indexes hold int32. */
export const MAX_RELATIVE_OFFSET = 2n ** 31n - 1n
export const MAX_POSITION = 2 ** 31 - 1

export function minOffset(a: bigint, b: bigint): bigint {
  if (a <= b) return a
  return b
}

export function maxOffset(a: bigint, b: bigint): bigint {
  if (a >= b) return a
  return b
}

/** Index of the last segment that begins at or below an offset; 0 where none does. */
export function floorIndex(segments: readonly { baseOffset: bigint }[], offset: bigint): number {
  let low = 0
  let high = segments.length
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    if (segments[middle]!.baseOffset <= offset) low = middle
    else high = middle
  }
  return low
}
