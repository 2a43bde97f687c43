import { engineOf } from '../core/crcEngine.ts'
import * as layout from '../core/layout.ts'
import { RecordSetCursor } from '../core/recordSetCursor.ts'
import { FRAME_BAD_MAGIC, FRAME_INCOMPLETE, FRAME_ZEROS } from '../core/status.ts'
import { type CorruptBatchFacts, describeCorruptBatch } from '../errors.ts'
import { findBatch } from '../log/batchSearch.ts'
import type { ByteSource } from '../log/byteSource.ts'
import { BatchCrc, cursorAtHeader } from '../log/largeBatch.ts'
import { Windows } from '../log/windows.ts'
import type { FramedBatch } from './batchLine.ts'
import { notesOf } from './batchNotes.ts'
import { BatchRecords } from './batchRecords.ts'
import { NO_LIMIT } from './dumpOptions.ts'
import type { DumpSession } from './dumpSession.ts'
import type { FileReport } from './fileReport.ts'
import { LastGood } from './lastGood.ts'

const WINDOW_SIZE = 2 * 1024 * 1024
/** Relative offsets have 31 bits, so no segment reaches farther. */
const LARGEST_RELATIVE_OFFSET = 2147483647n
/** Searches for the next batch may pass over a file so many times in all, and a little more where it is small. */
const SEARCH_PASSES = 4
const SEARCH_EXTRA = 64 * 1024 * 1024

/**
 * Prints a log. Where no batch can be read it says so, looks for the next one whose CRC is right, and goes on there.
 *
 * @param baseOffset the segment's; null where it is not known
 * @param name the file's, for the line about bytes at its end
 * @param windowSize bytes read at a time, at least a header's 61; a batch larger than this is never held as a whole unless
 *   its records are wanted
 */
export async function dumpLog(
  source: ByteSource,
  session: DumpSession,
  report: FileReport,
  baseOffset: bigint | null,
  name: string,
  windowSize = WINDOW_SIZE,
): Promise<void> {
  const dump = new LogDump(source, session, report, baseOffset, name, windowSize)
  try {
    await dump.run()
  } finally {
    await dump.close()
  }
}

class LogDump {
  readonly #session: DumpSession
  readonly #report: FileReport
  readonly #windows: Windows
  readonly #records: BatchRecords
  readonly #baseOffset: bigint | null
  readonly #name: string
  readonly #end: number
  readonly #isLimited: boolean
  readonly #budget: { bytes: number }
  #position = 0
  readonly #before = new LastGood()

  constructor(
    source: ByteSource,
    session: DumpSession,
    report: FileReport,
    baseOffset: bigint | null,
    name: string,
    windowSize: number,
  ) {
    const { maxBytes } = session.options
    this.#session = session
    this.#report = report
    this.#baseOffset = baseOffset
    this.#name = name
    this.#isLimited = maxBytes < NO_LIMIT
    this.#end = this.#isLimited ? Math.min(maxBytes, source.size) : source.size
    this.#windows = new Windows(session.core, source, windowSize, this.#end)
    this.#records = new BatchRecords(session, report)
    this.#budget = { bytes: this.#end * SEARCH_PASSES + SEARCH_EXTRA }
  }

  async run(): Promise<void> {
    while (this.#position < this.#end) {
      this.#session.signal?.throwIfAborted()
      const window = await this.#windows.at(this.#position)
      const left = this.#end - this.#position
      // Kafka does not look at fewer bytes than this either
      if (left <= layout.HEADER_SIZE_UP_TO_MAGIC) {
        this.#tail(window, left)
        return
      }
      const done = await this.#batches(window)
      if (done === 0) await this.#other(window, left)
      this.#position += done
    }
  }

  async close(): Promise<void> {
    await this.#windows.settled()
    this.#windows.free()
  }

  /** Prints the whole batches at the start of a window; returns how many bytes they are. */
  async #batches(window: Uint8Array): Promise<number> {
    const { corrupt, validBytes } = this.#session.core.verify(window)
    const faults = corrupt.values()
    let fault = faults.next().value
    const { isDeep, isExplained } = this.#session.options
    const isRead = isDeep || isExplained
    const cursor = new RecordSetCursor(window)
    for (; cursor.position < validBytes; cursor.advance()) {
      cursor.frame()
      const { position: at, size, magic } = cursor
      const position = this.#position + at
      const isValid = fault?.position !== at
      const batch = { view: cursor.view, at, position, size, magic, isValid }
      if (!isValid) {
        this.#invalid({ ...fault!, position })
        fault = faults.next().value
      }
      const pending = this.#print(batch, isRead ? window.subarray(at, at + size) : null)
      if (pending !== null) await pending
      if (this.#session.isFull) await this.#session.flush()
    }
    return validBytes
  }

  #print(batch: FramedBatch, bytes: Uint8Array | null): Promise<void> | null {
    const { format, options } = this.#session
    this.#report.batches++
    this.#report.validBytes += batch.size
    this.#before.note(batch)
    const notes = options.isExplained ? notesOf(batch, bytes) : null
    if (notes !== null && (notes.sourceProducerId ?? notes.barrier) !== null) this.#noteMapped()
    format.batch(batch, notes)
    const pending = options.isDeep ? this.#printRecords(batch, bytes) : null
    if (pending !== null) return pending.then(() => format.endBatch())
    format.endBatch()
    return null
  }

  /** Once, however many files are dumped. */
  #noteMapped(): void {
    const { mappedNote } = this.#session.options
    if (mappedNote === undefined || this.#session.hasNotedMapped) return
    this.#session.hasNotedMapped = true
    this.#report.note(mappedNote)
  }

  #printRecords(batch: FramedBatch, bytes: Uint8Array | null): Promise<void> | null {
    const { maxBatchBytes } = this.#session.options
    if (bytes !== null && bytes.length <= maxBatchBytes) return this.#records.print(batch, bytes)
    const { position, size, view, at } = batch
    const message =
      `records of the batch at byte ${position} (base offset ${view.getBigInt64(at)}): its ${size} bytes are more than ` +
      `the ${maxBatchBytes} that are taken into memory, so they are not shown; raise --max-batch-bytes`
    this.#report.finding('records', message, position)
    return null
  }

  #invalid(facts: CorruptBatchFacts): void {
    this.#report.finding('crc', describeCorruptBatch(facts), facts.position)
  }

  /** What to do where the window does not begin with a whole batch. */
  async #other(window: Uint8Array, left: number): Promise<void> {
    const cursor = new RecordSetCursor(window)
    const kind = cursor.frame()
    const size = layout.LOG_OVERHEAD + cursor.view.getInt32(layout.BATCH_LENGTH)
    const isZero = kind === FRAME_ZEROS || (size === layout.LOG_OVERHEAD && cursor.baseOffset === 0n)
    if (isZero) await this.#zeros()
    else if (kind !== FRAME_INCOMPLETE) {
      const fault = kind === FRAME_BAD_MAGIC ? `magic ${cursor.view.getInt8(layout.MAGIC)}` : `size ${size}`
      await this.#search(`its ${fault} cannot be`, this.#position + 1)
    } else if (size <= left) await this.#large(window, size)
    else if (this.#isLimited) this.#position = this.#end
    else await this.#cut(size, left)
  }

  /** A batch that no window holds: only its header is kept, and all of it where its records are wanted. */
  async #large(window: Uint8Array, size: number): Promise<void> {
    const { core, options } = this.#session
    const position = this.#position
    const cursor = cursorAtHeader(window.slice(0, layout.HEADER_SIZE), size)
    const crc = new BatchCrc(engineOf(core), cursor)
    const whole = options.isDeep && size <= options.maxBatchBytes ? new Uint8Array(size) : null
    for (let done = 0; done < size; ) {
      this.#session.signal?.throwIfAborted()
      const bytes = await this.#windows.at(position + done)
      const piece = bytes.subarray(0, Math.min(bytes.length, size - done))
      crc.update(piece)
      whole?.set(piece, done)
      done += piece.length
    }
    const { stored, computed } = crc
    const { baseOffset, view, magic } = cursor
    const isValid = stored === computed
    if (!isValid) this.#invalid({ position, baseOffset, reason: 'crc', stored, computed })
    await this.#print({ view, at: 0, position, size, magic, isValid }, whole)
    this.#position += size
  }

  /** Zeros from here on: of a preallocated file where nothing else follows. */
  async #zeros(): Promise<void> {
    const start = this.#position
    for (let position = start; position < this.#end; ) {
      const window = await this.#windows.at(position)
      const at = firstNonZero(window)
      if (at < window.length) {
        // the bytes of a base offset and of a length's upper half may be zeros too
        await this.#search('there are zeros', Math.max(start + 1, position + at - 11))
        return
      }
      position += window.length
    }
    if (!this.#isLimited) this.#noteZeros(this.#end - start)
    this.#position = this.#end
  }

  #noteZeros(count: number): void {
    this.#report.note(`${count} trailing zero bytes, looks preallocated`)
  }

  /** Too few bytes for a header. */
  #tail(window: Uint8Array, left: number): void {
    if (this.#isLimited) return
    this.#session.format.trailing(left, this.#name)
    if (firstNonZero(window) === left) this.#noteZeros(left)
    else this.#report.finding('trailing', `${left} bytes behind the last batch are none`, this.#position)
  }

  /** The last batch is cut, or its size is wrong. */
  async #cut(size: number, left: number): Promise<void> {
    const position = this.#position
    const found = await this.#find((this.#before.damaged ?? position) + 1)
    if (found !== null) {
      this.#skip(`its size ${size} reaches beyond the end of the file`, found)
      return
    }
    this.#session.format.trailing(left, this.#name)
    const message = `incomplete batch: wants ${size} bytes, has ${left} at position ${position}`
    this.#report.finding('trailing', message, position)
    this.#position = this.#end
  }

  async #search(fault: string, from: number): Promise<void> {
    const { damaged } = this.#before
    const found = await this.#find(damaged === null ? from : damaged + 1)
    if (found !== null) {
      this.#skip(fault, found)
      return
    }
    const left = this.#end - this.#position
    if (!this.#isLimited) this.#session.format.trailing(left, this.#name)
    const why =
      this.#budget.bytes === 0
        ? `there is too much damage to look for more, ${left} bytes are left`
        : `no further batch is found in the ${left} bytes that are left`
    this.#report.finding('unreadable', `${this.#describePlace(fault)}; ${why}`, this.#position)
    this.#position = this.#end
  }

  async #find(from: number): Promise<{ position: number; follows: boolean } | null> {
    return findBatch(
      this.#windows,
      this.#session.core,
      {
        from,
        lowestOffset: this.#before.nextOffset ?? this.#baseOffset,
        highestOffset: this.#baseOffset === null ? null : this.#baseOffset + LARGEST_RELATIVE_OFFSET,
      },
      this.#budget,
    )
  }

  #skip(fault: string, found: { position: number; follows: boolean }): void {
    const skipped = found.position - this.#position
    const how =
      skipped >= 0 ? `${skipped} bytes are skipped` : 'inside of the batch before, whose size must be wrong'
    const offsets = found.follows ? '' : ', though its offsets do not follow'
    const message = `${this.#describePlace(fault)}; the next is found at byte ${found.position}${offsets}: ${how}`
    this.#report.finding('unreadable', message, this.#position)
    this.#before.damaged = null
    this.#position = found.position
  }

  #describePlace(fault: string): string {
    return `no batch can be read at byte ${this.#position}: ${fault}; ${this.#before.describe()}`
  }
}

function firstNonZero(bytes: Uint8Array): number {
  let at = 0
  while (at < bytes.length && bytes[at] === 0) at++
  return at
}
