/** The CRC work that a backend does for the TypeScript walk. Positions are within `bytes`; CRCs are unsigned. */
export interface CrcEngine {
  crc32c(bytes: Uint8Array, start: number, end: number, initial: number): number
  /** CRC-32 (IEEE), for entries of magic 0 and 1. */
  crc32(bytes: Uint8Array, start: number, end: number): number
  /**
   * The CRC-32C of a batch of which eight bytes changed.
   * @param deltaHigh upper 32 bits of old XOR new
   * @param deltaLow lower 32 bits
   * @param tail number of bytes that follow the eight
   */
  patchCrc(crc: number, deltaHigh: number, deltaLow: number, tail: number): number
}
