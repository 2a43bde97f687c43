/** xxHash32 with seed 0, which LZ4 frames use. Source: the xxHash specification, version 0.1.1. */

const PRIME_1 = 0x9e3779b1
const PRIME_2 = 0x85ebca77
const PRIME_3 = 0xc2b2ae3d
const PRIME_4 = 0x27d4eb2f
const PRIME_5 = 0x165667b1
const STRIPE = 16

function rotate(value: number, count: number): number {
  return (value << count) | (value >>> (32 - count))
}

function round(lane: number, input: number): number {
  return Math.imul(rotate(lane + Math.imul(input, PRIME_2), 13), PRIME_1)
}

/** The hash of `bytes[start, end)` as an unsigned number. */
export function xxHash32(bytes: Uint8Array, start: number, end: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = start
  let hash = PRIME_5
  if (end - start >= STRIPE) {
    let lane1 = (PRIME_1 + PRIME_2) | 0
    let lane2 = PRIME_2 | 0
    let lane3 = 0
    let lane4 = -PRIME_1 | 0
    for (; end - at >= STRIPE; at += STRIPE) {
      lane1 = round(lane1, view.getInt32(at, true))
      lane2 = round(lane2, view.getInt32(at + 4, true))
      lane3 = round(lane3, view.getInt32(at + 8, true))
      lane4 = round(lane4, view.getInt32(at + 12, true))
    }
    hash = rotate(lane1, 1) + rotate(lane2, 7) + rotate(lane3, 12) + rotate(lane4, 18)
  }
  hash = (hash + (end - start)) | 0
  for (; end - at >= 4; at += 4) {
    hash = Math.imul(rotate((hash + Math.imul(view.getInt32(at, true), PRIME_3)) | 0, 17), PRIME_4)
  }
  for (; at < end; at++) {
    hash = Math.imul(rotate((hash + Math.imul(bytes[at]!, PRIME_5)) | 0, 11), PRIME_1)
  }
  hash = Math.imul(hash ^ (hash >>> 15), PRIME_2)
  hash = Math.imul(hash ^ (hash >>> 13), PRIME_3)
  return (hash ^ (hash >>> 16)) >>> 0
}
