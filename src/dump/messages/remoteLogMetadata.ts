import { MalformedBytes } from '../../bytes/byteReader.ts'
import type { DecodedMessage } from '../dumpFormat.ts'
import { readApiMessage } from './apiMessage.ts'
import type { MessageDecoder } from './messageDecoder.ts'
import { type Schema, schema } from './schema.ts'

const PARTITION = 'topicIdPartition { name string, id uuid, partition int32 }'
const SEGMENT_ID = `remoteLogSegmentId { ${PARTITION}, id uuid }`
const EVENT = 'brokerId int32, eventTimestampMs int64'
const CUSTOM_AND_STATE = 'customMetadata ?bytes, remoteLogSegmentState int8'
const SEGMENT = `startOffset int64, endOffset int64, brokerId int32, maxTimestampMs int64, eventTimestampMs int64,
  segmentLeaderEpochs [{ leaderEpoch int32, offset int64 }], segmentSizeInBytes int32, ${CUSTOM_AND_STATE},
  txnIndexEmpty bool #0`

const SEGMENT_STATES = [
  'COPY_SEGMENT_STARTED',
  'COPY_SEGMENT_FINISHED',
  'DELETE_SEGMENT_STARTED',
  'DELETE_SEGMENT_FINISHED',
]
const DELETE_STATES = ['DELETE_PARTITION_MARKED', 'DELETE_PARTITION_STARTED', 'DELETE_PARTITION_FINISHED']

interface TopicIdPartition {
  name: string
  id: string
  partition: number
}

interface SegmentId {
  topicIdPartition: TopicIdPartition
  id: string
}

interface SegmentUpdate {
  remoteLogSegmentId: SegmentId
  brokerId: number
  eventTimestampMs: bigint
  /** In base64. */
  customMetadata: string | null
  remoteLogSegmentState: number
}

interface SegmentFields extends Omit<SegmentUpdate, 'remoteLogSegmentId'> {
  startOffset: bigint
  endOffset: bigint
  maxTimestampMs: bigint
  segmentLeaderEpochs: { leaderEpoch: number; offset: bigint }[]
  segmentSizeInBytes: number
  txnIndexEmpty?: boolean
}

interface Segment extends SegmentFields {
  remoteLogSegmentId: SegmentId
}

interface SegmentSnapshot extends SegmentFields {
  segmentId: string
}

interface PartitionDelete {
  topicIdPartition: TopicIdPartition
  brokerId: number
  eventTimestampMs: bigint
  remotePartitionDeleteState: number
}

/** By type: the fields, and the text of Kafka's object made of them. */
const TYPES: Record<number, [fields: string, text: (data: never) => string]> = {
  0: [`${SEGMENT_ID}, ${SEGMENT}`, segmentText],
  1: [`${SEGMENT_ID}, ${EVENT}, ${CUSTOM_AND_STATE}`, updateText],
  2: [`${PARTITION}, ${EVENT}, remotePartitionDeleteState int8`, deleteText],
  3: [`segmentId uuid, ${SEGMENT}`, snapshotText],
}

export function remoteLogMetadataTypes(): Map<number, Schema> {
  return new Map(Object.entries(TYPES).map(([type, [fields]]) => [Number(type), schema(fields)]))
}

/** Records of __remote_log_metadata. Source: Kafka's RemoteLogMetadataSerde and DumpLogSegments. */
export class RemoteLogMetadataDecoder implements MessageDecoder {
  readonly #types = remoteLogMetadataTypes()

  decode(_key: Uint8Array | null, value: Uint8Array | null, offset: bigint): DecodedMessage {
    try {
      const { type, data } = readApiMessage(value, (wanted) => this.#types.get(wanted))
      return { key: null, value: TYPES[type]![1](data as never) }
    } catch (error) {
      if (!(error instanceof MalformedBytes)) throw error
      return { key: null, value: `Error at offset ${offset}, skipping. ${error.message}` }
    }
  }
}

// The texts are those of toString(); what Kafka's constructors refuse is told in their words, in the order of their checks.

function segmentText(segment: Segment): string {
  const { startOffset, endOffset, brokerId, maxTimestampMs, eventTimestampMs } = segment
  if (startOffset < 0n) {
    refuse(`Unexpected start offset = ${startOffset}. StartOffset for a remote segment cannot be negative`)
  }
  if (endOffset < startOffset) {
    refuse(
      `Unexpected end offset = ${endOffset}. EndOffset for a remote segment cannot be less than startOffset = ` +
        `${startOffset}`,
    )
  }
  const epochs = epochsText(segment)
  return (
    `RemoteLogSegmentMetadata{remoteLogSegmentId=${idText(segment.remoteLogSegmentId)}, startOffset=${startOffset}, ` +
    `endOffset=${endOffset}, brokerId=${brokerId}, maxTimestampMs=${maxTimestampMs}, ` +
    `eventTimestampMs=${eventTimestampMs}, segmentLeaderEpochs=${epochs}, ${endText(segment)}`
  )
}

function updateText(update: SegmentUpdate): string {
  const { remoteLogSegmentId, brokerId, eventTimestampMs } = update
  return (
    `RemoteLogSegmentMetadataUpdate{remoteLogSegmentId=${idText(remoteLogSegmentId)}, ` +
    `customMetadata=${customText(update)}, state=${stateText(update)}, eventTimestampMs=${eventTimestampMs}, ` +
    `brokerId=${brokerId}}`
  )
}

function deleteText({ topicIdPartition, brokerId, eventTimestampMs, ...data }: PartitionDelete): string {
  // the constructor gives no reason, so Java's is null
  const state = DELETE_STATES[data.remotePartitionDeleteState] ?? refuse('null')
  return (
    `RemotePartitionDeleteMetadata{topicPartition=${partitionText(topicIdPartition)}, state=${state}, ` +
    `eventTimestampMs=${eventTimestampMs}, brokerId=${brokerId}}`
  )
}

function snapshotText(snapshot: SegmentSnapshot): string {
  const { segmentId, startOffset, endOffset, maxTimestampMs } = snapshot
  stateText(snapshot)
  return (
    `RemoteLogSegmentMetadataSnapshot{segmentId=${segmentId}, startOffset=${startOffset}, endOffset=${endOffset}, ` +
    `maxTimestampMs=${maxTimestampMs}, segmentLeaderEpochs=${epochsText(snapshot)}, ${endText(snapshot)}`
  )
}

function refuse(why: string): never {
  throw new MalformedBytes(why, 0)
}

function idText({ topicIdPartition, id }: SegmentId): string {
  return `RemoteLogSegmentId{topicIdPartition=${partitionText(topicIdPartition)}, id=${id}}`
}

function partitionText({ name, id, partition }: TopicIdPartition): string {
  return `${id}:${name}-${partition}`
}

/** A TreeMap's text: in the order of the epochs, the last offset of each. */
function epochsText({ segmentLeaderEpochs }: SegmentFields): string {
  if (segmentLeaderEpochs.length === 0) refuse('segmentLeaderEpochs can not be null or empty')
  const offsets = new Map(segmentLeaderEpochs.map(({ leaderEpoch, offset }) => [leaderEpoch, offset]))
  const sorted = [...offsets].sort(([a], [b]) => a - b)
  return `{${sorted.map(([epoch, offset]) => `${epoch}=${offset}`).join(', ')}}`
}

function customText({ customMetadata }: { customMetadata: string | null }): string {
  if (customMetadata === null) return 'Optional.empty'
  return `Optional[CustomMetadata{${atob(customMetadata).length} bytes}]`
}

function stateText({ remoteLogSegmentState }: { remoteLogSegmentState: number }): string {
  return SEGMENT_STATES[remoteLogSegmentState] ?? refuse('state can not be null')
}

function endText(segment: SegmentFields): string {
  const { segmentSizeInBytes, txnIndexEmpty = false } = segment
  return (
    `segmentSizeInBytes=${segmentSizeInBytes}, customMetadata=${customText(segment)}, ` +
    `state=${stateText(segment)}, txnIdxEmpty=${txnIndexEmpty}}`
  )
}
