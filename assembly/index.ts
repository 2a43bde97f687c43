// The core's whole surface: pointers, lengths and status codes. No strings, no objects, no imports.

export { crc32, crc32c } from './crc'
export { patchCrc } from './patch'
export { REPORT as report } from './report'
export { check, rewrite } from './rewrite'
export { verify, verifyNext } from './verify'

/** Raised when a name, a field of the report or a code changes meaning. */
export const abi: i32 = 2

/** 1 where this build uses 128-bit SIMD. */
export const simd: i32 = ASC_FEATURE_SIMD ? 1 : 0

/** Where bytes from outside are copied to, a window at a time, to be read here: small enough for a second-level cache. */
export const SCRATCH_SIZE: usize = 131072
export const scratch: usize = memory.data(131072, 64)

export function allocate(byteLength: usize): usize {
  return heap.alloc(byteLength)
}

export function free(region: usize): void {
  heap.free(region)
}
