import { MalformedBytes } from '../../bytes/byteReader.ts'
import type { DecodedMessage } from '../dumpFormat.ts'
import { kafkaJson } from '../kafkaJson.ts'
import { readApiMessage } from './apiMessage.ts'
import type { MessageDecoder } from './messageDecoder.ts'
import { type Schema, schema } from './schema.ts'

const BROKER = 'id int32, epoch int64'
const ENDPOINTS = '[{ name string, host string, port uint16, securityProtocol int16 }]'
const FEATURES = '[{ name string, minSupportedVersion int16, maxSupportedVersion int16 }]'
const DIRECTORIES = 'cordonedLogDirs ?[uuid]'

/** By type: name, fields, and where it is not 0 the highest version. */
const TYPES: Record<number, [name: string, fields: string, highest?: number]> = {
  0: [
    'REGISTER_BROKER_RECORD',
    `brokerId int32, isMigratingZkBroker bool @2+, incarnationId uuid, brokerEpoch int64, endPoints ${ENDPOINTS},
     features ${FEATURES}, rack ?string, fenced bool, inControlledShutdown bool @1+, logDirs [uuid] @3+ #0,
     ${DIRECTORIES} @4+ #1 =null`,
    4,
  ],
  1: ['UNREGISTER_BROKER_RECORD', 'brokerId int32, brokerEpoch int64'],
  2: ['TOPIC_RECORD', 'name string, topicId uuid'],
  3: [
    'PARTITION_RECORD',
    `partitionId int32, topicId uuid, replicas [int32], isr [int32], removingReplicas [int32], addingReplicas [int32],
     leader int32, leaderRecoveryState int8 #0, leaderEpoch int32, partitionEpoch int32, directories [uuid] @1+,
     eligibleLeaderReplicas ?[int32] @2+ #1 =null, lastKnownElr ?[int32] @2+ #2 =null`,
    2,
  ],
  4: ['CONFIG_RECORD', 'resourceType int8, resourceName string, name string, value ?string'],
  5: [
    'PARTITION_CHANGE_RECORD',
    `partitionId int32, topicId uuid, isr ?[int32] #0 =null, leader int32 #1 =-2, replicas ?[int32] #2 =null,
     removingReplicas ?[int32] #3 =null, addingReplicas ?[int32] #4 =null, leaderRecoveryState int8 #5 =-1,
     directories ?[uuid] @1+ #8 =null, eligibleLeaderReplicas ?[int32] @2+ #6 =null,
     lastKnownElr ?[int32] @2+ #7 =null`,
    2,
  ],
  7: ['FENCE_BROKER_RECORD', BROKER],
  8: ['UNFENCE_BROKER_RECORD', BROKER],
  9: ['REMOVE_TOPIC_RECORD', 'topicId uuid'],
  10: [
    'DELEGATION_TOKEN_RECORD',
    `owner string, requester string, renewers [string], issueTimestamp int64, maxTimestamp int64,
     expirationTimestamp int64, tokenId string`,
  ],
  11: [
    'USER_SCRAM_CREDENTIAL_RECORD',
    'name string, mechanism int8, salt bytes, storedKey bytes, serverKey bytes, iterations int32',
  ],
  12: ['FEATURE_LEVEL_RECORD', 'name string, featureLevel int16'],
  14: [
    'CLIENT_QUOTA_RECORD',
    'entity [{ entityType string, entityName ?string }], key string, value float64, remove bool',
  ],
  15: ['PRODUCER_IDS_RECORD', 'brokerId int32, brokerEpoch int64, nextProducerId int64'],
  17: [
    'BROKER_REGISTRATION_CHANGE_RECORD',
    `brokerId int32, brokerEpoch int64, fenced int8 #0, inControlledShutdown int8 @1+ #1, logDirs [uuid] @2+ #2,
     ${DIRECTORIES} @3+ #3 =null`,
    3,
  ],
  18: [
    'ACCESS_CONTROL_ENTRY_RECORD',
    `id uuid, resourceType int8, resourceName string, patternType int8, principal string, host string, operation int8,
     permissionType int8`,
  ],
  19: ['REMOVE_ACCESS_CONTROL_ENTRY_RECORD', 'id uuid'],
  20: ['NO_OP_RECORD', ''],
  21: ['ZK_MIGRATION_STATE_RECORD', 'zkMigrationState int8'],
  22: ['REMOVE_USER_SCRAM_CREDENTIAL_RECORD', 'name string, mechanism int8'],
  23: ['BEGIN_TRANSACTION_RECORD', 'name ?string #0 =null'],
  24: ['END_TRANSACTION_RECORD', ''],
  25: ['ABORT_TRANSACTION_RECORD', 'reason ?string #0 =null'],
  26: ['REMOVE_DELEGATION_TOKEN_RECORD', 'tokenId string'],
  27: [
    'REGISTER_CONTROLLER_RECORD',
    `controllerId int32, incarnationId uuid, zkMigrationReady bool, endPoints ${ENDPOINTS}, features ${FEATURES}`,
  ],
  28: ['CLEAR_ELR_RECORD', 'topicName string'],
}

export function metadataTypes(): Map<number, { name: string; form: Schema }> {
  const types = new Map<number, { name: string; form: Schema }>()
  for (const [type, [name, fields, highest = 0]] of Object.entries(TYPES)) {
    types.set(Number(type), { name, form: schema(fields, 0, highest) })
  }
  return types
}

/** Records of __cluster_metadata. Source: Kafka's MetadataRecordSerde and DumpLogSegments. */
export class ClusterMetadataDecoder implements MessageDecoder {
  readonly #types = metadataTypes()

  decode(_key: Uint8Array | null, value: Uint8Array | null, offset: bigint): DecodedMessage {
    try {
      const { type, version, data } = readApiMessage(value, (wanted) => this.#types.get(wanted)?.form)
      return { key: null, value: kafkaJson({ type: this.#types.get(type)?.name, version, data }) }
    } catch (error) {
      if (!(error instanceof MalformedBytes)) throw error
      return { key: null, value: `Error at ${offset}, skipping. ${error.message}` }
    }
  }
}
