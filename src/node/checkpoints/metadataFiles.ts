import { linesOf, parseInt32, quoted } from '../../log/partition/checkpointFile.ts'
import { CorruptCheckpointError } from '../../log/partition/logErrors.ts'
import { decodeProperties } from './javaProperties.ts'

/**
 * Reads the `meta.properties` of a log directory. Where Kafka takes a file without a version for one of version 0, this
 * refuses it: what a broker writes has one. The ids of node and directory are not looked at.
 *
 * @returns the cluster's id, which version 0 need not have
 * @throws CorruptCheckpointError
 * @see Kafka's MetaProperties
 */
export function decodeMetaProperties(content: Uint8Array, file: string): { clusterId: string | null } {
  const properties = decodeProperties(content, file)
  const given = properties.get('version')
  if (given === undefined) throw new CorruptCheckpointError(file, 'it has no line "version="')
  const version = parseInt32(given)
  if (version !== 0 && version !== 1) {
    throw new CorruptCheckpointError(file, `its version, ${quoted(given)}, is not 0 or 1`)
  }
  const clusterId = properties.get('cluster.id') ?? null
  if (version === 1 && clusterId === null) {
    throw new CorruptCheckpointError(file, 'it has no line "cluster.id="')
  }
  return { clusterId }
}

/**
 * Reads the `partition.metadata` of a partition directory: two lines, `version: 0` and `topic_id: <id>`. As in Kafka, what
 * stands before the colon may be anything, and so may lines behind.
 *
 * @returns the topic's id in base64, of 22 characters
 * @throws CorruptCheckpointError
 * @see Kafka's PartitionMetadataReadBuffer
 */
export function decodePartitionMetadata(content: Uint8Array, file: string): string {
  const lines = linesOf(content, file)
  const field = (name: string, line: number) => {
    const text = lines[line - 1]
    const [, value, ...more] = text?.split(/:[ \t\v\f]+/) ?? []
    if (value !== undefined && value !== '' && more.length === 0) return value
    const fault = text === undefined ? 'it ends' : `${quoted(text)} stands`
    throw new CorruptCheckpointError(file, `${fault} where "${name}: " should`, line)
  }
  const version = field('version', 1)
  if ((parseInt32(version) ?? -1) < 0) {
    throw new CorruptCheckpointError(file, `its version is ${quoted(version)}`, 1)
  }
  const topicId = field('topic_id', 2)
  if (!/^[\w-]{22}$/.test(topicId) || /^A+$/.test(topicId)) {
    throw new CorruptCheckpointError(file, `${quoted(topicId)} is no id of a topic`, 2)
  }
  return topicId
}
