/** The closed list of error codes; a code keeps its meaning across versions. */
export const errorCodes = [
  'CORRUPT_BATCH',
  'INVALID_RECORD',
  'BATCH_TOO_LARGE',
  'DECOMPRESSION_LIMIT',
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
  'OUT_OF_ORDER_SEQUENCE',
  'INVALID_PRODUCER_EPOCH',
  'INVALID_TXN_STATE',
  'TRANSACTION_COORDINATOR_FENCED',
  'OFFSET_OUT_OF_RANGE',
  'UNEXPECTED_APPEND_OFFSET',
  'RECORD_TOO_LARGE',
  'LOG_CLOSED',
  'CORRUPT_CHECKPOINT',
  'INVALID_TRANSITION',
  'APPEND_REFUSED',
  'SOURCE_CLUSTER_MISMATCH',
  'CORRUPT_MIRROR_STATE',
  'STOP_REFUSED',
  'INVALID_SCENARIO',
  'UNFINISHED_REWRITE',
  'INVALID_JOURNAL',
  'DIRECTORY_LOCKED',
  'INTERRUPTED',
  'BROKER_RUNNING',
  'PRODUCER_IDS_MEET',
  'INTERNAL_TOPIC',
] as const

/** One of `errorCodes`. */
export type ErrorCode = (typeof errorCodes)[number]

const brand = Symbol.for('mirrorpid.MirrorPidError')

/**
 * The root of all errors of this package. `code` is stable; the facts of each kind are fields of its class.
 *
 * @example
 * try {
 *   core.rewrite(records, { crc: 'verify' })
 * } catch (error) {
 *   if (!MirrorPidError.is(error)) throw error
 *   console.error(error.code, JSON.stringify(error))
 * }
 */
export class MirrorPidError extends Error {
  readonly code: ErrorCode
  /** Of an error that ended a `rewriteStream`: so many bytes had come out of it by then. */
  declare readonly passedBytes?: number

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
