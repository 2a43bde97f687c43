import { type OptionKinds, requireOptions } from '../../core/arguments.ts'
import type { AppendOrigin } from '../../producers/appendOrigin.ts'
import { APPEND_OPTIONS, type AppendOptions, type DuplicateBatch } from '../../producers/appendResult.ts'
import type { CheckedRecords } from './appendRecords.ts'
import { requireLeaderEpoch } from './leaderEpochs.ts'

/** What `PartitionLog.append` takes besides the batches. */
export interface LogAppendOptions extends AppendOptions {
  /**
   * The leader's epoch. Origins `client`, `coordinator` and `mirror`: written into the batches; default the log's latest,
   * or 0. Origin `replication`: batches of a later epoch, and all behind them, are left for another fetch; default: none is.
   */
  leaderEpoch?: number
}

const LOG_APPEND_OPTIONS: OptionKinds<LogAppendOptions> = { ...APPEND_OPTIONS, leaderEpoch: 'any' }

/** What an append has done. Source: Kafka's LogAppendInfo. */
export interface LogAppendResult {
  /** Of the batches that were appended, or of the duplicate; null where there were none. */
  firstOffset: bigint | null
  lastOffset: bigint | null
  /** How many batches and bytes were appended. */
  batches: number
  bytes: number
  /** The earlier append of a client's batch; then nothing was appended. */
  duplicate: DuplicateBatch | null
}

/** @param duplicate the earlier append, where nothing was appended for that */
export function resultOf(
  { bytes, batches }: CheckedRecords,
  duplicate: DuplicateBatch | null,
): LogAppendResult {
  if (duplicate !== null) {
    const { firstOffset, lastOffset } = duplicate
    return { firstOffset, lastOffset, batches: 0, bytes: 0, duplicate }
  }
  const firstOffset = batches[0]?.baseOffset ?? null
  const lastOffset = batches.at(-1)?.lastOffset ?? null
  return { firstOffset, lastOffset, batches: batches.length, bytes: bytes.length, duplicate }
}

/**
 * The epoch of the leader that appends; null where batches keep theirs, whatever it is.
 * @throws InvalidArgumentError
 */
export function leaderEpochOf(
  origin: AppendOrigin,
  options: LogAppendOptions,
  latestEpoch: number | null,
): number | null {
  const { leaderEpoch } = requireOptions('options of append', options, LOG_APPEND_OPTIONS)
  if (leaderEpoch === undefined) return origin === 'replication' ? null : (latestEpoch ?? 0)
  return requireLeaderEpoch('leaderEpoch', leaderEpoch)
}
