import { type OptionKinds, requireOptions } from '../core/arguments.ts'
import { InvalidArgumentError } from '../errors.ts'
import type { BatchHeader } from './batchHeader.ts'
import { findBatch, PRODUCER_EPOCH } from './producerRow.ts'
import { batchOf } from './producerStateEntry.ts'
import type { ProducerTable } from './producerTable.ts'
import type { Expired } from './producerUpdates.ts'

/** What an append knows that is not in the batch. */
export interface AppendOptions {
  /**
   * The transaction version that the coordinator's request names, which the log does not hold; for markers of origin
   * `coordinator`. From 2 on a marker must have a new epoch. Default 0, whose check a marker of version 2 passes too.
   */
  transactionVersion?: number
}

export const APPEND_OPTIONS: OptionKinds<AppendOptions> = { transactionVersion: 'any' }
/** The default, which need not be checked for each batch of a log. */
export const NO_APPEND_OPTIONS: AppendOptions = {}

/** The earlier append of a batch that a client has sent again. */
export interface DuplicateBatch {
  firstOffset: bigint
  lastOffset: bigint
  /** The largest timestamp of that batch. */
  timestamp: bigint
}

/** Whether a batch was taken, or was there already. */
export interface AppendResult {
  /** Null where the batch was appended. */
  duplicate: DuplicateBatch | null
}

/** A MIRROR_PID_RESET that was met. */
export interface Barrier {
  offset: bigint
  /** Null in the shape without an id, and where it cannot be read. */
  sourceClusterId: string | null
  /** Whether it acted; see `barrierPolicy`. */
  applied: boolean
  /** Entries that expired by it, and transactions that it ended. */
  expired: Expired
}

/** The batch of a producer's window that a client has sent again, or null. */
export function findDuplicate(table: ProducerTable, row: number, header: BatchHeader): DuplicateBatch | null {
  if (row < 0) return null
  const words = table.words(row)
  const start = table.start(row)
  if (words[start + PRODUCER_EPOCH] !== header.producerEpoch) return null
  const at = findBatch(words, start, header.baseSequence, header.lastSequence)
  if (at < 0) return null
  const { firstOffset, lastOffset, timestamp } = batchOf(words, at)
  return { firstOffset, lastOffset, timestamp }
}

/** @throws InvalidArgumentError */
export function requireAppendOptions(options: AppendOptions): AppendOptions {
  if (options === NO_APPEND_OPTIONS) return options
  return requireOptions('options of append', options, APPEND_OPTIONS)
}

export function versionOf({ transactionVersion = 0 }: AppendOptions): number {
  if (Number.isInteger(transactionVersion) && transactionVersion >= 0) return transactionVersion
  throw new InvalidArgumentError(
    `transactionVersion must be a whole number from 0 on; got ${String(transactionVersion)}`,
  )
}
