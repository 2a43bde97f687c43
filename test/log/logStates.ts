import { recordBatches } from '../../src/formats/recordBatches.ts'
import type { PartitionLog } from '../../src/log/partition/partitionLog.ts'
import type { ProducerStateManagerOptions } from '../../src/producers/managerOptions.ts'
import { ProducerStateManager } from '../../src/producers/producerStateManager.ts'

/** All that a state says that a snapshot and the bytes behind it say too: of each producer the last batch. */
export function lastOnly(state: ProducerStateManager): string[] {
  const lines = [...state.producers.values()].map((entry) =>
    [
      entry.producerId,
      entry.producerEpoch,
      entry.coordinatorEpoch,
      entry.lastSequence,
      entry.lastOffset,
      entry.lastTimestamp,
      entry.currentTxnFirstOffset,
    ].join(' '),
  )
  return [...lines.sort(), `undecided ${state.firstUndecidedOffset}`, `end ${state.mapEndOffset}`]
}

/** Readers' view of what was aborted; the last stable offset of an entry depends on how the batches came. */
export function abortedLines(log: { abortedTransactions: PartitionLog['abortedTransactions'] }): string[] {
  return log.abortedTransactions.map((txn) => `${txn.producerId} ${txn.firstOffset} ${txn.lastOffset}`)
}

export function allRecords(log: PartitionLog): Buffer {
  const parts: Uint8Array[] = []
  for (let offset = log.logStartOffset; offset < log.logEndOffset; ) {
    const { records } = log.read(offset)
    if (records.length === 0) break
    parts.push(records)
    for (const batch of recordBatches(records)) offset = batch.nextOffset
  }
  return Buffer.concat(parts)
}

/** The state of the log's bytes alone. */
export function replayed(log: PartitionLog, options: ProducerStateManagerOptions = {}): ProducerStateManager {
  const state = new ProducerStateManager({ ...options, logStartOffset: log.logStartOffset })
  state.replay(allRecords(log))
  state.onLogEndOffset(log.logEndOffset)
  return state
}
