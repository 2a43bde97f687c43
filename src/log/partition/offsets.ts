export function minOffset(a: bigint, b: bigint): bigint {
  if (a <= b) return a
  return b
}

export function maxOffset(a: bigint, b: bigint): bigint {
  if (a >= b) return a
  return b
}
