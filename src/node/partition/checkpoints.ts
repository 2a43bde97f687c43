import { readFileSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { CorruptCheckpointError } from '../../log/partition/logErrors.ts'
import { atFile } from '../files/ioErrors.ts'
import { decodeProperties } from './javaProperties.ts'

/** What a broker keeps beside the partitions of a log directory, about one of them. */
export interface PartitionCheckpoints {
  /** Whether the broker ended cleanly (`.kafka_cleanshutdown`). */
  isClean: boolean
  /** Null where nothing is written of it. */
  recoveryPoint: bigint | null
  logStartOffset: bigint | null
  highWatermark: bigint | null
}

const VERSION = '0'

/**
 * A partition directory as a broker may know it: under its own name, and, where a link leads to it, under the link's.
 * @throws LogFileError IO_ERROR
 */
export function namesOf(directory: string): string[] {
  const real = atFile('read it', directory, () => realpathSync(directory))
  return [...new Set([real, resolve(directory)])]
}

/**
 * Reads the checkpoint files of the log directory around a partition directory. As in a broker, an unreadable recovery
 * point counts as none.
 *
 * @throws LogFileError IO_ERROR
 * @see Kafka's OffsetCheckpointFile, CleanShutdownFileHandler
 */
export function readCheckpoints(directory: string): PartitionCheckpoints {
  const [real, ...links] = namesOf(directory).map(checkpointsOf)
  return [real!, ...links].find(isNoted) ?? real!
}

function isNoted({ recoveryPoint, logStartOffset, highWatermark }: PartitionCheckpoints): boolean {
  return recoveryPoint !== null || logStartOffset !== null || highWatermark !== null
}

function checkpointsOf(directory: string): PartitionCheckpoints {
  const logDirectory = dirname(directory)
  const partition = basename(directory)
  return {
    isClean: readText(join(logDirectory, '.kafka_cleanshutdown')) !== null,
    recoveryPoint: offsetOf(join(logDirectory, 'recovery-point-offset-checkpoint'), partition),
    logStartOffset: offsetOf(join(logDirectory, 'log-start-offset-checkpoint'), partition),
    highWatermark: offsetOf(join(logDirectory, 'replication-offset-checkpoint'), partition),
  }
}

/**
 * The id of the cluster that a log directory belongs to, by its `meta.properties`; null where that does not say.
 * @see Kafka's MetaProperties
 */
export function readClusterId(logDirectory: string): string | null {
  const text = readText(join(logDirectory, 'meta.properties'))
  return (text === null ? undefined : decodeProperties(text).get('cluster.id')) || null
}

function offsetOf(path: string, partition: string): bigint | null {
  const text = readText(path)
  if (text === null) return null
  try {
    return decodeOffsetCheckpoint(text, path).get(partition) ?? null
  } catch (error) {
    if (error instanceof CorruptCheckpointError) return null
    throw error
  }
}

/**
 * Reads a text with a version, a count, and a line `<topic> <partition> <offset>` each.
 * @throws CorruptCheckpointError
 */
function decodeOffsetCheckpoint(text: string, file: string): Map<string, bigint> {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const [version, count, ...rest] = lines
  const offsets = new Map<string, bigint>()
  // after a crash of the machine a file may be empty
  if (count === undefined) return offsets
  if (version !== VERSION) throw new CorruptCheckpointError(file, `version ${version}, expected ${VERSION}`)
  if (count !== String(rest.length)) {
    throw new CorruptCheckpointError(file, `claims ${count} entries, has ${rest.length}`)
  }
  for (const [index, line] of rest.entries()) {
    const match = /^(\S+)\s+(\d+)\s+(\d+)$/.exec(line)
    if (match === null) {
      throw new CorruptCheckpointError(
        file,
        `line ${index + 3} is not "<topic> <partition> <offset>": ${line}`,
      )
    }
    offsets.set(`${match[1]}-${match[2]}`, BigInt(match[3]!))
  }
  return offsets
}

function readText(path: string): string | null {
  return atFile('read it', path, () => {
    try {
      return readFileSync(path, 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
      throw error
    }
  })
}
