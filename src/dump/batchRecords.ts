import { MalformedBytes } from '../bytes/byteReader.ts'
import { engineOf } from '../core/crcEngine.ts'
import * as layout from '../core/layout.ts'
import { MirrorPidError } from '../errors.ts'
import type { Decompress } from '../formats/compression/codec.ts'
import { parseLegacyRecord, parseWrappedRecords, wrappedBytes } from '../formats/legacyRecords.ts'
import { crcFault, RecordBatch } from '../formats/recordBatch.ts'
import { recordBatches } from '../formats/recordBatches.ts'
import { RecordCursor } from '../formats/recordCursor.ts'
import { attributesOf, type FramedBatch } from './batchLine.ts'
import { readControl } from './controlText.ts'
import type { DumpSession } from './dumpSession.ts'
import { numberSize } from './fieldDecoders.ts'
import type { FileReport } from './fileReport.ts'
import { RecordPlace } from './recordPlace.ts'

const CODEC_MASK = 0x07
/** What a damaged batch may meet; anything else is a fault of ours. */
const FINDINGS: readonly string[] = [
  'INVALID_RECORD',
  'DECOMPRESSION_LIMIT',
  'CORRUPT_BATCH',
  'OUT_OF_MEMORY',
]

/** Prints the records of batches. What cannot be read ends its batch and is a finding. */
export class BatchRecords {
  readonly #session: DumpSession
  readonly #report: FileReport
  readonly #place = new RecordPlace()

  constructor(session: DumpSession, report: FileReport) {
    this.#session = session
    this.#report = report
  }

  /** @returns a promise only where something has to be waited for */
  print(batch: FramedBatch, bytes: Uint8Array): Promise<void> | null {
    try {
      const { options } = this.#session
      const codec = attributesOf(batch) & CODEC_MASK
      const isLegacy = batch.magic !== layout.CURRENT_MAGIC
      const count = isLegacy ? 1 : batch.view.getInt32(batch.at + layout.RECORDS_COUNT)
      if (count === 0) return null
      if (codec === 0) return this.#plain(batch, bytes, count)
      const decompress = options.codecs(codec)
      if (!(decompress instanceof Promise)) return this.#compressed(batch, bytes, count, decompress)
      return this.#whenLoaded(batch, bytes, count, decompress)
    } catch (error) {
      this.#note(batch, error)
      return null
    }
  }

  async #whenLoaded(
    batch: FramedBatch,
    bytes: Uint8Array,
    count: number,
    codec: Promise<Decompress>,
  ): Promise<void> {
    try {
      await this.#compressed(batch, bytes, count, await codec)
    } catch (error) {
      this.#note(batch, error)
    }
  }

  #plain(batch: FramedBatch, bytes: Uint8Array, count: number): Promise<void> | null {
    if (batch.magic !== layout.CURRENT_MAGIC) return this.#legacy(batch, bytes, null)
    return this.#walk(batch, new RecordCursor(bytes.subarray(layout.HEADER_SIZE), count))
  }

  #compressed(
    batch: FramedBatch,
    bytes: Uint8Array,
    count: number,
    decompress: Decompress,
  ): Promise<void> | null {
    const limits = { maxBytes: this.#session.options.maxBatchBytes, magic: batch.magic as 0 | 1 | 2 }
    if (batch.magic !== layout.CURRENT_MAGIC) {
      const wrapper = new RecordBatch(bytes, batch.position, batch.magic)
      return this.#legacy(batch, bytes, decompress(wrappedBytes(wrapper), limits))
    }
    return this.#walk(batch, new RecordCursor(decompress(bytes.subarray(layout.HEADER_SIZE), limits), count))
  }

  #walk(batch: FramedBatch, cursor: RecordCursor): Promise<void> | null {
    this.#place.begin(batch)
    return this.#walkSome(batch, cursor) ? null : this.#walkOn(batch, cursor)
  }

  async #walkOn(batch: FramedBatch, cursor: RecordCursor): Promise<void> {
    do await this.#session.flush()
    while (!this.#walkSome(batch, cursor))
  }

  /** @returns false when the text should be handed on before more is made */
  #walkSome(batch: FramedBatch, cursor: RecordCursor): boolean {
    const isControl = (attributesOf(batch) & layout.CONTROL_FLAG) !== 0
    try {
      while (cursor.next()) {
        this.#place.move(cursor)
        this.#report.gaps.note(this.#place)
        if (isControl) this.#control(batch, cursor)
        else this.#record(batch, cursor)
        if (this.#session.isFull) return false
      }
    } catch (error) {
      this.#note(batch, error)
    }
    return true
  }

  #record(batch: FramedBatch, cursor: RecordCursor): void {
    const { format, options } = this.#session
    const { messageDecoder, printsData } = options
    if (!printsData) {
      format.record(this.#place, cursor, null)
    } else if (messageDecoder === null) {
      this.#checkNumbers(batch, cursor)
      format.record(this.#place, cursor, null)
    } else {
      const key = slice(cursor.bytes, cursor.keyAt, cursor.keyLength)
      const value = slice(cursor.bytes, cursor.valueAt, cursor.valueLength)
      const message = messageDecoder.decode(key, value, this.#place.exactOffset)
      if (message === null) this.#fault(batch, 'it has no key, which the decoder needs')
      format.record(this.#place, cursor, message ?? { key: null, value: null })
    }
  }

  #checkNumbers(batch: FramedBatch, { keyLength, valueLength }: RecordCursor): void {
    const { keyDecoder, valueDecoder } = this.#session.options
    if (keyLength >= 0 && keyLength < numberSize(keyDecoder)) {
      this.#fault(batch, `its key has ${keyLength} bytes, too few for ${keyDecoder}`)
    }
    if (valueLength >= 0 && valueLength < numberSize(valueDecoder)) {
      this.#fault(batch, `its value has ${valueLength} bytes, too few for ${valueDecoder}`)
    }
  }

  #control(batch: FramedBatch, cursor: RecordCursor): void {
    const key = slice(cursor.bytes, cursor.keyAt, cursor.keyLength)
    const value = slice(cursor.bytes, cursor.valueAt, cursor.valueLength)
    const reading = readControl(key, value)
    if ('fault' in reading) {
      const message = `control record at offset ${this.#place.exactOffset}: ${reading.fault}`
      this.#report.finding('control', message, batch.position)
    }
    this.#session.format.controlRecord(this.#place, cursor, reading)
  }

  /** Entries inside of another are few: they are not handed on in between. */
  #legacy(batch: FramedBatch, bytes: Uint8Array, decompressed: Uint8Array | null): null {
    const outer = new RecordBatch(bytes, batch.position, batch.magic)
    const entries = decompressed === null ? [outer] : recordBatches(decompressed)
    const records =
      decompressed === null ? [parseLegacyRecord(outer)] : parseWrappedRecords(outer, decompressed)
    const engine = engineOf(this.#session.core)
    for (const entry of entries) {
      const record = records.shift()
      if (record === undefined) break
      this.#place.moveTo(record.offset, record.timestamp)
      this.#report.gaps.note(this.#place)
      const isValid = crcFault(entry, engine) === null
      this.#session.format.legacyRecord(this.#place, { ...record, isValid, crc: entry.crc })
    }
    return null
  }

  #fault(batch: FramedBatch, fault: string): void {
    this.#report.finding('records', `record at offset ${this.#place.exactOffset}: ${fault}`, batch.position)
  }

  #note(batch: FramedBatch, error: unknown): void {
    const isFinding =
      error instanceof MalformedBytes || (MirrorPidError.is(error) && FINDINGS.includes(error.code))
    if (!isFinding) throw error
    const baseOffset = batch.view.getBigInt64(batch.at)
    const message = `records of the batch at byte ${batch.position} (base offset ${baseOffset}): ${error.message}`
    this.#report.finding('records', message, batch.position)
  }
}

function slice(bytes: Uint8Array, start: number, length: number): Uint8Array | null {
  return length < 0 ? null : bytes.subarray(start, start + length)
}
