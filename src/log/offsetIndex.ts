import type { ByteSource } from './byteSource.ts'
import { IndexEntries } from './indexEntries.ts'

/**
 * The `.index` of a segment: 8-byte entries, each a relative offset (i32) and a byte position in the log (i32). The
 * offset is the last one of the batch at that position. Kafka allocates the file of an active segment in advance, so
 * zeros may follow. Source: Kafka's OffsetIndex and AbstractIndex.
 */

export interface OffsetIndexEntry {
  offset: bigint
  position: number
}

const ENTRY_SIZE = 8

export class OffsetIndex {
  /** Whole entries, those in a tail of zeros included. */
  readonly count: number
  readonly #source: ByteSource
  readonly #baseOffset: bigint
  readonly #entries: IndexEntries
  /** Where the last `lookup` ended. */
  #near = 0

  /** @param baseOffset the segment's */
  constructor(source: ByteSource, baseOffset: bigint) {
    this.#source = source
    this.#baseOffset = baseOffset
    this.#entries = new IndexEntries(source, ENTRY_SIZE)
    this.count = this.#entries.count
  }

  entry(index: number): OffsetIndexEntry {
    const at = this.#entries.at(index)
    const { view } = this.#entries
    return { offset: this.#baseOffset + BigInt(view.getInt32(at)), position: view.getInt32(at + 4) }
  }

  /** Offsets go up, so a relative offset of zero behind the first entry is where the zeros begin. */
  isZeroTail(index: number): boolean {
    return index > 0 && this.#entries.view.getInt32(this.#entries.at(index)) === 0
  }

  /**
   * The position from which to look for an offset: that of the last entry up to it, or the start of the log. Quick where
   * the offsets asked for go up, as those of a time index do.
   */
  lookup(offset: bigint): number {
    if (this.count === 0 || this.entry(0).offset > offset) return 0
    let low = 0
    let high = this.#near
    if (this.#isUpTo(this.#near, offset)) {
      low = this.#near
      let step = 1
      for (; low + step < this.count && this.#isUpTo(low + step, offset); step *= 2) low += step
      high = Math.min(low + step, this.count)
    }
    while (high - low > 1) {
      const middle = (low + high) >>> 1
      if (this.#isUpTo(middle, offset)) low = middle
      else high = middle
    }
    this.#near = low
    return this.entry(low).position
  }

  #isUpTo(index: number, offset: bigint): boolean {
    return !this.isZeroTail(index) && this.entry(index).offset <= offset
  }

  /**
   * What Kafka's sanity check says against the index, or null.
   * @param path absolute
   */
  fault(path: string): string | null {
    const last = this.count === 0 ? null : this.entry(this.count - 1)
    if (last !== null && last.offset < this.#baseOffset) {
      return (
        `Corrupt index found, index file ${path} has non-zero size but the last offset is ${last.offset} which is ` +
        `less than the base offset ${this.#baseOffset}`
      )
    }
    const { size } = this.#source
    if (size % ENTRY_SIZE === 0) return null
    return `Index file ${path} is corrupt, found ${size} bytes which is neither positive nor a multiple of 8`
  }
}
