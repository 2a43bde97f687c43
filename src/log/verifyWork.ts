import { classify, newCounts } from '../core/batchChecks.ts'
import type { Core, VerifyReport } from '../core/core.ts'
import { CURRENT_MAGIC, LAST_OFFSET_DELTA } from '../core/layout.ts'
import { RecordSetCursor } from '../core/recordSetCursor.ts'
import type { CorruptBatchFacts } from '../errors.ts'
import type { BatchWork, WholeBatches } from './batchStream.ts'
import { addCounts } from './counts.ts'
import { PassingBatch } from './largeBatch.ts'

/**
 * Verifies the windows of a stream: what `core.verify` checks, and the offsets, by the rule of Kafka's UnifiedLog when
 * it appends: the last offset of each batch is above that of the batch before. A batch is listed once; one with a wrong
 * CRC is not asked for its offsets, since the delta may be what is damaged.
 */
export class VerifyWork implements BatchWork {
  readonly counts: VerifyReport = { ...newCounts(), corrupt: [] }
  readonly readsPieces = true
  readonly #core: Core
  readonly #baseOffset: bigint | null
  #lastOffset: bigint | null = null
  #passing: PassingBatch | null = null

  /** @param baseOffset the segment's: no batch goes below it; null where it is not known */
  constructor(core: Core, baseOffset: bigint | null) {
    this.#core = core
    this.#baseOffset = baseOffset
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
      } else {
        this.#checkOffsets(cursor, position)
      }
    }
    if (next === undefined) return report
    this.#note(next, position)
    return { validBytes, trailing: null }
  }

  beginLarge(header: Uint8Array, position: number, size: number): void {
    this.#passing = new PassingBatch(this.#core, header, position, size)
    classify(this.#passing.cursor, this.counts, 'map')
  }

  largePiece(bytes: Uint8Array): void {
    this.#passing?.update(bytes)
  }

  endLarge(): void {
    if (this.#passing === null) return
    const { position, cursor, fault } = this.#passing
    if (fault === null) this.#checkOffsets(cursor, position)
    else this.#note(fault, 0)
    this.#passing = null
  }

  unreadable(facts: CorruptBatchFacts): void {
    this.#note(facts, 0)
  }

  #note(facts: CorruptBatchFacts, position: number): void {
    this.counts.corrupt.push({ ...facts, position: facts.position + position })
  }

  #checkOffsets(cursor: RecordSetCursor, position: number): void {
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
    if (isInOrder) return
    const at = cursor.position
    this.#note({ position: at, baseOffset, reason: 'offset', stored: null, computed: null }, position)
  }
}
