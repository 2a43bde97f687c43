import { PRODUCER_ID_HIGH, PRODUCER_ID_LOW } from './producerRow.ts'
import type { ProducerTable } from './producerTable.ts'

/**
 * Row numbers in the order in which Java's HashMap gives its entries, so that a snapshot has the bytes that a broker
 * writes: by bucket, then as they came. Readers do not rely on it. (Java turns a bucket that is crowded by chance into a
 * tree; the order within that one may differ.)
 */
export function javaHashOrder(table: ProducerTable): Uint32Array {
  let buckets = 16
  while (table.largestSize > buckets * 0.75) buckets *= 2
  const starts = new Uint32Array(buckets + 1)
  const bucketOf = new Uint32Array(table.size)
  for (let row = 0; row < table.size; row++) {
    const words = table.words(row)
    const start = table.start(row)
    const hash = words[start + PRODUCER_ID_HIGH]! ^ words[start + PRODUCER_ID_LOW]! // Long.hashCode
    const bucket = (hash ^ (hash >>> 16)) & (buckets - 1)
    bucketOf[row] = bucket
    starts[bucket + 1]!++
  }
  for (let bucket = 0; bucket < buckets; bucket++) starts[bucket + 1]! += starts[bucket]!
  const order = new Uint32Array(table.size)
  for (let row = 0; row < table.size; row++) order[starts[bucketOf[row]!]!++] = row
  return order
}
