import { MirrorPidError } from '../errors.ts'
import { decodeRecords } from '../formats/decodeRecords.ts'
import { RecordBatch } from '../formats/recordBatch.ts'
import type { ByteSource } from '../log/byteSource.ts'
import { OffsetIndex } from '../log/offsetIndex.ts'
import { TimeIndex, type TimeIndexEntry } from '../log/timeIndex.ts'
import type { DumpSession } from './dumpSession.ts'
import type { FileReport } from './fileReport.ts'
import { HeaderReader } from './headerReader.ts'

const NO_TIMESTAMP = -1n
const NONE = -1n
/** Headers that may be read in all for each entry, and in any case: far more than a sound index needs. */
const HEADERS_PER_ENTRY = 4096
const MOST_HEADERS = 4_000_000

/**
 * Prints a time index, and checks each entry against the batch of its offset in the log.
 * @param offsets the offset index beside it; null where there is none
 */
export async function dumpTimeIndex(
  source: ByteSource,
  log: ByteSource,
  offsets: ByteSource | null,
  session: DumpSession,
  report: FileReport,
  baseOffset: bigint,
): Promise<void> {
  const { format, options } = session
  const index = new TimeIndex(source, baseOffset)
  if (options.checksIndexSanity) {
    const fault = index.fault(report.absolutePath)
    if (fault === null) format.passedSanityCheck(report.path)
    else report.finding('index', fault)
    return
  }
  const check = new TimeIndexCheck(log, offsets, session, report, baseOffset, index.count)
  for (let number = 0; number < index.count && !index.isZeroTail(number); number++) {
    const entry = index.entry(number)
    await check.entry(entry)
    if (!options.verifiesIndexOnly) format.timeIndexEntry(entry)
    session.signal?.throwIfAborted()
    if (session.isFull) await session.flush()
  }
}

class TimeIndexCheck {
  readonly #log: ByteSource
  readonly #offsets: OffsetIndex | null
  readonly #session: DumpSession
  readonly #report: FileReport
  readonly #headers: HeaderReader
  #previousTimestamp = NO_TIMESTAMP
  #previousOffset: bigint | null = null
  /** Of the batch that the entry before led to. */
  #reached = 0
  #headersLeft: number

  constructor(
    log: ByteSource,
    offsets: ByteSource | null,
    session: DumpSession,
    report: FileReport,
    baseOffset: bigint,
    count: number,
  ) {
    this.#log = log
    this.#offsets = offsets === null ? null : new OffsetIndex(offsets, baseOffset)
    this.#session = session
    this.#report = report
    this.#headers = new HeaderReader(log)
    this.#headersLeft = Math.max(MOST_HEADERS, count * HEADERS_PER_ENTRY)
  }

  async entry({ timestamp, offset }: TimeIndexEntry): Promise<void> {
    const found = this.#find(offset)
    if (found === null || found !== offset) {
      this.#report.offsetsNotFound.add(offset, found ?? NONE)
      this.#report.count('index')
    } else {
      await this.#compare(timestamp)
    }
    this.#previousTimestamp = timestamp
    this.#previousOffset = offset
  }

  /** Goes to the first batch that reaches an offset, from where the offset index says; gives its last offset. */
  #find(offset: bigint): bigint | null {
    let position = this.#offsets?.lookup(offset) ?? 0
    // what the entry before has passed over is below its offset, so below this one too
    const isAfter = this.#previousOffset !== null && offset >= this.#previousOffset
    if (isAfter) position = Math.max(position, this.#reached)
    while (position < this.#log.size) {
      if (this.#headersLeft-- === 0) {
        this.#report.finding('index', 'it leads too far from its log to be checked any further')
      }
      if (this.#headersLeft < 0 || !this.#headers.read(position)) return null
      const { lastOffset } = this.#headers
      if (lastOffset >= offset) {
        this.#reached = position
        return lastOffset
      }
      position += this.#headers.size
    }
    return null
  }

  async #compare(timestamp: bigint): Promise<void> {
    const logTimestamp = await this.#maxTimestamp()
    if (logTimestamp !== null && logTimestamp !== timestamp) {
      this.#report.timestampMismatches.add(timestamp, logTimestamp)
      // Kafka's tool looks at records only; the header that compaction has left of a batch keeps its timestamp
      const isLeft = this.#headers.isEmpty && this.#headers.maxTimestamp === timestamp
      if (!isLeft) this.#report.count('index')
    }
    if (this.#previousTimestamp >= timestamp) {
      this.#report.outOfOrderTimestamps.add(timestamp, this.#previousTimestamp)
      this.#report.count('index')
    }
  }

  /** Of the records of the batch; null where they cannot be read. */
  async #maxTimestamp(): Promise<bigint | null> {
    const { position, size, magic, isEmpty } = this.#headers
    const { maxBatchBytes, codecs } = this.#session.options
    if (isEmpty) return NO_TIMESTAMP
    try {
      if (size > maxBatchBytes) {
        this.#report.finding(
          'records',
          `the batch at byte ${position} of the log takes ${size} bytes, too many to check`,
        )
        return null
      }
      const bytes = new Uint8Array(size)
      await this.#log.read(bytes, position)
      const batch = new RecordBatch(bytes, position, magic)
      const records = await decodeRecords(batch, { maxDecompressedBytes: maxBatchBytes, codecs })
      let max = NO_TIMESTAMP
      for (const { timestamp } of records) if (timestamp > max) max = timestamp
      return max
    } catch (error) {
      if (!MirrorPidError.is(error) || error.code === 'IO_ERROR') throw error
      this.#report.finding('records', `in the log at byte ${position}: ${error.message}`)
      return null
    }
  }
}
