import { MalformedBytes } from '../bytes/byteReader.ts'
import { type OptionKinds, requireOptions } from '../core/arguments.ts'
import {
  CorruptBatchError,
  DecompressionLimitError,
  InvalidArgumentError,
  InvalidRecordError,
} from '../errors.ts'
import { codecOf, type Decompress, type PromiseOrValue } from './compression/codec.ts'
import { parseLegacyRecord, parseWrappedRecords, wrappedBytes } from './legacyRecords.ts'
import { type KafkaRecord, parseRecords } from './record.ts'
import { type RecordBatch, requireBatch } from './recordBatch.ts'

/** How the records of a batch are decompressed. */
export interface DecodeOptions {
  /** The most bytes that one batch may decompress to; default 256 MiB. More is an error, not an allocation. */
  maxDecompressedBytes?: number
  /** Gives the decompressor of a codec's number; default the package's own, which work everywhere. */
  codecs?: (compressionType: number) => PromiseOrValue<Decompress>
}

export const DECODE_OPTIONS: OptionKinds<DecodeOptions> = { maxDecompressedBytes: 'any', codecs: 'function' }

const DEFAULT_MAX_BYTES = 256 * 1024 * 1024

/**
 * The records of a batch, control records included. An uncompressed batch gives its records at once; a compressed one
 * gives a promise the first time, because its codec is loaded when it is first needed. `await` serves both.
 *
 * Keys, values and header values are views: of the batch, or of its decompressed copy.
 *
 * @param batch from `recordBatches`
 * @throws InvalidRecordError when the records do not have Kafka's form, or do not decompress
 * @throws MirrorPidError DECOMPRESSION_LIMIT when they decompress to more than `maxDecompressedBytes`
 * @throws InvalidArgumentError
 * @see Kafka's DefaultRecordBatch, AbstractLegacyRecordBatch
 * @example
 * for (const batch of recordBatches(records)) {
 *   for (const { offset, value } of await decodeRecords(batch)) console.log(offset, value)
 * }
 */
export function decodeRecords(
  batch: RecordBatch,
  options: DecodeOptions = {},
): PromiseOrValue<KafkaRecord[]> {
  return recordsOf(requireBatch(batch), requireOptions('options of decodeRecords', options, DECODE_OPTIONS))
}

/** The same, for options that are checked. */
export function recordsOf(batch: RecordBatch, options: DecodeOptions): PromiseOrValue<KafkaRecord[]> {
  const maxBytes = options.maxDecompressedBytes ?? DEFAULT_MAX_BYTES
  if (!Number.isSafeInteger(maxBytes) || maxBytes < 0) {
    throw new InvalidArgumentError(
      `maxDecompressedBytes must be a whole number from 0 on; got ${String(maxBytes)}`,
    )
  }
  // an empty batch has nothing to decompress, whatever its codec bits say
  if (batch.compressionType === 0 || batch.recordsCount === 0) return placed(batch, () => parsePlain(batch))
  const codec = placed(batch, () => (options.codecs ?? codecOf)(batch.compressionType))
  const decode = (decompress: Decompress) => placed(batch, () => parseCompressed(batch, decompress, maxBytes))
  return codec instanceof Promise ? codec.then(decode) : decode(codec)
}

function parsePlain(batch: RecordBatch): KafkaRecord[] {
  return batch.isLegacy ? [parseLegacyRecord(batch)] : parseRecords(batch, batch.payload)
}

function parseCompressed(batch: RecordBatch, decompress: Decompress, maxBytes: number): KafkaRecord[] {
  const limits = { maxBytes, magic: batch.magic as 0 | 1 | 2 }
  if (batch.isLegacy) return parseWrappedRecords(batch, decompress(wrappedBytes(batch), limits))
  return parseRecords(batch, decompress(batch.payload, limits))
}

/** Adds to an error which batch it is about. */
function placed<T>(batch: RecordBatch, parse: () => T): T {
  try {
    return parse()
  } catch (cause) {
    if (cause instanceof DecompressionLimitError) {
      throw new DecompressionLimitError(cause.codec, cause.limit, batch.baseOffset, { cause })
    }
    const isOurs =
      cause instanceof MalformedBytes ||
      cause instanceof InvalidRecordError ||
      cause instanceof CorruptBatchError
    if (!isOurs) throw cause
    const message = `records of the batch at base offset ${batch.baseOffset}: ${cause.message}`
    const position = cause.position ?? undefined
    throw new InvalidRecordError(
      message,
      { baseOffset: batch.baseOffset, ...(position === undefined ? {} : { position }) },
      { cause },
    )
  }
}
