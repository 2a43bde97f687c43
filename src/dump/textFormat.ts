import type { RecordCursor } from '../formats/recordCursor.ts'
import type { OffsetIndexEntry } from '../log/offsetIndex.ts'
import type { ProducerSnapshotEntry } from '../log/producerSnapshot.ts'
import type { TimeIndexEntry } from '../log/timeIndex.ts'
import type { TransactionIndexEntry } from '../log/transactionIndex.ts'
import { BatchLines, type FramedBatch, timestampLabel } from './batchLine.ts'
import { type ControlReading, controlText, rawText } from './controlText.ts'
import type { BatchNotes, DecodedMessage, DumpFormat, LegacyRecord, LogHead } from './dumpFormat.ts'
import type { DumpOptions } from './dumpOptions.ts'
import { writeField } from './fieldDecoders.ts'
import { viewed, writeJavaUtf8 } from './javaUtf8.ts'
import type { RecordPlace } from './recordPlace.ts'
import { encoded, TextBuffer } from './textBuffer.ts'

const RECORD = encoded('| offset: ')
const KEY_SIZE = encoded(' keySize: ')
const VALUE_SIZE = encoded(' valueSize: ')
const SEQUENCE = encoded(' sequence: ')
const HEADER_KEYS = encoded(' headerKeys: [')
const HEADER_KEYS_END = encoded(']')
const COMMA = encoded(',')
const IS_VALID = encoded(' isValid: ')
const CRC = encoded(' crc: ')
const KEY = encoded(' key: ')
const PAYLOAD = encoded(' payload: ')
const KEY_ALONE = encoded('| key: ')
const PAYLOAD_ALONE = encoded('| payload: ')

/** The lines of Kafka's DumpLogSegments. */
export class TextFormat implements DumpFormat {
  readonly out = new TextBuffer()
  readonly #options: DumpOptions
  readonly #batchLines = new BatchLines()
  #label: Uint8Array = RECORD

  constructor(options: DumpOptions) {
    this.#options = options
  }

  begin(): void {}

  beginFile(path: string): void {
    this.#line(`Dumping ${path}`)
  }

  logHead(head: LogHead): void {
    if (head.kind === 'log') this.#line(`Log starting offset: ${head.baseOffset}`)
    else if (head.kind === 'bootstrap') this.#line('KRaft bootstrap snapshot')
    else this.#line(`Snapshot end offset: ${head.endOffset}, epoch: ${head.epoch}`)
  }

  batch(batch: FramedBatch, notes: BatchNotes | null): void {
    this.#batchLines.write(this.out, batch)
    if (notes !== null) this.#writeNotes(notes)
    this.out.newline()
    this.#label = timestampLabel(batch)
  }

  #writeNotes({ sourceProducerId, barrier }: BatchNotes): void {
    if (sourceProducerId !== null) this.out.string(` sourceProducerId: ${sourceProducerId}`)
    if (barrier === null) return
    const source = barrier.sourceClusterId === null ? '' : ` from cluster ${barrier.sourceClusterId}`
    this.out.string(` barrier: the producers mirrored${source} end here`)
  }

  record(place: RecordPlace, cursor: RecordCursor, message: DecodedMessage | null): void {
    const { skipsRecordMetadata, printsData } = this.#options
    if (!skipsRecordMetadata) this.#writeMetadata(place, cursor)
    if (printsData) {
      if (message === null) this.#writeContents(cursor, skipsRecordMetadata)
      else this.#writeMessage(message, skipsRecordMetadata)
    }
    this.out.newline()
  }

  controlRecord(place: RecordPlace, cursor: RecordCursor, reading: ControlReading): void {
    if (!this.#options.skipsRecordMetadata) {
      this.#writeMetadata(place, cursor)
      const key = slice(cursor.bytes, cursor.keyAt, cursor.keyLength)
      const value = slice(cursor.bytes, cursor.valueAt, cursor.valueLength)
      this.out.string(controlText(reading, key, value))
      const isUnknown = 'record' in reading && reading.record.name === 'UNKNOWN'
      if (this.#options.isExplained && isUnknown) this.out.string(` ${rawText(key, value)}`)
    }
    this.out.newline()
  }

  legacyRecord(place: RecordPlace, { key, value, isValid, crc }: LegacyRecord): void {
    const { out } = this
    const { skipsRecordMetadata, printsData, keyDecoder, valueDecoder } = this.#options
    if (!skipsRecordMetadata) {
      this.#writePlace(place)
      out.text(KEY_SIZE)
      out.integer(key?.length ?? -1)
      out.text(VALUE_SIZE)
      out.integer(value?.length ?? -1)
      out.text(IS_VALID)
      out.boolean(isValid)
      out.text(CRC)
      out.integer(crc)
    }
    if (printsData) {
      let isAlone = skipsRecordMetadata
      if (key !== null) {
        out.text(isAlone ? KEY_ALONE : KEY)
        writeField(out, keyDecoder, viewed(key), 0, key.length)
        isAlone = false
      }
      if (value !== null) {
        out.text(isAlone ? PAYLOAD_ALONE : PAYLOAD)
        writeField(out, valueDecoder, viewed(value), 0, value.length)
      }
    }
    out.newline()
  }

  #writePlace(place: RecordPlace): void {
    const { out } = this
    out.text(RECORD)
    if (place.wideOffset === null) out.integer(place.offset)
    else out.bigint(place.wideOffset)
    out.text(this.#label)
    if (place.wideTimestamp === null) out.integer(place.timestamp)
    else out.bigint(place.wideTimestamp)
  }

  #writeMetadata(place: RecordPlace, cursor: RecordCursor): void {
    const { out } = this
    this.#writePlace(place)
    out.text(KEY_SIZE)
    out.integer(Math.max(-1, cursor.keyLength))
    out.text(VALUE_SIZE)
    out.integer(Math.max(-1, cursor.valueLength))
    out.text(SEQUENCE)
    out.integer(place.sequence)
    out.text(HEADER_KEYS)
    for (let index = 0; cursor.nextHeader(); index++) {
      if (index > 0) out.text(COMMA)
      writeJavaUtf8(out, cursor, cursor.headerKeyAt, cursor.headerKeyLength)
    }
    out.text(HEADER_KEYS_END)
  }

  #writeContents(cursor: RecordCursor, isFirst: boolean): void {
    const { out } = this
    const { keyDecoder, valueDecoder } = this.#options
    let isAlone = isFirst
    if (cursor.keyLength >= 0) {
      out.text(isAlone ? KEY_ALONE : KEY)
      writeField(out, keyDecoder, cursor, cursor.keyAt, cursor.keyLength)
      isAlone = false
    }
    if (cursor.valueLength >= 0) {
      out.text(isAlone ? PAYLOAD_ALONE : PAYLOAD)
      writeField(out, valueDecoder, cursor, cursor.valueAt, cursor.valueLength)
    }
  }

  #writeMessage({ key, value }: DecodedMessage, isFirst: boolean): void {
    const { out } = this
    let isAlone = isFirst
    if (key !== null) {
      out.text(isAlone ? KEY_ALONE : KEY)
      out.string(key)
      isAlone = false
    }
    if (value !== null) {
      out.text(isAlone ? PAYLOAD_ALONE : PAYLOAD)
      out.string(value)
    }
  }

  endBatch(): void {}

  trailing(bytes: number, name: string): void {
    this.#line(`Found ${bytes} invalid bytes at the end of ${name}`)
  }

  indexEntry({ offset, position }: OffsetIndexEntry): void {
    this.#line(`offset: ${offset} position: ${position}`)
  }

  timeIndexEntry({ timestamp, offset }: TimeIndexEntry): void {
    this.#line(`timestamp: ${timestamp} offset: ${offset}`)
  }

  transaction(entry: TransactionIndexEntry): void {
    this.#line(
      `version: ${entry.version} producerId: ${entry.producerId} firstOffset: ${entry.firstOffset} ` +
        `lastOffset: ${entry.lastOffset} lastStableOffset: ${entry.lastStableOffset}`,
    )
  }

  producer(entry: ProducerSnapshotEntry): void {
    const { currentTxnFirstOffset: first, lastBatch } = entry
    const open = first === null ? 'OptionalLong.empty' : `OptionalLong[${first}]`
    const batch =
      lastBatch === null
        ? ''
        : ` firstSequence: ${lastBatch.firstSequence} lastSequence: ${lastBatch.lastSequence} ` +
          `lastOffset: ${lastBatch.lastOffset} offsetDelta: ${lastBatch.offsetDelta} timestamp: ${lastBatch.timestamp}`
    this.#line(
      `producerId: ${entry.producerId} producerEpoch: ${entry.producerEpoch} ` +
        `coordinatorEpoch: ${entry.coordinatorEpoch} currentTxnFirstOffset: ${open} ` +
        `lastTimestamp: ${entry.lastTimestamp}${batch}`,
    )
  }

  emptyIndex(path: string): void {
    this.#line(`${path} is empty.`)
  }

  passedSanityCheck(path: string): void {
    this.#line(`${path} passed sanity check.`)
  }

  endFile(): void {}

  end(): void {}

  #line(text: string): void {
    this.out.string(text)
    this.out.newline()
  }
}

function slice(bytes: Uint8Array, start: number, length: number): Uint8Array | null {
  return length < 0 ? null : bytes.subarray(start, start + length)
}
