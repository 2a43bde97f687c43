import { NO_TIMESTAMP } from '../../formats/recordBatch.ts'
import { logFileName } from '../fileNames.ts'
import { IndexFile } from './indexFile.ts'
import { InvalidIndexOffset } from './invalidIndexOffset.ts'
import type { LogStorage } from './storage.ts'

const ENTRY_SIZE = 12
const OFFSET_AT = 8

/** A timestamp, and the last offset of the batch that has it as its largest. */
export interface TimestampOffset {
  timestamp: bigint
  offset: bigint
}

/**
 * The `.timeindex` of a segment that is written to: (timestamp i64, relative offset i32); no record up to that offset is
 * later. Source: Kafka's TimeIndex.
 */
export class SegmentTimeIndex {
  readonly #file: IndexFile
  readonly #baseOffset: bigint
  readonly #maxEntries: number

  constructor(storage: LogStorage, baseOffset: bigint, maxIndexBytes: number) {
    this.#file = new IndexFile(storage, logFileName(baseOffset, '.timeindex'), ENTRY_SIZE)
    this.#baseOffset = baseOffset
    this.#maxEntries = Math.floor(maxIndexBytes / ENTRY_SIZE)
    this.#file.keepWhile((view, at, previous) => {
      const relative = view.getInt32(at + OFFSET_AT)
      if (previous === null) return relative >= 0
      return (
        relative >= view.getInt32(previous + OFFSET_AT) && view.getBigInt64(at) > view.getBigInt64(previous)
      )
    })
  }

  /** One entry is kept free for the end of the segment. */
  get isFull(): boolean {
    return this.#file.count >= this.#maxEntries - 1
  }

  get last(): TimestampOffset {
    const { count, view } = this.#file
    if (count === 0) return { timestamp: NO_TIMESTAMP, offset: this.#baseOffset }
    const at = this.#file.at(count - 1)
    return {
      timestamp: view.getBigInt64(at),
      offset: this.#baseOffset + BigInt(view.getInt32(at + OFFSET_AT)),
    }
  }

  /**
   * Adds an entry, where its timestamp is above the last one.
   * @throws InvalidIndexOffset when its offset is below the last one; InvalidRecordError for one that no entry can hold
   */
  maybeAppend({ timestamp, offset }: TimestampOffset): void {
    const { last } = this
    if (this.#file.count > 0 && offset < last.offset) {
      throw new InvalidIndexOffset(offset, last.offset, this.#file.name)
    }
    if (timestamp <= last.timestamp) return
    const relative = this.#file.relativeOffset(offset, this.#baseOffset)
    this.#file.append((view, at) => {
      view.setBigInt64(at, timestamp)
      view.setInt32(at + OFFSET_AT, relative)
    })
  }

  /** Drops the entries from an offset on. */
  truncateTo(offset: bigint): void {
    const relative = Number(offset - this.#baseOffset)
    this.#file.truncate(this.#file.countUpTo((view, at) => view.getInt32(at + OFFSET_AT) < relative))
  }

  trim(): void {
    this.#file.trim()
  }
}
