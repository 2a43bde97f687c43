import { ByteReader, MalformedBytes } from '../bytes/byteReader.ts'
import * as layout from '../core/layout.ts'
import { InvalidRecordError } from '../errors.ts'
import { ControlRecordType, parseControlKey } from '../formats/controlRecordType.ts'
import { parseEndTransactionMarker } from '../formats/endTransactionMarker.ts'
import { decodeMirrorPidReset } from '../formats/mirrorPidReset.ts'
import { RecordCursor } from '../formats/recordCursor.ts'
import type { BatchHeader } from './batchHeader.ts'

const CODEC_MASK = 0x07
const LOG_APPEND_TIME_FLAG = 0x08

/** The first record of a control batch, which is all that Kafka's producer state looks at. */
export interface FirstControlRecord {
  /** The type's number; a ControlRecordType where it is known. */
  type: number
  /** Of a marker; -1 for other types. */
  coordinatorEpoch: number
  timestamp: bigint
}

/**
 * Reads the first record; null for a batch that compaction emptied, which means nothing any more.
 *
 * @throws InvalidRecordError for a record without the form that its type has
 * @see Kafka's EndTransactionMarker.deserialize
 */
export function readFirstControlRecord(header: BatchHeader): FirstControlRecord | null {
  const { view, position } = header
  const attributes = view.getInt16(position + layout.ATTRIBUTES)
  const count = view.getInt32(position + layout.RECORDS_COUNT)
  if (count === 0) return null
  try {
    if ((attributes & CODEC_MASK) !== 0) throw new MalformedBytes('it is compressed; no control batch is', 0)
    const cursor = new RecordCursor(payloadOf(header), count)
    cursor.next()
    const { type } = parseControlKey(slice(cursor.bytes, cursor.keyAt, cursor.keyLength))
    const value = slice(cursor.bytes, cursor.valueAt, cursor.valueLength) ?? new Uint8Array(0)
    const timestamp = timestampOf(header, attributes, cursor)
    if (count === 1) cursor.next() // nothing may follow it
    const isMarker = type === ControlRecordType.ABORT || type === ControlRecordType.COMMIT
    const coordinatorEpoch = isMarker ? parseEndTransactionMarker(new ByteReader(value)).coordinatorEpoch : -1
    return { type, coordinatorEpoch, timestamp }
  } catch (error) {
    if (!(error instanceof MalformedBytes)) throw error
    const { baseOffset } = header
    throw new InvalidRecordError(
      `the control batch at offset ${baseOffset} cannot be read: ${error.message}. Nothing was changed; take this part ` +
        'of the log from another replica.',
      { baseOffset, position: error.position },
    )
  }
}

/** For a control batch without a producer; Kafka does not look into those, so one that cannot be read is no error. */
export function isBarrier(header: BatchHeader): boolean {
  try {
    return readFirstControlRecord(header)?.type === ControlRecordType.MIRROR_PID_RESET
  } catch (error) {
    if (error instanceof InvalidRecordError) return false
    throw error
  }
}

/**
 * The source cluster's id of a barrier; null where it has none or its value cannot be read. A barrier acts either way: it
 * must not depend on a value that a later version may shape differently.
 */
export function readBarrierSource(header: BatchHeader): string | null {
  const cursor = new RecordCursor(payloadOf(header), 1)
  try {
    cursor.next()
    const value = slice(cursor.bytes, cursor.valueAt, cursor.valueLength)
    return value === null ? null : decodeMirrorPidReset(value).sourceClusterId
  } catch (error) {
    if (error instanceof InvalidRecordError || error instanceof MalformedBytes) return null
    throw error
  }
}

function payloadOf({ view, position, size }: BatchHeader): Uint8Array {
  const start = view.byteOffset + position + layout.HEADER_SIZE
  return new Uint8Array(view.buffer, start, size - layout.HEADER_SIZE)
}

function slice(bytes: Uint8Array, start: number, length: number): Uint8Array | null {
  return length < 0 ? null : bytes.subarray(start, start + length)
}

function timestampOf({ view, position }: BatchHeader, attributes: number, cursor: RecordCursor): bigint {
  if (attributes & LOG_APPEND_TIME_FLAG) return view.getBigInt64(position + layout.MAX_TIMESTAMP)
  const delta = cursor.wideTimestampDelta ?? BigInt(cursor.timestampDelta)
  return BigInt.asIntN(64, view.getBigInt64(position + layout.BASE_TIMESTAMP) + delta)
}
