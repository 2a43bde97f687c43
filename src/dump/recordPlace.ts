import * as layout from '../core/layout.ts'
import type { RecordCursor } from '../formats/recordCursor.ts'
import { incrementSequence } from '../formats/sequence.ts'
import { attributesOf, type FramedBatch } from './batchLine.ts'

const LOG_APPEND_TIME_FLAG = 0x08
const NO_SEQUENCE = -1
/** Below this, adding what a record can add stays exact in a double. */
const NARROW = 2 ** 52

/** The absolute offset and timestamp of records: as doubles where these are exact, as bigints where not. */
export class RecordPlace {
  offset = 0
  /** Instead of `offset` where a double cannot hold it. */
  wideOffset: bigint | null = null
  timestamp = 0
  /** Instead of `timestamp` where a double cannot hold it. */
  wideTimestamp: bigint | null = null
  sequence = NO_SEQUENCE
  #baseOffset = 0n
  #isNarrowOffset = true
  #base = 0
  #baseTimestamp = 0n
  #isNarrowTime = true
  #time = 0
  #isLogAppendTime = false
  #baseSequence = NO_SEQUENCE

  /** The records of a batch of magic 2 follow. */
  begin(batch: FramedBatch): void {
    const { view, at } = batch
    this.#isLogAppendTime = (attributesOf(batch) & LOG_APPEND_TIME_FLAG) !== 0
    this.#baseOffset = view.getBigInt64(at + layout.BASE_OFFSET)
    this.#base = Number(this.#baseOffset)
    this.#isNarrowOffset = Math.abs(this.#base) < NARROW
    this.#baseTimestamp = view.getBigInt64(
      at + (this.#isLogAppendTime ? layout.MAX_TIMESTAMP : layout.BASE_TIMESTAMP),
    )
    this.#time = Number(this.#baseTimestamp)
    this.#isNarrowTime = Math.abs(this.#time) < NARROW
    this.#baseSequence = view.getInt32(at + layout.BASE_SEQUENCE)
  }

  move(cursor: RecordCursor): void {
    const { offsetDelta } = cursor
    if (this.#isNarrowOffset) {
      this.offset = this.#base + offsetDelta
      this.wideOffset = null
    } else {
      this.wideOffset = BigInt.asIntN(64, this.#baseOffset + BigInt(offsetDelta))
    }
    this.sequence = this.#baseSequence >= 0 ? incrementSequence(this.#baseSequence, offsetDelta) : NO_SEQUENCE
    this.#moveTime(cursor)
  }

  /** A record of magic 0 or 1. */
  moveTo(offset: bigint, timestamp: bigint): void {
    this.wideOffset = offset
    this.wideTimestamp = timestamp
    this.sequence = NO_SEQUENCE
  }

  get exactOffset(): bigint {
    return this.wideOffset ?? BigInt(this.offset)
  }

  get exactTimestamp(): bigint {
    return this.wideTimestamp ?? BigInt(this.timestamp)
  }

  #moveTime({ timestampDelta, wideTimestampDelta }: RecordCursor): void {
    const isNarrow = this.#isNarrowTime && wideTimestampDelta === null && Math.abs(timestampDelta) < NARROW
    if (isNarrow) {
      this.timestamp = this.#isLogAppendTime ? this.#time : this.#time + timestampDelta
      this.wideTimestamp = null
      return
    }
    const delta = this.#isLogAppendTime ? 0n : (wideTimestampDelta ?? BigInt(timestampDelta))
    this.wideTimestamp = BigInt.asIntN(64, this.#baseTimestamp + delta)
  }
}
