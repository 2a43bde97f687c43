import { CoordinatorDecoder, type CoordinatorRecordType } from './coordinatorDecoder.ts'
import { schema } from './schema.ts'

/** Records of __share_group_state: what share groups have of each partition. */
export function shareGroupStateDecoder(): CoordinatorDecoder {
  return new CoordinatorDecoder(shareGroupStateTypes())
}

export function shareGroupStateTypes(): Map<number, CoordinatorRecordType> {
  const key = schema('groupId string, topicId uuid, partition int32', Infinity)
  const end = `deliveryCompleteCount int32 #0 =-1`
  const batches =
    'stateBatches [{ firstOffset int64, lastOffset int64, deliveryState int8, deliveryCount int16 }]'
  const snapshot = `snapshotEpoch int32, stateEpoch int32, leaderEpoch int32, startOffset int64, ${end},
    createTimestamp int64, writeTimestamp int64, ${batches}`
  const update = `snapshotEpoch int32, leaderEpoch int32, startOffset int64, ${end}, ${batches}`
  return new Map([
    [0, { key, value: schema(snapshot) }],
    [1, { key, value: schema(update) }],
  ])
}
