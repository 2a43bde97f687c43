import { statSync } from 'node:fs'
import { join } from 'node:path'
import { type OptionKinds, requireOptions, requireText } from '../../core/arguments.ts'
import type { Core } from '../../core/core.ts'
import { isMirroredProducerId, unmapProducerId } from '../../core/producerId.ts'
import { isNumberedSegment } from '../../log/fileNames.ts'
import { LEADER_EPOCH_CHECKPOINT } from '../../log/partition/leaderEpochs.ts'
import type { CorruptCheckpointError } from '../../log/partition/logErrors.ts'
import type { CheckedSegment, RecoveryEvent } from '../../log/partition/logOptions.ts'
import { LOG_START_FILE } from '../../log/partition/logStartFile.ts'
import { PartitionLog } from '../../log/partition/partitionLog.ts'
import { previewStorage } from '../../log/partition/previewStorage.ts'
import { changesOf, type RecoveryChanges } from '../../log/partition/recoveryChanges.ts'
import type { Barrier } from '../../producers/appendResult.ts'
import type { ProducerStateManagerOptions, ProducerWarning } from '../../producers/managerOptions.ts'
import type { AbortedTransactionEntry } from '../../producers/transactions.ts'
import { coreOf } from '../../wasm/load.ts'
import { readCheckpoints, requireCheckpoints } from '../checkpoints/checkpoints.ts'
import { directoryStorage } from '../storage/directoryStorage.ts'
import { checkpointOptions } from './partitionDirectory.ts'
import { lockPartition, requirePartition } from './requirePartition.ts'

/** How a partition directory is recovered. */
export interface RecoverPartitionOptions
  extends Pick<
    ProducerStateManagerOptions,
    'clusterId' | 'producerIdTest' | 'barrierPolicy' | 'barrierScope'
  > {
  /** Default false: all changes stay in memory, and the report tells what a recovery would do. */
  write?: boolean
  /** Checks CRCs. Default: the wasm core, loaded at the first call. */
  core?: Core
  /** With `write`, default false: where a broker is seen to be at work on the log directory, the call fails with BROKER_RUNNING. */
  ignoreBroker?: boolean
  /** Called behind each segment with the bytes checked so far, and those of all segments. */
  onProgress?: (bytes: number, size: number) => void
}

const RECOVER_OPTIONS: OptionKinds<RecoverPartitionOptions> = {
  clusterId: 'any',
  producerIdTest: 'any',
  barrierPolicy: 'any',
  barrierScope: 'any',
  write: 'boolean',
  ignoreBroker: 'boolean',
  core: 'object',
  onProgress: 'function',
}

/** A producer as a broker knows it after it has replayed the log. */
export interface RecoveredProducer {
  producerId: bigint
  /** Of a mapped id; otherwise null. */
  sourceProducerId: bigint | null
  epoch: number
  /** -1 where only markers are known. */
  lastSequence: number
  lastOffset: bigint
  lastTimestamp: bigint
  coordinatorEpoch: number
  currentTxnFirstOffset: bigint | null
}

/** What a broker knows after it has replayed the log, and what the recovery cut or removed. */
export interface RecoverPartitionReport extends RecoveryChanges {
  directory: string
  /** Whether the files were changed. */
  written: boolean
  logStartOffset: bigint
  logEndOffset: bigint
  /** With all of the log replicated. */
  lastStableOffset: bigint
  segments: number
  batches: number
  bytes: number
  /** Batches under mapped producer ids. */
  mirroredBatches: number
  /** Ascending by id. */
  producers: RecoveredProducer[]
  /** Those of the producers that hold the last stable offset back, earliest first. */
  openTransactions: {
    producerId: bigint
    sourceProducerId: bigint | null
    epoch: number
    firstOffset: bigint
  }[]
  abortedTransactions: AbortedTransactionEntry[]
  barriers: Barrier[]
  /** What a leader would have refused, the first hundred. */
  producerWarnings: ProducerWarning[]
  /**
   * Small files of the broker that are there and cannot be read: the recovery was made as if nothing were known of what
   * they say. With `write` they are refused instead.
   */
  unreadable: CorruptCheckpointError[]
}

const MAX_WARNINGS = 100

/**
 * Recovers a partition directory whose broker is down, as a broker does after a crash that has lost its recovery point: every
 * segment is checked batch by batch, the tail is cut at the first damage, indexes, leader epochs and producer snapshots are
 * built anew. Producers whose batches were all deleted are forgotten by that, unless the snapshot at the first segment's
 * base offset, which a broker believes where no log start offset is noted, still knows them.
 *
 * @throws LogFileError NOT_A_LOG, IO_ERROR, UNFINISHED_REWRITE, DIRECTORY_LOCKED, BROKER_RUNNING; InvalidTxnStateError, InvalidRecordError or
 *   CorruptCheckpointError (with `write`) for a log on which a broker does not start; InvalidArgumentError; WasmUnavailableError
 * @example
 * const { producers, openTransactions } = await recoverPartition('/kafka/orders-0')
 */
export async function recoverPartition(
  directory: string,
  options: RecoverPartitionOptions = {},
): Promise<RecoverPartitionReport> {
  requireText('directory', directory)
  requireOptions('options of recoverPartition', options, RECOVER_OPTIONS)
  const given = { ...options, core: coreOf(options.core) }
  if (!options.write) {
    requirePartition(directory)
    return recover(directory, given)
  }
  const lock = lockPartition(directory, options)
  try {
    return recover(directory, given)
  } finally {
    lock.release()
  }
}

function recover(
  directory: string,
  options: RecoverPartitionOptions & { core: Core },
): RecoverPartitionReport {
  const { write = false, ignoreBroker: _, core, onProgress = () => {}, ...stateOptions } = options
  const checkpoints = write ? requireCheckpoints(directory) : readCheckpoints(directory)
  const { unreadable } = checkpoints
  const files = directoryStorage(directory, write ? 'write' : 'read')
  try {
    const storage = write ? files : previewStorage(files)
    for (const name of [LEADER_EPOCH_CHECKPOINT, LOG_START_FILE]) {
      if (unreadable.some(({ file }) => file === join(directory, name))) storage.remove(name)
    }
    const events: RecoveryEvent[] = []
    const checked: CheckedSegment[] = []
    const producerWarnings: ProducerWarning[] = []
    const size = sizeOfSegments(directory, files.list())
    let bytes = 0
    const log = PartitionLog.open(storage, {
      ...checkpointOptions(directory, checkpoints),
      ...stateOptions,
      core,
      shutdown: 'unclean',
      recoveryPoint: 0n,
      onRecovery: (event) => events.push(event),
      onChecked(segment) {
        checked.push(segment)
        bytes += segment.bytes
        onProgress(bytes, size)
      },
      onWarning(warning) {
        if (producerWarnings.length < MAX_WARNINGS) producerWarnings.push(warning)
      },
    })
    log.updateHighWatermark(log.logEndOffset)
    const report = {
      directory,
      written: write,
      ...stateOf(log),
      ...countsOf(checked),
      ...changesOf(events),
      producerWarnings,
      unreadable,
    }
    if (write) log.close()
    return report
  } finally {
    files.close()
  }
}

function sizeOfSegments(directory: string, names: readonly string[]): number {
  return names
    .filter(isNumberedSegment)
    .reduce((sum, name) => sum + (statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0), 0)
}

function stateOf(log: PartitionLog) {
  const { logStartOffset, logEndOffset, lastStableOffset, abortedTransactions, segments } = log
  const producers = [...log.producerState.producers.values()]
    .map(
      ({ producerId, producerEpoch, batches: _, ...entry }): RecoveredProducer => ({
        producerId,
        sourceProducerId: sourceOf(producerId),
        epoch: producerEpoch,
        ...entry,
      }),
    )
    .sort((a, b) => (a.producerId < b.producerId ? -1 : 1))
  return {
    logStartOffset,
    logEndOffset,
    lastStableOffset,
    segments: segments.length,
    producers,
    openTransactions: openTransactionsOf(log, producers),
    abortedTransactions: [...abortedTransactions],
  }
}

function openTransactionsOf({ producerState }: PartitionLog, producers: readonly RecoveredProducer[]) {
  if (producerState.firstUndecidedOffset === null) return []
  return producers
    .flatMap(({ producerId, sourceProducerId, epoch, currentTxnFirstOffset: firstOffset }) =>
      firstOffset === null ? [] : [{ producerId, sourceProducerId, epoch, firstOffset }],
    )
    .sort((a, b) => (a.firstOffset < b.firstOffset ? -1 : 1))
}

function countsOf(checked: readonly CheckedSegment[]) {
  const sum = (of: (segment: CheckedSegment) => number) =>
    checked.reduce((total, segment) => total + of(segment), 0)
  return {
    batches: sum(({ batches }) => batches),
    bytes: sum(({ bytes }) => bytes),
    mirroredBatches: sum(({ mirroredBatches }) => mirroredBatches),
    barriers: checked.flatMap(({ barriers }) => barriers),
  }
}

function sourceOf(producerId: bigint): bigint | null {
  return isMirroredProducerId(producerId) ? unmapProducerId(producerId) : null
}
