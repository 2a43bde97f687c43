import { bytesOf, viewOf } from '../bytes/view.ts'
import { checkRewriteOptions, requireOptions } from '../core/arguments.ts'
import type { Trailing } from '../core/core.ts'
import { CorruptCompanionError } from '../errors.ts'
import {
  COMPANION_OPTIONS,
  type CompanionOptions,
  type CompanionReport,
  checkProducerIds,
  requireNoneMeet,
  writeProducerIds,
} from './companion.ts'

// One entry per aborted transaction, version 0, no header, no checksum (Kafka: TransactionIndex, AbortedTxn).
const VERSION_AT = 0 // i16
const PRODUCER_ID_AT = 2 // i64; first offset, last offset and last stable offset follow
export const TRANSACTION_INDEX_ENTRY_SIZE = 34
const VERSION = 0

/** An aborted transaction, as the index of the segment with its marker lists it. */
export interface TransactionIndexEntry {
  version: number
  producerId: bigint
  /** Of the transaction's first record; may lie in an earlier segment. */
  firstOffset: bigint
  /** Of its marker. */
  lastOffset: bigint
  /** When it was aborted. */
  lastStableOffset: bigint
}

export interface TransactionIndexReport extends CompanionReport {
  /** What follows the last entry: nothing, a fragment (Kafka ignores it), or zeros. */
  trailing: Trailing
}

/**
 * Rewrites the producer ids of a `.txnindex` file (the aborted transactions whose markers are in the segment) in place.
 * Its segment must be rewritten with it, or readers look for the aborted records under other ids. Checks everything,
 * then writes: a call that throws has changed nothing, and a second call changes nothing.
 *
 * A tail of zeros is left alone: Kafka does not preallocate this file, but a crash of the machine can leave one, and
 * no entry is all zeros, since the marker's offset is above that of the first record.
 *
 * @param bytes the whole file
 * @throws CorruptCompanionError CORRUPT_TRANSACTION_INDEX on an entry of another version, on which a broker fails
 * @throws UnmappableProducerIdError on producer id 2^63 - 1
 * @throws ProducerIdsMeetError where two of its ids become one, unless `force`
 * @throws InvalidArgumentError
 * @see Kafka's TransactionIndex, AbortedTxn
 * @example
 * const mapped = index.slice()
 * rewriteTransactionIndex(mapped, { direction: 'unmap' }).entries
 */
export function rewriteTransactionIndex(
  bytes: Uint8Array,
  options: CompanionOptions = {},
): TransactionIndexReport {
  const { direction } = checkRewriteOptions(
    requireOptions('options of rewriteTransactionIndex', options, COMPANION_OPTIONS),
  )
  const plain = bytesOf(bytes, 'bytes')
  const view = viewOf(plain)
  const file = options.file ?? null
  const { entries, trailing } = checkIndex(plain, view, file)
  const report = { ...checkProducerIds(view, idsAt(entries), direction, file), trailing }
  requireNoneMeet(idsOf(view, entries), options)
  if (report.rewritten > 0) writeProducerIds(view, idsAt(entries), direction)
  return report
}

/**
 * Checks what can be checked of a `.txnindex` file: the version of each entry.
 *
 * @param bytes the whole file
 * @param file named in errors
 * @returns the number of entries, and what follows them
 * @throws CorruptCompanionError CORRUPT_TRANSACTION_INDEX
 * @example
 * verifyTransactionIndex(index).entries
 */
export function verifyTransactionIndex(
  bytes: Uint8Array,
  file: string | null = null,
): { entries: number; trailing: Trailing } {
  const plain = bytesOf(bytes, 'bytes')
  return checkIndex(plain, viewOf(plain), file)
}

function checkIndex(
  bytes: Uint8Array,
  view: DataView,
  file: string | null,
): { entries: number; trailing: Trailing } {
  const dataEnd = lastNonZero(bytes) + 1
  let at = 0
  for (
    ;
    at + TRANSACTION_INDEX_ENTRY_SIZE <= bytes.length && at < dataEnd;
    at += TRANSACTION_INDEX_ENTRY_SIZE
  ) {
    const version = view.getInt16(at + VERSION_AT)
    if (version !== VERSION) throw wrongVersion(version, at, file)
  }
  const bytesLeft = bytes.length - at
  const kind = bytesLeft === 0 ? 'none' : at >= dataEnd ? 'zeros' : 'incomplete'
  return { entries: at / TRANSACTION_INDEX_ENTRY_SIZE, trailing: { kind, bytes: bytesLeft } }
}

function lastNonZero(bytes: Uint8Array): number {
  let at = bytes.length - 1
  while (at >= 0 && bytes[at] === 0) at--
  return at
}

function* idsAt(entries: number): Iterable<number> {
  for (let entry = 0; entry < entries; entry++) yield entry * TRANSACTION_INDEX_ENTRY_SIZE + PRODUCER_ID_AT
}

function* idsOf(view: DataView, entries: number): Iterable<{ producerId: bigint; offset: bigint }> {
  for (const at of idsAt(entries)) {
    yield { producerId: view.getBigInt64(at), offset: view.getBigInt64(at + 8) }
  }
}

/**
 * Reads the entries of a `.txnindex` file, up to zeros or a fragment at the end.
 *
 * @param bytes the whole file
 * @param file named in errors
 * @throws CorruptCompanionError CORRUPT_TRANSACTION_INDEX at an entry of another version, after those before it were
 *   given
 * @example
 * for (const { producerId, firstOffset } of readTransactionIndex(index)) console.log(producerId, firstOffset)
 */
export function* readTransactionIndex(
  bytes: Uint8Array,
  file: string | null = null,
): Generator<TransactionIndexEntry> {
  const plain = bytesOf(bytes, 'bytes')
  const view = viewOf(plain)
  const dataEnd = lastNonZero(plain) + 1
  for (
    let at = 0;
    at + TRANSACTION_INDEX_ENTRY_SIZE <= plain.length && at < dataEnd;
    at += TRANSACTION_INDEX_ENTRY_SIZE
  ) {
    const version = view.getInt16(at + VERSION_AT)
    if (version !== VERSION) throw wrongVersion(version, at, file)
    yield {
      version,
      producerId: view.getBigInt64(at + PRODUCER_ID_AT),
      firstOffset: view.getBigInt64(at + PRODUCER_ID_AT + 8),
      lastOffset: view.getBigInt64(at + PRODUCER_ID_AT + 16),
      lastStableOffset: view.getBigInt64(at + PRODUCER_ID_AT + 24),
    }
  }
}

/** The bytes of an entry. */
export function encodeTransactionIndexEntry(
  entry: Omit<TransactionIndexEntry, 'version'>,
): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(TRANSACTION_INDEX_ENTRY_SIZE)
  const view = viewOf(bytes)
  view.setInt16(VERSION_AT, VERSION)
  view.setBigInt64(PRODUCER_ID_AT, entry.producerId)
  view.setBigInt64(PRODUCER_ID_AT + 8, entry.firstOffset)
  view.setBigInt64(PRODUCER_ID_AT + 16, entry.lastOffset)
  view.setBigInt64(PRODUCER_ID_AT + 24, entry.lastStableOffset)
  return bytes
}

function wrongVersion(version: number, at: number, file: string | null): CorruptCompanionError {
  const fault = `entry of version ${version}, expected ${VERSION}`
  return new CorruptCompanionError('CORRUPT_TRANSACTION_INDEX', fault, at, file)
}
