import { type OptionKinds, oneOf, requireOptions } from '../../core/arguments.ts'
import { InvalidArgumentError } from '../../errors.ts'
import type { AbortedTransactionEntry } from '../../producers/transactions.ts'
import { OffsetOutOfRangeError } from './logErrors.ts'
import type { LogSegment } from './logSegment.ts'
import { floorIndex } from './offsets.ts'
import { readPart } from './storage.ts'

/** Up to where a reader sees the log: its end (followers), what is replicated, or what is decided too. */
export type ReadIsolation = 'log_end' | 'high_watermark' | 'read_committed'

/** How far `PartitionLog.read` goes, in offsets and bytes. */
export interface LogReadOptions {
  /** Default `log_end`. */
  isolation?: ReadIsolation
  /** At least one whole batch is given even if it is larger. Default 1048576. */
  maxBytes?: number
}

const READ_OPTIONS: OptionKinds<LogReadOptions> = { isolation: 'any', maxBytes: 'any' }

/** Offsets of a log at one time. */
export interface LogOffsets {
  readonly logStartOffset: bigint
  readonly highWatermark: bigint
  readonly lastStableOffset: bigint
  readonly logEndOffset: bigint
}

export interface LogRead extends LogOffsets {
  /** Whole batches, a copy; the first may begin below the offset that was asked for. */
  records: Uint8Array<ArrayBuffer>
  /** Under `read_committed`, what `consumerView` needs with these records; otherwise null. */
  abortedTransactions: AbortedTransactionEntry[] | null
}

const ISOLATIONS: readonly ReadIsolation[] = ['log_end', 'high_watermark', 'read_committed']

/** @throws OffsetOutOfRangeError, InvalidArgumentError */
export function readLog(
  { logStartOffset, highWatermark, lastStableOffset, logEndOffset }: LogOffsets,
  segments: readonly LogSegment[],
  offset: bigint,
  options: LogReadOptions,
): LogRead {
  const { isolation = 'log_end', maxBytes = 1_048_576 } = requireOptions(
    'options of read',
    options,
    READ_OPTIONS,
  )
  oneOf('isolation', isolation, ISOLATIONS)
  if (!Number.isSafeInteger(maxBytes) || maxBytes < 0) {
    throw new InvalidArgumentError(`maxBytes must be a whole number from 0 on; got ${maxBytes}`)
  }
  if (offset < logStartOffset || offset > logEndOffset) {
    throw new OffsetOutOfRangeError(offset, logStartOffset, logEndOffset)
  }
  const limits = { log_end: logEndOffset, high_watermark: highWatermark, read_committed: lastStableOffset }
  const { records, nextOffset } = readBatches(segments, offset, limits[isolation], maxBytes)
  let abortedTransactions: AbortedTransactionEntry[] | null = null
  if (isolation === 'read_committed') {
    abortedTransactions = records.length === 0 ? [] : abortedIn(segments, offset, nextOffset)
  }
  return { records, abortedTransactions, logStartOffset, highWatermark, lastStableOffset, logEndOffset }
}

/** Batches of the first segment that has any from `offset` on and below `limit`. */
function readBatches(
  segments: readonly LogSegment[],
  offset: bigint,
  limit: bigint,
  maxBytes: number,
): { records: Uint8Array<ArrayBuffer>; nextOffset: bigint } {
  for (const segment of segments.slice(floorIndex(segments, offset))) {
    const found = segment.find(offset)
    if (found === null) continue
    const start = found.position
    let end = start
    let nextOffset = offset
    for (const { batch, size } of segment.batches(start)) {
      if (batch.nextOffset > limit || (end > start && end + size - start > maxBytes)) break
      // offsets are not under the CRC: in a damaged log they may go back, and a reader would come round for ever
      if (batch.nextOffset <= nextOffset) break
      end += size
      nextOffset = batch.nextOffset
    }
    return { records: readPart(segment.file, start, end - start), nextOffset }
  }
  return { records: new Uint8Array(0), nextOffset: offset }
}

/**
 * The aborted transactions that a reader of [from, to) must know. Source: Kafka's LocalLog.collectAbortedTransactions.
 */
function abortedIn(segments: readonly LogSegment[], from: bigint, to: bigint): AbortedTransactionEntry[] {
  const found: AbortedTransactionEntry[] = []
  for (const { transactionIndex } of segments.slice(floorIndex(segments, from))) {
    for (const entry of transactionIndex.entries) {
      if (entry.lastOffset >= from && entry.firstOffset < to) found.push(entry)
      if (entry.lastStableOffset >= to) return found
    }
  }
  return found
}
