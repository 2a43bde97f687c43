import { InvalidArgumentError } from '../errors.ts'
import type { Core } from './core.ts'

/** The CRC work that a backend does for the TypeScript walk. Positions are within `bytes`; CRCs are unsigned. */
export interface CrcEngine {
  crc32c(bytes: Uint8Array, start: number, end: number, initial: number): number
  /** CRC-32 (IEEE), for entries of magic 0 and 1. */
  crc32(bytes: Uint8Array, start: number, end: number, initial: number): number
  /**
   * The CRC-32C of a batch of which eight bytes changed.
   * @param deltaHigh upper 32 bits of old XOR new
   * @param deltaLow lower 32 bits
   * @param tail number of bytes that follow the eight
   */
  patchCrc(crc: number, deltaHigh: number, deltaLow: number, tail: number): number
}

/** Where a Core keeps its engine, for this package's own streaming; no part of the public interface. */
export const CRC_ENGINE = Symbol.for('mirrorpid.crcEngine')

export interface CoreWithEngine extends Core {
  readonly [CRC_ENGINE]: CrcEngine
}

/** The engine of a core, to handle a batch that is not in memory as a whole. */
export function engineOf(core: Core): CrcEngine {
  const engine = (core as Partial<CoreWithEngine> | null | undefined)?.[CRC_ENGINE]
  if (engine !== undefined) return engine
  throw new InvalidArgumentError('core must be one that loadCore(), loadCoreSync() or jsCore() gave')
}
