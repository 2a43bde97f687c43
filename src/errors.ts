import { MirrorPidError } from './mirrorPidError.ts'

export { type ErrorCode, errorCodes, MirrorPidError } from './mirrorPidError.ts'

/**
 * Why a batch is corrupt: its CRC does not match, its length cannot be, its magic is not 0, 1 or 2, its offsets do not
 * follow those before it in the file (`offset`, only where a whole file is verified), or its records are not as its header
 * says although its CRC is right (`records`, only where `verifyPaths` and `verifySegmentFile` are asked to look at them).
 */
export type CorruptReason = 'crc' | 'size' | 'magic' | 'offset' | 'records'

/** What is known of a corrupt batch. CRCs are unsigned and null unless the reason is `crc`. */
export interface CorruptBatchFacts {
  /** Byte position of the batch: in the given bytes, or in the file where one is named. */
  position: number
  baseOffset: bigint
  reason: CorruptReason
  stored: number | null
  computed: number | null
  /** What is wrong with its records, in words: there where the reason is `records`. */
  fault?: string
}

const faults: Record<Exclude<CorruptReason, 'crc' | 'records'>, string> = {
  size: 'is unreadable: its batchLength cannot be (less than a header, or negative), so nothing behind it can be found',
  magic: 'is unreadable: its magic is not 0, 1 or 2, so its format is unknown',
  offset:
    "is out of order: its last offset is not above that of the batch before, or not from the file's base offset on",
}

/**
 * What is wrong with a batch and where, as one line without an end: "batch at byte 0 (base offset 0) is damaged: ...".
 *
 * @example
 * core.verify(records).corrupt.map(describeCorruptBatch)
 */
export function describeCorruptBatch(facts: CorruptBatchFacts): string {
  if (typeof facts?.position !== 'number') throw new InvalidArgumentError('facts must be CorruptBatchFacts')
  const where = `batch at byte ${facts.position} (base offset ${facts.baseOffset})`
  if (facts.reason === 'records') return `${where} fails the check of its records: ${facts.fault}`
  if (facts.reason !== 'crc') return `${where} ${faults[facts.reason]}`
  return `${where} is damaged: stored CRC ${hexCrc(facts.stored)}, computed ${hexCrc(facts.computed)}`
}

function corruptBatchAdvice(reason: CorruptReason): string {
  return reason === 'crc'
    ? 'take it from another replica, or rewrite with crc "patch", which keeps the damage visible.'
    : 'take this part from another replica.'
}

function inFile(file: string | null): string {
  return file === null ? '' : `${file}: `
}

function hexCrc(crc: number | null): string {
  return crc === null ? 'none' : `0x${crc.toString(16).padStart(8, '0')}`
}

/**
 * A batch that cannot be read, or, where CRCs are checked, one whose bytes are not those that were written.
 *
 * @example
 * core.rewrite(damaged, { crc: 'verify' }) // throws CorruptBatchError
 */
export class CorruptBatchError extends MirrorPidError implements CorruptBatchFacts {
  readonly position: number
  readonly baseOffset: bigint
  readonly reason: CorruptReason
  readonly stored: number | null
  readonly computed: number | null
  readonly file: string | null

  constructor(facts: CorruptBatchFacts, file: string | null = null) {
    super(
      'CORRUPT_BATCH',
      `${inFile(file)}${describeCorruptBatch(facts)}. Nothing was changed; ${corruptBatchAdvice(facts.reason)}`,
    )
    this.position = facts.position
    this.baseOffset = facts.baseOffset
    this.reason = facts.reason
    this.stored = facts.stored
    this.computed = facts.computed
    this.file = file
  }
}

/** Where a producer id stands: in a batch, or in an entry of a companion file, which has no base offset. */
export interface ProducerIdPlace {
  /** Byte position of the batch, or of the id itself in a companion file. */
  position: number
  baseOffset: bigint | null
}

function describePlace(place: ProducerIdPlace | null): string {
  if (place === null) return ''
  if (place.baseOffset === null) return ` at byte ${place.position}`
  return ` in the batch at byte ${place.position} (base offset ${place.baseOffset})`
}

/**
 * A producer id outside int64, or the one that has no image: -(2^63 - 1 + 2) does not fit an int64.
 *
 * @example
 * mapProducerId(2n ** 63n - 1n) // throws UnmappableProducerIdError
 */
export class UnmappableProducerIdError extends MirrorPidError {
  readonly producerId: bigint
  readonly position: number | null
  readonly baseOffset: bigint | null
  readonly file: string | null

  constructor(producerId: bigint, place: ProducerIdPlace | null = null, file: string | null = null) {
    super(
      'UNMAPPABLE_PRODUCER_ID',
      `${inFile(file)}producer id ${producerId}${describePlace(place)} has no image in int64: the mapping is ` +
        '-(id + 2) for ids from 0 to 9223372036854775806. Nothing was changed; no broker hands this id out, so ' +
        'check where the bytes come from.',
    )
    this.producerId = producerId
    this.position = place?.position ?? null
    this.baseOffset = place?.baseOffset ?? null
    this.file = file
  }
}

/**
 * A producer snapshot or a transaction index that Kafka would not take.
 *
 * @example
 * verifyProducerSnapshot(core, snapshot.subarray(1)) // throws CorruptCompanionError
 */
export class CorruptCompanionError extends MirrorPidError {
  /** Byte position of what is wrong, in the file. */
  readonly position: number
  readonly file: string | null

  /** @param fault what is wrong, such as `"version 3, expected 1"` */
  constructor(
    code: 'CORRUPT_SNAPSHOT' | 'CORRUPT_TRANSACTION_INDEX',
    fault: string,
    position: number,
    file: string | null = null,
  ) {
    const kind = code === 'CORRUPT_SNAPSHOT' ? 'producer snapshot' : 'transaction index'
    super(
      code,
      `${inFile(file)}${kind} is damaged at byte ${position}: ${fault}. Nothing was changed; take the file from ` +
        'another replica, or remove it and let a broker rebuild it from the segments, which needs an unclean start ' +
        '(no .kafka_cleanshutdown).',
    )
    this.position = position
    this.file = file
  }
}

/**
 * A path that is no log, an output that is there already, a file that the system would not read or write, a segment that
 * an interrupted rewrite in place left half rewritten, the journal of one that cannot be used, a directory that another
 * process of this package is changing, or one that a running broker has locked.
 *
 * @example
 * await verifyPaths(['no-such-directory']) // throws LogFileError
 */
export class LogFileError extends MirrorPidError {
  readonly file: string
  /** The system's name for what went wrong, such as `ENOSPC`; null when the system had no part in it. */
  readonly errno: string | null

  constructor(
    code:
      | 'NOT_A_LOG'
      | 'OUTPUT_EXISTS'
      | 'IO_ERROR'
      | 'UNFINISHED_REWRITE'
      | 'INVALID_JOURNAL'
      | 'DIRECTORY_LOCKED'
      | 'BROKER_RUNNING',
    message: string,
    file: string,
    errno: string | null = null,
    options?: ErrorOptions,
  ) {
    super(code, message, options)
    this.file = file
    this.errno = errno
  }
}

/**
 * An argument of the wrong kind or out of range.
 *
 * @example
 * core.rewrite(records, { crc: 'none' }) // throws InvalidArgumentError
 */
export class InvalidArgumentError extends MirrorPidError {
  constructor(message: string) {
    super('INVALID_ARGUMENT', message)
  }
}

/**
 * The wasm core cannot be loaded here: no WebAssembly, a Content-Security-Policy, or a limit of address space forbids it.
 *
 * @example
 * const core = await loadCore().catch((error) => {
 *   if (error instanceof WasmUnavailableError) return jsCore()
 *   throw error
 * })
 */
export class WasmUnavailableError extends MirrorPidError {
  /** What stands in the way, in words. */
  readonly reason: string

  constructor(reason: string, options?: ErrorOptions) {
    super(
      'WASM_UNAVAILABLE',
      `the wasm core cannot be loaded here: ${reason}. Import jsCore from "mirrorpid/js" instead (the same calls ` +
        "in plain JavaScript), or, in a page, allow 'wasm-unsafe-eval' in the Content-Security-Policy.",
      options,
    )
    this.reason = reason
  }
}

/**
 * A batch that decompresses to more than is allowed: a large one, or a decompression bomb.
 *
 * @example
 * await decodeRecords(compressed, { maxDecompressedBytes: 8 }) // throws DecompressionLimitError
 */
export class DecompressionLimitError extends MirrorPidError {
  /** The most bytes that were allowed. */
  readonly limit: number
  /** The codec's name. */
  readonly codec: string
  /** Of the batch, where it is known. */
  readonly baseOffset: bigint | null

  constructor(codec: string, limit: number, baseOffset: bigint | null = null, options?: ErrorOptions) {
    const batch = baseOffset === null ? 'a batch' : `the batch at base offset ${baseOffset}`
    super(
      'DECOMPRESSION_LIMIT',
      `the ${codec} data of ${batch} decompresses to more than ${limit} bytes: if it is to be trusted, raise ` +
        'maxDecompressedBytes.',
      options,
    )
    this.limit = limit
    this.codec = codec
    this.baseOffset = baseOffset
  }
}

/** Where in a batch, and which batch, if that is known. */
export interface RecordPlace {
  /** Byte position in the part that was read: the batch's decompressed payload (compressed, if that fails), or a value. */
  position?: number
  baseOffset?: bigint
}

/**
 * A sound batch whose content does not have the form it should: Kafka's InvalidRecordException.
 *
 * @example
 * decodeMirrorPidReset(new Uint8Array(1)) // throws InvalidRecordError
 */
export class InvalidRecordError extends MirrorPidError {
  readonly position: number | null
  readonly baseOffset: bigint | null

  constructor(message: string, place: RecordPlace = {}, options?: ErrorOptions) {
    super('INVALID_RECORD', message, options)
    this.position = place.position ?? null
    this.baseOffset = place.baseOffset ?? null
  }
}

/**
 * A batch that claims more bytes than the reader was told to hold. Sizes in bytes.
 *
 * @example
 * const cut = new Response(records.subarray(0, 100))
 * const mapped = cut.body.pipeThrough(rewriteStream({ maxBatchBytes: 61 }))
 * await mapped.getReader().read() // throws BatchTooLargeError
 */
export class BatchTooLargeError extends MirrorPidError {
  readonly position: number
  readonly baseOffset: bigint
  readonly size: number
  readonly limit: number

  constructor(position: number, baseOffset: bigint, size: number, limit: number) {
    super(
      'BATCH_TOO_LARGE',
      `batch at byte ${position} (base offset ${baseOffset}) claims ${size} bytes, above the limit of ${limit}: it is ` +
        'damaged, or maxBatchBytes is to be raised',
    )
    this.position = position
    this.baseOffset = baseOffset
    this.size = size
    this.limit = limit
  }
}
