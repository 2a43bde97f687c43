import * as layout from '../core/layout.ts'
import { NO_PRODUCER_EPOCH, NO_SEQUENCE } from '../formats/recordBatch.ts'
import { incrementSequence } from '../formats/sequence.ts'
import { toBigInt } from './int64.ts'

/**
 * What producer state needs of a batch's header, in numbers; one object is filled again and again, so that a scan
 * allocates nothing.
 */
export class BatchHeader {
  view: DataView = new DataView(new ArrayBuffer(0))
  position = 0
  size = 0
  isLegacy = false
  isTransactional = false
  isControl = false
  baseOffsetHigh = 0
  baseOffsetLow = 0
  lastOffsetDelta = 0
  producerIdHigh = -1
  producerIdLow = -1
  producerEpoch = NO_PRODUCER_EPOCH
  baseSequence = NO_SEQUENCE
  maxTimestampHigh = 0
  maxTimestampLow = 0

  /** Takes the batch at `position`, of the size and magic that framing has found. */
  read(view: DataView, position: number, size: number, magic: number): void {
    this.view = view
    this.position = position
    this.size = size
    this.baseOffsetHigh = view.getInt32(position + layout.BASE_OFFSET)
    this.baseOffsetLow = view.getInt32(position + layout.BASE_OFFSET + 4)
    this.isLegacy = magic < layout.CURRENT_MAGIC
    if (this.isLegacy) {
      this.#readLegacy()
      return
    }
    const attributes = view.getInt16(position + layout.ATTRIBUTES)
    this.isTransactional = (attributes & layout.TRANSACTIONAL_FLAG) !== 0
    this.isControl = (attributes & layout.CONTROL_FLAG) !== 0
    this.lastOffsetDelta = view.getInt32(position + layout.LAST_OFFSET_DELTA)
    this.producerIdHigh = view.getInt32(position + layout.PRODUCER_ID)
    this.producerIdLow = view.getInt32(position + layout.PRODUCER_ID + 4)
    this.producerEpoch = view.getInt16(position + layout.PRODUCER_EPOCH)
    this.baseSequence = view.getInt32(position + layout.BASE_SEQUENCE)
    this.maxTimestampHigh = view.getInt32(position + layout.MAX_TIMESTAMP)
    this.maxTimestampLow = view.getInt32(position + layout.MAX_TIMESTAMP + 4)
  }

  /** Magic 0 and 1 know no producers. */
  #readLegacy(): void {
    this.isTransactional = false
    this.isControl = false
    this.lastOffsetDelta = 0
    this.producerIdHigh = -1
    this.producerIdLow = -1
    this.producerEpoch = NO_PRODUCER_EPOCH
    this.baseSequence = NO_SEQUENCE
  }

  get lastSequence(): number {
    return this.baseSequence === NO_SEQUENCE
      ? NO_SEQUENCE
      : incrementSequence(this.baseSequence, this.lastOffsetDelta)
  }

  get baseOffset(): bigint {
    return toBigInt(this.baseOffsetHigh, this.baseOffsetLow)
  }

  get producerId(): bigint {
    return toBigInt(this.producerIdHigh, this.producerIdLow)
  }
}
