// Numbers that cross the border to TypeScript. src/core/status.ts holds the same; a test compares the two.

/** What stands at one position of a record set. */
export const FRAME_BATCH: i32 = 0
export const FRAME_END: i32 = 1
export const FRAME_INCOMPLETE: i32 = 2
export const FRAME_ZEROS: i32 = 3
export const FRAME_BAD_SIZE: i32 = 4
export const FRAME_BAD_MAGIC: i32 = 5

/** How a call ended. A fault leaves its position, stored and computed CRC in the report. */
export const STATUS_OK: i32 = 0
export const STATUS_BAD_SIZE: i32 = 1
export const STATUS_BAD_MAGIC: i32 = 2
export const STATUS_BAD_CRC: i32 = 3
export const STATUS_UNMAPPABLE: i32 = 4

export const CRC_PATCH: i32 = 0
export const CRC_VERIFY: i32 = 1
export const CRC_RECOMPUTE: i32 = 2

export const DIRECTION_MAP: i32 = 0
export const DIRECTION_UNMAP: i32 = 1
