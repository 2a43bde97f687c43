/**
 * The low half of xxHash64 with seed 0, which Zstandard's checksums are. The bulk is hashed in halves of 32 bits, for
 * speed; the rest in bigints. Source: the xxHash specification, version 0.1.1.
 */

const PRIME_1 = 0x9e3779b185ebca87n
const PRIME_2 = 0xc2b2ae3d27d4eb4fn
const PRIME_3 = 0x165667b19e3779f9n
const PRIME_4 = 0x85ebca77c2b2ae63n
const PRIME_5 = 0x27d4eb2f165667c5n
const PRIME_1_HIGH = 0x9e3779b1
const PRIME_1_LOW = 0x85ebca87
const PRIME_2_HIGH = 0xc2b2ae3d
const PRIME_2_LOW = 0x27d4eb4f
const STRIPE = 32

const wrap = (value: bigint) => BigInt.asUintN(64, value)
const rotate = (value: bigint, count: bigint) => wrap(value << count) | (value >> (64n - count))
const round = (lane: bigint, input: bigint) => wrap(rotate(wrap(lane + input * PRIME_2), 31n) * PRIME_1)

/** The upper half of the product of two unsigned numbers. */
function multiplyHigh(a: number, b: number): number {
  const aLow = a & 0xffff
  const aHigh = a >>> 16
  const bLow = b & 0xffff
  const bHigh = b >>> 16
  const middle = (Math.imul(aHigh, bLow) >>> 0) + (Math.imul(aLow, bLow) >>> 16)
  const other = (Math.imul(aLow, bHigh) >>> 0) + (middle & 0xffff)
  return (Math.imul(aHigh, bHigh) + (middle >>> 16) + (other >>> 16)) | 0
}

/** Hashes whole stripes into four lanes, each a high and a low half. */
function hashStripes(view: DataView, start: number, end: number, lanes: Int32Array): void {
  for (let at = start; at < end; at += STRIPE) {
    for (let lane = 0; lane < 8; lane += 2) {
      const inputLow = view.getInt32(at + lane * 4, true)
      const inputHigh = view.getInt32(at + lane * 4 + 4, true)
      // lane + input * PRIME_2
      const low = (lanes[lane + 1]! >>> 0) + (Math.imul(inputLow, PRIME_2_LOW) >>> 0)
      const product =
        multiplyHigh(inputLow, PRIME_2_LOW) +
        Math.imul(inputHigh, PRIME_2_LOW) +
        Math.imul(inputLow, PRIME_2_HIGH)
      const high = (lanes[lane]! + product + (low > 0xffffffff ? 1 : 0)) | 0
      // rotated by 31 bits
      const rotatedHigh = (high << 31) | ((low | 0) >>> 1)
      const rotatedLow = (low << 31) | (high >>> 1)
      // times PRIME_1
      lanes[lane] =
        multiplyHigh(rotatedLow, PRIME_1_LOW) +
        Math.imul(rotatedHigh, PRIME_1_LOW) +
        Math.imul(rotatedLow, PRIME_1_HIGH)
      lanes[lane + 1] = Math.imul(rotatedLow, PRIME_1_LOW)
    }
  }
}

/** The low 32 bits of the hash of `bytes[start, end)`, unsigned. */
export function xxHash64Low(bytes: Uint8Array, start: number, end: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = start + Math.floor((end - start) / STRIPE) * STRIPE
  let hash = PRIME_5
  if (at > start) {
    const initial = [wrap(PRIME_1 + PRIME_2), PRIME_2, 0n, wrap(-PRIME_1)]
    const halves = Int32Array.from(
      initial.flatMap((lane) => [Number(lane >> 32n) | 0, Number(lane & 0xffffffffn) | 0]),
    )
    hashStripes(view, start, at, halves)
    const lanes = initial.map(
      (_, index) => (BigInt(halves[2 * index]! >>> 0) << 32n) | BigInt(halves[2 * index + 1]! >>> 0),
    )
    const rotations = [1n, 7n, 12n, 18n]
    hash = wrap(lanes.reduce((sum, lane, index) => sum + rotate(lane, rotations[index]!), 0n))
    for (const lane of lanes) hash = wrap((hash ^ round(0n, lane)) * PRIME_1 + PRIME_4)
  }
  hash = wrap(hash + BigInt(end - start))
  for (; end - at >= 8; at += 8) {
    hash = wrap(rotate(hash ^ round(0n, view.getBigUint64(at, true)), 27n) * PRIME_1 + PRIME_4)
  }
  if (end - at >= 4) {
    hash = wrap(rotate(hash ^ wrap(BigInt(view.getUint32(at, true)) * PRIME_1), 23n) * PRIME_2 + PRIME_3)
    at += 4
  }
  for (; at < end; at++) hash = wrap(rotate(hash ^ wrap(BigInt(bytes[at]!) * PRIME_5), 11n) * PRIME_1)
  hash = wrap((hash ^ (hash >> 33n)) * PRIME_2)
  hash = wrap((hash ^ (hash >> 29n)) * PRIME_3)
  return Number((hash ^ (hash >> 32n)) & 0xffffffffn)
}
