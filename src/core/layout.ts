/**
 * Header fields of a magic 2 batch: byte offsets from its start, big-endian. The CRC-32C covers [ATTRIBUTES, end).
 * Source: Kafka's DefaultRecordBatch and LegacyRecord; assembly/layout.ts holds the same table.
 */
export const BASE_OFFSET = 0 // i64
export const BATCH_LENGTH = 8 // i32, bytes after this field
export const PARTITION_LEADER_EPOCH = 12 // i32, not covered by the CRC
export const LEGACY_CRC = 12 // u32, magic 0 and 1: CRC-32 of [MAGIC, end)
export const MAGIC = 16 // i8
export const CRC = 17 // u32, CRC-32C of [ATTRIBUTES, end)
export const ATTRIBUTES = 21 // i16
export const LAST_OFFSET_DELTA = 23 // i32
export const BASE_TIMESTAMP = 27 // i64
export const MAX_TIMESTAMP = 35 // i64
export const PRODUCER_ID = 43 // i64
export const PRODUCER_EPOCH = 51 // i16
export const BASE_SEQUENCE = 53 // i32
export const RECORDS_COUNT = 57 // i32
export const HEADER_SIZE = 61

export const LOG_OVERHEAD = 12 // base offset and batch length
export const HEADER_SIZE_UP_TO_MAGIC = 17 // what framing needs
export const MIN_BATCH_LENGTH = 14 // the smallest magic 0 message
export const MIN_BATCH_LENGTH_V2 = 49 // a magic 2 header alone
export const CONTROL_FLAG = 0x20
export const TRANSACTIONAL_FLAG = 0x10
export const CURRENT_MAGIC = 2
