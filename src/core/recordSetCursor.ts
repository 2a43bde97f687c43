import {
  BASE_OFFSET,
  BATCH_LENGTH,
  CURRENT_MAGIC,
  HEADER_SIZE_UP_TO_MAGIC,
  LOG_OVERHEAD,
  MAGIC,
  MIN_BATCH_LENGTH,
  MIN_BATCH_LENGTH_V2,
} from './layout.ts'
import {
  FRAME_BAD_MAGIC,
  FRAME_BAD_SIZE,
  FRAME_BATCH,
  FRAME_END,
  FRAME_INCOMPLETE,
  FRAME_ZEROS,
} from './status.ts'

/**
 * Walks the batches of a record set. All reads go through a DataView of the caller's bytes alone, so that no claimed
 * length can lead outside. Framing is that of Kafka's ByteBufferLogInputStream, plus zero tails of preallocated files.
 */
export class RecordSetCursor {
  readonly bytes: Uint8Array
  readonly view: DataView
  position = 0
  /** Size and magic of the batch at `position`, when `frame` has found one. */
  size = 0
  magic = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  /** What stands at `position`: one of the FRAME_ numbers. */
  frame(): number {
    const { view, position } = this
    const remaining = view.byteLength - position
    if (remaining === 0) return FRAME_END
    if (remaining < LOG_OVERHEAD) return this.#isZero() ? FRAME_ZEROS : FRAME_INCOMPLETE
    const batchLength = view.getInt32(position + BATCH_LENGTH)
    if (batchLength < MIN_BATCH_LENGTH) {
      return batchLength === 0 && this.#isZero() ? FRAME_ZEROS : FRAME_BAD_SIZE
    }
    if (remaining < HEADER_SIZE_UP_TO_MAGIC) return FRAME_INCOMPLETE
    const magic = view.getInt8(position + MAGIC)
    if (magic < 0 || magic > CURRENT_MAGIC) return FRAME_BAD_MAGIC
    if (magic === CURRENT_MAGIC && batchLength < MIN_BATCH_LENGTH_V2) return FRAME_BAD_SIZE
    if (remaining < LOG_OVERHEAD + batchLength) return FRAME_INCOMPLETE
    this.size = LOG_OVERHEAD + batchLength
    this.magic = magic
    return FRAME_BATCH
  }

  /** Moves behind the batch that `frame` has found. */
  advance(): void {
    this.position += this.size
  }

  get baseOffset(): bigint {
    return baseOffsetAt(this.view, this.position)
  }

  #isZero(): boolean {
    for (let at = this.position; at < this.bytes.length; at++) if (this.bytes[at] !== 0) return false
    return true
  }
}

/** The base offset at a position; -1 where fewer than eight bytes are left. */
export function baseOffsetAt(view: DataView, position: number): bigint {
  return position + 8 <= view.byteLength ? view.getBigInt64(position + BASE_OFFSET) : -1n
}
