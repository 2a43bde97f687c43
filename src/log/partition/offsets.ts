/** The largest int64. A log may end there, so no record has it. */
export const MAX_OFFSET = 2n ** 63n - 1n

export function minOffset(a: bigint, b: bigint): bigint {
  if (a <= b) return a
  return b
}

export function maxOffset(a: bigint, b: bigint): bigint {
  if (a >= b) return a
  return b
}
