import { CoordinatorDecoder, type CoordinatorRecordType } from './coordinatorDecoder.ts'
import { schema } from './schema.ts'

/** Records of __transaction_state: which transactions there are, and how far each is. */
export function transactionLogDecoder(): CoordinatorDecoder {
  return new CoordinatorDecoder(transactionLogTypes())
}

export function transactionLogTypes(): Map<number, CoordinatorRecordType> {
  const value = `producerId int64, previousProducerId int64 @1+ #0 =-1, nextProducerId int64 @1+ #1 =-1,
    producerEpoch int16, nextProducerEpoch int16 @1+ #3 =-1, transactionTimeoutMs int32, transactionStatus int8,
    transactionPartitions ?[{ topic string, partitionIds [int32] }], transactionLastUpdateTimestampMs int64,
    transactionStartTimestampMs int64, clientTransactionVersion int16 @1+ #2`
  return new Map([[0, { key: schema('transactionalId string', Infinity), value: schema(value, 1, 1) }]])
}
