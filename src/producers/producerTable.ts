import { isMirrored } from './int64.ts'
import { clearRow, PRODUCER_ID_HIGH, PRODUCER_ID_LOW, ROW_WORDS } from './producerRow.ts'
import type { UndoLog } from './undoLog.ts'

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
  /** How many of the rows are of mapped ids. */
  #mirrored = 0
  /** Row number + 1; 0 is free. A power of two, at most half full. */
  #index: Int32Array = new Int32Array(MIN_INDEX)
  readonly #undo: UndoLog | null

  constructor(undo: UndoLog | null = null) {
    this.#undo = undo
  }

  get size(): number {
    return this.#size
  }

  get largestSize(): number {
    return this.#largestSize
  }

  /** Whether a row is of a mapped id. */
  get holdsMirrored(): boolean {
    return this.#mirrored > 0
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
    if (this.#undo?.isOn) {
      const largestSize = this.#largestSize
      this.#undo.push(() => this.#removeLast(largestSize))
    }
    const row = this.#size++
    if (row > this.#largestSize - 1) this.#largestSize = this.#size
    if (row >> PAGE_BITS === this.#pages.length) this.#pages.push(new Int32Array(PAGE_ROWS * ROW_WORDS))
    clearRow(this.words(row), this.start(row), idHigh, idLow)
    if (isMirrored(idHigh, idLow)) this.#mirrored++
    if (this.#size * 2 > this.#index.length) this.#reindex(this.#index.length * 2)
    else this.#enter(row, idHigh, idLow)
    return row
  }

  /** Called before the words of a row change. */
  change(row: number): void {
    if (!this.#undo?.isOn) return
    const start = this.start(row)
    const before = this.words(row).slice(start, start + ROW_WORDS)
    this.#undo.push(() => this.words(row).set(before, start))
  }

  /** Removes rows and keeps the others in their order. All row numbers change. */
  removeIf(isGone: (words: Int32Array, start: number) => boolean): number {
    let kept = 0
    while (kept < this.#size && !isGone(this.words(kept), this.start(kept))) kept++
    if (kept === this.#size) return 0
    this.#keepPages(kept >> PAGE_BITS)
    for (let row = kept + 1; row < this.#size; row++) {
      const words = this.words(row)
      const start = this.start(row)
      if (isGone(words, start)) continue
      this.words(kept).set(words.subarray(start, start + ROW_WORDS), this.start(kept))
      kept++
    }
    const removed = this.#size - kept
    this.#size = kept
    this.#countMirrored()
    this.#pages.length = (kept + PAGE_MASK) >> PAGE_BITS
    let length = MIN_INDEX
    while (length < kept * 2) length *= 2
    this.#reindex(length)
    return removed
  }

  /** Removes all rows, for a table that is filled again at once. */
  clear(): void {
    this.#size = 0
    this.#mirrored = 0
    this.#pages.length = Math.min(this.#pages.length, 1)
    if (this.#index.length === MIN_INDEX) this.#index.fill(0)
    else this.#index = new Int32Array(MIN_INDEX)
  }

  /** The inverse of `add`. No row has come behind the last one in the index, so no search goes on past its place. */
  #removeLast(largestSize: number): void {
    const row = --this.#size
    this.#largestSize = largestSize
    const words = this.words(row)
    const start = this.start(row)
    const mask = this.#index.length - 1
    let slot = hash(words[start + PRODUCER_ID_HIGH]!, words[start + PRODUCER_ID_LOW]!) & mask
    while (this.#index[slot] !== row + 1) slot = (slot + 1) & mask
    this.#index[slot] = 0
    if (isMirrored(words[start + PRODUCER_ID_HIGH]!, words[start + PRODUCER_ID_LOW]!)) this.#mirrored--
  }

  /** Before rows are removed, which moves those in the pages from `first` on. */
  #keepPages(first: number): void {
    if (!this.#undo?.isOn) return
    const pages = this.#pages
    const size = this.#size
    const index = this.#index
    this.#pages = pages.map((page, at) => (at < first ? page : page.slice()))
    this.#undo.push(() => {
      this.#pages = pages
      this.#size = size
      this.#index = index
      this.#countMirrored()
    })
  }

  #countMirrored(): void {
    this.#mirrored = 0
    for (let row = 0; row < this.#size; row++) {
      const words = this.words(row)
      const start = this.start(row)
      if (isMirrored(words[start + PRODUCER_ID_HIGH]!, words[start + PRODUCER_ID_LOW]!)) this.#mirrored++
    }
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
