import { type RecordBatch, requireIterable } from '../../formats/recordBatch.ts'
import type { AuditOptions } from './auditOptions.ts'
import type { AuditReport } from './auditReport.ts'
import { ProducerAudit } from './producerAudit.ts'

/**
 * Looks for what two producers under one id do to each other in a partition's log, and for transactions that nothing will
 * end. Kafka takes all of it in silence on a mirrored log. `ProducerAudit` is the same, batch by batch.
 *
 * @param batches all of the log's, in log order; a log that starts late, or that was compacted, is fine
 * @throws InvalidArgumentError
 * @example
 * const { findings } = auditProducers(recordBatches(segment), { partition: 'orders-0' })
 * for (const { offset, producerId, message } of findings) console.log(offset, producerId, message)
 */
export function auditProducers(batches: Iterable<RecordBatch>, options: AuditOptions = {}): AuditReport {
  requireIterable(batches)
  const audit = new ProducerAudit(options)
  for (const batch of batches) audit.take(batch)
  return audit.finish()
}
