import { resolve } from 'node:path'
import type { PartitionLogOptions } from '../log/partition/logOptions.ts'
import { memoryStorage } from '../log/partition/memoryStorage.ts'
import { overlayStorage } from '../log/partition/overlayStorage.ts'
import { PartitionLog } from '../log/partition/partitionLog.ts'
import { loadCoreSync } from '../wasm/load.ts'
import { readCheckpoints } from './checkpoints.ts'
import { directoryStorage } from './directoryStorage.ts'

export interface PartitionDirectoryOptions extends PartitionLogOptions {
  /**
   * Default false: changes to the files, those of opening included, stay in memory, so that the log shows what a broker
   * would make of the directory. With true they are made.
   */
  write?: boolean
}

/**
 * Opens a partition directory: one that a broker has left, or one that a `PartitionLog` has written. Whether and from
 * where it is recovered, its log start offset and its high watermark come from the checkpoints of the log directory
 * around it, where options do not say them. No broker may be at work on it.
 *
 * @throws LogFileError IO_ERROR; what `PartitionLog.open` throws
 * @example
 * const log = openPartitionDirectory('/data/orders-0')
 * log.producerState.producers.size
 */
export function openPartitionDirectory(
  directory: string,
  options: PartitionDirectoryOptions = {},
): PartitionLog {
  const { write = false, ...logOptions } = options
  const files = directoryStorage(directory, write ? 'write' : 'read')
  return PartitionLog.open(write ? files : overlayStorage(files, memoryStorage()), {
    ...checkpointOptions(directory),
    ...logOptions,
  })
}

/** How a broker would open a partition directory, by the checkpoints around it. */
export function checkpointOptions(directory: string): PartitionLogOptions {
  const { isClean, recoveryPoint, logStartOffset, highWatermark } = readCheckpoints(resolve(directory))
  return {
    core: loadCoreSync(),
    shutdown: isClean ? 'clean' : 'unclean',
    ...(recoveryPoint === null ? {} : { recoveryPoint }),
    ...(logStartOffset === null ? {} : { logStartOffset }),
    ...(highWatermark === null ? {} : { highWatermark }),
  }
}
