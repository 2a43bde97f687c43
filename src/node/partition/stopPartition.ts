import { basename, dirname, join } from 'node:path'
import { type OptionKinds, requireOptions, requireText } from '../../core/arguments.ts'
import type { Core } from '../../core/core.ts'
import { LogFileError } from '../../errors.ts'
import { previewStorage } from '../../log/partition/previewStorage.ts'
import { StopRefusedError } from '../../mirroring/mirrorErrors.ts'
import {
  requireClusters,
  STOP_LOG_REQUEST,
  type StopLogReport,
  type StopLogRequest,
  stopLog,
} from '../../mirroring/stopLog.ts'
import { coreOf } from '../../wasm/load.ts'
import { namesOf, readClusterId } from '../checkpoints/checkpoints.ts'
import { directoryStorage } from '../storage/directoryStorage.ts'
import { checkpointOptions } from './partitionDirectory.ts'
import { lockPartition, requirePartition, requireSegments } from './requirePartition.ts'

export interface StopPartitionOptions extends StopLogRequest {
  /** Default false; with true all changes stay in memory, so that the report tells what a stop would do. */
  dryRun?: boolean
  /** Checks CRCs. Default: the wasm core, loaded at the first call. */
  core?: Core
  /** Default false: where a broker is seen to be at work on the log directory, the call fails with BROKER_RUNNING, but for a dry run. */
  ignoreBroker?: boolean
}

const STOP_OPTIONS: OptionKinds<StopPartitionOptions> = {
  ...STOP_LOG_REQUEST,
  dryRun: 'boolean',
  ignoreBroker: 'boolean',
  core: 'object',
}

export interface StopPartitionReport extends StopLogReport {
  directory: string
  clusterId: string
  dryRun: boolean
}

/**
 * The failover of one partition directory whose broker is down: settles open transactions, writes the barrier, and leaves
 * the files as a clean shutdown does. The mirror's state is kept in `mirror-state.json` there. Killed at any moment, the same
 * call does the rest; a call after that changes nothing.
 *
 * @param directory of the replica that will lead
 * @throws LogFileError NOT_A_LOG, IO_ERROR, UNFINISHED_REWRITE, DIRECTORY_LOCKED, BROKER_RUNNING; CorruptCheckpointError for a small
 *   file of the broker that is there and cannot be read; StopRefusedError `cluster` where `meta.properties` beside the
 *   directory names another cluster; InvalidArgumentError; what `stopLog` throws
 * @example
 * const { lastMirroredOffset } = await stopPartition('/kafka/orders-0', { clusterId: 'B', sourceClusterId: 'A' })
 */
export async function stopPartition(
  directory: string,
  options: StopPartitionOptions,
): Promise<StopPartitionReport> {
  requireText('directory', directory)
  requireClusters(requireOptions('options of stopPartition', options, STOP_OPTIONS))
  const core = coreOf(options.core)
  const { dryRun = false } = options
  requireSegments(directory)
  requireServed(directory)
  checkPlace(directory, options)
  if (dryRun) requirePartition(directory)
  const lock = dryRun ? null : lockPartition(directory, options)
  try {
    return stop(directory, { ...options, core })
  } finally {
    lock?.release()
  }
}

function stop(directory: string, options: StopPartitionOptions & { core: Core }): StopPartitionReport {
  const { dryRun = false, ignoreBroker: _, core, ...request } = options
  const known = checkpointOptions(directory)
  const files = directoryStorage(directory, dryRun ? 'read' : 'write')
  try {
    const storage = dryRun ? previewStorage(files) : files
    const report = stopLog(storage, { ...known, core }, request)
    return {
      directory,
      clusterId: request.clusterId,
      dryRun,
      ...report,
    }
  } finally {
    files.close()
  }
}

/** To stop the source's own partition, or another cluster's, would be the worst of mistakes. */
function checkPlace(directory: string, { clusterId, sourceClusterId }: StopPartitionOptions): void {
  for (const name of namesOf(directory)) {
    const logDirectory = dirname(name)
    const noted = readClusterId(logDirectory)
    if (noted === null || noted === clusterId) continue
    const id = noted.trimEnd()
    const what =
      id === sourceClusterId ? 'which is the source: this is no mirror of it' : `not "${clusterId}"`
    const space = id === noted ? '' : ' (white space stands behind it, which is a part of the id to a broker)'
    throw new StopRefusedError(
      'cluster',
      `${join(logDirectory, 'meta.properties')} names the cluster "${id}", ${what}${space}`,
      "give the mirror's directory, and the id of its cluster.",
    )
  }
}

/** What no mirror is kept in: the cluster's metadata, and what a broker is about to remove or to move. */
function requireServed(directory: string): void {
  for (const name of namesOf(directory).map((path) => basename(path))) {
    const [, suffix] = /-(delete|future|stray)$/.exec(name) ?? []
    if (suffix === undefined && !/^__cluster_metadata-\d+$/.test(name)) continue
    const what = suffix === undefined ? "the cluster's metadata, which is never mirrored" : REMOVED[suffix]
    throw new LogFileError('NOT_A_LOG', `${directory}: this is ${what}. Nothing was changed.`, directory)
  }
}

const REMOVED: Record<string, string> = {
  delete: 'a partition that a broker is about to delete',
  future: 'a copy that a broker has not finished moving to another log directory',
  stray: 'a partition that a broker has set aside, as it is not its own',
}
