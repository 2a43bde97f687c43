import { InvalidRecordError } from '../../errors.ts'
import { MAX_POSITION, MAX_RELATIVE_OFFSET } from './offsets.ts'
import type { LogStorage, StoredFile } from './storage.ts'

/**
 * An index of a segment: entries of one size, all of them in memory, each change written through. A file that a broker
 * has preallocated ends in zeros, which are no entries; the first change cuts them off. Source: Kafka's AbstractIndex.
 */
export class IndexFile {
  readonly name: string
  readonly #entrySize: number
  readonly #file: StoredFile
  #bytes: Uint8Array<ArrayBuffer>
  #view: DataView
  #count: number

  constructor(storage: LogStorage, name: string, entrySize: number) {
    this.name = name
    this.#entrySize = entrySize
    this.#file = storage.open(name)
    this.#bytes = new Uint8Array(this.#file.size)
    const read = this.#file.readInto(this.#bytes, 0)
    this.#view = new DataView(this.#bytes.buffer)
    this.#count = Math.floor(read / entrySize)
    while (this.#count > 0 && this.#isZero(this.#count - 1)) this.#count--
  }

  get count(): number {
    return this.#count
  }

  get view(): DataView {
    return this.#view
  }

  /** Byte position of an entry in `view`. */
  at(index: number): number {
    return index * this.#entrySize
  }

  /**
   * An offset as an entry holds it, in an int32.
   * @throws InvalidRecordError for one that would wrap
   * @see Kafka's AbstractIndex.relativeOffset, IndexOffsetOverflowException
   */
  relativeOffset(offset: bigint, baseOffset: bigint): number {
    const relative = offset - baseOffset
    if (relative >= 0n && relative <= MAX_RELATIVE_OFFSET) return Number(relative)
    throw this.#beyond(`offset ${offset} is ${relative} above the base offset`, offset)
  }

  /**
   * A position as an entry holds it, in an int32.
   * @throws InvalidRecordError for one that would wrap
   */
  position(position: number, offset: bigint): number {
    if (position <= MAX_POSITION) return position
    throw this.#beyond(`the batch that ends at offset ${offset} begins at byte ${position}`, offset)
  }

  append(write: (view: DataView, at: number) => void): void {
    const at = this.at(this.#count)
    const end = at + this.#entrySize
    if (end > this.#bytes.length) this.#grow()
    write(this.#view, at)
    this.#cutTo(at)
    this.#file.append(this.#bytes.subarray(at, end))
    this.#count++
  }

  /** Keeps the first `count` entries. */
  truncate(count: number): void {
    if (count < this.#count) this.#count = count
    this.#cutTo(this.at(this.#count))
  }

  /** How many entries from the start have a key up to the given one; keys never go down. */
  countUpTo(isUpTo: (view: DataView, at: number) => boolean): number {
    let low = 0
    let high = this.#count
    while (low < high) {
      const middle = (low + high) >>> 1
      if (isUpTo(this.#view, this.at(middle))) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Cuts off the zeros that are no entries. */
  trim(): void {
    this.#cutTo(this.at(this.#count))
  }

  #beyond(fault: string, baseOffset: bigint): InvalidRecordError {
    return new InvalidRecordError(
      `${this.name}: ${fault}, and an index holds 0 to ${MAX_POSITION}. No entry was written; let a broker split the ` +
        'segment first.',
      { baseOffset },
    )
  }

  #cutTo(size: number): void {
    if (this.#file.size > size) this.#file.truncate(size)
  }

  #grow(): void {
    const grown = new Uint8Array(Math.max(64 * this.#entrySize, 2 * this.#bytes.length))
    grown.set(this.#bytes)
    this.#bytes = grown
    this.#view = new DataView(grown.buffer)
  }

  /** Keeps the entries before the first one that cannot follow the one before it, such as the zeros of a preallocated file. */
  keepWhile(follows: (view: DataView, at: number, previous: number | null) => boolean): void {
    for (let index = 0; index < this.#count; index++) {
      if (!follows(this.#view, this.at(index), index === 0 ? null : this.at(index - 1))) this.#count = index
    }
  }

  #isZero(index: number): boolean {
    const start = this.at(index)
    for (let at = start; at < start + this.#entrySize; at++) if (this.#bytes[at] !== 0) return false
    return true
  }
}
