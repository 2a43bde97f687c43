import { readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { decodeCheckpointFile, parseInt32, parseInt64 } from '../../log/partition/checkpointFile.ts'
import { LEADER_EPOCH_CHECKPOINT, readLeaderEpochs } from '../../log/partition/leaderEpochs.ts'
import { CorruptCheckpointError } from '../../log/partition/logErrors.ts'
import { LOG_START_FILE, LogStartFile } from '../../log/partition/logStartFile.ts'
import { atFile } from '../files/ioErrors.ts'
import { directoryStorage } from '../storage/directoryStorage.ts'
import { decodeMetaProperties, decodePartitionMetadata } from './metadataFiles.ts'

/** What a broker keeps in a log directory and in one of its partitions, about that partition. */
export interface PartitionCheckpoints {
  /** Whether the broker ended cleanly (`.kafka_cleanshutdown`, by its name alone). */
  isClean: boolean
  /** Null where nothing is written of it. */
  recoveryPoint: bigint | null
  logStartOffset: bigint | null
  highWatermark: bigint | null
  /** The files that are there and cannot be read. Of what they say nothing is known. */
  unreadable: CorruptCheckpointError[]
}

const META_PROPERTIES = 'meta.properties'
const PARTITION_METADATA = 'partition.metadata'
const OFFSET_CHECKPOINTS = {
  recoveryPoint: 'recovery-point-offset-checkpoint',
  logStartOffset: 'log-start-offset-checkpoint',
  highWatermark: 'replication-offset-checkpoint',
} as const

/**
 * A partition directory as a broker may know it: under its own name, and, where a link leads to it, under the link's.
 * @throws LogFileError IO_ERROR
 */
export function namesOf(directory: string): string[] {
  const real = atFile('read it', directory, () => realpathSync(directory))
  return [...new Set([real, resolve(directory)])]
}

/** The log directories that partitions lie in, by all names of them, once each. */
export function logDirectoriesOf(partitions: readonly string[]): string[] {
  return [...new Set(partitions.flatMap((partition) => namesOf(partition).map((name) => dirname(name))))]
}

/**
 * Reads the small files of a broker in a partition directory and in the log directory around it.
 *
 * @throws LogFileError IO_ERROR
 * @see Kafka's OffsetCheckpointFile, CleanShutdownFileHandler
 */
export function readCheckpoints(directory: string): PartitionCheckpoints {
  const [real, ...links] = namesOf(directory).map(checkpointsOf)
  const { unreadable: _, ...known } = [real!, ...links].find(isNoted) ?? real!
  const unreadable = [real!, ...links].flatMap((each) => each.unreadable)
  return { ...known, unreadable: [...unreadable, ...unreadableInPartition(directory)] }
}

/**
 * The same for what is about to change the partition, or to tell what a change would do.
 * @throws CorruptCheckpointError; LogFileError IO_ERROR
 */
export function requireCheckpoints(directory: string): PartitionCheckpoints {
  const checkpoints = readCheckpoints(directory)
  throwFirst(checkpoints.unreadable)
  return checkpoints
}

/** @throws CorruptCheckpointError; LogFileError IO_ERROR */
export function requireReadableInPartition(directory: string): void {
  throwFirst(unreadableInPartition(directory))
}

/** @throws CorruptCheckpointError; LogFileError IO_ERROR */
export function requireReadableInLogDirectory(logDirectory: string): void {
  throwFirst(readLogDirectory(logDirectory).unreadable)
}

function throwFirst([first]: readonly CorruptCheckpointError[]): void {
  if (first !== undefined) throw first
}

/**
 * The id of the cluster that a log directory belongs to, by its `meta.properties`; null where there is none, or where that
 * does not say.
 * @throws CorruptCheckpointError; LogFileError IO_ERROR
 */
export function readClusterId(logDirectory: string): string | null {
  return read(join(logDirectory, META_PROPERTIES), decodeMetaProperties)?.clusterId || null
}

function isNoted({ recoveryPoint, logStartOffset, highWatermark }: PartitionCheckpoints): boolean {
  return recoveryPoint !== null || logStartOffset !== null || highWatermark !== null
}

function checkpointsOf(directory: string): PartitionCheckpoints {
  const { offsets, unreadable } = readLogDirectory(dirname(directory))
  const of = (name: keyof typeof offsets) => offsets[name]?.get(basename(directory)) ?? null
  const cleanShutdown = join(dirname(directory), '.kafka_cleanshutdown')
  return {
    isClean:
      atFile('read it', cleanShutdown, () => statSync(cleanShutdown, { throwIfNoEntry: false })) !==
      undefined,
    recoveryPoint: of('recoveryPoint'),
    logStartOffset: of('logStartOffset'),
    highWatermark: of('highWatermark'),
    unreadable,
  }
}

function readLogDirectory(logDirectory: string) {
  const unreadable: CorruptCheckpointError[] = []
  const offsets = (name: keyof typeof OFFSET_CHECKPOINTS) =>
    noting(unreadable, () => read(join(logDirectory, OFFSET_CHECKPOINTS[name]), decodeOffsetCheckpoint))
  noting(unreadable, () => readClusterId(logDirectory))
  return {
    offsets: {
      recoveryPoint: offsets('recoveryPoint'),
      logStartOffset: offsets('logStartOffset'),
      highWatermark: offsets('highWatermark'),
    },
    unreadable,
  }
}

function unreadableInPartition(directory: string): CorruptCheckpointError[] {
  const unreadable: CorruptCheckpointError[] = []
  const files = directoryStorage(directory, 'read')
  try {
    noting(unreadable, () => readLeaderEpochs(files, join(directory, LEADER_EPOCH_CHECKPOINT)))
    noting(unreadable, () => new LogStartFile(files, join(directory, LOG_START_FILE)))
    noting(unreadable, () => read(join(directory, PARTITION_METADATA), decodePartitionMetadata))
  } finally {
    files.close()
  }
  return unreadable
}

function noting<T>(unreadable: CorruptCheckpointError[], run: () => T): T | null {
  try {
    return run()
  } catch (error) {
    if (!(error instanceof CorruptCheckpointError)) throw error
    unreadable.push(error)
    return null
  }
}

/**
 * Reads a checkpoint with a line for each partition; as in a broker, the last of several lines of one counts.
 * @throws CorruptCheckpointError
 * @see Kafka's OffsetCheckpointFile
 */
export function decodeOffsetCheckpoint(content: Uint8Array, file: string): Map<string, bigint> {
  const entries = decodeCheckpointFile(
    content,
    file,
    '<topic> <partition> <offset>',
    ([topic, index, last]) => {
      const [partition, offset] = [parseInt32(index!), parseInt64(last!)]
      if (partition === null || partition < 0 || offset === null || offset < 0n) return null
      return [`${topic}-${partition}`, offset] as const
    },
  )
  return new Map(entries)
}

/** Null where there is no such file. */
function read<T>(path: string, decode: (content: Uint8Array, file: string) => T): T | null {
  const content = atFile('read it', path, () => {
    try {
      return readFileSync(path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
      throw error
    }
  })
  return content === null ? null : decode(content, path)
}
