import * as layout from '../core/layout.ts'
import type { ByteSource } from '../log/byteSource.ts'

/** Reads the headers of single batches of a log, wherever an index points to. */
export class HeaderReader {
  /** Of the batch that `read` has found. */
  position = 0
  size = 0
  magic = 0
  readonly bytes = new Uint8Array(layout.HEADER_SIZE)
  readonly #view = new DataView(this.bytes.buffer)
  readonly #log: ByteSource

  constructor(log: ByteSource) {
    this.#log = log
  }

  /** Whether a batch that the file holds as a whole is framed at a position. */
  read(position: number): boolean {
    const has = position < this.#log.size ? this.#log.readNow(this.bytes, position) : 0
    if (has < layout.HEADER_SIZE_UP_TO_MAGIC) return false
    const batchLength = this.#view.getInt32(layout.BATCH_LENGTH)
    const magic = this.#view.getInt8(layout.MAGIC)
    if (magic < 0 || magic > layout.CURRENT_MAGIC) return false
    const least = magic === layout.CURRENT_MAGIC ? layout.MIN_BATCH_LENGTH_V2 : layout.MIN_BATCH_LENGTH
    const size = layout.LOG_OVERHEAD + batchLength
    if (batchLength < least || size > this.#log.size - position) return false
    this.position = position
    this.size = size
    this.magic = magic
    return true
  }

  /** The offset of the batch's last record, as its header says. */
  get lastOffset(): bigint {
    const baseOffset = this.#view.getBigInt64(layout.BASE_OFFSET)
    // an entry of magic 0 or 1 holds its last offset there
    if (this.magic !== layout.CURRENT_MAGIC) return baseOffset
    return BigInt.asIntN(64, baseOffset + BigInt(this.#view.getInt32(layout.LAST_OFFSET_DELTA)))
  }

  get maxTimestamp(): bigint {
    if (this.magic === 0) return -1n
    return this.#view.getBigInt64(this.magic === 1 ? layout.MAGIC + 2 : layout.MAX_TIMESTAMP)
  }

  /** Whether compaction has taken all records and left the header. */
  get isEmpty(): boolean {
    return this.magic === layout.CURRENT_MAGIC && this.#view.getInt32(layout.RECORDS_COUNT) === 0
  }
}
