import { MirrorPidError } from '../errors.ts'
import type { RecordCursor } from '../formats/recordCursor.ts'
import type { OffsetIndexEntry } from '../log/offsetIndex.ts'
import type { ProducerSnapshotEntry } from '../log/producerSnapshot.ts'
import type { TimeIndexEntry } from '../log/timeIndex.ts'
import type { TransactionIndexEntry } from '../log/transactionIndex.ts'
import type { FramedBatch } from './batchLine.ts'
import { type ControlReading, controlJson } from './controlText.ts'
import type { BatchNotes, DecodedMessage, DumpFormat, DumpKind, LegacyRecord, LogHead } from './dumpFormat.ts'
import type { DumpOptions } from './dumpOptions.ts'
import type { FileReport } from './fileReport.ts'
import type { Int64Pair } from './int64Pairs.ts'
import { batchFields, field, json, lossy, notesFields, placeFields, rawField, slice } from './jsonFields.ts'
import type { RecordPlace } from './recordPlace.ts'
import { TextBuffer } from './textBuffer.ts'

/** How the list of a file's contents is called, by what the file is. */
const LISTS: Record<DumpKind, string | null> = {
  log: 'batches',
  checkpoint: 'batches',
  index: 'entries',
  timeindex: 'entries',
  txnindex: 'entries',
  snapshot: 'entries',
  unknown: null,
}

/**
 * One JSON document that is written as the dump goes on: a line for each batch, record and entry. Without contents only
 * what is said of each file.
 */
export class JsonFormat implements DumpFormat {
  readonly out = new TextBuffer()
  readonly #options: DumpOptions
  readonly #hasContents: boolean
  #files = 0
  #list: string | null = null
  #entries = 0
  /** Of the open batch; -1 where none are shown, null where no batch is open. */
  #records: number | null = null
  #trailing = 0
  #sanity: 'passed' | 'empty' | null = null

  constructor(options: DumpOptions, hasContents = true) {
    this.#options = options
    this.#hasContents = hasContents
  }

  begin(): void {
    this.out.string('{"files":[')
  }

  beginFile(path: string, kind: DumpKind): void {
    this.out.string(`${this.#files++ === 0 ? '\n' : ',\n'}{"path":${JSON.stringify(path)},"kind":"${kind}"`)
    this.#list = LISTS[kind]
    this.#entries = 0
    this.#trailing = 0
    this.#sanity = null
  }

  logHead(head: LogHead): void {
    const { kind: _kind, ...fields } = head
    for (const [name, value] of Object.entries(fields)) this.out.string(`,"${name}":${json(value)}`)
  }

  batch(batch: FramedBatch, notes: BatchNotes | null): void {
    if (!this.#hasContents) return
    const fields = { ...batchFields(batch), ...notesFields(notes) }
    this.#separate()
    // left open for its records
    this.out.string(json(fields).slice(0, -1))
    this.#records = this.#options.isDeep ? 0 : -1
    if (this.#records === 0) this.out.string(',"records":[')
  }

  record(place: RecordPlace, cursor: RecordCursor, message: DecodedMessage | null): void {
    if (!this.#hasContents) return
    this.#writeRecord({ ...this.#metadata(place, cursor), ...this.#contents(cursor, message) })
  }

  controlRecord(place: RecordPlace, cursor: RecordCursor, reading: ControlReading): void {
    if (!this.#hasContents) return
    const { bytes, keyAt, keyLength, valueAt, valueLength } = cursor
    const isKnown = 'record' in reading && reading.record.name !== 'UNKNOWN'
    const raw = { key: rawField(bytes, keyAt, keyLength), value: rawField(bytes, valueAt, valueLength) }
    const control =
      'record' in reading
        ? { type: reading.record.type, ...nameAndFields(reading), ...(isKnown ? {} : raw) }
        : { type: reading.type, fault: reading.fault, ...raw }
    this.#writeRecord({ ...this.#metadata(place, cursor), control })
  }

  legacyRecord(place: RecordPlace, { key, value, isValid, crc }: LegacyRecord): void {
    if (!this.#hasContents) return
    const { printsData, skipsRecordMetadata, keyDecoder, valueDecoder } = this.#options
    const metadata = skipsRecordMetadata
      ? {}
      : { ...placeFields(place), keySize: key?.length ?? -1, valueSize: value?.length ?? -1, isValid, crc }
    const contents = printsData
      ? { ...field('key', keyDecoder, key), ...field('value', valueDecoder, value) }
      : {}
    this.#writeRecord({ ...metadata, ...contents })
  }

  #metadata(place: RecordPlace, cursor: RecordCursor): Record<string, unknown> {
    if (this.#options.skipsRecordMetadata) return {}
    const headerKeys: string[] = []
    while (cursor.nextHeader()) {
      const { headerKeyAt, headerKeyLength } = cursor
      headerKeys.push(lossy.decode(cursor.bytes.subarray(headerKeyAt, headerKeyAt + headerKeyLength)))
    }
    return {
      ...placeFields(place),
      keySize: Math.max(-1, cursor.keyLength),
      valueSize: Math.max(-1, cursor.valueLength),
      sequence: place.sequence,
      headerKeys,
    }
  }

  #contents(cursor: RecordCursor, message: DecodedMessage | null): Record<string, unknown> {
    const { printsData, keyDecoder, valueDecoder } = this.#options
    if (!printsData) return {}
    if (message !== null) return { ...message }
    const { bytes, keyAt, keyLength, valueAt, valueLength } = cursor
    return {
      ...field('key', keyDecoder, slice(bytes, keyAt, keyLength)),
      ...field('value', valueDecoder, slice(bytes, valueAt, valueLength)),
    }
  }

  #writeRecord(record: Record<string, unknown>): void {
    const records = this.#records ?? 0
    this.out.string(records === 0 ? '\n' : ',\n')
    this.#records = records + 1
    this.out.string(json(record))
  }

  endBatch(): void {
    if (this.#records === null) return
    this.out.string(this.#records >= 0 ? ']}' : '}')
    this.#records = null
  }

  trailing(bytes: number): void {
    this.#trailing = bytes
  }

  indexEntry(entry: OffsetIndexEntry): void {
    this.#writeEntry(entry)
  }

  timeIndexEntry(entry: TimeIndexEntry): void {
    this.#writeEntry(entry)
  }

  transaction(entry: TransactionIndexEntry): void {
    this.#writeEntry(entry)
  }

  producer(entry: ProducerSnapshotEntry): void {
    this.#writeEntry(entry)
  }

  #writeEntry(entry: object): void {
    if (!this.#hasContents) return
    this.#separate()
    this.out.string(json(entry))
  }

  /** Begins the list of the file's contents with its first entry. */
  #separate(): void {
    this.out.string(this.#entries++ === 0 ? `,"${this.#list}":[\n` : ',\n')
  }

  emptyIndex(): void {
    this.#sanity = 'empty'
  }

  passedSanityCheck(): void {
    this.#sanity = 'passed'
  }

  endFile(report: FileReport): void {
    const { out } = this
    // the system may have failed inside of a batch
    this.endBatch()
    if (this.#entries > 0) out.string(']')
    else if (this.#list !== null && this.#hasContents) out.string(`,"${this.#list}":[]`)
    if (this.#list === 'batches') {
      const { batches, validBytes } = report
      out.string(`,"batchCount":${batches},"validBytes":${validBytes},"trailingBytes":${this.#trailing}`)
    }
    if (this.#sanity === 'passed') out.string(',"sanityCheck":"passed"')
    this.#pairs('mismatches', report.mismatches.sorted('descending'), 'indexOffset', 'logOffset')
    this.#pairs('timestampMismatches', report.timestampMismatches.inOrder(), 'indexTimestamp', 'logTimestamp')
    this.#pairs(
      'outOfOrderTimestamps',
      report.outOfOrderTimestamps.inOrder(),
      'indexTimestamp',
      'previousTimestamp',
    )
    this.#pairs('offsetsNotFound', report.offsetsNotFound.inOrder(), 'indexedOffset', 'logOffset')
    this.#pairs('nonConsecutiveOffsets', report.gaps.pairs.sorted('ascending'), 'offset', 'next')
    out.string(`,"findings":${json(report.findings)},"findingCount":${report.findingCount}`)
    out.string(`,"notes":${json(report.notes)}}`)
  }

  #pairs(list: string, pairs: Iterable<Int64Pair>, first: string, second: string): void {
    let count = 0
    for (const [a, b] of pairs) {
      this.out.string(count++ === 0 ? `,"${list}":[` : ',')
      this.out.string(`{"${first}":"${a}","${second}":"${b}"}`)
    }
    if (count > 0) this.out.string(']')
  }

  end(findingCount: number, errors: readonly Error[]): void {
    const facts = errors.map((error) =>
      MirrorPidError.is(error) ? error : { name: error.name, message: error.message },
    )
    this.out.string(`\n],"findingCount":${findingCount},"errors":${json(facts)}}\n`)
  }
}

function nameAndFields(reading: Extract<ControlReading, { record: unknown }>): Record<string, unknown> {
  return { name: reading.record.name, ...controlJson(reading.record) }
}
