// A new CRC without reading the payload. CRC is affine over GF(2): with D = old XOR new,
// crc(new) = crc(old) XOR D * x^(8 * bytes after D) modulo P. Polynomials are reflected: bit 31 is x^0.

import { rawCrcOfLong, shiftFourBytes } from './crc'

/** POWERS[j * 256 + b] = x^(8 * b * 256^j) modulo P: one multiplication per non-zero byte of the length. */
const POWERS: usize = memory.data(4096, 16)
const X_TO_0: u32 = 1 << 31
const X_TO_8: u32 = 1 << 23

// Every fourth bit: up to eight one-bits add up below 16, so no carry of an integer product reaches the next
// wanted bit, and the product's wanted bits are those of a carry-less one.
const HOLES_0: u64 = 0x11111111
const HOLES_1: u64 = 0x22222222
const HOLES_2: u64 = 0x44444444
const HOLES_3: u64 = 0x88888888
const WANTED_0: u64 = 0x1111111111111111
const WANTED_1: u64 = 0x2222222222222222
const WANTED_2: u64 = 0x4444444444444444
const WANTED_3: u64 = 0x8888888888888888

function carrylessMultiply(a: u32, b: u32): u64 {
  const a0 = <u64>a & HOLES_0
  const a1 = <u64>a & HOLES_1
  const a2 = <u64>a & HOLES_2
  const a3 = <u64>a & HOLES_3
  const b0 = <u64>b & HOLES_0
  const b1 = <u64>b & HOLES_1
  const b2 = <u64>b & HOLES_2
  const b3 = <u64>b & HOLES_3
  return (
    (((a0 * b0) ^ (a1 * b3) ^ (a2 * b2) ^ (a3 * b1)) & WANTED_0) |
    (((a0 * b1) ^ (a1 * b0) ^ (a2 * b3) ^ (a3 * b2)) & WANTED_1) |
    (((a0 * b2) ^ (a1 * b1) ^ (a2 * b0) ^ (a3 * b3)) & WANTED_2) |
    (((a0 * b3) ^ (a1 * b2) ^ (a2 * b1) ^ (a3 * b0)) & WANTED_3)
  )
}

/** a * b modulo P. The product of two reflected values stands one bit too low, hence the shift. */
function multiplyModulo(a: u32, b: u32): u32 {
  const product = carrylessMultiply(a, b) << 1
  return <u32>(product >>> 32) ^ shiftFourBytes(<u32>product)
}

function buildPowers(): void {
  let base = X_TO_8
  for (let digit: usize = 0; digit < 4; digit++) {
    let power = X_TO_0
    for (let entry: usize = 0; entry < 256; entry++) {
      store<u32>(POWERS + ((digit * 256 + entry) << 2), power)
      power = multiplyModulo(power, base)
    }
    base = power
  }
}

// Imports run first, so the CRC table that the multiplication reads is there.
buildPowers()

/** state * x^(8 * byteLength) modulo P: what byteLength zero bytes make of a raw CRC state. */
function shift(state: u32, byteLength: u32): u32 {
  let powers = POWERS
  while (byteLength != 0) {
    const digit = byteLength & 255
    if (digit != 0) state = multiplyModulo(state, load<u32>(powers + ((<usize>digit) << 2)))
    byteLength >>>= 8
    powers += 1024
  }
  return state
}

/**
 * The CRC-32C of data of which eight bytes changed.
 * @param crc the CRC before the change
 * @param delta old XOR new of the eight bytes, as a big-endian number
 * @param tail number of bytes that follow the eight up to the end of the data
 */
export function patchLong(crc: u32, delta: u64, tail: u32): u32 {
  return crc ^ shift(rawCrcOfLong(delta), tail)
}

/** The same for callers outside: the delta in two halves, because an i64 would cross the border as a BigInt. */
export function patchCrc(crc: u32, deltaHigh: u32, deltaLow: u32, tail: u32): u32 {
  return patchLong(crc, ((<u64>deltaHigh) << 32) | deltaLow, tail)
}
