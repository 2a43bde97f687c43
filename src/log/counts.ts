import type { BatchCounts } from '../core/core.ts'

const SUMS = ['batches', 'rewritten', 'alreadyMapped', 'withoutProducer', 'control', 'legacy'] as const

/** The counts that add up over the parts of a record set, and over files. */
export type BatchSums = Pick<BatchCounts, (typeof SUMS)[number]>

export function newSums(): BatchSums {
  return { batches: 0, rewritten: 0, alreadyMapped: 0, withoutProducer: 0, control: 0, legacy: 0 }
}

export function addCounts(total: BatchSums, part: BatchSums): void {
  for (const name of SUMS) total[name] += part[name]
}
