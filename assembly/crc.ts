// CRC-32C (magic 2) and CRC-32 (magic 0 and 1) by slicing-by-16, both reflected.
// With SIMD, CRC-32C of more than a few hundred bytes is folded first (fold.ts).
// Table row n holds the CRC of a byte followed by n zero bytes, so 16 look-ups advance 16 bytes.

import { FOLD_FROM, FOLDED_REST, FOLDED_REST_SIZE, foldToRest } from './fold'

const SLICES: i32 = 16
const ROW: usize = 1024 // 256 entries of u32
const POLYNOMIAL_CRC32C: u32 = 0x82f63b78
const POLYNOMIAL_CRC32: u32 = 0xedb88320

const CRC32C_TABLE: usize = memory.data(16384, 16)
const CRC32_TABLE: usize = memory.data(16384, 16)

function buildTable(table: usize, polynomial: u32): void {
  for (let byte: u32 = 0; byte < 256; byte++) {
    let crc = byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (polynomial & (0 - (crc & 1)))
    store<u32>(table + ((<usize>byte) << 2), crc)
  }
  for (let slice = 1; slice < SLICES; slice++) {
    const row = table + <usize>slice * ROW
    for (let entry: usize = 0; entry < ROW; entry += 4) {
      const previous = load<u32>(row - ROW + entry)
      store<u32>(row + entry, (previous >>> 8) ^ load<u32>(table + ((<usize>(previous & 255)) << 2)))
    }
  }
}

// Runs once, when the module is instantiated: about 8,000 steps, cheaper than 32 KiB more to download.
buildTable(CRC32C_TABLE, POLYNOMIAL_CRC32C)
buildTable(CRC32_TABLE, POLYNOMIAL_CRC32)

function row(table: usize, slice: usize, index: u32): u32 {
  return load<u32>(table + slice * ROW + ((<usize>(index & 255)) << 2))
}

/** Advances the raw (not inverted) state over four bytes given as a little-endian word. */
function word(table: usize, slice: usize, value: u32): u32 {
  return (
    row(table, slice + 3, value) ^
    row(table, slice + 2, value >>> 8) ^
    row(table, slice + 1, value >>> 16) ^
    row(table, slice, value >>> 24)
  )
}

function update(table: usize, position: usize, byteLength: usize, state: u32): u32 {
  let crc = state
  while (byteLength >= 16) {
    const low = load<u64>(position)
    const high = load<u64>(position, 8)
    crc =
      word(table, 12, <u32>low ^ crc) ^
      word(table, 8, <u32>(low >>> 32)) ^
      word(table, 4, <u32>high) ^
      word(table, 0, <u32>(high >>> 32))
    position += 16
    byteLength -= 16
  }
  if (byteLength >= 8) {
    const low = load<u64>(position)
    crc = word(table, 4, <u32>low ^ crc) ^ word(table, 0, <u32>(low >>> 32))
    position += 8
    byteLength -= 8
  }
  while (byteLength > 0) {
    crc = (crc >>> 8) ^ row(table, 0, crc ^ load<u8>(position))
    position += 1
    byteLength -= 1
  }
  return crc
}

/** CRC-32C of byteLength bytes at position; `initial` continues an earlier CRC. */
export function crc32c(position: usize, byteLength: usize, initial: u32): u32 {
  if (ASC_FEATURE_SIMD && byteLength >= FOLD_FROM) {
    foldToRest(position, byteLength, ~initial)
    return ~update(CRC32C_TABLE, FOLDED_REST, FOLDED_REST_SIZE, 0)
  }
  return ~update(CRC32C_TABLE, position, byteLength, ~initial)
}

/** CRC-32 (IEEE) of byteLength bytes at position; `initial` continues an earlier CRC. */
export function crc32(position: usize, byteLength: usize, initial: u32): u32 {
  return ~update(CRC32_TABLE, position, byteLength, ~initial)
}

/** Raw CRC-32C (no initial and final inversion) of the eight bytes of a big-endian value. */
export function rawCrcOfLong(value: u64): u32 {
  const bytes = bswap<u64>(value)
  return word(CRC32C_TABLE, 4, <u32>bytes) ^ word(CRC32C_TABLE, 0, <u32>(bytes >>> 32))
}

/** Advances a raw CRC-32C state over four zero bytes: multiplication by x^32 modulo P. */
export function shiftFourBytes(state: u32): u32 {
  return word(CRC32C_TABLE, 0, state)
}
