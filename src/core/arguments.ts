import { InvalidArgumentError } from '../errors.ts'
import type { RewriteMode, RewriteOptions } from './core.ts'

/** The most that `allocate` gives: the largest block of AssemblyScript's allocator. */
const MAX_ALLOCATION = 1_073_741_804

/** What the value of an option must be: what `typeof` says, an array, or (`any`) what the code that reads it checks. */
export type OptionKind = 'any' | 'boolean' | 'string' | 'function' | 'object' | 'list'

/** All names of an interface of options: TypeScript complains where the interface has one more, or one less. */
export type OptionKinds<T> = Readonly<Record<keyof T, OptionKind>>

/**
 * The check at the door of every public call: options, a request or a spec must be an object that holds known names only,
 * since a misspelt `dryRun` that is passed over does the harm that it was to prevent. `undefined` stands for the default.
 *
 * @param what begins the message, such as `options of rewritePaths`
 * @throws InvalidArgumentError
 */
export function requireOptions<T extends object>(what: string, options: T, known: OptionKinds<T>): T {
  if (!isPlain(options)) {
    throw new InvalidArgumentError(
      `${what} must be a plain object with some of ${namesOf(known)}; got ${shown(options)}`,
    )
  }
  for (const name in options) {
    const kind = known[name]
    if (kind === 'any') continue
    // what Object.prototype has under such a name is no kind
    if (typeof kind !== 'string') {
      throw new InvalidArgumentError(`${what}: "${name}" is not known; known are ${namesOf(known)}`)
    }
    const value = options[name]
    const isFine = kind === 'list' ? Array.isArray(value) : typeof value === kind && value !== null
    if (!isFine && value !== undefined) {
      throw new InvalidArgumentError(
        `${what}: ${name} must be ${kind === 'object' ? 'an object' : `a ${kind}`}; got ${shown(value)}`,
      )
    }
  }
  return options
}

function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null) return true
  // an object of a class, or of another realm; a Map or an array has no names, and copies lose what is inherited
  if (Object.prototype.toString.call(value) !== '[object Object]') return false
  for (const name in value) if (!Object.hasOwn(value, name)) return false
  return true
}

function namesOf(known: object): string {
  return Object.keys(known).join(', ')
}

/** A value as a message shows it: short, whatever it is. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 37)}...` : value)
  if (typeof value === 'object' && value !== null) return Object.prototype.toString.call(value).slice(8, -1)
  return typeof value === 'function' ? 'a function' : String(value)
}

/** @throws InvalidArgumentError for what is no text, or an empty one: as a path that would be the current directory */
export function requireText(name: string, value: string): string {
  if (typeof value === 'string' && value !== '') return value
  throw new InvalidArgumentError(`${name} must be a string that is not empty; got ${shown(value)}`)
}

/** @throws InvalidArgumentError for what is no array, such as a string, which would be read letter by letter */
export function requireList<T>(name: string, value: readonly T[]): readonly T[] {
  if (Array.isArray(value)) return value
  throw new InvalidArgumentError(`${name} must be an array; got ${shown(value)}`)
}

/** @throws InvalidArgumentError */
export function requirePaths(paths: readonly string[]): readonly string[] {
  requireList('paths', paths)
  for (const [at, path] of paths.entries()) requireText(`paths[${at}]`, path)
  return paths
}

/**
 * Something of this package, or of the caller's own making, told by a member that it must have.
 *
 * @param kind as the message calls it, such as `a PartitionLog`
 * @throws InvalidArgumentError
 */
export function requireThing<T extends object>(name: string, value: T, member: keyof T, kind: string): T {
  if (typeof value === 'object' && value !== null && value[member] !== undefined) return value
  throw new InvalidArgumentError(`${name} must be ${kind}; got ${shown(value)}`)
}

/** @throws InvalidArgumentError */
export function oneOf<T extends string>(name: string, value: unknown, allowed: readonly T[]): T {
  if ((allowed as readonly unknown[]).includes(value)) return value as T
  const choices = allowed.map((choice) => `"${choice}"`).join(', ')
  throw new InvalidArgumentError(`${name} must be one of ${choices}; got ${shown(value)}`)
}

/** Of `RewriteOptions`, which others extend. */
export const REWRITE_OPTIONS: OptionKinds<RewriteOptions> = { crc: 'any', direction: 'any' }

const DEFAULT_MODE: RewriteMode = { crc: 'patch', direction: 'map' }

/** What `core.rewrite` takes, and nothing else. */
export function rewriteModeOf(options: RewriteOptions | undefined): RewriteMode {
  if (options === undefined) return DEFAULT_MODE
  // a loop of its own: one that sees all kinds of options takes a tenth of the time that a small batch does
  let known = 0
  for (const name in options) {
    if (name !== 'crc' && name !== 'direction') {
      known = 0
      break
    }
    known++
  }
  // what has no such name may be anything
  if (known === 0) requireOptions('options of rewrite', options, REWRITE_OPTIONS)
  return checkRewriteOptions(options)
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
