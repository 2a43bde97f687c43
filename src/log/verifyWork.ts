import { classify, newCounts } from '../core/batchChecks.ts'
import type { Core, VerifyReport } from '../core/core.ts'
import { CURRENT_MAGIC, LAST_OFFSET_DELTA } from '../core/layout.ts'
import { RecordSetCursor } from '../core/recordSetCursor.ts'
import type { CorruptBatchFacts } from '../errors.ts'
import type { RecordsCheck } from '../formats/recordsCheck.ts'
import type { BatchWork, WholeBatches } from './batchStream.ts'
import { addCounts } from './counts.ts'
import { BatchGatherer, PassingBatch } from './largeBatch.ts'

/**
 * Verifies the windows of a stream: what `core.verify` checks, and the offsets, by the rule of Kafka's UnifiedLog when
 * it appends: the last offset of each batch is above that of the batch before. A batch is listed once; one with a wrong
 * CRC is not asked for its offsets, since the delta may be what is damaged, nor one with wrong offsets for its records.
 */
export class VerifyWork implements BatchWork {
  readonly counts: VerifyReport = { ...newCounts(), corrupt: [] }
  readonly readsPieces = true
  readonly #core: Core
  readonly #baseOffset: bigint | null
  readonly #records: RecordsCheck | null
  #lastOffset: bigint | null = null
  #passing: PassingBatch | null = null
  /** Holds all of that batch, where its records are looked at. */
  readonly #gatherer = new BatchGatherer()

  /**
   * @param baseOffset the segment's: no batch goes below it; null where it is not known
   * @param records looks at the records of magic 2 too; null where nothing does
   */
  constructor(core: Core, baseOffset: bigint | null, records: RecordsCheck | null = null) {
    this.#core = core
    this.#baseOffset = baseOffset
    this.#records = records
  }

  wholeBatches(bytes: Uint8Array, position: number): WholeBatches {
    const report = this.#core.verify(bytes)
    const { validBytes } = report
    addCounts(this.counts, report)
    const corrupt = report.corrupt.values()
    let next = corrupt.next().value
    const cursor = new RecordSetCursor(bytes.subarray(0, validBytes))
    for (; cursor.position < validBytes; cursor.advance()) {
      cursor.frame()
      if (next?.position === cursor.position) {
        this.#note(next, position)
        next = corrupt.next().value
      } else if (this.#checkOffsets(cursor, position) && this.#wantsRecords(cursor)) {
        const { position: at, size } = cursor
        this.#checkRecords(cursor, bytes.subarray(at, at + size), position + at)
      }
    }
    if (next === undefined) return report
    this.#note(next, position)
    return { validBytes, trailing: null }
  }

  beginLarge(header: Uint8Array, position: number, size: number): void {
    this.#passing = new PassingBatch(this.#core, header, position, size)
    const { cursor } = this.#passing
    classify(cursor, this.counts, 'map')
    if (this.#wantsRecords(cursor) && this.#records!.takes(size)) this.#gatherer.begin(size)
  }

  largePiece(bytes: Uint8Array): void {
    this.#passing?.update(bytes)
    this.#gatherer.update(bytes)
  }

  endLarge(): void {
    if (this.#passing === null) return
    const { position, cursor, fault } = this.#passing
    const bytes = this.#gatherer.end()
    if (fault !== null) this.#note(fault, 0)
    else if (this.#checkOffsets(cursor, position) && this.#wantsRecords(cursor)) {
      this.#checkRecords(cursor, bytes, position)
    }
    this.#passing = null
  }

  unreadable(facts: CorruptBatchFacts): void {
    this.#note(facts, 0)
  }

  #note(facts: CorruptBatchFacts, position: number): void {
    this.counts.corrupt.push({ ...facts, position: facts.position + position })
  }

  #wantsRecords({ magic }: RecordSetCursor): boolean {
    return this.#records !== null && magic === CURRENT_MAGIC
  }

  /** @param bytes the batch; null where it is too large to be taken into memory */
  #checkRecords({ baseOffset, size }: RecordSetCursor, bytes: Uint8Array | null, position: number): void {
    const fault = bytes === null ? this.#records!.tooLarge(size) : this.#records!.faultOf(bytes)
    if (fault === null) return
    this.#note({ position, baseOffset, reason: 'records', stored: null, computed: null, fault }, 0)
  }

  /** @returns whether they are fine */
  #checkOffsets(cursor: RecordSetCursor, position: number): boolean {
    const { baseOffset } = cursor
    // an entry of magic 0 or 1 holds its last offset there
    const delta =
      cursor.magic === CURRENT_MAGIC ? cursor.view.getInt32(cursor.position + LAST_OFFSET_DELTA) : 0
    const lastOffset = baseOffset + BigInt(delta)
    const isInOrder =
      delta >= 0 &&
      (this.#baseOffset === null || baseOffset >= this.#baseOffset) &&
      (this.#lastOffset === null || lastOffset > this.#lastOffset)
    this.#lastOffset = lastOffset
    if (isInOrder) return true
    const at = cursor.position
    this.#note({ position: at, baseOffset, reason: 'offset', stored: null, computed: null }, position)
    return false
  }
}
