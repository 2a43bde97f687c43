import type { PartitionLog, RecordBatch } from '../../../src/index.ts'
import { recordBatches } from '../../../src/index.ts'

/** Who really wrote a batch. */
export interface Authorship {
  /** The producer: its cluster and its id there; two of one name are one producer. */
  producer: string
  /** The transaction; null outside. */
  transaction: string | null
}

/**
 * What really happened, whatever the logs make of it. Each batch has a timestamp of its own, which mirroring does not
 * change, so a batch is known wherever it gets.
 */
export class Truth {
  readonly #authors = new Map<bigint, Authorship>()
  #clock = 1_000n

  /** A timestamp that nothing else has. */
  tick(): bigint {
    return ++this.#clock
  }

  pass(milliseconds: bigint): void {
    this.#clock += milliseconds
  }

  get now(): bigint {
    return this.#clock
  }

  note(timestamp: bigint, author: Authorship): void {
    this.#authors.set(timestamp, author)
  }

  /** Null for what a stop wrote. */
  authorOf(batch: RecordBatch): Authorship | null {
    return this.#authors.get(batch.maxTimestamp) ?? null
  }
}

/** The batches of a log below an offset. */
export function batchesOf(log: PartitionLog, end = log.logEndOffset): RecordBatch[] {
  const found: RecordBatch[] = []
  for (let next = log.logStartOffset; next < end; ) {
    const { records } = log.read(next, { maxBytes: 2 ** 30 })
    if (records.length === 0) break
    for (const batch of recordBatches(records)) {
      if (batch.baseOffset < end) found.push(batch)
      next = batch.nextOffset
    }
  }
  return found
}
