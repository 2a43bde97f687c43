/** The closed list of error codes; a code keeps its meaning across versions. */
export const errorCodes = [
  'CORRUPT_BATCH',
  'UNMAPPABLE_PRODUCER_ID',
  'INVALID_ARGUMENT',
  'DETACHED_BUFFER',
  'BUFFER_FREED',
  'OUT_OF_MEMORY',
  'WASM_UNAVAILABLE',
  'CORRUPT_SNAPSHOT',
  'CORRUPT_TRANSACTION_INDEX',
  'NOT_A_LOG',
  'OUTPUT_EXISTS',
  'IO_ERROR',
] as const

export type ErrorCode = (typeof errorCodes)[number]

const brand = Symbol.for('mirrorpid.MirrorPidError')

/** The root of all errors of this package. `code` is stable; the facts of each kind are fields of its class. */
export class MirrorPidError extends Error {
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
    this.code = code
    Object.defineProperty(this, brand, { value: true })
  }

  /** Tells this package's errors from others, also when two copies of the package are loaded. */
  static is(error: unknown): error is MirrorPidError {
    return typeof error === 'object' && error !== null && brand in error
  }

  /** The error as plain data: 64-bit numbers become decimal strings, so that `JSON.stringify` loses no digit. */
  toJSON(): Record<string, unknown> {
    const facts: Record<string, unknown> = { name: this.name, code: this.code, message: this.message }
    for (const [key, value] of Object.entries(this)) {
      if (key !== 'name') facts[key] = typeof value === 'bigint' ? value.toString() : value
    }
    return facts
  }
}

/** Why a batch is corrupt: its CRC does not match, its length cannot be, or its magic is not 0, 1 or 2. */
export type CorruptReason = 'crc' | 'size' | 'magic'

/** What is known of a corrupt batch. CRCs are unsigned and null unless the reason is `crc`. */
export interface CorruptBatchFacts {
  /** Byte position of the batch: in the given bytes, or in the file where one is named. */
  position: number
  baseOffset: bigint
  reason: CorruptReason
  stored: number | null
  computed: number | null
}

const advice: Record<Exclude<CorruptReason, 'crc'>, string> = {
  size: 'its batchLength cannot be (less than a header, or negative), so nothing behind it can be found',
  magic: 'its magic is not 0, 1 or 2, so its format is unknown',
}

function describeCorruptBatch(facts: CorruptBatchFacts, file: string | null): string {
  const where = `${file === null ? '' : `${file}: `}batch at byte ${facts.position} (base offset ${facts.baseOffset})`
  if (facts.reason !== 'crc') {
    return `${where} is unreadable: ${advice[facts.reason]}. Nothing was changed; take this part from another replica.`
  }
  return (
    `${where} is damaged: stored CRC ${hexCrc(facts.stored)}, computed ${hexCrc(facts.computed)}. ` +
    'Nothing was changed; take it from another replica, or rewrite with crc "patch", which keeps the damage visible.'
  )
}

function hexCrc(crc: number | null): string {
  return crc === null ? 'none' : `0x${crc.toString(16).padStart(8, '0')}`
}

/** A batch that cannot be read, or, where CRCs are checked, one whose bytes are not those that were written. */
export class CorruptBatchError extends MirrorPidError implements CorruptBatchFacts {
  readonly position: number
  readonly baseOffset: bigint
  readonly reason: CorruptReason
  readonly stored: number | null
  readonly computed: number | null
  readonly file: string | null

  constructor(facts: CorruptBatchFacts, file: string | null = null) {
    super('CORRUPT_BATCH', describeCorruptBatch(facts, file))
    this.position = facts.position
    this.baseOffset = facts.baseOffset
    this.reason = facts.reason
    this.stored = facts.stored
    this.computed = facts.computed
    this.file = file
  }
}

/** Where a producer id stands, if it was met in a batch. */
export interface BatchPlace {
  position: number
  baseOffset: bigint
}

/** A producer id outside int64, or the one that has no image: -(2^63 - 1 + 2) does not fit an int64. */
export class UnmappableProducerIdError extends MirrorPidError {
  readonly producerId: bigint
  readonly position: number | null
  readonly baseOffset: bigint | null
  readonly file: string | null

  constructor(producerId: bigint, place: BatchPlace | null = null, file: string | null = null) {
    const where =
      place === null ? '' : ` in the batch at byte ${place.position} (base offset ${place.baseOffset})`
    super(
      'UNMAPPABLE_PRODUCER_ID',
      `${file === null ? '' : `${file}: `}producer id ${producerId}${where} has no image in int64: the mapping is ` +
        '-(id + 2) for ids from 0 to 9223372036854775806. Nothing was changed; no broker hands this id out, so ' +
        'check where the bytes come from.',
    )
    this.producerId = producerId
    this.position = place?.position ?? null
    this.baseOffset = place?.baseOffset ?? null
    this.file = file
  }
}

/** An argument of the wrong kind or out of range. */
export class InvalidArgumentError extends MirrorPidError {
  constructor(message: string) {
    super('INVALID_ARGUMENT', message)
  }
}

/** The wasm core cannot be compiled here: no WebAssembly, or a Content-Security-Policy that forbids it. */
export class WasmUnavailableError extends MirrorPidError {
  constructor(reason: string, options?: ErrorOptions) {
    super(
      'WASM_UNAVAILABLE',
      `the wasm core cannot be compiled here: ${reason}. Import jsCore from "mirrorpid/js" instead (the same calls ` +
        "in plain JavaScript), or, in a page, allow 'wasm-unsafe-eval' in the Content-Security-Policy.",
      options,
    )
  }
}
