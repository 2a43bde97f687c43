import { isOpen } from './appendRules.ts'
import type { BatchHeader } from './batchHeader.ts'
import { highOf, isMirrored, lowOf, toBigInt, unmappedHigh, unmappedLow } from './int64.ts'
import {
  COORDINATOR_EPOCH,
  copyWithoutBatches,
  FIRST_OFFSET_HIGH,
  FIRST_OFFSET_LOW,
  LAST_SEQUENCE,
  mergeRow,
  OFFSET_DELTA,
  PRODUCER_ID_HIGH,
  PRODUCER_ID_LOW,
  setEpoch,
  setLastTimestamp,
  setMarkerOffset,
  setTransaction,
  TIMESTAMP_HIGH,
  TIMESTAMP_LOW,
  TXN_FIRST_OFFSET_HIGH,
  TXN_FIRST_OFFSET_LOW,
  TXN_MOVED,
  TXN_NONE,
  TXN_OPEN,
  TXN_STATE,
  takeBatch,
} from './producerRow.ts'
import { producerIdOf, transactionFirstOffsetOf } from './producerStateEntry.ts'
import { ProducerTable } from './producerTable.ts'
import { type CompletedTransaction, Transactions } from './transactions.ts'
import { UndoLog } from './undoLog.ts'

/** What a barrier has done. */
export interface Expired {
  producers: number
  transactions: number
}

/**
 * The state itself and all that changes it; what may be changed has been checked before. An append of one batch works on
 * the producers' rows; one of several on rows of its own (`staged`), which are added to the state at its end, as Kafka's
 * ProducerAppendInfo does: epochs that go up and down within an append leave another window than one by one.
 */
export class ProducerUpdates {
  readonly #undo = new UndoLog()
  readonly producers = new ProducerTable(this.#undo)
  readonly transactions = new Transactions(this.#undo)
  readonly #staged = new ProducerTable()
  #started: { producerId: bigint; firstOffset: bigint }[] = []
  #completed: (CompletedTransaction & { alsoUnder: bigint | null })[] = []

  /** Called before an append of several batches changes anything for good. */
  protect(): void {
    this.#undo.begin()
  }

  /** The table that an append works on. */
  table(isStaged: boolean): ProducerTable {
    return isStaged ? this.#staged : this.producers
  }

  /** The row of a producer in the staged append, a copy of its entry without batches if there is one; or -1. */
  stagedRow(idHigh: number, idLow: number): number {
    const staged = this.#staged.find(idHigh, idLow)
    const row = staged < 0 ? this.producers.find(idHigh, idLow) : -1
    if (row < 0) return staged
    const copy = this.#staged.add(idHigh, idLow)
    const { producers } = this
    copyWithoutBatches(
      producers.words(row),
      producers.start(row),
      this.#staged.words(copy),
      this.#staged.start(copy),
    )
    return copy
  }

  /** A data batch. `row` is the producer's in the table, or -1. */
  data(table: ProducerTable, knownRow: number, header: BatchHeader): void {
    const { baseOffsetHigh, baseOffsetLow } = header
    const row = knownRow < 0 ? table.add(header.producerIdHigh, header.producerIdLow) : knownRow
    const words = table.words(row)
    const start = table.start(row)
    setEpoch(words, start, header.producerEpoch)
    const batch = takeBatch(words, start)
    words[batch + LAST_SEQUENCE] = header.lastSequence
    words[batch + OFFSET_DELTA] = header.lastOffsetDelta
    words[batch + FIRST_OFFSET_HIGH] = baseOffsetHigh
    words[batch + FIRST_OFFSET_LOW] = baseOffsetLow
    words[batch + TIMESTAMP_HIGH] = header.maxTimestampHigh
    words[batch + TIMESTAMP_LOW] = header.maxTimestampLow
    setLastTimestamp(words, start, header.maxTimestampHigh, header.maxTimestampLow)
    if (header.isTransactional && words[start + TXN_STATE] !== TXN_OPEN) {
      setTransaction(words, start, baseOffsetHigh, baseOffsetLow)
      this.#started.push({ producerId: header.producerId, firstOffset: header.baseOffset })
    }
  }

  /** A COMMIT or ABORT marker. */
  marker(
    table: ProducerTable,
    knownRow: number,
    header: BatchHeader,
    marker: { isAborted: boolean; coordinatorEpoch: number; timestamp: bigint },
  ): void {
    const row = knownRow < 0 ? table.add(header.producerIdHigh, header.producerIdLow) : knownRow
    const words = table.words(row)
    const start = table.start(row)
    // A marker without records changes no reader's view: no transaction is completed.
    if (words[start + TXN_STATE] === TXN_OPEN) {
      const firstOffset = transactionFirstOffsetOf(words, start)
      // now: the local producer may begin another one in the same append
      const alsoUnder = this.#leaveHome(table, header.producerIdHigh, header.producerIdLow, firstOffset)
      const { producerId, baseOffset: lastOffset } = header
      this.#completed.push({ producerId, firstOffset, lastOffset, isAborted: marker.isAborted, alsoUnder })
    }
    this.#endMarker(table, row, header, marker)
  }

  /** What a marker leaves in the row, which a row that was staged meanwhile may have moved. */
  #endMarker(
    table: ProducerTable,
    row: number,
    header: BatchHeader,
    marker: { coordinatorEpoch: number; timestamp: bigint },
  ): void {
    const words = table.words(row)
    const start = table.start(row)
    setEpoch(words, start, header.producerEpoch)
    words[start + COORDINATOR_EPOCH] = marker.coordinatorEpoch
    words[start + TXN_STATE] = TXN_NONE
    setMarkerOffset(words, start, header.baseOffsetHigh, header.baseOffsetLow)
    setLastTimestamp(words, start, highOf(marker.timestamp), lowOf(marker.timestamp))
  }

  /** An emptied control batch: it makes its producer known, and nothing more. */
  touch(table: ProducerTable, row: number, header: BatchHeader): void {
    if (row >= 0) return
    const added = table.add(header.producerIdHigh, header.producerIdLow)
    setMarkerOffset(table.words(added), table.start(added), header.baseOffsetHigh, header.baseOffsetLow)
  }

  /** Ends an append. */
  end(): void {
    this.#commit()
    this.#undo.forget()
  }

  /** An append is refused: nothing has changed. */
  refuse(): void {
    this.#discard()
    this.#undo.undo()
  }

  /** What is staged joins the state, then transactions start, then they end. */
  #commit(): void {
    const staged = this.#staged
    // Backwards: Java's map puts what computeIfAbsent adds before the rest of its bucket, and snapshots show its order.
    for (let row = staged.size - 1; row >= 0; row--) {
      const words = staged.words(row)
      const start = staged.start(row)
      const idHigh = words[start + PRODUCER_ID_HIGH]!
      const idLow = words[start + PRODUCER_ID_LOW]!
      const known = this.producers.find(idHigh, idLow)
      const target = known < 0 ? this.producers.add(idHigh, idLow) : known
      this.producers.change(target)
      mergeRow(words, start, this.producers.words(target), this.producers.start(target))
    }
    if (this.#started.length > 0) {
      for (const { producerId, firstOffset } of this.#started) {
        this.transactions.start(producerId, firstOffset)
      }
    }
    if (this.#completed.length > 0) {
      for (const completed of this.#completed) {
        this.transactions.complete(completed, completed.alsoUnder)
      }
    }
    this.#discard()
  }

  #discard(): void {
    if (this.#staged.size > 0) this.#staged.clear()
    if (this.#started.length > 0) this.#started = []
    if (this.#completed.length > 0) this.#completed = []
  }

  /**
   * Whether a mirrored id continues the open transaction of the local producer that it stands for (rule R3). The mapped
   * id must have none open itself.
   */
  isOpenAtHome(idHigh: number, idLow: number): boolean {
    if (!isMirrored(idHigh, idLow)) return false
    const homeHigh = unmappedHigh(idHigh, idLow)
    const homeLow = unmappedLow(idLow)
    const staged = this.#staged.find(homeHigh, homeLow)
    return staged < 0
      ? isOpen(this.producers, this.producers.find(homeHigh, homeLow))
      : isOpen(this.#staged, staged)
  }

  /** Rule R3: the open transaction of the local producer goes on under its mapped id. Ends what is staged. */
  comeHome(idHigh: number, idLow: number): void {
    this.#commit()
    const { producers } = this
    const known = producers.find(idHigh, idLow)
    const mapped = known < 0 ? producers.add(idHigh, idLow) : known
    const home = producers.find(unmappedHigh(idHigh, idLow), unmappedLow(idLow))
    producers.change(mapped)
    producers.change(home)
    const words = producers.words(home)
    const start = producers.start(home)
    const high = words[start + TXN_FIRST_OFFSET_HIGH]!
    const low = words[start + TXN_FIRST_OFFSET_LOW]!
    words[start + TXN_STATE] = TXN_MOVED
    setTransaction(producers.words(mapped), producers.start(mapped), high, low)
    this.transactions.move(toBigInt(high, low), producerIdOf(words, start), toBigInt(idHigh, idLow))
  }

  /**
   * Rule R3, for a marker: it ends the open transaction of the local producer, whose id alone its records carry. Ends what
   * is staged.
   */
  endAtHome({ producerIdHigh, producerIdLow, baseOffset }: BatchHeader, isAborted: boolean): void {
    this.#commit()
    const { producers } = this
    const home = producers.find(unmappedHigh(producerIdHigh, producerIdLow), unmappedLow(producerIdLow))
    const words = producers.words(home)
    const start = producers.start(home)
    this.#completed.push({
      producerId: producerIdOf(words, start),
      firstOffset: transactionFirstOffsetOf(words, start),
      lastOffset: baseOffset,
      isAborted,
      alsoUnder: null,
    })
    endTransaction(producers, home)
  }

  /**
   * Rules R1 and R2 at `offset`: with `aborts`, the open transactions that start below `end` are aborted; then the
   * entries expire for which `isGone` holds. Ends what is staged.
   */
  reset(
    offset: bigint,
    end: bigint | null,
    aborts: boolean,
    isGone: (words: Int32Array, start: number) => boolean,
  ): Expired {
    this.#commit()
    let transactions = 0
    for (const { producerId, firstOffset } of aborts ? [...this.transactions.ongoing()] : []) {
      if (end !== null && firstOffset >= end) continue
      const completed = { producerId, firstOffset, lastOffset: offset, isAborted: true }
      const row = this.producers.find(highOf(producerId), lowOf(producerId))
      if (row >= 0) endTransaction(this.producers, row)
      const alsoUnder = this.#leaveHome(this.producers, highOf(producerId), lowOf(producerId), firstOffset)
      this.transactions.complete(completed, alsoUnder)
      transactions++
    }
    return { producers: this.producers.removeIf(isGone), transactions }
  }

  /**
   * The local id that records of an ending transaction carry beside its own; it is free for another one then.
   * @param table the one that the append works on
   */
  #leaveHome(table: ProducerTable, idHigh: number, idLow: number, firstOffset: bigint): bigint | null {
    if (!isMirrored(idHigh, idLow)) return null
    const homeHigh = unmappedHigh(idHigh, idLow)
    const homeLow = unmappedLow(idLow)
    const held = table.find(homeHigh, homeLow) < 0 ? this.producers : table
    if (!hasMoved(held, held.find(homeHigh, homeLow), firstOffset)) return null
    const row = table === this.producers ? held.find(homeHigh, homeLow) : this.stagedRow(homeHigh, homeLow)
    endTransaction(table, row)
    return toBigInt(homeHigh, homeLow)
  }
}

function endTransaction(table: ProducerTable, row: number): void {
  table.change(row)
  table.words(row)[table.start(row) + TXN_STATE] = TXN_NONE
}

/** Whether the row is that of a producer whose transaction with this first offset goes on under its mapped id. */
function hasMoved(table: ProducerTable, row: number, firstOffset: bigint): boolean {
  if (row < 0) return false
  const words = table.words(row)
  const start = table.start(row)
  return (
    words[start + TXN_STATE] === TXN_MOVED &&
    toBigInt(words[start + TXN_FIRST_OFFSET_HIGH]!, words[start + TXN_FIRST_OFFSET_LOW]!) === firstOffset
  )
}
