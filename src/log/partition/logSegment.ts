import type { CrcEngine } from '../../core/crcEngine.ts'
import { InvalidRecordError } from '../../errors.ts'
import { NO_TIMESTAMP, type RecordBatch } from '../../formats/recordBatch.ts'
import type { AbortedTransactionEntry } from '../../producers/transactions.ts'
import { logFileName } from '../fileNames.ts'
import type { IndexOptions } from './logOptions.ts'
import { MAX_OFFSET, MAX_RELATIVE_OFFSET } from './offsets.ts'
import { SegmentOffsetIndex } from './segmentOffsetIndex.ts'
import { type ScanFault, type ScannedBatch, scanBatches } from './segmentScan.ts'
import { SegmentTimeIndex, type TimestampOffset } from './segmentTimeIndex.ts'
import { SegmentTransactionIndex } from './segmentTransactionIndex.ts'
import { isZeroFrom, type LogStorage, type StoredFile } from './storage.ts'

/** The index leads close to what is looked for. */
const SEARCH_WINDOW = 16 * 1024

/**
 * A segment file with its indexes. An entry comes into the indexes for every `indexIntervalBytes` of batches.
 * Source: Kafka's LogSegment.
 */
export class LogSegment {
  readonly baseOffset: bigint
  readonly transactionIndex: SegmentTransactionIndex
  readonly file: StoredFile
  readonly #name: string
  readonly #storage: LogStorage
  readonly #options: IndexOptions
  // an older segment's indexes are read when they are needed
  #offsetIndex: SegmentOffsetIndex | null = null
  #timeIndex: SegmentTimeIndex | null = null
  #largestTimestamp: TimestampOffset | null = null
  #bytesSinceLastIndexEntry = 0
  /** Largest timestamp of the first append, or the first batch: what time-based rolling counts from. */
  #rollingBasedTimestamp: bigint | null = null

  constructor(storage: LogStorage, baseOffset: bigint, options: IndexOptions) {
    this.baseOffset = baseOffset
    this.#name = logFileName(baseOffset, '.log')
    this.#storage = storage
    this.#options = options
    this.file = storage.open(this.#name)
    this.transactionIndex = new SegmentTransactionIndex(storage, baseOffset)
  }

  get size(): number {
    return this.file.size
  }

  get offsetIndex(): SegmentOffsetIndex {
    this.#offsetIndex ??= new SegmentOffsetIndex(this.#storage, this.baseOffset, this.#options.maxIndexBytes)
    return this.#offsetIndex
  }

  get timeIndex(): SegmentTimeIndex {
    this.#timeIndex ??= new SegmentTimeIndex(this.#storage, this.baseOffset, this.#options.maxIndexBytes)
    return this.#timeIndex
  }

  /** Makes the files of the indexes, without which a broker would take the segment to need recovery. */
  createIndexes(): void {
    void this.offsetIndex
    void this.timeIndex
  }

  get largestTimestamp(): TimestampOffset {
    this.#largestTimestamp ??= this.timeIndex.last
    return this.#largestTimestamp
  }

  /** Whether the indexes can hold an offset of this segment. */
  canHold(offset: bigint): boolean {
    const relative = offset - this.baseOffset
    return relative >= 0n && relative <= MAX_RELATIVE_OFFSET && offset < MAX_OFFSET
  }

  /** How much later than this segment's first records a record is, by the timestamps. */
  ageAt(timestamp: bigint): bigint {
    if (this.#rollingBasedTimestamp === null && this.size > 0) {
      for (const { batch } of this.batches(0)) {
        this.#rollingBasedTimestamp = batch.maxTimestamp
        break
      }
    }
    const from = this.#rollingBasedTimestamp
    return from === null || from < 0n ? 0n : timestamp - from
  }

  /** @param records whole batches, which were checked */
  append(records: Uint8Array, batches: readonly RecordBatch[]): void {
    let position = this.size
    this.file.append(records)
    for (const batch of batches) {
      this.#rollingBasedTimestamp ??= batch.maxTimestamp
      this.#index(batch.maxTimestamp, batch.lastOffset, position, batch.sizeInBytes)
      position += batch.sizeInBytes
    }
  }

  /** The batches from a position on. */
  batches(start: number, engine: CrcEngine | null = null): Generator<ScannedBatch, ScanFault | null> {
    return scanBatches(this.file, start, this.size, engine)
  }

  /** The first batch that holds an offset, or one above it; null where there is none. */
  find(offset: bigint): { position: number; size: number } | null {
    const start = this.offsetIndex.lookup(offset)
    for (const { batch, position, size } of scanBatches(this.file, start, this.size, null, SEARCH_WINDOW)) {
      if (batch.lastOffset >= offset) return { position, size }
    }
    return null
  }

  /** What follows the last batch; the base offset where there is none. */
  readNextOffset(): bigint {
    let next = this.baseOffset
    const start = this.offsetIndex.lookup(this.offsetIndex.lastOffset)
    for (const { batch } of this.batches(start)) next = batch.nextOffset
    return next
  }

  /** Whether the indexes end below the offset that comes next; nothing could be added to others. */
  isIndexedUpTo(next: bigint): boolean {
    const { count, lastOffset } = this.offsetIndex
    const { timestamp, offset } = this.timeIndex.last
    return (count === 0 || lastOffset < next) && (timestamp === NO_TIMESTAMP || offset < next)
  }

  /**
   * Rebuilds the indexes from the batches up to the last good one. What is behind that is for the caller to cut.
   *
   * @param take is given each batch, and returns the transactions that were aborted by it
   * @returns how many bytes are behind the last good batch
   * @throws InvalidIndexOffset where offsets go back, with the indexes half built; what `take` throws
   */
  recover(
    engine: CrcEngine,
    take: (batch: RecordBatch) => readonly AbortedTransactionEntry[],
  ): { bytes: number; fault: ScanFault | null; isZero: boolean } {
    this.offsetIndex.truncateTo(0n)
    this.timeIndex.truncateTo(0n)
    this.transactionIndex.reset()
    this.#largestTimestamp = null
    this.#bytesSinceLastIndexEntry = 0
    let valid = 0
    const scan = this.batches(0, engine)
    let step = scan.next()
    for (; !step.done; step = scan.next()) {
      const { batch, size } = step.value
      if (!this.canHold(batch.lastOffset)) throw this.#beyondIndex(batch)
      this.#index(batch.maxTimestamp, batch.lastOffset, valid, size)
      for (const entry of take(batch)) this.transactionIndex.append(entry)
      valid += size
    }
    const bytes = this.size - valid
    const isZero = isZeroFrom(this.file, valid)
    this.finish()
    this.#bytesSinceLastIndexEntry = 0
    return { bytes, fault: step.value, isZero }
  }

  /** Cuts the batch that holds an offset, and all behind it. */
  truncateTo(offset: bigint): void {
    const found = this.find(offset)
    this.offsetIndex.truncateTo(offset)
    this.timeIndex.truncateTo(offset)
    this.transactionIndex.truncateTo(offset)
    if (found !== null) this.file.truncate(found.position)
    if (this.size === 0) this.#rollingBasedTimestamp = null
    this.#bytesSinceLastIndexEntry = 0
    this.#largestTimestamp = this.#readLargestTimestamp()
  }

  /** Adds the last entry of the time index: before another segment becomes the active one, and at a clean end. */
  finish(): void {
    this.timeIndex.maybeAppend(this.largestTimestamp)
  }

  /** Cuts off what a broker has allocated for index entries to come. */
  trim(): void {
    this.#offsetIndex?.trim()
    this.#timeIndex?.trim()
  }

  remove(): void {
    // the segment first: what a crash leaves of its indexes is removed when the log is opened
    for (const suffix of ['.log', '.index', '.timeindex', '.txnindex']) {
      this.#storage.remove(logFileName(this.baseOffset, suffix))
    }
  }

  #index(maxTimestamp: bigint, lastOffset: bigint, position: number, size: number): void {
    if (maxTimestamp > this.largestTimestamp.timestamp) {
      this.#largestTimestamp = { timestamp: maxTimestamp, offset: lastOffset }
    }
    if (this.#bytesSinceLastIndexEntry > this.#options.indexIntervalBytes) {
      this.offsetIndex.append(lastOffset, position)
      this.timeIndex.maybeAppend(this.largestTimestamp)
      this.#bytesSinceLastIndexEntry = 0
    }
    this.#bytesSinceLastIndexEntry += size
  }

  /** Kafka splits such a segment, which only old cleaners wrote (KAFKA-6264); cutting it would lose sound records. */
  #beyondIndex({ baseOffset, lastOffset }: RecordBatch): InvalidRecordError {
    return new InvalidRecordError(
      `${this.#name}: the batch at offset ${baseOffset} ends at ${lastOffset}, which is no int64 or more than 2147483647 ` +
        "above the segment's base offset, so no index can hold it. Nothing of it was changed; let a broker split the segment first.",
      { baseOffset },
    )
  }

  #readLargestTimestamp(): TimestampOffset {
    let largest = this.timeIndex.last
    for (const { batch } of this.batches(this.offsetIndex.lookup(largest.offset))) {
      // in a damaged log offsets may go back, and the index takes none that do
      if (batch.maxTimestamp > largest.timestamp && batch.lastOffset >= largest.offset) {
        largest = { timestamp: batch.maxTimestamp, offset: batch.lastOffset }
      }
    }
    return largest
  }
}
