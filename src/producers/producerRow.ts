import { NO_PRODUCER_EPOCH, NO_SEQUENCE } from '../formats/recordBatch.ts'
import { decrementSequence } from '../formats/sequence.ts'

/**
 * A producer's entry as 42 words of 32 bits: a million of them take 168 MB, and an append makes no object. All functions
 * take a page's words and where the row begins in them.
 * Source of what they do: Kafka's ProducerStateEntry and BatchMetadata.
 */

export const ROW_WORDS = 42
const MAX_BATCHES = 5 // Kafka's NUM_BATCHES_TO_RETAIN

export const PRODUCER_ID_HIGH = 0
export const PRODUCER_ID_LOW = 1
export const PRODUCER_EPOCH = 2
export const COORDINATOR_EPOCH = 3
export const LAST_TIMESTAMP_HIGH = 4
export const LAST_TIMESTAMP_LOW = 5
/** One of the TXN_ numbers; the first offset counts unless it is TXN_NONE. */
export const TXN_STATE = 6
export const TXN_FIRST_OFFSET_HIGH = 7
export const TXN_FIRST_OFFSET_LOW = 8
/** Of the last marker. No batch tells it, and a marker with a new epoch leaves none in the window. */
export const MARKER_OFFSET_HIGH = 9
export const MARKER_OFFSET_LOW = 10
const WINDOW = 11 // number of batches, and the slot of the oldest above it
const BATCHES = 12

export const TXN_NONE = 0
export const TXN_OPEN = 1
/** The transaction came home and goes on under the producer's mapped id; records of it carry this id too. */
export const TXN_MOVED = 2

const BATCH_WORDS = 6
export const LAST_SEQUENCE = 0
export const OFFSET_DELTA = 1
/** The last offset is this and the delta: what a header gives, with no 64-bit sum on the way in. */
export const FIRST_OFFSET_HIGH = 2
export const FIRST_OFFSET_LOW = 3
export const TIMESTAMP_HIGH = 4
export const TIMESTAMP_LOW = 5

const COUNT_BITS = 3
const COUNT_MASK = 7

/** Makes a row that of a producer of which nothing is known but its id. */
export function clearRow(words: Int32Array, row: number, idHigh: number, idLow: number): void {
  words[row + PRODUCER_ID_HIGH] = idHigh
  words[row + PRODUCER_ID_LOW] = idLow
  words[row + PRODUCER_EPOCH] = NO_PRODUCER_EPOCH
  words[row + COORDINATOR_EPOCH] = -1
  words[row + LAST_TIMESTAMP_HIGH] = -1
  words[row + LAST_TIMESTAMP_LOW] = -1
  words[row + TXN_STATE] = TXN_NONE
  setMarkerOffset(words, row, -1, -1)
  words[row + WINDOW] = 0
}

export function batchCount(words: Int32Array, row: number): number {
  return words[row + WINDOW]! & COUNT_MASK
}

/** Where the words of a batch of the window begin; 0 is the oldest. */
export function batchAt(words: Int32Array, row: number, index: number): number {
  const slot = ((words[row + WINDOW]! >> COUNT_BITS) + index) % MAX_BATCHES
  return row + BATCHES + slot * BATCH_WORDS
}

export function lastSequence(words: Int32Array, row: number): number {
  const count = batchCount(words, row)
  return count === 0 ? NO_SEQUENCE : words[batchAt(words, row, count - 1) + LAST_SEQUENCE]!
}

/** Another epoch, higher or lower, empties the window. */
export function setEpoch(words: Int32Array, row: number, epoch: number): void {
  if (words[row + PRODUCER_EPOCH] === epoch) return
  words[row + PRODUCER_EPOCH] = epoch
  words[row + WINDOW] = 0
}

export function setLastTimestamp(words: Int32Array, row: number, high: number, low: number): void {
  words[row + LAST_TIMESTAMP_HIGH] = high
  words[row + LAST_TIMESTAMP_LOW] = low
}

export function setTransaction(words: Int32Array, row: number, high: number, low: number): void {
  words[row + TXN_STATE] = TXN_OPEN
  words[row + TXN_FIRST_OFFSET_HIGH] = high
  words[row + TXN_FIRST_OFFSET_LOW] = low
}

export function setMarkerOffset(words: Int32Array, row: number, high: number, low: number): void {
  words[row + MARKER_OFFSET_HIGH] = high
  words[row + MARKER_OFFSET_LOW] = low
}

/** Takes a place behind the window's last batch, the oldest one's if it is full; returns where its words begin. */
export function takeBatch(words: Int32Array, row: number): number {
  const window = words[row + WINDOW]!
  const count = window & COUNT_MASK
  if (count < MAX_BATCHES) {
    words[row + WINDOW] = window + 1
    return batchAt(words, row, count)
  }
  const oldest = window >> COUNT_BITS
  words[row + WINDOW] = count | (((oldest + 1) % MAX_BATCHES) << COUNT_BITS)
  return row + BATCHES + oldest * BATCH_WORDS
}

/**
 * The batch of the window with exactly this range of sequences, or -1: where its words begin. The oldest, if there are
 * two.
 */
export function findBatch(words: Int32Array, row: number, first: number, last: number): number {
  const count = batchCount(words, row)
  for (let index = 0; index < count; index++) {
    const at = batchAt(words, row, index)
    if (words[at + LAST_SEQUENCE] === last && firstSequence(words, at) === first) return at
  }
  return -1
}

/** The first sequence of the batch whose words begin at `at`. */
export function firstSequence(words: Int32Array, at: number): number {
  return decrementSequence(words[at + LAST_SEQUENCE]!, words[at + OFFSET_DELTA]!)
}

/** Copies an entry without its batches: what an append starts from. */
export function copyWithoutBatches(from: Int32Array, row: number, to: Int32Array, toRow: number): void {
  for (let word = 0; word < WINDOW; word++) to[toRow + word] = from[row + word]!
  to[toRow + WINDOW] = 0
}

/** Adds what an append has found out to the entry it started from. Source: Kafka's ProducerStateEntry.update. */
export function mergeRow(from: Int32Array, row: number, to: Int32Array, toRow: number): void {
  setEpoch(to, toRow, from[row + PRODUCER_EPOCH]!)
  const count = batchCount(from, row)
  for (let index = 0; index < count; index++) {
    const source = batchAt(from, row, index)
    const target = takeBatch(to, toRow)
    for (let word = 0; word < BATCH_WORDS; word++) to[target + word] = from[source + word]!
  }
  for (let word = COORDINATOR_EPOCH; word < WINDOW; word++) to[toRow + word] = from[row + word]!
}
