import { crc32c } from '@node-rs/crc32'

const HEADER_SIZE = 61

/** A seeded generator (mulberry32): the same input in every run. */
export function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

/**
 * A record set of idempotent batches. Sizes vary by up to 6 % around the given one, as real ones do: equal power-of-two
 * sizes would put all headers into the same cache sets.
 */
export function recordSet(batchSize: number, batches: number): Buffer {
  const next = random(batchSize)
  const sizes = Array.from({ length: batches }, () =>
    Math.max(HEADER_SIZE, Math.round(batchSize * (0.94 + next() * 0.12))),
  )
  const bytes = Buffer.alloc(sizes.reduce((sum, size) => sum + size, 0))
  const filler = Buffer.from(Array.from({ length: 1 << 16 }, () => Math.floor(next() * 256)))
  let at = 0
  for (const [index, size] of sizes.entries()) {
    bytes.writeBigInt64BE(BigInt(index), at)
    bytes.writeInt32BE(size - 12, at + 8)
    bytes.writeInt8(2, at + 16)
    bytes.writeBigInt64BE(1700000000000n, at + 27)
    bytes.writeBigInt64BE(1700000000000n, at + 35)
    bytes.writeBigInt64BE(BigInt(index % 100), at + 43)
    bytes.writeInt32BE(Math.floor(index / 100), at + 53)
    bytes.writeInt32BE(1, at + 57)
    for (let to = at + HEADER_SIZE; to < at + size; to += filler.length) {
      filler.copy(bytes, to, 0, Math.min(filler.length, at + size - to))
    }
    bytes.writeUInt32BE(crc32c(bytes.subarray(at + 21, at + size)), at + 17)
    at += size
  }
  return bytes
}
