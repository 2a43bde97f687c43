import { ByteReader, MalformedBytes } from '../../bytes/byteReader.ts'
import { CoordinatorDecoder, type CoordinatorRecordType } from './coordinatorDecoder.ts'
import { readMessage } from './messageReader.ts'
import { schema } from './schema.ts'

const GROUP = 'groupId string'
const MEMBER = 'groupId string, memberId string'
const PARTITIONS = 'topicId uuid, partitions [int32]'
const EPOCHS = 'assignmentEpochs ?[int32] #0'
const MEMBER_EPOCHS = 'memberEpoch int32, previousMemberEpoch int32, state int8'
const ASSIGNMENT = 'assignmentEpoch int32, assignmentTimestamp int64 #0'
const TASKS = `[{ subtopologyId string, partitions [int32] }]`
const TASKS_WITH_EPOCHS = `[{ subtopologyId string, partitions [int32], ${EPOCHS} }]`
const CLIENT = 'clientId string, clientHost string'
const TOPICS = '[{ topicId uuid, topicName string, partitions [int32] }]'
const TOPIC_INFOS =
  '[{ name string, partitions int32, replicationFactor int16, topicConfigs [{ key string, value string }] }]'

/** By type: key, value, and where it is not 0 the value's first flexible and its highest version. */
const TYPES: Record<number, [key: string, value: string, flexibleFrom?: number, highest?: number]> = {
  // offsets, and groups of the classic protocol
  0: [
    'group string, topic string, partition int32',
    'offset int64, metadata string, commitTimestamp int64',
    Infinity,
  ],
  1: [
    'group string, topic string, partition int32',
    `offset int64, leaderEpoch int32 @3+, metadata string, commitTimestamp int64, expireTimestamp int64 @1,
     topicId uuid @4+ #0`,
    4,
    4,
  ],
  2: [
    'group string',
    `protocolType string, generation int32, protocol ?string, leader ?string, currentStateTimestamp int64 @2+,
     members [{ memberId string, groupInstanceId ?string @3+, ${CLIENT}, rebalanceTimeout int32 @1+,
       sessionTimeout int32, subscription bytes, assignment bytes }]`,
    4,
    4,
  ],
  // consumer groups
  3: [GROUP, 'epoch int32, metadataHash int64 #0'],
  4: [
    GROUP,
    `topics [{ topicId uuid, topicName string, numPartitions int32,
       partitionMetadata [{ partition int32, racks [string] }] }]`,
  ],
  5: [
    MEMBER,
    `instanceId ?string, rackId ?string, ${CLIENT}, subscribedTopicNames [string], subscribedTopicRegex ?string,
     rebalanceTimeoutMs int32, serverAssignor ?string,
     classicMemberMetadata ?{ sessionTimeoutMs int32, supportedProtocols [{ name string, metadata bytes }] } #0`,
  ],
  6: [GROUP, ASSIGNMENT],
  7: [MEMBER, `topicPartitions [{ ${PARTITIONS} }]`],
  8: [
    MEMBER,
    `${MEMBER_EPOCHS}, assignedPartitions [{ ${PARTITIONS}, ${EPOCHS} }],
     partitionsPendingRevocation [{ ${PARTITIONS}, ${EPOCHS} }]`,
  ],
  16: ['groupId string, regularExpression string', 'topics [string], version int64, timestamp int64'],
  // share groups
  10: [MEMBER, `rackId ?string, ${CLIENT}, subscribedTopicNames [string]`],
  11: [GROUP, 'epoch int32, metadataHash int64'],
  12: [GROUP, ASSIGNMENT],
  13: [MEMBER, `topicPartitions [{ ${PARTITIONS} }]`],
  14: [MEMBER, `${MEMBER_EPOCHS}, assignedPartitions [{ ${PARTITIONS} }]`],
  15: [
    GROUP,
    `initializingTopics ${TOPICS}, initializedTopics ${TOPICS}, deletingTopics [{ topicId uuid, topicName string }]`,
  ],
  // groups of Kafka Streams
  17: [
    GROUP,
    `epoch int32, metadataHash int64, validatedTopologyEpoch int32 #0 =-1,
     lastAssignmentConfigs ?[{ key string, value string }] #1`,
  ],
  19: [
    MEMBER,
    `instanceId ?string, rackId ?string, ${CLIENT}, rebalanceTimeoutMs int32, topologyEpoch int32, processId string,
     userEndpoint ?{ host string, port uint16 }, clientTags [{ key string, value string }]`,
  ],
  20: [GROUP, ASSIGNMENT],
  21: [MEMBER, `activeTasks ${TASKS}, standbyTasks ${TASKS}, warmupTasks ${TASKS}`],
  22: [
    MEMBER,
    `${MEMBER_EPOCHS}, activeTasks ${TASKS_WITH_EPOCHS}, standbyTasks ${TASKS_WITH_EPOCHS},
     warmupTasks ${TASKS_WITH_EPOCHS}, activeTasksPendingRevocation ${TASKS_WITH_EPOCHS},
     standbyTasksPendingRevocation ${TASKS_WITH_EPOCHS}, warmupTasksPendingRevocation ${TASKS_WITH_EPOCHS}`,
  ],
  23: [
    GROUP,
    `epoch int32, subtopologies [{ subtopologyId string, sourceTopics [string], sourceTopicRegex [string],
       stateChangelogTopics ${TOPIC_INFOS}, repartitionSinkTopics [string], repartitionSourceTopics ${TOPIC_INFOS},
       copartitionGroups [{ sourceTopics [int16], sourceTopicRegex [int16], repartitionSourceTopics [int16] }] }]`,
  ],
}

const GROUP_METADATA = 2
const TOPIC_PARTITIONS = '[{ topic string, partitions [int32] }]'
/** The consumer protocol's: what newer versions append at the end is not read, as by Kafka. */
const SUBSCRIPTION = `topics [string], userData ?bytes, ownedPartitions ${TOPIC_PARTITIONS} @1+,
  generationId int32 @2+, rackId ?string @3+`
const CONSUMER_ASSIGNMENT = `assignedPartitions ${TOPIC_PARTITIONS}, userData ?bytes`
const HIGHEST_PROTOCOL = 3

/** Records of __consumer_offsets: committed offsets, and the groups of all protocols. */
export function offsetsDecoder(): CoordinatorDecoder {
  return new CoordinatorDecoder(offsetsTypes())
}

export function offsetsTypes(): Map<number, CoordinatorRecordType> {
  const types = new Map<number, CoordinatorRecordType>()
  for (const [type, [key, value, flexibleFrom = 0, highest = 0]] of Object.entries(TYPES)) {
    types.set(Number(type), { key: schema(key, Infinity), value: schema(value, flexibleFrom, highest) })
  }
  const group = types.get(GROUP_METADATA)!
  types.set(GROUP_METADATA, { ...group, refine: withConsumerProtocol })
  return types
}

/** The bytes that members of a consumer group hand to one another, read. */
function withConsumerProtocol(group: Record<string, unknown>): Record<string, unknown> {
  if (group.protocolType !== 'consumer') return group
  const subscription = schema(SUBSCRIPTION, Infinity, HIGHEST_PROTOCOL)
  const assignment = schema(CONSUMER_ASSIGNMENT, Infinity, HIGHEST_PROTOCOL)
  const members = group.members as Record<string, unknown>[]
  return {
    ...group,
    members: members.map((member) => ({
      ...member,
      subscription: readOrKeep(member.subscription as string, subscription),
      assignment: readOrKeep(member.assignment as string, assignment),
    })),
  }
}

/** What is none of the protocol's stays as it is, in base64. */
function readOrKeep(base64: string, form: ReturnType<typeof schema>): unknown {
  const reader = new ByteReader(Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)))
  try {
    return readMessage(form, reader, reader.int16())
  } catch (error) {
    if (!(error instanceof MalformedBytes)) throw error
    return base64
  }
}
