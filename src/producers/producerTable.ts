import { clearRow, PRODUCER_ID_HIGH, PRODUCER_ID_LOW, ROW_WORDS } from './producerRow.ts'

// Rows lie in pages, so that growth copies nothing; the index is open addressing over the ids.
const PAGE_BITS = 10
const PAGE_ROWS = 1 << PAGE_BITS
const PAGE_MASK = PAGE_ROWS - 1
const MIN_INDEX = 16

/** Producer rows by id, in the order in which they came. A row's number is stable until rows are removed. */
export class ProducerTable {
  #pages: Int32Array[] = []
  #size = 0
  /** Largest number of rows ever: Kafka's map keeps the buckets that it once needed, and with them its order. */
  #largestSize = 0
  /** Row number + 1; 0 is free. A power of two, at most half full. */
  #index: Int32Array = new Int32Array(MIN_INDEX)

  get size(): number {
    return this.#size
  }

  get largestSize(): number {
    return this.#largestSize
  }

  /** The words of the page that a row is in; see `start`. */
  words(row: number): Int32Array {
    return this.#pages[row >> PAGE_BITS]!
  }

  /** Where a row begins in its page's words. */
  start(row: number): number {
    return (row & PAGE_MASK) * ROW_WORDS
  }

  /** The number of a producer's row, or -1. */
  find(idHigh: number, idLow: number): number {
    const index = this.#index
    const mask = index.length - 1
    for (let slot = hash(idHigh, idLow) & mask; ; slot = (slot + 1) & mask) {
      const row = index[slot]! - 1
      if (row < 0 || this.#isOf(row, idHigh, idLow)) return row
    }
  }

  /** Adds a row of which nothing is known yet; the producer must have none. */
  add(idHigh: number, idLow: number): number {
    const row = this.#size++
    if (row > this.#largestSize - 1) this.#largestSize = this.#size
    if (row >> PAGE_BITS === this.#pages.length) this.#pages.push(new Int32Array(PAGE_ROWS * ROW_WORDS))
    clearRow(this.words(row), this.start(row), idHigh, idLow)
    if (this.#size * 2 > this.#index.length) this.#reindex(this.#index.length * 2)
    else this.#enter(row, idHigh, idLow)
    return row
  }

  /** Removes rows and keeps the others in their order. All row numbers change. */
  removeIf(isGone: (words: Int32Array, start: number) => boolean): number {
    let kept = 0
    for (let row = 0; row < this.#size; row++) {
      const words = this.words(row)
      const start = this.start(row)
      if (isGone(words, start)) continue
      if (kept !== row) this.words(kept).set(words.subarray(start, start + ROW_WORDS), this.start(kept))
      kept++
    }
    const removed = this.#size - kept
    if (removed > 0) {
      this.#size = kept
      this.#pages.length = (kept + PAGE_MASK) >> PAGE_BITS
      let length = MIN_INDEX
      while (length < kept * 2) length *= 2
      this.#reindex(length)
    }
    return removed
  }

  clone(): ProducerTable {
    const copy = new ProducerTable()
    copy.#pages = this.#pages.map((page) => page.slice())
    copy.#size = this.#size
    copy.#largestSize = this.#largestSize
    copy.#index = this.#index.slice()
    return copy
  }

  #isOf(row: number, idHigh: number, idLow: number): boolean {
    const words = this.words(row)
    const start = this.start(row)
    return words[start + PRODUCER_ID_LOW] === idLow && words[start + PRODUCER_ID_HIGH] === idHigh
  }

  #reindex(length: number): void {
    this.#index = new Int32Array(length)
    for (let row = 0; row < this.#size; row++) {
      const words = this.words(row)
      const start = this.start(row)
      this.#enter(row, words[start + PRODUCER_ID_HIGH]!, words[start + PRODUCER_ID_LOW]!)
    }
  }

  #enter(row: number, idHigh: number, idLow: number): void {
    const mask = this.#index.length - 1
    let slot = hash(idHigh, idLow) & mask
    while (this.#index[slot] !== 0) slot = (slot + 1) & mask
    this.#index[slot] = row + 1
  }
}

/** Mixes all bits: brokers hand ids out in blocks of 1000, and the mapped ones have their high bits set. */
function hash(high: number, low: number): number {
  let mixed = Math.imul(low ^ Math.imul(high, 0x9e3779b1), 0x85ebca6b)
  mixed ^= mixed >>> 15
  mixed = Math.imul(mixed, 0xc2b2ae35)
  return mixed ^ (mixed >>> 13)
}
