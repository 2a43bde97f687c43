import { bytesOf } from '../bytes/view.ts'
import { finish, newCounts } from '../core/batchChecks.ts'
import type { Trailing } from '../core/core.ts'
import { RecordSetCursor } from '../core/recordSetCursor.ts'
import { FRAME_BATCH } from '../core/status.ts'
import { CorruptBatchError } from '../errors.ts'
import { RecordBatch } from './recordBatch.ts'

/**
 * Walks the batches of a record set, as views. Ends quietly at an incomplete last batch or a zero tail; the generator's
 * return value says which. CRCs are not checked.
 *
 * @param bytes batches back to back, as in a segment or a fetch response
 * @throws CorruptBatchError at a batch that cannot be framed (its size or magic), after those before it were given
 * @throws InvalidArgumentError
 * @example
 * for (const batch of recordBatches(records)) console.log(batch.baseOffset, batch.producerId)
 */
export function recordBatches(bytes: Uint8Array | DataView): Generator<RecordBatch, Trailing, undefined> {
  return batchesOf(new RecordSetCursor(bytesOf(bytes, 'bytes')))
}

function* batchesOf(cursor: RecordSetCursor): Generator<RecordBatch, Trailing, undefined> {
  let kind = cursor.frame()
  while (kind === FRAME_BATCH) {
    const { position, size, magic } = cursor
    yield new RecordBatch(cursor.bytes.subarray(position, position + size), position, magic)
    cursor.advance()
    kind = cursor.frame()
  }
  const counts = newCounts()
  const unreadable = finish(cursor, counts, kind)
  if (unreadable !== null) throw new CorruptBatchError(unreadable)
  return counts.trailing
}
