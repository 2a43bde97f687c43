import { NO_SEQUENCE, type RecordBatch } from './recordBatch.ts'
import { RecordCursor } from './recordCursor.ts'
import { incrementSequence } from './sequence.ts'

/** A header of a record; its value is a view of the batch. */
export interface RecordHeader {
  key: string
  value: Uint8Array | null
}

/** One record, with its absolute offset and timestamp. Keys and values are views of the (decompressed) batch. */
export interface KafkaRecord {
  offset: bigint
  /** Milliseconds since the epoch, -1 for none. */
  timestamp: bigint
  /** -1 where the batch has none. */
  sequence: number
  key: Uint8Array | null
  value: Uint8Array | null
  headers: RecordHeader[]
}

const utf8 = new TextDecoder()

/**
 * The records of a magic 2 batch from its decompressed payload. Checks what Kafka's iterator checks.
 * Source: Kafka's DefaultRecord and DefaultRecordBatch.
 * @throws MalformedBytes with the position in the payload
 */
export function parseRecords(batch: RecordBatch, payload: Uint8Array): KafkaRecord[] {
  const { baseOffset, baseTimestamp, baseSequence, maxTimestamp } = batch
  const isLogAppendTime = batch.timestampType === 'LogAppendTime'
  const cursor = new RecordCursor(payload, batch.recordsCount ?? 0)
  const records: KafkaRecord[] = []
  while (cursor.next()) {
    const { offsetDelta } = cursor
    const timestampDelta = cursor.wideTimestampDelta ?? BigInt(cursor.timestampDelta)
    records.push({
      offset: baseOffset + BigInt(offsetDelta),
      timestamp: isLogAppendTime ? maxTimestamp : BigInt.asIntN(64, baseTimestamp + timestampDelta),
      sequence:
        baseSequence >= 0 && offsetDelta >= 0 ? incrementSequence(baseSequence, offsetDelta) : NO_SEQUENCE,
      key: slice(payload, cursor.keyAt, cursor.keyLength),
      value: slice(payload, cursor.valueAt, cursor.valueLength),
      headers: readHeaders(cursor, payload),
    })
  }
  return records
}

/** A negative length is null. */
function slice(bytes: Uint8Array, start: number, length: number): Uint8Array | null {
  return length < 0 ? null : bytes.subarray(start, start + length)
}

function readHeaders(cursor: RecordCursor, payload: Uint8Array): RecordHeader[] {
  const headers: RecordHeader[] = []
  while (cursor.nextHeader()) {
    const key = utf8.decode(payload.subarray(cursor.headerKeyAt, cursor.headerKeyAt + cursor.headerKeyLength))
    headers.push({ key, value: slice(payload, cursor.headerValueAt, cursor.headerValueLength) })
  }
  return headers
}
