import { newCounts } from '../../core/batchChecks.ts'
import type { Core } from '../../core/core.ts'
import { CURRENT_MAGIC, LAST_OFFSET_DELTA } from '../../core/layout.ts'
import { RecordSetCursor } from '../../core/recordSetCursor.ts'
import type { CorruptBatchFacts } from '../../errors.ts'
import type { BatchWork, WholeBatches } from '../../log/batchStream.ts'
import { PassingBatch } from '../../log/largeBatch.ts'
import type { BatchTaker } from './batchTaker.ts'

/** How far a log was passed, where its files overlap: what stands before that is there a second time. */
export interface PassedOffsets {
  next: bigint
}

/** Gives the batches of a stream to an audit. Those with a wrong CRC are left out: no field of their headers is sure. */
export class AuditWork implements BatchWork {
  readonly counts = newCounts()
  readonly readsPieces = true
  readonly #core: Core
  readonly #taker: BatchTaker
  readonly #onDamage: (facts: CorruptBatchFacts) => void
  readonly #passed: PassedOffsets | null
  #passing: PassingBatch | null = null

  /**
   * @param onDamage told of each batch that is left out; positions are those in the stream
   * @param passed to leave out what an earlier file holds as well; null where files do not overlap
   */
  constructor(
    core: Core,
    taker: BatchTaker,
    onDamage: (facts: CorruptBatchFacts) => void,
    passed: PassedOffsets | null = null,
  ) {
    this.#core = core
    this.#taker = taker
    this.#onDamage = onDamage
    this.#passed = passed
  }

  wholeBatches(bytes: Uint8Array, position: number): WholeBatches {
    const { validBytes, trailing, corrupt } = this.#core.verify(bytes)
    const faults = corrupt.values()
    let fault = faults.next().value
    const cursor = new RecordSetCursor(bytes)
    for (; cursor.position < validBytes; cursor.advance()) {
      cursor.frame()
      this.counts.batches++
      if (fault?.position === cursor.position) {
        this.#damaged(fault, position)
        fault = faults.next().value
      } else if (!this.#isLeftOut(cursor)) {
        this.#taker.framed(cursor.view, cursor.position, cursor.size, cursor.magic)
      }
    }
    if (fault === undefined) return { validBytes, trailing }
    this.#damaged(fault, position)
    return { validBytes, trailing: null }
  }

  beginLarge(header: Uint8Array, position: number, size: number): void {
    this.counts.batches++
    this.#passing = new PassingBatch(this.#core, header, position, size)
  }

  largePiece(bytes: Uint8Array): void {
    this.#passing?.update(bytes)
  }

  endLarge(): void {
    if (this.#passing === null) return
    const { cursor, fault } = this.#passing
    this.#passing = null
    if (fault !== null) {
      this.#damaged(fault, 0)
    } else if (!this.#isLeftOut(cursor)) {
      this.#taker.framed(cursor.view, 0, cursor.size, cursor.magic)
    }
  }

  unreadable(facts: CorruptBatchFacts): void {
    this.#damaged(facts, 0)
  }

  #isLeftOut(cursor: RecordSetCursor): boolean {
    if (this.#passed === null) return false
    const { view, position, magic, baseOffset } = cursor
    const delta = magic === CURRENT_MAGIC ? view.getInt32(position + LAST_OFFSET_DELTA) : 0
    const nextOffset = baseOffset + BigInt(delta) + 1n
    if (nextOffset <= this.#passed.next) return true
    this.#passed.next = nextOffset
    return false
  }

  #damaged(facts: CorruptBatchFacts, position: number): void {
    this.#taker.damaged()
    this.#onDamage({ ...facts, position: facts.position + position })
  }
}
