import { InvalidRecordError } from '../errors.ts'
import { NO_PRODUCER_EPOCH, NO_SEQUENCE } from '../formats/recordBatch.ts'
import { incrementSequence } from '../formats/sequence.ts'
import type { BatchHeader } from './batchHeader.ts'
import { toBigInt } from './int64.ts'
import { InvalidProducerEpochError, OutOfOrderSequenceError, type RefusedBatch } from './producerErrors.ts'
import {
  batchCount,
  COORDINATOR_EPOCH,
  lastSequence,
  PRODUCER_EPOCH,
  TXN_FIRST_OFFSET_HIGH,
  TXN_FIRST_OFFSET_LOW,
  TXN_OPEN,
  TXN_STATE,
} from './producerRow.ts'
import type { ProducerTable } from './producerTable.ts'

/** The checks of an append, on a producer's row or on none (-1). Source: Kafka's ProducerAppendInfo and UnifiedLog. */

const MAX_EPOCH = 32767

export function epochOf(table: ProducerTable, row: number): number {
  return row < 0 ? NO_PRODUCER_EPOCH : table.words(row)[table.start(row) + PRODUCER_EPOCH]!
}

export function coordinatorEpochOf(table: ProducerTable, row: number): number {
  return row < 0 ? -1 : table.words(row)[table.start(row) + COORDINATOR_EPOCH]!
}

export function isOpen(table: ProducerTable, row: number): boolean {
  return row >= 0 && table.words(row)[table.start(row) + TXN_STATE] === TXN_OPEN
}

export function transactionFirstOffset(table: ProducerTable, row: number): bigint {
  const words = table.words(row)
  const start = table.start(row)
  return toBigInt(words[start + TXN_FIRST_OFFSET_HIGH]!, words[start + TXN_FIRST_OFFSET_LOW]!)
}

export function refused(header: BatchHeader): RefusedBatch {
  return { producerId: header.producerId, producerEpoch: header.producerEpoch, offset: header.baseOffset }
}

/** What a leader's validator says before the producer state is asked. Source: Kafka's LogValidator.validateBatch. */
export function checkClientBatch(header: BatchHeader, hasProducer: boolean): void {
  const { baseOffset } = header
  if (header.isControl) {
    throw new InvalidRecordError(
      `the batch at offset ${baseOffset} is a control batch, which no client may write. Nothing was changed.`,
      { baseOffset },
    )
  }
  if (hasProducer && header.baseSequence < 0) {
    throw new InvalidRecordError(
      `the batch at offset ${baseOffset} of producer ${header.producerId} has the sequence ${header.baseSequence}. ` +
        'Nothing was changed; a client numbers its batches from 0 on.',
      { baseOffset },
    )
  }
}

/** For origin `client`. A producer is unknown when it has expired, or all its records were deleted. */
export function checkSequence(
  table: ProducerTable,
  row: number,
  header: BatchHeader,
  mustStartAtZero: boolean,
): void {
  const { baseSequence } = header
  const current = epochOf(table, row)
  const isEmpty = row < 0 || batchCount(table.words(row), table.start(row)) === 0
  if (mustStartAtZero && isEmpty && baseSequence !== 0) {
    throw new OutOfOrderSequenceError(refused(header), baseSequence, 0, 'no batch of this producer is known')
  }
  if (header.producerEpoch !== current) {
    if (baseSequence !== 0 && current !== NO_PRODUCER_EPOCH) {
      throw new OutOfOrderSequenceError(refused(header), baseSequence, 0, `its epoch follows ${current}`)
    }
    return
  }
  if (current === NO_PRODUCER_EPOCH) return
  const last = isEmpty ? NO_SEQUENCE : lastSequence(table.words(row), table.start(row))
  if (!inSequence(last, baseSequence)) {
    throw new OutOfOrderSequenceError(
      refused(header),
      baseSequence,
      last === NO_SEQUENCE ? 0 : incrementSequence(last, 1),
      `the last sequence is ${last}`,
    )
  }
}

function inSequence(last: number, next: number): boolean {
  return next === last + 1 || (next === 0 && last === 2147483647)
}

/**
 * Whether a marker's epoch is one that a leader refuses. With transaction version 2 the coordinator raises the epoch
 * before it writes the marker, so an equal one is late, unless nothing is open: then it is a marker written twice
 * (KAFKA-19999), or the epoch can rise no more (KAFKA-20090).
 */
export function isFencedMarker(
  table: ProducerTable,
  row: number,
  epoch: number,
  transactionVersion: number,
): boolean {
  const current = epochOf(table, row)
  if (transactionVersion < 2 || epoch !== current) return epoch < current
  return isOpen(table, row) && epoch !== MAX_EPOCH
}

/**
 * What UnifiedLog asks of a leader's transactional batch before its content is looked at: no epoch below the known one,
 * unless it belongs to the open transaction.
 */
export function checkLeaderEpoch(table: ProducerTable, row: number, header: BatchHeader): void {
  const current = epochOf(table, row)
  if (header.producerEpoch < current) throw new InvalidProducerEpochError(refused(header), current)
}
