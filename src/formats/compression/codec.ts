import { MalformedBytes } from '../../bytes/byteReader.ts'
import { type OptionKinds, requireOptions } from '../../core/arguments.ts'
import { DecompressionLimitError, InvalidRecordError, MirrorPidError } from '../../errors.ts'
import { CompressionType } from '../recordBatch.ts'

export type PromiseOrValue<T> = T | Promise<T>

/** What a decompressor must keep to. */
export interface DecompressLimits {
  /** More output than this is an error. */
  maxBytes: number
  /** Of the batch: old ones have rules of their own. */
  magic: 0 | 1 | 2
  /**
   * Memory that the result may lie in, whatever is in it now: given where a result is done with before the next is asked
   * for. A decompressor need not use it.
   */
  room?: Uint8Array<ArrayBuffer>
}

/** Decompresses what a batch holds. The result may be a view of memory that nothing else uses, or of `room`. */
export type Decompress = (compressed: Uint8Array, limits: DecompressLimits) => Uint8Array

/** A codec by Kafka's name for it: `gzip`, `snappy`, `lz4` or `zstd`. */
export type CodecName = Exclude<keyof typeof CompressionType, 'none'>

/** Gives the decompressor of a codec's number: a promise when it has to be loaded first. */
export type CodecOf = (compressionType: number) => PromiseOrValue<Decompress>

// The specifiers stand here in full so that bundlers see them and give each codec a chunk of its own.
const loaders: Record<CodecName, () => Promise<Decompress>> = {
  gzip: async () => (await import('./gzip.ts')).decompressGzip,
  snappy: async () => (await import('./snappy.ts')).decompressSnappy,
  lz4: async () => (await import('./lz4.ts')).decompressLz4,
  zstd: async () => (await import('./zstd/frames.ts')).decompressZstd,
}

const OVERRIDES: OptionKinds<Record<CodecName, Decompress>> = {
  gzip: 'function',
  snappy: 'function',
  lz4: 'function',
  zstd: 'function',
}

/**
 * The codecs of record batches. Each is loaded when it is first asked for and is there at once from then on.
 *
 * @param overrides decompressors to use instead, such as Node's native ones. They may throw what they like: errors other
 *   than this package's become InvalidRecordError, Node's ERR_BUFFER_TOO_LARGE becomes DecompressionLimitError.
 * @throws InvalidArgumentError
 * @example
 * const codecs = createCodecs({
 *   gzip: (compressed, { maxBytes }) => gunzipSync(compressed, { maxOutputLength: maxBytes }),
 *   zstd: (compressed, { maxBytes }) => zstdDecompressSync(compressed, { maxOutputLength: maxBytes }), // Node 22.15
 * })
 * const records = await decodeRecords(batch, { codecs })
 */
export function createCodecs(overrides: Partial<Record<CodecName, Decompress>> = {}): CodecOf {
  requireOptions('overrides of createCodecs', overrides, OVERRIDES)
  const ready = new Map<number, Decompress>([[CompressionType.none, (bytes) => bytes]])
  return (compressionType) => {
    const known = ready.get(compressionType)
    if (known !== undefined) return known
    const name = nameOf(compressionType)
    const keep = (decompress: Decompress) => {
      const guarded = guard(name, decompress)
      ready.set(compressionType, guarded)
      return guarded
    }
    const override = overrides[name]
    // a promise is not kept: a chunk that a page could not fetch may come the next time
    return override === undefined ? loaders[name]().then(keep) : keep(override)
  }
}

/** The package's own codecs, which work everywhere. */
export const codecOf: CodecOf = /* @__PURE__ */ createCodecs()

function nameOf(compressionType: number): CodecName {
  for (const name of Object.keys(loaders) as CodecName[]) {
    if (CompressionType[name] === compressionType) return name
  }
  throw new InvalidRecordError(`the compression codec has number ${compressionType}; only 0 to 4 are defined`)
}

/** Makes every failure of a decompressor one of this package's errors, and holds it to the limit. */
function guard(name: CodecName, decompress: Decompress): Decompress {
  return (compressed, limits) => {
    if (name === 'zstd' && limits.magic < 2) {
      throw new InvalidRecordError(`zstd compression is not allowed in magic ${limits.magic}`)
    }
    let bytes: Uint8Array
    try {
      bytes = decompress(compressed, limits)
    } catch (cause) {
      throw failure(name, limits, cause)
    }
    if (bytes.length > limits.maxBytes) throw new DecompressionLimitError(name, limits.maxBytes)
    return bytes
  }
}

function failure(name: CodecName, { maxBytes }: DecompressLimits, cause: unknown): unknown {
  if (MirrorPidError.is(cause)) return cause
  if (cause instanceof Error && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE') {
    return new DecompressionLimitError(name, maxBytes, null, { cause })
  }
  const { message, place } =
    cause instanceof MalformedBytes
      ? { message: ` at byte ${cause.position}: ${cause.message}`, place: { position: cause.position } }
      : { message: `: ${cause instanceof Error ? cause.message : String(cause)}`, place: {} }
  return new InvalidRecordError(`the ${name} data is damaged${message}`, place, { cause })
}
