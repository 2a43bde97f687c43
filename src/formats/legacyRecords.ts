import { ByteReader, MalformedBytes } from '../bytes/byteReader.ts'
import type { KafkaRecord } from './record.ts'
import { NO_SEQUENCE, NO_TIMESTAMP, type RecordBatch } from './recordBatch.ts'
import { recordBatches } from './recordBatches.ts'

/** Entries of magic 0 and 1. Source: Kafka's LegacyRecord and AbstractLegacyRecordBatch. */

function nullableBytes(reader: ByteReader): Uint8Array | null {
  const length = reader.int32()
  return length < 0 ? null : reader.slice(length)
}

/** The record of an uncompressed entry. */
export function parseLegacyRecord(batch: RecordBatch): KafkaRecord {
  const reader = new ByteReader(batch.payload)
  const key = nullableBytes(reader)
  const value = nullableBytes(reader)
  return {
    offset: batch.baseOffset,
    timestamp: batch.magic === 0 ? NO_TIMESTAMP : batch.maxTimestamp,
    sequence: NO_SEQUENCE,
    key,
    value,
    headers: [],
  }
}

/** The compressed bytes of a wrapper: its value, which holds entries of the same kind. */
export function wrappedBytes(wrapper: RecordBatch): Uint8Array {
  const { value } = parseLegacyRecord(wrapper)
  if (value === null) throw new MalformedBytes('a compressed entry has no value', 0)
  return value
}

/**
 * The records inside a wrapper. Inner offsets of magic 1 are relative: the last one is the wrapper's; a wrapper at offset
 * 0 has absolute ones (old librdkafka). A wrapper with log append time gives its time to all. A cut last entry is
 * dropped, as Kafka drops it.
 */
export function parseWrappedRecords(wrapper: RecordBatch, decompressed: Uint8Array): KafkaRecord[] {
  const inner = [...recordBatches(decompressed)]
  const last = inner.at(-1)
  if (last === undefined) throw new MalformedBytes('a compressed entry holds no entries', 0)
  const nested = inner.find((entry) => !entry.isLegacy || entry.compressionType !== 0)
  if (nested !== undefined) {
    throw new MalformedBytes('a compressed entry holds something other than plain entries', nested.position)
  }
  const isRelative = wrapper.magic === 1 && wrapper.baseOffset !== 0n
  if (isRelative && wrapper.baseOffset < last.baseOffset) {
    throw new MalformedBytes(
      `the entry's offset is below that of the last one inside, ${last.baseOffset}`,
      last.position,
    )
  }
  const base = isRelative ? wrapper.baseOffset - last.baseOffset : 0n
  const isLogAppendTime = wrapper.timestampType === 'LogAppendTime'
  return inner.map((entry) => {
    const record = parseLegacyRecord(entry)
    const timestamp = isLogAppendTime ? wrapper.maxTimestamp : record.timestamp
    return { ...record, offset: base + record.offset, timestamp }
  })
}
