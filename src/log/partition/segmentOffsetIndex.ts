import { logFileName } from '../fileNames.ts'
import { IndexFile } from './indexFile.ts'
import { InvalidIndexOffset } from './invalidIndexOffset.ts'
import type { LogStorage } from './storage.ts'

const ENTRY_SIZE = 8

/**
 * The `.index` of a segment that is written to: (relative offset i32, position i32), one entry for every
 * `indexIntervalBytes` of batches, with the last offset of the batch at that position. Source: Kafka's OffsetIndex.
 */
export class SegmentOffsetIndex {
  readonly #file: IndexFile
  readonly #baseOffset: bigint
  readonly #maxEntries: number

  constructor(storage: LogStorage, baseOffset: bigint, maxIndexBytes: number) {
    this.#file = new IndexFile(storage, logFileName(baseOffset, '.index'), ENTRY_SIZE)
    this.#baseOffset = baseOffset
    this.#maxEntries = Math.floor(maxIndexBytes / ENTRY_SIZE)
    this.#file.keepWhile((view, at, previous) => {
      if (view.getInt32(at) < 0 || view.getInt32(at + 4) < 0) return false
      return previous === null || view.getInt32(at) > view.getInt32(previous)
    })
  }

  get count(): number {
    return this.#file.count
  }

  get isFull(): boolean {
    return this.#file.count >= this.#maxEntries
  }

  /** Of the last entry; the base offset where there is none. */
  get lastOffset(): bigint {
    const { count, view } = this.#file
    if (count === 0) return this.#baseOffset
    return this.#baseOffset + BigInt(view.getInt32(this.#file.at(count - 1)))
  }

  /** @throws InvalidIndexOffset when it is not above the last one; InvalidRecordError for what an entry cannot hold */
  append(offset: bigint, position: number): void {
    if (this.#file.count > 0 && offset <= this.lastOffset) {
      throw new InvalidIndexOffset(offset, this.lastOffset, this.#file.name)
    }
    const relative = this.#file.relativeOffset(offset, this.#baseOffset)
    const held = this.#file.position(position, offset)
    this.#file.append((view, at) => {
      view.setInt32(at, relative)
      view.setInt32(at + 4, held)
    })
  }

  /** The position from which to look for an offset. */
  lookup(offset: bigint): number {
    const count = this.#countUpTo(offset)
    return count === 0 ? 0 : this.#file.view.getInt32(this.#file.at(count - 1) + 4)
  }

  /** Drops the entries from an offset on. */
  truncateTo(offset: bigint): void {
    this.#file.truncate(this.#countUpTo(offset - 1n))
  }

  trim(): void {
    this.#file.trim()
  }

  #countUpTo(offset: bigint): number {
    const relative = Number(offset - this.#baseOffset)
    return this.#file.countUpTo((view, at) => view.getInt32(at) <= relative)
  }
}
