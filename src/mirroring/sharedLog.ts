import { requireThing } from '../core/arguments.ts'
import { ATTRIBUTES, PARTITION_LEADER_EPOCH, PRODUCER_EPOCH, PRODUCER_ID } from '../core/layout.ts'
import { unmapProducerId } from '../core/producerId.ts'
import type { RecordBatch } from '../formats/recordBatch.ts'
import { recordBatches } from '../formats/recordBatches.ts'
import { maxOffset } from '../log/partition/offsets.ts'
import type { PartitionLog } from '../log/partition/partitionLog.ts'

/**
 * Where two logs of which one mirrors the other, or both a third, part: the first offset from which on they hold different
 * batches. Leader epochs are each cluster's own, and producer ids may be mapped in one of them, so neither counts.
 *
 * @throws InvalidArgumentError
 * @example
 * mirror.prepare({ sourceClusterId: 'B', truncateTo: sharedEndOffset(mirror.log, source) })
 */
export function sharedEndOffset(a: PartitionLog, b: PartitionLog): bigint {
  for (const log of [a, b]) requireThing('each of the two', log, 'logEndOffset', 'a PartitionLog')
  const start = maxOffset(a.logStartOffset, b.logStartOffset)
  let end = start
  const ours = batchesFrom(a, start)
  for (const theirs of batchesFrom(b, start)) {
    const own = ours.next().value
    if (own === undefined || !isSameBatch(own, theirs)) break
    end = own.nextOffset
  }
  return end
}

/**
 * Whether a mirror's last batch is that of its source too: then all before it is.
 *
 * @throws InvalidArgumentError
 * @example
 * if (!isAligned(mirror.log, source)) mirror.prepare({ sourceClusterId: 'B', truncateTo: 0n })
 */
export function isAligned(mirror: PartitionLog, source: PartitionLog): boolean {
  for (const log of [mirror, source]) requireThing('each of the two', log, 'logEndOffset', 'a PartitionLog')
  const { logEndOffset, logStartOffset } = mirror
  if (logEndOffset > source.logEndOffset) return false
  if (logEndOffset === logStartOffset || logEndOffset <= source.logStartOffset) return true
  const own = lastBatch(mirror, logEndOffset)
  const theirs = lastBatch(source, logEndOffset)
  return own === null || (theirs !== null && isSameBatch(own, theirs))
}

function lastBatch(log: PartitionLog, end: bigint): RecordBatch | null {
  const [batch] = recordBatches(log.read(end - 1n, { maxBytes: 0 }).records)
  return batch !== undefined && batch.baseOffset < end ? batch : null
}

export function* batchesFrom(log: PartitionLog, offset: bigint): Generator<RecordBatch> {
  for (let next = offset; next < log.logEndOffset; ) {
    const { records } = log.read(next)
    if (records.length === 0) return
    for (const batch of recordBatches(records)) {
      if (batch.nextOffset > next) yield batch
      next = batch.nextOffset
    }
  }
}

/** Whether two batches are the same but for the leader epoch, the mapping of the producer id, and the CRC over that. */
function isSameBatch(a: RecordBatch, b: RecordBatch): boolean {
  if (a.sizeInBytes !== b.sizeInBytes || a.magic !== b.magic) return false
  if (unmapProducerId(a.producerId) !== unmapProducerId(b.producerId)) return false
  const parts: readonly (readonly [number, number])[] = a.isLegacy
    ? [[0, a.sizeInBytes]]
    : [
        [0, PARTITION_LEADER_EPOCH],
        [ATTRIBUTES, PRODUCER_ID],
        [PRODUCER_EPOCH, a.sizeInBytes],
      ]
  return parts.every(([from, to]) => isSameRange(a.bytes, b.bytes, from, to))
}

function isSameRange(a: Uint8Array, b: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (a[at] !== b[at]) return false
  return true
}
