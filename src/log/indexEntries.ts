import type { ByteSource } from './byteSource.ts'

const BLOCK_ENTRIES = 4096

/** Entries of one size, read where they are asked for, a block at a time. Source: Kafka's AbstractIndex. */
export class IndexEntries {
  /** Whole entries, those in a tail of zeros included. */
  readonly count: number
  /** Holds the entry that was asked for last. */
  readonly view: DataView
  readonly #source: ByteSource
  readonly #entrySize: number
  readonly #bytes: Uint8Array
  #first = 0
  #held = 0

  constructor(source: ByteSource, entrySize: number) {
    this.#source = source
    this.#entrySize = entrySize
    this.count = Math.floor(source.size / entrySize)
    this.#bytes = new Uint8Array(Math.min(this.count, BLOCK_ENTRIES) * entrySize)
    this.view = new DataView(this.#bytes.buffer)
  }

  /** Where in `view` the entry begins; from 0 to `count` - 1. */
  at(index: number): number {
    if (index < this.#first || index >= this.#first + this.#held) {
      this.#first = index - (index % BLOCK_ENTRIES)
      const read = this.#source.readNow(this.#bytes, this.#first * this.#entrySize)
      this.#held = Math.floor(read / this.#entrySize)
      // the file has become shorter meanwhile
      if (index >= this.#first + this.#held) throw new RangeError(`index entry ${index} is gone`)
    }
    return (index - this.#first) * this.#entrySize
  }
}
