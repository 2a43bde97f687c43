import { InvalidArgumentError } from '../errors.ts'
import type { RewriteMode, RewriteOptions } from './core.ts'

/** The most that `allocate` gives: the largest block of AssemblyScript's allocator. */
const MAX_ALLOCATION = 1_073_741_804

function oneOf<T extends string>(name: string, value: unknown, allowed: readonly T[]): T {
  if ((allowed as readonly unknown[]).includes(value)) return value as T
  const choices = allowed.map((choice) => `"${choice}"`).join(', ')
  throw new InvalidArgumentError(
    `${name} must be one of ${choices}; got ${JSON.stringify(value) ?? typeof value}`,
  )
}

export function checkRewriteOptions(options: RewriteOptions): RewriteMode {
  return {
    crc: oneOf('crc', options.crc ?? 'patch', ['patch', 'verify', 'recompute']),
    direction: oneOf('direction', options.direction ?? 'map', ['map', 'unmap']),
  }
}

export function checkInitialCrc(initial: number): number {
  if (Number.isInteger(initial) && initial >= 0 && initial <= 0xffffffff) return initial
  throw new InvalidArgumentError(
    `initial must be an unsigned 32-bit CRC, 0 to 4294967295; got ${String(initial)}`,
  )
}

export function checkByteLength(byteLength: number): number {
  if (Number.isInteger(byteLength) && byteLength >= 0 && byteLength <= MAX_ALLOCATION) return byteLength
  throw new InvalidArgumentError(
    `byteLength must be a whole number from 0 to ${MAX_ALLOCATION}; got ${String(byteLength)}. Larger record sets ` +
      'are rewritten piece by piece, from one whole batch to another',
  )
}
