import { expect } from 'vitest'
import {
  type LogStorage,
  memoryStorage,
  mirrorStateFile,
  PartitionLog,
  type PartitionLogOptions,
  recordBatches,
  type StopLogRequest,
} from '../../src/index.ts'
import { batchesFrom } from '../../src/mirroring/sharedLog.ts'
import { type BatchOp, encodeOp } from '../producers/logBuilder.ts'
import { copyOf, filesOf } from './faultyStorage.ts'

// A log as the broker of a mirror leaves it, and what must hold of one that was stopped.

export const REQUEST: StopLogRequest = { clusterId: 'B', sourceClusterId: 'A', now: () => 5000n }

/** Mirrored producers with transactions, done and open, and an open one of this cluster, in several segments. */
export const OPS: BatchOp[] = [
  { kind: 'data', pid: -7, seq: 0, count: 2 },
  { kind: 'txn', pid: -9, seq: 0 },
  { kind: 'ABORT', pid: -9 },
  { kind: 'data', pid: 3, seq: 0 },
  { kind: 'txn', pid: -8, seq: 0, count: 2 },
  { kind: 'data', pid: -7, seq: 2 },
  { kind: 'txn', pid: 4, seq: 0 },
  { kind: 'txn', pid: -9, seq: 1 },
  { kind: 'COMMIT', pid: -9 },
  { kind: 'data', pid: -7, seq: 3 },
]
export const END = 12n
export const FIRST_OPEN = 5n
export const SEGMENTED: PartitionLogOptions = { segmentBytes: 400, indexIntervalBytes: 100 }

/** Of what a broker has left, with a clean end or none. */
export function mirrored(options: PartitionLogOptions, ops = OPS): LogStorage {
  const storage = memoryStorage()
  const log = PartitionLog.open(storage, options)
  for (const op of ops) log.append(encodeOp(op, log.logEndOffset), 'replication')
  if (options.shutdown === 'clean') log.close()
  else log.flush()
  return storage
}

export const barriersIn = (storage: LogStorage) => {
  const log = PartitionLog.open(copyOf(storage))
  return [...batchesFrom(log, log.logStartOffset)].filter(
    (batch) => batch.isControl && batch.producerId === -1n,
  )
}

export const stateOf = (storage: LogStorage) => mirrorStateFile(storage).load()

/** What a log is, whoever opens it. */
export function contentOf(log: PartitionLog) {
  const { logStartOffset, logEndOffset, abortedTransactions, producerState, leaderEpochs } = log
  return {
    logStartOffset,
    logEndOffset,
    abortedTransactions,
    leaderEpochs,
    open: producerState.ongoingTransactions,
    producers: [...producerState.producers.values()].map(({ batches, ...entry }) => [entry, batches.at(-1)]),
  }
}

/** Opened as after a clean end, and recovered from the segments alone, it is the same log, with the same companions. */
export function expectSoundFiles(storage: LogStorage, options: PartitionLogOptions): void {
  const clean = PartitionLog.open(copyOf(storage), { ...options, shutdown: 'clean' })
  const bare = memoryStorage(
    storage
      .list()
      .filter((name) => name.endsWith('.log'))
      .map((name) => [name, storage.read(name)!] as const),
  )
  const fresh = PartitionLog.open(bare, options)
  expect(contentOf(clean)).toEqual(contentOf(fresh))
  fresh.close()
  expect(filesOf(storage, '.txnindex')).toEqual(filesOf(bare, '.txnindex'))
  const end = `${clean.logEndOffset}`.padStart(20, '0')
  expect(filesOf(storage, `${end}.snapshot`)).toEqual(filesOf(bare, `${end}.snapshot`))
  for (let offset = clean.logStartOffset; offset < clean.logEndOffset; offset++) {
    const [found] = recordBatches(clean.read(offset, { maxBytes: 0 }).records)
    expect(found!.baseOffset <= offset && offset <= found!.lastOffset).toBe(true)
  }
}
