import type { Barrier } from './appendResult.ts'
import { highOf, lowOf } from './int64.ts'
import type { ProducerAppend } from './producerAppend.ts'
import {
  COORDINATOR_EPOCH,
  FIRST_OFFSET_HIGH,
  FIRST_OFFSET_LOW,
  LAST_SEQUENCE,
  OFFSET_DELTA,
  setEpoch,
  setLastTimestamp,
  setMarkerOffset,
  setTransaction,
  TIMESTAMP_HIGH,
  TIMESTAMP_LOW,
  TXN_MOVED,
  TXN_STATE,
  takeBatch,
} from './producerRow.ts'
import {
  type BatchMetadata,
  entryOf,
  markerOffsetOf,
  type ProducerStateEntry,
  transactionFirstOffsetOf,
} from './producerStateEntry.ts'
import type { ProducerTable } from './producerTable.ts'
import { ProducerUpdates } from './producerUpdates.ts'
import type { AbortedTransactionEntry } from './transactions.ts'

/** A producer's entry, and what the public one does not show. */
export interface ProducerStateRow extends ProducerStateEntry {
  /** First offset of a transaction that goes on under the mapped id and has records under this one (rule R3). */
  movedTxnFirstOffset: bigint | null
  /** Of the last marker, -1 before any; of a producer that was read from a snapshot, the last one that it can have. */
  markerOffset: bigint
}

/** The state of a partition's producers as plain data. */
export interface ProducerState {
  mapEndOffset: bigint
  logStartOffset: bigint
  producers: ProducerStateRow[]
  /** Ended transactions whose markers were not below the high watermark. */
  unreplicatedTransactions: { producerId: bigint; firstOffset: bigint; lastOffset: bigint }[]
  abortedTransactions: AbortedTransactionEntry[]
  barriers: Barrier[]
}

export function exportState(append: ProducerAppend, logStartOffset: bigint): ProducerState {
  const { producers, transactions } = append.updates
  const rows: ProducerStateRow[] = []
  for (let row = 0; row < producers.size; row++) {
    const words = producers.words(row)
    const start = producers.start(row)
    const isMoved = words[start + TXN_STATE] === TXN_MOVED
    const movedTxnFirstOffset = isMoved ? transactionFirstOffsetOf(words, start) : null
    rows.push({ ...entryOf(words, start), movedTxnFirstOffset, markerOffset: markerOffsetOf(words, start) })
  }
  return {
    mapEndOffset: append.mapEndOffset,
    logStartOffset,
    producers: rows,
    unreplicatedTransactions: transactions.unreplicated().map((txn) => ({ ...txn })),
    abortedTransactions: transactions.aborted.map((txn) => ({ ...txn })),
    barriers: append.barriers.map((barrier) => ({ ...barrier, expired: { ...barrier.expired } })),
  }
}

export function importState(append: ProducerAppend, state: ProducerState): void {
  const updates = new ProducerUpdates()
  const { producers, transactions } = updates
  const open: ProducerStateRow[] = []
  for (const entry of state.producers) {
    writeRow(producers, entry)
    if (entry.currentTxnFirstOffset !== null) open.push(entry)
  }
  open.sort((a, b) => (a.currentTxnFirstOffset! < b.currentTxnFirstOffset! ? -1 : 1))
  for (const { producerId, currentTxnFirstOffset } of open) {
    transactions.start(producerId, currentTxnFirstOffset!)
  }
  for (const txn of state.unreplicatedTransactions) transactions.addUnreplicated({ ...txn })
  transactions.aborted = state.abortedTransactions.map((txn) => ({ ...txn }))
  append.restore(updates, state.mapEndOffset)
  append.barriers = state.barriers.map((barrier) => ({ ...barrier, expired: { ...barrier.expired } }))
}

function writeRow(table: ProducerTable, entry: ProducerStateRow): void {
  const row = table.add(highOf(entry.producerId), lowOf(entry.producerId))
  const words = table.words(row)
  const start = table.start(row)
  setEpoch(words, start, entry.producerEpoch)
  words[start + COORDINATOR_EPOCH] = entry.coordinatorEpoch
  for (const batch of entry.batches) writeBatch(words, takeBatch(words, start), batch)
  setLastTimestamp(words, start, highOf(entry.lastTimestamp), lowOf(entry.lastTimestamp))
  setMarkerOffset(words, start, highOf(entry.markerOffset), lowOf(entry.markerOffset))
  const firstOffset = entry.currentTxnFirstOffset ?? entry.movedTxnFirstOffset
  if (firstOffset === null) return
  setTransaction(words, start, highOf(firstOffset), lowOf(firstOffset))
  if (entry.currentTxnFirstOffset === null) words[start + TXN_STATE] = TXN_MOVED
}

function writeBatch(words: Int32Array, at: number, batch: BatchMetadata): void {
  words[at + LAST_SEQUENCE] = batch.lastSequence
  words[at + OFFSET_DELTA] = lowOf(batch.lastOffset - batch.firstOffset)
  words[at + FIRST_OFFSET_HIGH] = highOf(batch.firstOffset)
  words[at + FIRST_OFFSET_LOW] = lowOf(batch.firstOffset)
  words[at + TIMESTAMP_HIGH] = highOf(batch.timestamp)
  words[at + TIMESTAMP_LOW] = lowOf(batch.timestamp)
}
