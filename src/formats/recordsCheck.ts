import { MalformedBytes } from '../bytes/byteReader.ts'
import { DecompressionLimitError, MirrorPidError } from '../errors.ts'
import type { Decompress } from './compression/codec.ts'
import { parseControlKey } from './controlRecordType.ts'
import { RecordBatch } from './recordBatch.ts'
import { RecordCursor } from './recordCursor.ts'

/**
 * What one batch after another is decompressed into; only what is used of it is taken from the system. With memory of its
 * own for each batch, tens of megabytes are garbage before the engine collects it, on each thread.
 */
const ROOM = 4 * 1024 * 1024

/**
 * Checks the records of batches with a right CRC: damage on disk is no matter here, but what a broken writer has made.
 * Each record is read once, and none is made an object of; one batch at a time is in memory.
 *
 * @example
 * const check = new RecordsCheck(codecs, 128 * 1024 * 1024)
 * check.faultOf(batch.bytes) // null when all is well
 */
export class RecordsCheck {
  readonly #codecs: (compressionType: number) => Decompress
  readonly #maxBatchBytes: number
  #room: Uint8Array<ArrayBuffer> | null = null

  /**
   * @param codecs give their decompressor at once, so they are loaded
   * @param maxBatchBytes the most bytes that the records of one batch may take, compressed or not
   */
  constructor(codecs: (compressionType: number) => Decompress, maxBatchBytes: number) {
    this.#codecs = codecs
    this.#maxBatchBytes = maxBatchBytes
  }

  /** Whether a batch of this size is taken into memory. */
  takes(size: number): boolean {
    return size <= this.#maxBatchBytes
  }

  /** What to say of a batch that is not. */
  tooLarge(size: number): string {
    return `its ${size} bytes are more than the ${this.#maxBatchBytes} that are taken into memory (maxBatchBytes)`
  }

  /**
   * What is wrong with the records, in words; null when they are fine.
   *
   * @param bytes one whole batch of magic 2
   */
  faultOf(bytes: Uint8Array): string | null {
    if (!this.takes(bytes.length)) return this.tooLarge(bytes.length)
    try {
      return this.#recordsFault(new RecordBatch(bytes, 0, 2))
    } catch (error) {
      return describe(error)
    }
  }

  #recordsFault(batch: RecordBatch): string | null {
    const { payload, compressionType, recordsCount } = batch
    // nothing is compressed in what compaction has emptied, and Kafka looks at nothing behind such a header
    if (recordsCount === 0) {
      return payload.length === 0 ? null : `${payload.length} bytes are there, for 0 records`
    }
    if (compressionType === 0) return walk(batch, payload)
    this.#room ??= new Uint8Array(ROOM)
    const limits = { maxBytes: this.#maxBatchBytes, magic: 2 as const, room: this.#room }
    return walk(batch, this.#codecs(compressionType)(payload, limits))
  }
}

/** Reads all records; the cursor checks their form. */
function walk(batch: RecordBatch, payload: Uint8Array): string | null {
  const { isControl, lastOffsetDelta } = batch
  const cursor = new RecordCursor(payload, batch.recordsCount ?? 0)
  let before = -1
  while (cursor.next()) {
    const { offsetDelta } = cursor
    // compaction takes records away, so there may be gaps
    if (offsetDelta <= before || offsetDelta > lastOffsetDelta) {
      return offsetFault(cursor, before, lastOffsetDelta)
    }
    before = offsetDelta
    const fault = isControl ? controlFault(cursor) : null
    if (fault !== null) return fault
  }
  return null
}

function offsetFault({ index, offsetDelta }: RecordCursor, before: number, last: number): string {
  const record = `record ${index - 1} has offset delta ${offsetDelta}`
  if (offsetDelta > last) return `${record}, above the batch's last, ${last}`
  return before < 0 ? `${record}, below 0` : `${record}, not above that of the record before, ${before}`
}

function controlFault({ index, bytes, keyAt, keyLength }: RecordCursor): string | null {
  try {
    parseControlKey(keyLength < 0 ? null : bytes.subarray(keyAt, keyAt + keyLength))
    return null
  } catch (error) {
    if (!(error instanceof MalformedBytes)) throw error
    return `record ${index - 1}: ${error.message}`
  }
}

/** Says what kept the records from being read; what no batch can be the cause of is thrown on. */
function describe(error: unknown): string {
  if (error instanceof MalformedBytes) return `${error.message}, at byte ${error.position} of the records`
  if (error instanceof DecompressionLimitError) {
    return `its ${error.codec} data decompresses to more than ${error.limit} bytes (maxBatchBytes)`
  }
  if (MirrorPidError.is(error) && (error.code === 'INVALID_RECORD' || error.code === 'OUT_OF_MEMORY')) {
    return error.message
  }
  throw error
}
