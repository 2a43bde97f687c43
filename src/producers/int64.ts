/**
 * 64-bit numbers as two signed 32-bit halves: the form in which they lie in a batch's header and in the producer table,
 * so that an append makes no bigint.
 */

export function toBigInt(high: number, low: number): bigint {
  return (BigInt(high) << 32n) | BigInt(low >>> 0)
}

export function highOf(value: bigint): number {
  return Number(BigInt.asIntN(32, value >> 32n))
}

export function lowOf(value: bigint): number {
  return Number(BigInt.asIntN(32, value))
}

/** A source cluster's id `p` that is kept under the id given in halves, `p = -q - 2`; only for `q <= -2`. */
export function unmappedLow(low: number): number {
  return (~low - 1) | 0
}

export function unmappedHigh(high: number, low: number): number {
  return low === -1 ? (~high - 1) | 0 : ~high
}

/** Whether an id, given in halves, is -2 or lower. */
export function isMirrored(high: number, low: number): boolean {
  return high < 0 && !(high === -1 && low === -1)
}
