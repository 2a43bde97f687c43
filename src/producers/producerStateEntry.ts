import { toBigInt } from './int64.ts'
import {
  batchAt,
  batchCount,
  COORDINATOR_EPOCH,
  FIRST_OFFSET_HIGH,
  FIRST_OFFSET_LOW,
  firstSequence,
  LAST_SEQUENCE,
  LAST_TIMESTAMP_HIGH,
  LAST_TIMESTAMP_LOW,
  lastSequence,
  MARKER_OFFSET_HIGH,
  MARKER_OFFSET_LOW,
  OFFSET_DELTA,
  PRODUCER_EPOCH,
  PRODUCER_ID_HIGH,
  PRODUCER_ID_LOW,
  TIMESTAMP_HIGH,
  TIMESTAMP_LOW,
  TXN_FIRST_OFFSET_HIGH,
  TXN_FIRST_OFFSET_LOW,
  TXN_OPEN,
  TXN_STATE,
} from './producerRow.ts'

/** A batch of a producer's window. Source: Kafka's BatchMetadata. */
export interface BatchMetadata {
  firstSequence: number
  lastSequence: number
  firstOffset: bigint
  lastOffset: bigint
  /** The batch's largest record timestamp; after a snapshot was read, that of the entry. */
  timestamp: bigint
}

/** What is known of a producer. Source: Kafka's ProducerStateEntry. */
export interface ProducerStateEntry {
  producerId: bigint
  /** -1 where nothing but an emptied control batch is known. */
  producerEpoch: number
  /** -1 before any marker. */
  coordinatorEpoch: number
  /** Of the last batch of this epoch; -1 where there is none. */
  lastSequence: number
  lastOffset: bigint
  /** Of the last batch or marker; -1 for none. */
  lastTimestamp: bigint
  /** Of the open transaction; null where none is open. */
  currentTxnFirstOffset: bigint | null
  /** The last five batches of this epoch, oldest first. */
  batches: BatchMetadata[]
}

/** An entry's plain copy: later appends do not change it. */
export function entryOf(words: Int32Array, row: number): ProducerStateEntry {
  const batches: BatchMetadata[] = []
  for (let index = 0; index < batchCount(words, row); index++) {
    batches.push(batchOf(words, batchAt(words, row, index)))
  }
  const isTransactionOpen = words[row + TXN_STATE] === TXN_OPEN
  return {
    producerId: producerIdOf(words, row),
    producerEpoch: words[row + PRODUCER_EPOCH]!,
    coordinatorEpoch: words[row + COORDINATOR_EPOCH]!,
    lastSequence: lastSequence(words, row),
    lastOffset: batches.at(-1)?.lastOffset ?? -1n,
    lastTimestamp: lastTimestampOf(words, row),
    currentTxnFirstOffset: isTransactionOpen ? transactionFirstOffsetOf(words, row) : null,
    batches,
  }
}

/** The batch whose words begin at `at`. */
export function batchOf(words: Int32Array, at: number): BatchMetadata {
  const firstOffset = toBigInt(words[at + FIRST_OFFSET_HIGH]!, words[at + FIRST_OFFSET_LOW]!)
  return {
    firstSequence: firstSequence(words, at),
    lastSequence: words[at + LAST_SEQUENCE]!,
    firstOffset,
    lastOffset: BigInt.asIntN(64, firstOffset + BigInt(words[at + OFFSET_DELTA]!)),
    timestamp: toBigInt(words[at + TIMESTAMP_HIGH]!, words[at + TIMESTAMP_LOW]!),
  }
}

export function producerIdOf(words: Int32Array, row: number): bigint {
  return toBigInt(words[row + PRODUCER_ID_HIGH]!, words[row + PRODUCER_ID_LOW]!)
}

/** For a row with a transaction, open or moved. */
export function transactionFirstOffsetOf(words: Int32Array, row: number): bigint {
  return toBigInt(words[row + TXN_FIRST_OFFSET_HIGH]!, words[row + TXN_FIRST_OFFSET_LOW]!)
}

export function lastTimestampOf(words: Int32Array, row: number): bigint {
  return toBigInt(words[row + LAST_TIMESTAMP_HIGH]!, words[row + LAST_TIMESTAMP_LOW]!)
}

/** Of the producer's last marker; -1 before any. After a snapshot was read, the last one that it can have. */
export function markerOffsetOf(words: Int32Array, row: number): bigint {
  return toBigInt(words[row + MARKER_OFFSET_HIGH]!, words[row + MARKER_OFFSET_LOW]!)
}

/** Offset of what came of the producer last, a batch or a marker. */
export function newestOffsetOf(words: Int32Array, row: number): bigint {
  const markerOffset = markerOffsetOf(words, row)
  const count = batchCount(words, row)
  if (count === 0) return markerOffset
  const { lastOffset } = batchOf(words, batchAt(words, row, count - 1))
  if (lastOffset < markerOffset) return markerOffset
  return lastOffset
}
