import type { CorruptBatchFacts } from '../errors.ts'

/**
 * How a rewrite treats CRCs.
 * - `patch`: the new CRC is computed from the old one and the changed id; no payload is read, and a batch that was
 *   damaged before still fails its check afterwards.
 * - `verify`: every CRC is checked before the first byte is written, then patched.
 * - `recompute`: a fresh CRC over each rewritten batch. An explicit repair, and the only mode that can hide damage.
 */
export type CrcMode = 'patch' | 'verify' | 'recompute'

/** `map` moves producer ids >= 0 to `-(id + 2)`; `unmap` moves ids <= -2 back. */
export type Direction = 'map' | 'unmap'

/** How a rewrite handles CRCs, and which way it goes. */
export interface RewriteOptions {
  /** Default `patch`. */
  crc?: CrcMode
  /** Default `map`. */
  direction?: Direction
}

/** The same with nothing left to a default. */
export type RewriteMode = Required<RewriteOptions>

/**
 * What follows the last whole batch: nothing, a batch cut short (a fetch may cut anywhere), or zeros (a preallocated
 * segment).
 */
export interface Trailing {
  kind: 'none' | 'incomplete' | 'zeros'
  /** Number of bytes after `validBytes`. */
  bytes: number
}

/** Each batch counts once in `rewritten`, `alreadyMapped`, `withoutProducer` or `legacy`; `control` counts across. */
export interface BatchCounts {
  batches: number
  /**
   * Batches whose id the direction changes: >= 0 for `map`, <= -2 for `unmap`. In a VerifyReport, those that a
   * `map` would change.
   */
  rewritten: number
  /** Batches with a producer whose id already is as the direction wants it. */
  alreadyMapped: number
  /** Magic 2 batches with producer id -1. */
  withoutProducer: number
  /** Batches with the control bit. */
  control: number
  /** Entries of magic 0 and 1, which have no producer id and are left as they are. */
  legacy: number
  /** Bytes of whole batches, from the start. */
  validBytes: number
  trailing: Trailing
}

export interface RewriteReport extends BatchCounts {}

export interface VerifyReport extends BatchCounts {
  /** In order of position. After a wrong size or magic nothing further can be framed, so such an entry is the last. */
  corrupt: CorruptBatchFacts[]
}

/** A region of the core's own memory: what lies in it is rewritten and verified without a copy. */
export interface RecordBuffer {
  /**
   * The region, of the asked length; its first contents are unspecified. Take it anew after a later `allocate`, which
   * may move the core's memory and so detach views taken before.
   * @throws MirrorPidError BUFFER_FREED
   */
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Gives the region back; safe to repeat. */
  free(): void
}

/** Bytes of a record set: batches back to back, as in a segment file or a fetch response. */
export type RecordBytes = Uint8Array | DataView

/** The rewriter. `loadCore()` gives the wasm one, `jsCore()` of `mirrorpid/js` its twin in plain TypeScript. */
export interface Core {
  readonly backend: 'wasm' | 'js'

  /** What the backend makes use of: `simd` for 128-bit vectors in CRC-32C. Results are the same without. */
  readonly features: { readonly simd: boolean }

  /**
   * CRC-32C (Castagnoli), unsigned.
   * @param initial the CRC of the bytes before, to continue from; default 0
   * @throws InvalidArgumentError
   * @example
   * core.crc32c(new TextEncoder().encode('123456789')) // 0xe3069283
   */
  crc32c(bytes: RecordBytes, initial?: number): number

  /**
   * Rewrites producer ids in place, in the caller's own memory. Only the id (bytes 43-50) and the CRC (bytes 17-20) of
   * batches that change are written. A call that throws has changed nothing. An incomplete last batch is no error and
   * stays as it is. The bytes must not be written to by another thread meanwhile.
   * @throws CorruptBatchError on a batch that cannot be framed, and with `crc: 'verify'` on one with a wrong CRC
   * @throws UnmappableProducerIdError on producer id 2^63 - 1
   * @throws InvalidArgumentError
   * @example
   * core.rewrite(records, { crc: 'verify' }).rewritten
   */
  rewrite(records: RecordBytes, options?: RewriteOptions): RewriteReport

  /**
   * Checks framing and CRCs and changes nothing.
   * @throws InvalidArgumentError
   * @example
   * core.verify(records).corrupt.length // 0 when all is well
   */
  verify(records: RecordBytes): VerifyReport

  /**
   * A region in the core's memory, from 0 to 1,073,741,804 bytes.
   * @throws MirrorPidError OUT_OF_MEMORY
   * @throws InvalidArgumentError
   * @example
   * const buffer = core.allocate(65536)
   * buffer.bytes.set(fetched)
   * core.rewrite(buffer.bytes.subarray(0, fetched.length))
   * buffer.free()
   */
  allocate(byteLength: number): RecordBuffer
}
