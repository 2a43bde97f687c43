import type { CrcEngine } from './crcEngine.ts'

/**
 * CRC-32C, CRC-32 and the CRC patch in plain TypeScript. Both CRCs are reflected and use slicing by eight: row n of a
 * table holds the CRC of a byte followed by n zero bytes.
 */

const POLYNOMIAL_CRC32C = 0x82f63b78
const POLYNOMIAL_CRC32 = 0xedb88320
const SLICES = 8

function buildTable(polynomial: number): Int32Array {
  const table = new Int32Array(SLICES * 256)
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? polynomial : 0)
    table[byte] = crc
  }
  for (let entry = 256; entry < table.length; entry++) {
    const previous = table[entry - 256]!
    table[entry] = (previous >>> 8) ^ table[previous & 255]!
  }
  return table
}

function update(table: Int32Array, bytes: Uint8Array, start: number, end: number, state: number): number {
  let crc = state
  let at = start
  for (; end - at >= 8; at += 8) {
    crc ^= bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
    crc =
      table[1792 + (crc & 255)]! ^
      table[1536 + ((crc >>> 8) & 255)]! ^
      table[1280 + ((crc >>> 16) & 255)]! ^
      table[1024 + (crc >>> 24)]! ^
      table[768 + bytes[at + 4]!]! ^
      table[512 + bytes[at + 5]!]! ^
      table[256 + bytes[at + 6]!]! ^
      table[bytes[at + 7]!]!
  }
  for (; at < end; at++) crc = (crc >>> 8) ^ table[(crc ^ bytes[at]!) & 255]!
  return crc
}

const X_TO_0 = 1 << 31 // reflected: bit 31 is x^0
const X_TO_8 = 1 << 23

/** a * b modulo P, bit by bit. */
function multiplyModulo(a: number, b: number): number {
  let product = 0
  let shifted = b
  for (let rest = a; rest !== 0; rest <<= 1) {
    if (rest < 0) product ^= shifted
    shifted = (shifted >>> 1) ^ (shifted & 1 ? POLYNOMIAL_CRC32C : 0)
  }
  return product
}

/** powers[j * 256 + b] = x^(8 * b * 256^j) modulo P, for lengths below 2^32. */
function buildPowers(): Int32Array {
  const powers = new Int32Array(1024)
  let base = X_TO_8
  for (let digit = 0; digit < 4; digit++) {
    let power = X_TO_0
    for (let entry = 0; entry < 256; entry++) {
      powers[digit * 256 + entry] = power
      power = multiplyModulo(power, base)
    }
    base = power
  }
  return powers
}

/** Makes the tables, so call it when work starts, not at import. */
export function jsCrcEngine(): CrcEngine {
  const crc32cTable = buildTable(POLYNOMIAL_CRC32C)
  const crc32Table = buildTable(POLYNOMIAL_CRC32)
  const powers = buildPowers()
  const longBytes = new Uint8Array(8)
  const longView = new DataView(longBytes.buffer)

  return {
    crc32c: (bytes, start, end, initial) => ~update(crc32cTable, bytes, start, end, ~initial) >>> 0,
    crc32: (bytes, start, end, initial) => ~update(crc32Table, bytes, start, end, ~initial) >>> 0,
    patchCrc(crc, deltaHigh, deltaLow, tail) {
      longView.setInt32(0, deltaHigh)
      longView.setInt32(4, deltaLow)
      let state = update(crc32cTable, longBytes, 0, 8, 0)
      for (let digit = 0, rest = tail; rest > 0; digit += 256, rest >>>= 8) {
        if ((rest & 255) !== 0) state = multiplyModulo(state, powers[digit + (rest & 255)]!)
      }
      return (crc ^ state) >>> 0
    },
  }
}

let shared: CrcEngine | undefined

/** The engine for small work that no core was given for: encoding a batch, reading a companion file. */
export function defaultCrcEngine(): CrcEngine {
  shared ??= jsCrcEngine()
  return shared
}
