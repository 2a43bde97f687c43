/** Numbers that cross the border to the wasm core; assembly/status.ts holds the same. */

/** What stands at one position of a record set. */
export const FRAME_BATCH = 0
export const FRAME_END = 1
export const FRAME_INCOMPLETE = 2
export const FRAME_ZEROS = 3
export const FRAME_BAD_SIZE = 4
export const FRAME_BAD_MAGIC = 5

/** How a call of the core ended. */
export const STATUS_OK = 0
export const STATUS_BAD_SIZE = 1
export const STATUS_BAD_MAGIC = 2
export const STATUS_BAD_CRC = 3
export const STATUS_UNMAPPABLE = 4

export const CRC_PATCH = 0
export const CRC_VERIFY = 1
export const CRC_RECOMPUTE = 2

export const DIRECTION_MAP = 0
export const DIRECTION_UNMAP = 1
