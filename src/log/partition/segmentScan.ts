import { checkCrc } from '../../core/batchChecks.ts'
import type { CrcEngine } from '../../core/crcEngine.ts'
import {
  BATCH_LENGTH,
  CURRENT_MAGIC,
  HEADER_SIZE,
  HEADER_SIZE_UP_TO_MAGIC,
  LOG_OVERHEAD,
  MAGIC,
  MIN_BATCH_LENGTH,
  MIN_BATCH_LENGTH_V2,
} from '../../core/layout.ts'
import { RecordSetCursor } from '../../core/recordSetCursor.ts'
import { RecordBatch } from '../../formats/recordBatch.ts'
import { BatchCrc } from '../largeBatch.ts'
import { readPart, type StoredFile } from './storage.ts'

const WINDOW = 256 * 1024

/** Why a scan ended before the end of the file. */
export type ScanFault = 'incomplete' | 'size' | 'magic' | 'crc'

/** A batch of a segment, in a window that the next one may overwrite. */
export interface ScannedBatch {
  /** Of a batch larger than the scan's window, only the header is there; a control batch is always whole. */
  batch: RecordBatch
  /** In the segment. */
  position: number
  size: number
}

/**
 * Walks the batches of a segment from a position on, in the memory of a window, or of a control batch where that is larger.
 *
 * @param engine checks CRCs; null leaves them unchecked
 * @param windowSize bytes read at a time
 * @returns why the scan could not go on to `end`; null where it did
 */
export function* scanBatches(
  file: StoredFile,
  start: number,
  end: number,
  engine: CrcEngine | null,
  windowSize = WINDOW,
): Generator<ScannedBatch, ScanFault | null> {
  const room = new Uint8Array(Math.max(HEADER_SIZE, Math.min(windowSize, end - start)))
  for (let position = start; position < end; ) {
    const window = room.subarray(0, file.readInto(room.subarray(0, end - position), position))
    const cursor = new RecordSetCursor(window)
    for (;;) {
      const head = frameAt(cursor, end - position)
      if (typeof head === 'string') return head
      if (head === null) break
      const { position: at, size, magic } = cursor
      if (at + size > window.length) {
        // one that would fit is read again, from its start
        if (at > 0 && size <= room.length) break
        if (engine !== null && !isIntact(file, position + at, cursor, engine)) return 'crc'
        const header = new RecordBatch(window.slice(at, at + HEADER_SIZE), position + at, magic)
        yield { batch: header.isControl ? whole(file, header, size) : header, position: position + at, size }
        cursor.advance()
        break
      }
      if (engine !== null && checkCrc(cursor, engine) !== null) return 'crc'
      const batch = new RecordBatch(window.subarray(at, at + size), position + at, magic)
      yield { batch, position: position + at, size }
      cursor.advance()
    }
    // nothing was framed: what is left is less than a header
    if (cursor.position === 0) return 'incomplete'
    position += cursor.position
  }
  return null
}

/** Whether a batch begins at the cursor: true, a fault, or null where the window must go on first. */
function frameAt(cursor: RecordSetCursor, remaining: number): true | ScanFault | null {
  const { view, position } = cursor
  const left = remaining - position
  if (left === 0) return null
  const has = view.byteLength - position
  if (has < HEADER_SIZE && has < left) return null
  if (left < LOG_OVERHEAD) return 'incomplete'
  const batchLength = view.getInt32(position + BATCH_LENGTH)
  if (batchLength < MIN_BATCH_LENGTH) return 'size'
  if (left < HEADER_SIZE_UP_TO_MAGIC) return 'incomplete'
  const magic = view.getInt8(position + MAGIC)
  if (magic < 0 || magic > CURRENT_MAGIC) return 'magic'
  if (magic === CURRENT_MAGIC && batchLength < MIN_BATCH_LENGTH_V2) return 'size'
  if (LOG_OVERHEAD + batchLength > left) return 'incomplete'
  cursor.size = LOG_OVERHEAD + batchLength
  cursor.magic = magic
  return true
}

/**
 * What a control batch does to the producer state is in its record, and the state must be the same whether the batch was in
 * memory when it was appended or is met again. Its size is no mere claim: the file has so many bytes.
 */
function whole(file: StoredFile, { position, magic }: RecordBatch, size: number): RecordBatch {
  return new RecordBatch(readPart(file, position, size), position, magic)
}

/** Checks the CRC of the batch at the cursor, which is not in memory as a whole; it stands at `position` of the file. */
function isIntact(file: StoredFile, position: number, cursor: RecordSetCursor, engine: CrcEngine): boolean {
  const { size } = cursor
  const crc = new BatchCrc(engine, cursor)
  const piece = new Uint8Array(Math.min(size, WINDOW))
  for (let done = 0; done < size; ) {
    const length = file.readInto(piece.subarray(0, size - done), position + done)
    if (length === 0) return false
    crc.update(piece.subarray(0, length))
    done += length
  }
  return crc.stored === crc.computed
}
