// Byte offsets from the start of a batch, big-endian (Kafka: DefaultRecordBatch, LegacyRecord).
// src/core/layout.ts holds the same table; test/unit/layout.test.ts compares the two.

export const BASE_OFFSET: usize = 0 // i64
export const BATCH_LENGTH: usize = 8 // i32, bytes after this field
export const PARTITION_LEADER_EPOCH: usize = 12 // i32, not covered by the CRC
export const LEGACY_CRC: usize = 12 // u32, magic 0 and 1: CRC-32 of [MAGIC, end)
export const MAGIC: usize = 16 // i8
export const CRC: usize = 17 // u32, CRC-32C of [ATTRIBUTES, end)
export const ATTRIBUTES: usize = 21 // i16
export const LAST_OFFSET_DELTA: usize = 23 // i32
export const BASE_TIMESTAMP: usize = 27 // i64
export const MAX_TIMESTAMP: usize = 35 // i64
export const PRODUCER_ID: usize = 43 // i64
export const PRODUCER_EPOCH: usize = 51 // i16
export const BASE_SEQUENCE: usize = 53 // i32
export const RECORDS_COUNT: usize = 57 // i32
export const HEADER_SIZE: usize = 61

export const LOG_OVERHEAD: usize = 12 // base offset and batch length
export const HEADER_SIZE_UP_TO_MAGIC: usize = 17 // what framing needs
export const MIN_BATCH_LENGTH: i32 = 14 // the smallest magic 0 message
export const MIN_BATCH_LENGTH_V2: i32 = 49 // a magic 2 header alone
export const CONTROL_FLAG: i32 = 0x20
export const TRANSACTIONAL_FLAG: i32 = 0x10
export const CURRENT_MAGIC: i32 = 2
