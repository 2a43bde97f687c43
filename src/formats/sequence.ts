/** Sequence numbers run from 0 to 2147483647 and wrap to 0. Source: Kafka's DefaultRecordBatch. */

const MAX_SEQUENCE = 2147483647

/**
 * The sequence `increment` after `sequence`; both from 0 to 2147483647.
 * @example
 * incrementSequence(2147483647, 1) // 0
 */
export function incrementSequence(sequence: number, increment: number): number {
  // `| 0` as Java's int: what a damaged header gives is then what Kafka's tools print
  return sequence > ((MAX_SEQUENCE - increment) | 0)
    ? (increment - (MAX_SEQUENCE - sequence) - 1) | 0
    : (sequence + increment) | 0
}

/**
 * The sequence `decrement` before `sequence`; both from 0 to 2147483647.
 * @example
 * decrementSequence(0, 1) // 2147483647
 */
export function decrementSequence(sequence: number, decrement: number): number {
  return sequence < decrement ? (MAX_SEQUENCE - (decrement - sequence) + 1) | 0 : (sequence - decrement) | 0
}
