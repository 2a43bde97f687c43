import { type MirrorPidError, type RecordBatch, recordBatches } from '../../src/index.ts'
import { ProducerStateManager } from '../../src/producers/producerStateManager.ts'
import { encodeOp } from './logBuilder.ts'
import type { AppendStep, Sequence, Step } from './sequences.ts'

/** What is known at the end of a sequence, and what each step was answered; int64 as decimal strings. */
export interface Answer {
  /** `ok`, `duplicate` with the earlier append, or the error's class; then the first unstable offset, or null. */
  results: (string | null)[][]
  mapEndOffset: string
  /** One line each: `id epoch coordinatorEpoch lastTimestamp currentTxnFirstOffset`, then the window's batches. */
  producers: string[]
  /** `id firstOffset lastOffset lastStableOffset` */
  aborted: string[]
  /** The `.snapshot` file, hexadecimal. */
  snapshot: string
}

/** Kafka's exceptions under our names. */
export const ERROR_NAMES: Record<string, string> = {
  OutOfOrderSequenceException: 'OutOfOrderSequenceError',
  InvalidProducerEpochException: 'InvalidProducerEpochError',
  InvalidTxnStateException: 'InvalidTxnStateError',
  TransactionCoordinatorFencedException: 'TransactionCoordinatorFencedError',
  InvalidRecordException: 'InvalidRecordError',
  // a control batch whose type no marker has: Kafka's broker stops at it
  IllegalArgumentException: 'InvalidRecordError',
}

export function managerOf(sequence: Sequence): ProducerStateManager {
  return new ProducerStateManager({
    producerIdTest: sequence.mode === 'log' ? 'stock' : 'mirror',
    barrierPolicy: 'ignore',
    unknownProducerSequence: sequence.zero ? 'zero' : 'any',
    producerIdExpirationMs: sequence.expirationMs ?? 86_400_000,
  })
}

/** The batches of an append; a leader's get the log end offset, as its log would write it. */
export function batchesOf(step: AppendStep, logEndOffset: bigint): RecordBatch[] {
  const isLeader = step.origin !== 'replication'
  return step.append.flatMap((op) => [...recordBatches(isLeader ? encodeOp(op, logEndOffset) : encodeOp(op))])
}

/** This project's answers. */
export function answer(sequence: Sequence, manager = managerOf(sequence)): Answer {
  const results = sequence.steps.map((step) => [
    ...take(manager, step),
    manager.firstUnstableOffset?.toString() ?? null,
  ])
  return { results, ...describeState(manager) }
}

function take(manager: ProducerStateManager, step: Step): string[] {
  if ('highWatermark' in step) {
    const end = manager.mapEndOffset
    const offset = BigInt(step.highWatermark)
    manager.onHighWatermark(offset < end ? offset : end) // a log's is at most its end
  } else if ('expire' in step) {
    manager.removeExpired(step.expire)
  } else {
    try {
      const options = step.version === undefined ? {} : { transactionVersion: step.version }
      const { duplicate } = manager.appendAll(batchesOf(step, manager.mapEndOffset), step.origin, options)
      if (duplicate !== null) return ['duplicate', ...Object.values(duplicate).map(String)]
    } catch (error) {
      return [(error as MirrorPidError).name]
    }
  }
  return ['ok']
}

export function describeState(manager: ProducerStateManager): Omit<Answer, 'results'> {
  const producers = [...manager.producers.values()].sort((a, b) => (a.producerId < b.producerId ? -1 : 1))
  return {
    mapEndOffset: manager.mapEndOffset.toString(),
    producers: producers.map(entryLine),
    aborted: manager.abortedTransactions.map(abortedLine),
    snapshot: Buffer.from(manager.takeSnapshot()).toString('hex'),
  }
}

/** The same line of our entries and of Kafka's, whose numbers are strings. */
export function entryLine(entry: EntryFields): string {
  const head = [
    entry.producerId,
    entry.producerEpoch,
    entry.coordinatorEpoch,
    entry.lastTimestamp,
    entry.currentTxnFirstOffset,
  ]
  const batches = entry.batches.map(
    (batch) =>
      `${batch.firstSequence}-${batch.lastSequence}@${batch.firstOffset}-${batch.lastOffset}:${batch.timestamp}`,
  )
  return [...head.map(String), ...batches].join(' ')
}

export function abortedLine(txn: AbortedFields): string {
  return [txn.producerId, txn.firstOffset, txn.lastOffset, txn.lastStableOffset].join(' ')
}

type Int64 = bigint | string

interface EntryFields {
  producerId: Int64
  producerEpoch: number
  coordinatorEpoch: number
  lastTimestamp: Int64
  currentTxnFirstOffset: Int64 | null
  batches: {
    firstSequence: number
    lastSequence: number
    firstOffset: Int64
    lastOffset: Int64
    timestamp: Int64
  }[]
}

interface AbortedFields {
  producerId: Int64
  firstOffset: Int64
  lastOffset: Int64
  lastStableOffset: Int64
}

export function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_, v) => (typeof v === 'bigint' ? v.toString() : v)))
}
