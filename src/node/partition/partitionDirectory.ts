import { closeSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type OptionKinds, requireOptions, requireText } from '../../core/arguments.ts'
import { InvalidArgumentError } from '../../errors.ts'
import { LOG_OPTIONS, type PartitionLogOptions } from '../../log/partition/logOptions.ts'
import { PartitionLog } from '../../log/partition/partitionLog.ts'
import { previewStorage } from '../../log/partition/previewStorage.ts'
import type { LogStorage } from '../../log/partition/storage.ts'
import { coreOf } from '../../wasm/load.ts'
import { type PartitionCheckpoints, requireCheckpoints } from '../checkpoints/checkpoints.ts'
import { atFile } from '../files/ioErrors.ts'
import { giveLike, requireUsableByOwner } from '../files/ownership.ts'
import { requireNoBroker } from '../locks/brokerLock.ts'
import { directoryStorage } from '../storage/directoryStorage.ts'
import { lockPartition, requirePartition } from './requirePartition.ts'

/** How the log of a partition directory is opened. */
export interface PartitionDirectoryOptions extends PartitionLogOptions {
  /**
   * Default false: changes to the files, those of opening included, stay in memory, so that the log shows what a broker
   * would make of the directory. With true they are made, and the directory is locked until the log is closed: another run
   * of this package that would change it fails with DIRECTORY_LOCKED. A process that ends without closing it leaves a lock
   * that the next run takes over.
   */
  write?: boolean
  /** With `write`: begins a partition in a directory that is missing or empty. Default false: there must be segments. */
  create?: boolean
  /**
   * With `write`, default false: where a running broker is seen to hold the `.lock` of the log directory around it, the call
   * fails with BROKER_RUNNING.
   */
  ignoreBroker?: boolean
}

const DIRECTORY_OPTIONS: OptionKinds<PartitionDirectoryOptions> = {
  ...LOG_OPTIONS,
  write: 'boolean',
  create: 'boolean',
  ignoreBroker: 'boolean',
}

/**
 * Opens a partition directory: one that a broker has left, or one that a `PartitionLog` has written. Whether and from
 * where it is recovered, its log start offset and its high watermark come from the checkpoints of the log directory
 * around it, where options do not say them. No broker may be at work on it.
 *
 * @throws LogFileError NOT_A_LOG, IO_ERROR, UNFINISHED_REWRITE, DIRECTORY_LOCKED, BROKER_RUNNING; InvalidArgumentError;
 *   CorruptCheckpointError for a small file of the broker that is there and cannot be read, also where only to be read; what
 *   `PartitionLog.open` throws
 * @example
 * const log = openPartitionDirectory('/data/orders-0')
 * log.producerState.producers.size
 */
export function openPartitionDirectory(
  directory: string,
  options: PartitionDirectoryOptions = {},
): PartitionLog {
  requireText('directory', directory)
  const {
    write = false,
    create = false,
    ignoreBroker = false,
    ...logOptions
  } = requireOptions('options of openPartitionDirectory', options, DIRECTORY_OPTIONS)
  const core = coreOf(options.core)
  if (create && !write) throw new InvalidArgumentError('create goes with write: true')
  if (create) makeDirectory(directory, ignoreBroker)
  const { files, known } = write ? lockedStorage(directory, create, ignoreBroker) : readStorage(directory)
  try {
    return PartitionLog.open(files, { ...known, ...logOptions, core })
  } catch (error) {
    files.close()
    throw error
  }
}

function readStorage(directory: string): { files: LogStorage; known: PartitionLogOptions } {
  requirePartition(directory)
  const known = checkpointOptions(directory)
  return { files: previewStorage(directoryStorage(directory, 'read')), known }
}

/** Its lock is given up when it is closed. */
function lockedStorage(
  directory: string,
  isNew: boolean,
  ignoreBroker: boolean,
): { files: LogStorage; known: PartitionLogOptions } {
  const lock = lockPartition(directory, { isNew, ignoreBroker })
  try {
    const known = checkpointOptions(directory)
    const files = directoryStorage(directory, 'write')
    const close = () => {
      try {
        files.close()
      } finally {
        lock.release()
      }
    }
    return { files: { ...files, close }, known }
  } catch (error) {
    lock.release()
    throw error
  }
}

/** It belongs to who owns the log directory, as whom its broker runs; in a place for all, such as /tmp, to this user. */
function makeDirectory(directory: string, ignoreBroker: boolean): void {
  atFile('create it', directory, () => {
    if (statSync(directory, { throwIfNoEntry: false }) !== undefined) return
    const above = dirname(resolve(directory))
    if (!ignoreBroker) requireNoBroker([above])
    const owner = statSync(above)
    const isOwn = (owner.mode & 0o1000) !== 0 || owner.uid === process.geteuid?.()
    if (!isOwn) requireUsableByOwner(above, [])
    mkdirSync(directory)
    if (isOwn) return
    const descriptor = openSync(directory, 'r')
    try {
      giveLike(owner, descriptor, directory)
    } finally {
      closeSync(descriptor)
    }
  })
}

/**
 * How a broker would open a partition directory, by the checkpoints in it and around it.
 * @throws CorruptCheckpointError; LogFileError IO_ERROR
 */
export function checkpointOptions(
  directory: string,
  checkpoints: PartitionCheckpoints = requireCheckpoints(directory),
): PartitionLogOptions {
  const { isClean, recoveryPoint, logStartOffset, highWatermark } = checkpoints
  return {
    shutdown: isClean ? 'clean' : 'unclean',
    ...(recoveryPoint === null ? {} : { recoveryPoint }),
    ...(logStartOffset === null ? {} : { logStartOffset }),
    ...(highWatermark === null ? {} : { highWatermark }),
  }
}
