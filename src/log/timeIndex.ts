import type { ByteSource } from './byteSource.ts'
import { IndexEntries } from './indexEntries.ts'

/**
 * The `.timeindex` of a segment: 12-byte entries, each a timestamp (i64) and a relative offset (i32). Every record up to
 * that offset has a timestamp up to the entry's. Zeros may follow, as in an offset index. Source: Kafka's TimeIndex.
 */

export interface TimeIndexEntry {
  timestamp: bigint
  offset: bigint
}

const ENTRY_SIZE = 12
const OFFSET_AT = 8

export class TimeIndex {
  /** Whole entries, those in a tail of zeros included. */
  readonly count: number
  readonly #source: ByteSource
  readonly #baseOffset: bigint
  readonly #entries: IndexEntries

  /** @param baseOffset the segment's */
  constructor(source: ByteSource, baseOffset: bigint) {
    this.#source = source
    this.#baseOffset = baseOffset
    this.#entries = new IndexEntries(source, ENTRY_SIZE)
    this.count = this.#entries.count
  }

  entry(index: number): TimeIndexEntry {
    const at = this.#entries.at(index)
    const { view } = this.#entries
    return {
      timestamp: view.getBigInt64(at),
      offset: this.#baseOffset + BigInt(view.getInt32(at + OFFSET_AT)),
    }
  }

  /** Whether Kafka's tool takes the entry for the beginning of the zeros. */
  isZeroTail(index: number): boolean {
    return index > 0 && this.#entries.view.getInt32(this.#entries.at(index) + OFFSET_AT) === 0
  }

  /**
   * What Kafka's sanity check says against the index, or null. It takes zeros for entries, and so rejects the
   * preallocated file of an active segment.
   * @param path absolute
   */
  fault(path: string): string | null {
    const corrupt = `Corrupt time index found, time index file (${path}) has non-zero size but the last`
    if (this.count > 0) {
      const first = this.entry(0)
      const last = this.entry(this.count - 1)
      if (last.timestamp < first.timestamp) {
        return `${corrupt} timestamp is ${last.timestamp} which is less than the first timestamp ${first.timestamp}`
      }
      if (last.offset < this.#baseOffset) {
        return `${corrupt} offset is ${last.offset} which is less than the first offset ${this.#baseOffset}`
      }
    }
    const { size } = this.#source
    if (size % ENTRY_SIZE === 0) return null
    return `Time index file ${path} is corrupt, found ${size} bytes which is neither positive nor a multiple of 12`
  }
}
