import { MalformedBytes } from '../../../bytes/byteReader.ts'

/**
 * A block's compressed bytes with zeros around them. Zstandard's bit streams are read from their end to their start, in
 * words of 32 bits; the padding lets a word reach over both ends without a check at each read. What was read too much
 * shows afterwards: the count of bits left is below zero.
 */
export class BlockBytes {
  bytes = new Uint8Array(0)
  view = new DataView(this.bytes.buffer)
  /** Where the block starts and ends in `bytes`. */
  readonly start = PADDING
  end = PADDING
  #position = 0

  /** @param position of the block in `source`, to tell where a fault is */
  load(source: Uint8Array, position: number, size: number): void {
    const needed = size + 2 * PADDING
    if (this.bytes.length < needed) {
      this.bytes = new Uint8Array(needed)
      this.view = new DataView(this.bytes.buffer)
    }
    this.end = PADDING + size
    this.#position = position
    this.bytes.set(source.subarray(position, position + size), PADDING)
    this.bytes.fill(0, this.end, this.end + PADDING)
  }

  malformed(fault: string, at: number): MalformedBytes {
    return new MalformedBytes(fault, this.#position + at - PADDING)
  }

  /** The number of bits in a stream that ends at `end`: its last byte has a 1 above them. */
  bitCount(start: number, end: number): number {
    const last = end > start ? this.bytes[end - 1]! : 0
    if (last === 0) throw this.malformed('a bit stream has no end mark', end)
    return (end - start) * 8 - 1 - (Math.clz32(last) - 24)
  }
}

/** More than the bits of one sequence, in bytes: it may be read whole before the count of bits left is looked at. */
const PADDING = 16
