import type { BatchCounts } from '../core/core.ts'
import {
  BATCH_LENGTH,
  CURRENT_MAGIC,
  HEADER_SIZE,
  HEADER_SIZE_UP_TO_MAGIC,
  LOG_OVERHEAD,
  MAGIC,
} from '../core/layout.ts'
import type { CorruptBatchFacts } from '../errors.ts'

/** What is done with the batches of a stream. Positions are those in the whole; bytes may be changed where they lie. */
export interface BatchWork {
  /** The counts, to which the work adds the batches it is given; the stream itself adds how everything ended. */
  readonly counts: BatchCounts
  /**
   * Works on the whole batches at the start of `bytes`.
   * @returns how many bytes they are and what follows them, or null for what follows when nothing can be framed there
   */
  wholeBatches(bytes: Uint8Array, position: number): WholeBatches
  /** A batch larger than a window begins: `header` has at least its header. All its bytes come as pieces after this. */
  beginLarge(header: Uint8Array, position: number, size: number): void
  /** Whether it wants them. */
  readonly readsPieces: boolean
  /** The next bytes of it, the header too. */
  largePiece(bytes: Uint8Array): void
  endLarge(): void
  /** Nothing can be framed from here on. Throws, or notes it. */
  unreadable(facts: CorruptBatchFacts): void
}

export type WholeBatches = Pick<BatchCounts, 'validBytes'> & { trailing: BatchCounts['trailing'] | null }

/** A last batch that is cut short. */
export interface IncompleteBatch {
  position: number
  /** Its whole size in bytes; null where too little is left to tell. */
  wants: number | null
  has: number
}

/**
 * Walks a record set of any size that comes in windows, one after another, and does what the core does on the set in
 * one piece. A batch larger than a window is never in memory as a whole, and no claimed length leads to an allocation:
 * its header is worked on alone, and the rest passes by.
 *
 * @example
 * const stream = new BatchStream(fileSize, largest, work)
 * // window: what the last feed left over, then the next bytes of the file; room for at least 2 * largest
 * const done = stream.feed(window)
 * stream.counts.batches
 */
export class BatchStream {
  readonly counts: BatchCounts
  readonly #size: number
  readonly #largest: number
  readonly #work: BatchWork
  /** Of the next byte to come. */
  #position = 0
  #mode: 'batches' | 'large' | 'zeros' | 'rest' = 'batches'
  #largeSize = 0
  #largeLeft = 0
  #incomplete: IncompleteBatch | null = null

  /**
   * @param size bytes of the whole record set
   * @param largest size of the largest batch that is awaited whole in a window, at least a header's 61 bytes. A window
   *   that starts with what was left over must reach at least this far, unless it ends the set.
   */
  constructor(size: number, largest: number, work: BatchWork) {
    this.counts = work.counts
    this.#size = size
    this.#largest = largest
    this.#work = work
  }

  /** Whether nothing of what is still to come can change the outcome. */
  get isSettled(): boolean {
    return this.#mode === 'rest'
  }

  /** How many of the next bytes nobody wants to see: the rest of a large batch whose header is all that is read. */
  get skippable(): number {
    return this.#mode === 'large' && !this.#work.readsPieces ? this.#largeLeft : 0
  }

  /** Passes over so many bytes that are skippable. */
  skip(byteLength: number): void {
    if (byteLength === 0) return
    this.#passLarge(byteLength)
    this.#position += byteLength
  }

  /** The batch that the set's end cuts, once everything was fed. */
  get incomplete(): IncompleteBatch | null {
    return this.#incomplete
  }

  /** Takes the next window; returns how many of its bytes are done with. The others must start the next window. */
  feed(window: Uint8Array): number {
    let at = 0
    while (at < window.length) {
      const mode = this.#mode
      const taken = this.#step(at === 0 ? window : window.subarray(at))
      at += taken
      this.#position += taken
      // a step over whole batches takes all there are
      if (mode === 'batches') break
    }
    return at
  }

  #step(bytes: Uint8Array): number {
    if (this.#mode === 'batches') return this.#batches(bytes)
    if (this.#mode === 'large') return this.#large(bytes)
    if (this.#mode === 'zeros') this.#zeros(bytes)
    return bytes.length
  }

  #batches(bytes: Uint8Array): number {
    // nothing whole to work on: the way from one large batch to the next is short
    if (this.#isLarge(bytes)) return this.#beginLarge(bytes, this.#position)
    const { validBytes, trailing } = this.#work.wholeBatches(bytes, this.#position)
    this.counts.validBytes += validBytes
    if (trailing === null) {
      this.#mode = 'rest'
      return bytes.length
    }
    if (trailing.kind === 'none') return bytes.length
    const start = this.#position + validBytes
    const head = bytes.subarray(validBytes)
    if (trailing.kind === 'zeros' && (head.length >= LOG_OVERHEAD || this.#isLast(bytes))) {
      this.counts.trailing = { kind: 'zeros', bytes: this.#size - start }
      this.#mode = 'zeros'
      return bytes.length
    }
    if (this.#isLast(bytes)) return validBytes + this.#cut(head, start)
    return validBytes + this.#beginLarge(head, start)
  }

  /** Whether a batch begins here that is larger than these bytes, and than what is awaited whole. */
  #isLarge(bytes: Uint8Array): boolean {
    if (bytes.length < HEADER_SIZE) return false
    const size = sizeOf(bytes)
    return size > this.#largest && size > bytes.length && bytes[MAGIC]! <= CURRENT_MAGIC
  }

  #isLast(bytes: Uint8Array): boolean {
    return this.#position + bytes.length === this.#size
  }

  #cut(head: Uint8Array, position: number): number {
    const has = this.#size - position
    this.counts.trailing = { kind: 'incomplete', bytes: has }
    this.#incomplete = { position, has, wants: head.length < LOG_OVERHEAD ? null : sizeOf(head) }
    this.#mode = 'rest'
    return head.length
  }

  /** Takes the start of a batch that no window holds; leaves any other for the next window. */
  #beginLarge(head: Uint8Array, position: number): number {
    if (head.length < HEADER_SIZE_UP_TO_MAGIC) return 0
    const size = sizeOf(head)
    if (size <= this.#largest) return 0
    if (position + size > this.#size) return this.#cut(head, position)
    if (head[MAGIC] === CURRENT_MAGIC && head.length < HEADER_SIZE) return 0
    this.#work.beginLarge(head, position, size)
    this.#mode = 'large'
    this.#largeSize = size
    this.#largeLeft = size
    return this.#large(head)
  }

  #large(bytes: Uint8Array): number {
    const taken = Math.min(this.#largeLeft, bytes.length)
    this.#work.largePiece(bytes.subarray(0, taken))
    this.#passLarge(taken)
    return taken
  }

  #passLarge(byteLength: number): void {
    this.#largeLeft -= byteLength
    if (this.#largeLeft > 0) return
    this.#work.endLarge()
    this.counts.validBytes += this.#largeSize
    this.#mode = 'batches'
  }

  #zeros(bytes: Uint8Array): void {
    if (isZero(bytes)) return
    const position = this.#size - this.counts.trailing.bytes
    this.counts.trailing = { kind: 'none', bytes: 0 }
    this.#mode = 'rest'
    this.#work.unreadable({ position, baseOffset: 0n, reason: 'size', stored: null, computed: null })
  }
}

/** By words where they are aligned: preallocated segments end in gigabytes of zeros. */
function isZero(bytes: Uint8Array): boolean {
  const start = Math.min(-bytes.byteOffset & 3, bytes.length)
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset + start, (bytes.length - start) >> 2)
  return (
    hasNoOne(bytes.subarray(0, start)) &&
    hasNoOne(words) &&
    hasNoOne(bytes.subarray(start + words.byteLength))
  )
}

function hasNoOne(numbers: Uint8Array | Uint32Array): boolean {
  const { length } = numbers
  for (let at = 0; at < length; at++) if (numbers[at] !== 0) return false
  return true
}

/** The size that a batch claims; without a DataView, as this is asked of each large batch. */
function sizeOf(head: Uint8Array): number {
  const at = BATCH_LENGTH
  return LOG_OVERHEAD + ((head[at]! << 24) | (head[at + 1]! << 16) | (head[at + 2]! << 8) | head[at + 3]!)
}
