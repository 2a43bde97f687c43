import { bytesOf } from '../bytes/view.ts'
import { defaultCrcEngine } from '../core/jsCrc.ts'
import { mapProducerId } from '../core/producerId.ts'
import { highOf, lowOf } from './int64.ts'
import { javaHashOrder } from './javaHashOrder.ts'
import {
  batchAt,
  batchCount,
  COORDINATOR_EPOCH,
  clearRow,
  FIRST_OFFSET_HIGH,
  FIRST_OFFSET_LOW,
  LAST_SEQUENCE,
  OFFSET_DELTA,
  PRODUCER_EPOCH,
  setEpoch,
  setLastTimestamp,
  setMarkerOffset,
  setTransaction,
  TIMESTAMP_HIGH,
  TIMESTAMP_LOW,
  TXN_MOVED,
  TXN_NONE,
  TXN_STATE,
  takeBatch,
} from './producerRow.ts'
import * as format from './producerSnapshotFormat.ts'
import { batchOf, lastTimestampOf, producerIdOf, transactionFirstOffsetOf } from './producerStateEntry.ts'
import type { ProducerTable } from './producerTable.ts'
import { ProducerUpdates } from './producerUpdates.ts'

const MAX_OFFSET = 2n ** 63n - 1n

/** The entries as a broker writes them: of each producer's window the last batch alone. */
export function writeSnapshot(table: ProducerTable): Uint8Array<ArrayBuffer> {
  const bytes = format.newSnapshot(table.size)
  const view = new DataView(bytes.buffer)
  let at = format.SNAPSHOT_ENTRIES_AT
  for (const row of javaHashOrder(table)) {
    writeEntry(view, at, table.words(row), table.start(row))
    at += format.SNAPSHOT_ENTRY_SIZE
  }
  format.sealSnapshot(bytes, defaultCrcEngine())
  return bytes
}

function writeEntry(view: DataView, at: number, words: Int32Array, start: number): void {
  const count = batchCount(words, start)
  const batch = count === 0 ? null : batchAt(words, start, count - 1)
  view.setBigInt64(at + format.ENTRY_PRODUCER_ID, producerIdOf(words, start))
  view.setInt16(at + format.ENTRY_PRODUCER_EPOCH, words[start + PRODUCER_EPOCH]!)
  view.setInt32(at + format.ENTRY_LAST_SEQUENCE, batch === null ? -1 : words[batch + LAST_SEQUENCE]!)
  view.setBigInt64(at + format.ENTRY_LAST_OFFSET, batch === null ? -1n : batchOf(words, batch).lastOffset)
  view.setInt32(at + format.ENTRY_OFFSET_DELTA, batch === null ? 0 : words[batch + OFFSET_DELTA]!)
  view.setBigInt64(at + format.ENTRY_TIMESTAMP, lastTimestampOf(words, start))
  view.setInt32(at + format.ENTRY_COORDINATOR_EPOCH, words[start + COORDINATOR_EPOCH]!)
  // A moved transaction is written under both ids: read back, one offset under `p` and its image is one transaction.
  const hasTransaction = words[start + TXN_STATE] !== TXN_NONE
  const firstOffset = hasTransaction ? transactionFirstOffsetOf(words, start) : -1n
  view.setBigInt64(at + format.ENTRY_TXN_FIRST_OFFSET, firstOffset)
}

/**
 * The state that a snapshot holds, without the producers that have expired by `now`. It does not tell where markers lay;
 * all of them lay below its own offset, null where that is not known.
 *
 * @throws CorruptCompanionError CORRUPT_SNAPSHOT
 */
export function readSnapshot(
  snapshot: Uint8Array,
  offset: bigint | null,
  isExpired: (lastTimestamp: bigint) => boolean,
): ProducerUpdates {
  const bytes = bytesOf(snapshot, 'snapshot')
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const count = format.checkSnapshot(bytes, defaultCrcEngine())
  const updates = new ProducerUpdates()
  for (let entry = 0; entry < count; entry++) {
    const at = format.SNAPSHOT_ENTRIES_AT + entry * format.SNAPSHOT_ENTRY_SIZE
    const isOpen = view.getBigInt64(at + format.ENTRY_TXN_FIRST_OFFSET) >= 0n
    if (isOpen || !isExpired(view.getBigInt64(at + format.ENTRY_TIMESTAMP))) {
      readEntry(view, at, updates.producers, offset)
    }
  }
  registerTransactions(updates)
  return updates
}

function readEntry(view: DataView, at: number, table: ProducerTable, offset: bigint | null): void {
  const idHigh = view.getInt32(at + format.ENTRY_PRODUCER_ID)
  const idLow = view.getInt32(at + format.ENTRY_PRODUCER_ID + 4)
  const known = table.find(idHigh, idLow)
  const row = known < 0 ? table.add(idHigh, idLow) : known
  const words = table.words(row)
  const start = table.start(row)
  if (known >= 0) clearRow(words, start, idHigh, idLow) // Kafka's map too keeps the later of two
  setEpoch(words, start, view.getInt16(at + format.ENTRY_PRODUCER_EPOCH))
  words[start + COORDINATOR_EPOCH] = view.getInt32(at + format.ENTRY_COORDINATOR_EPOCH)
  const timestampHigh = view.getInt32(at + format.ENTRY_TIMESTAMP)
  const timestampLow = view.getInt32(at + format.ENTRY_TIMESTAMP + 4)
  setLastTimestamp(words, start, timestampHigh, timestampLow)
  const lastOffset = view.getBigInt64(at + format.ENTRY_LAST_OFFSET)
  if (lastOffset >= 0n) {
    const offsetDelta = view.getInt32(at + format.ENTRY_OFFSET_DELTA)
    const firstOffset = lastOffset - BigInt(offsetDelta)
    const batch = takeBatch(words, start)
    words[batch + LAST_SEQUENCE] = view.getInt32(at + format.ENTRY_LAST_SEQUENCE)
    words[batch + OFFSET_DELTA] = offsetDelta
    words[batch + FIRST_OFFSET_HIGH] = highOf(firstOffset)
    words[batch + FIRST_OFFSET_LOW] = lowOf(firstOffset)
    words[batch + TIMESTAMP_HIGH] = timestampHigh
    words[batch + TIMESTAMP_LOW] = timestampLow
  }
  const firstHigh = view.getInt32(at + format.ENTRY_TXN_FIRST_OFFSET)
  if (firstHigh >= 0) {
    setTransaction(words, start, firstHigh, view.getInt32(at + format.ENTRY_TXN_FIRST_OFFSET + 4))
  }
  const markerOffset = lastMarkerOffset(lastOffset >= 0n, firstHigh >= 0, offset)
  setMarkerOffset(words, start, highOf(markerOffset), lowOf(markerOffset))
}

/**
 * Where the last marker can have been at most, as far as it can be behind the window's batch: no state that came after a
 * barrier may pass for an older one. A marker behind the batch would have ended the transaction that is open.
 */
function lastMarkerOffset(hasBatch: boolean, isOpen: boolean, offset: bigint | null): bigint {
  if (hasBatch && isOpen) return -1n
  if (offset !== null) return offset - 1n
  return hasBatch ? -1n : MAX_OFFSET
}

function registerTransactions({ producers, transactions }: ProducerUpdates): void {
  const open: { producerId: bigint; firstOffset: bigint }[] = []
  for (let row = 0; row < producers.size; row++) {
    const words = producers.words(row)
    const start = producers.start(row)
    if (words[start + TXN_STATE] === TXN_NONE) continue
    const producerId = producerIdOf(words, start)
    const firstOffset = transactionFirstOffsetOf(words, start)
    if (hasMoved(producers, producerId, firstOffset)) words[start + TXN_STATE] = TXN_MOVED
    else open.push({ producerId, firstOffset })
  }
  open.sort((a, b) => (a.firstOffset < b.firstOffset ? -1 : a.firstOffset > b.firstOffset ? 1 : 0))
  for (const { producerId, firstOffset } of open) transactions.start(producerId, firstOffset)
}

/** Whether the mapped id has the transaction with the same first offset: one batch has one producer. */
function hasMoved(producers: ProducerTable, producerId: bigint, firstOffset: bigint): boolean {
  if (producerId < 0n || producerId === 2n ** 63n - 1n) return false
  const mapped = mapProducerId(producerId)
  const row = producers.find(highOf(mapped), lowOf(mapped))
  if (row < 0) return false
  const words = producers.words(row)
  const start = producers.start(row)
  return words[start + TXN_STATE] !== TXN_NONE && transactionFirstOffsetOf(words, start) === firstOffset
}
