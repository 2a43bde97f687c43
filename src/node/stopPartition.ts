import { basename, dirname, join, resolve } from 'node:path'
import { InvalidArgumentError, LogFileError } from '../errors.ts'
import { isNumberedSegment } from '../log/fileNames.ts'
import { memoryStorage } from '../log/partition/memoryStorage.ts'
import { overlayStorage } from '../log/partition/overlayStorage.ts'
import { type StopLogReport, type StopLogRequest, stopLog } from '../mirroring/stopLog.ts'
import { readClusterId } from './checkpoints.ts'
import { directoryStorage } from './directoryStorage.ts'
import { requireFinished } from './journalErrors.ts'
import { readLogPath } from './logPaths.ts'
import { checkpointOptions } from './partitionDirectory.ts'

export interface StopPartitionOptions extends StopLogRequest {
  /** Default false; with true all changes stay in memory, so that the report tells what a stop would do. */
  dryRun?: boolean
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
 * @throws LogFileError NOT_A_LOG, IO_ERROR, UNFINISHED_REWRITE; InvalidArgumentError where the log directory is the source
 *   cluster's; what `stopLog` throws
 * @example
 * const { lastMirroredOffset } = await stopPartition('/kafka/orders-0', { clusterId: 'B', sourceClusterId: 'A' })
 */
export async function stopPartition(
  directory: string,
  options: StopPartitionOptions,
): Promise<StopPartitionReport> {
  const { dryRun = false, ...request } = options
  await requirePartition(directory)
  const warnings = checkClusterId(directory, options)
  const files = directoryStorage(directory, dryRun ? 'read' : 'write')
  try {
    const storage = dryRun ? overlayStorage(files, memoryStorage()) : files
    const report = stopLog(storage, checkpointOptions(directory), request)
    return {
      directory,
      clusterId: request.clusterId,
      dryRun,
      ...report,
      warnings: [...warnings, ...report.warnings],
    }
  } finally {
    files.close()
  }
}

/** To stop the source's own partition would be the worst of mistakes. */
function checkClusterId(directory: string, { clusterId, sourceClusterId }: StopPartitionOptions): string[] {
  const logDirectory = dirname(resolve(directory))
  const noted = readClusterId(logDirectory)
  if (noted === null || noted === clusterId) return []
  const place = `${join(logDirectory, 'meta.properties')} names the cluster "${noted}"`
  if (noted !== sourceClusterId) return [`${place}, not "${clusterId}"`]
  throw new InvalidArgumentError(
    `${place}, which is the source: this is no mirror of it. Nothing was changed; give the mirror's directory.`,
  )
}

/** A log that is opened makes files, so the directory must be a partition's. */
export async function requirePartition(directory: string): Promise<void> {
  const { kind, units } = await readLogPath(directory)
  const [unit] = units
  const isNumbered = unit?.files.some(({ path }) => isNumberedSegment(basename(path))) ?? false
  if (kind !== 'partition' || unit === undefined || !isNumbered) {
    throw new LogFileError(
      'NOT_A_LOG',
      `${directory}: one partition directory is needed, with segments such as 00000000000000000000.log in it`,
      directory,
    )
  }
  requireFinished(unit)
}
