import { Int64Pairs } from './int64Pairs.ts'
import type { RecordPlace } from './recordPlace.ts'

/** The places where a record's offset is not one more than that of the record before; -1 stands before the first. */
export class OffsetGaps {
  /** The offset before, and the one that follows though it is not the next. */
  readonly pairs = new Int64Pairs()
  #previous = -1
  #widePrevious: bigint | null = null

  note(place: RecordPlace): void {
    if (place.wideOffset === null && this.#widePrevious === null) {
      if (place.offset !== this.#previous + 1) this.pairs.add(BigInt(this.#previous), BigInt(place.offset))
    } else {
      const previous = this.#widePrevious ?? BigInt(this.#previous)
      if (place.exactOffset !== BigInt.asIntN(64, previous + 1n)) this.pairs.add(previous, place.exactOffset)
    }
    this.#previous = place.offset
    this.#widePrevious = place.wideOffset
  }
}
