import type { RecordBatch } from '../../formats/recordBatch.ts'
import { recordBatches } from '../../formats/recordBatches.ts'
import type { PartitionLog } from '../../log/partition/partitionLog.ts'
import type { ProducerStateEntry } from '../../producers/producerStateEntry.ts'
import type { RealProducer } from './scenario.ts'

/**
 * Who really wrote what. Offsets and timestamps stay as they are on every hop, and no two steps have the same time, so
 * they tell a batch wherever it has got to, whatever id it has there.
 */
export class Ledger {
  readonly #writers = new Map<string, RealProducer>()
  readonly #writersByTime = new Map<bigint, RealProducer>()

  /** Writes down who is about to write at a time. */
  announce(timestamp: bigint, writer: RealProducer): void {
    this.#writersByTime.set(timestamp, writer)
  }

  /** Writes down in whose name a batch was written that nobody has announced: the marker of a stop. */
  attribute(batch: RecordBatch, writer: RealProducer): void {
    this.#writers.set(placeOf(batch), writer)
  }

  /** Null for a batch that is of no producer. */
  writerOf(batch: RecordBatch): RealProducer | null {
    return this.#writers.get(placeOf(batch)) ?? this.#writersByTime.get(batch.maxTimestamp) ?? null
  }

  /** Who wrote the last batch that an entry of a log's producer state knows of. */
  holderOf(log: PartitionLog, entry: ProducerStateEntry): RealProducer | null {
    if (entry.lastOffset < 0n) return this.#writersByTime.get(entry.lastTimestamp) ?? null
    const batch = batchAt(log, entry.lastOffset)
    return batch === null ? null : this.writerOf(batch)
  }
}

/** What a batch is known by on all clusters. */
export function placeOf({ baseOffset, maxTimestamp }: RecordBatch): string {
  return `${baseOffset} ${maxTimestamp}`
}

export function isSameProducer(a: RealProducer, b: RealProducer): boolean {
  return a.cluster === b.cluster && a.producerId === b.producerId && a.incarnation === b.incarnation
}

export function nameOf({ cluster, producerId, incarnation }: RealProducer): string {
  return `${cluster}'s producer ${producerId}${incarnation === 0 ? '' : ` (incarnation ${incarnation})`}`
}

/** The batch that holds an offset. */
function batchAt(log: PartitionLog, offset: bigint): RecordBatch | null {
  if (offset < log.logStartOffset || offset >= log.logEndOffset) return null
  const [batch] = recordBatches(log.read(offset, { maxBytes: 0 }).records)
  return batch ?? null
}
