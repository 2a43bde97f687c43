import { MirrorPidError } from '../errors.ts'

/** What a broker answers to an append that breaks a producer's state. All leave the state as it was. */

/** Where the refused batch stands, and whose it is. */
export interface RefusedBatch {
  producerId: bigint
  producerEpoch: number
  /** The batch's base offset. */
  offset: bigint
}

function describe({ producerId, producerEpoch, offset }: RefusedBatch): string {
  return `batch at offset ${offset} of producer ${producerId}, epoch ${producerEpoch}`
}

/**
 * A sequence that does not follow the producer's last one, and is none of its last five batches either.
 *
 * @see Kafka's OutOfOrderSequenceException
 * @example
 * const batch = { producerId: 5n, producerEpoch: 0, records: [{ value }] }
 * log.append(encodeRecordBatch({ ...batch, baseSequence: 0 }), 'client')
 * log.append(encodeRecordBatch({ ...batch, baseSequence: 7 }), 'client') // throws OutOfOrderSequenceError
 */
export class OutOfOrderSequenceError extends MirrorPidError implements RefusedBatch {
  readonly producerId: bigint
  readonly producerEpoch: number
  readonly offset: bigint
  readonly baseSequence: number
  /** What would have been accepted. */
  readonly expectedSequence: number

  constructor(batch: RefusedBatch, baseSequence: number, expectedSequence: number, why: string) {
    super(
      'OUT_OF_ORDER_SEQUENCE',
      `${describe(batch)} starts at sequence ${baseSequence}, where ${expectedSequence} must follow (${why}). ` +
        'Nothing was changed; either records before it are missing, or two producers use one id.',
    )
    this.producerId = batch.producerId
    this.producerEpoch = batch.producerEpoch
    this.offset = batch.offset
    this.baseSequence = baseSequence
    this.expectedSequence = expectedSequence
  }
}

/**
 * An epoch that a newer instance of the producer, or its coordinator, has fenced.
 *
 * @see Kafka's InvalidProducerEpochException
 * @example
 * const batch = { producerId: 5n, baseSequence: 0, records: [{ value }] }
 * log.append(encodeRecordBatch({ ...batch, producerEpoch: 1 }), 'client')
 * log.append(encodeRecordBatch({ ...batch, producerEpoch: 0 }), 'client') // throws InvalidProducerEpochError
 */
export class InvalidProducerEpochError extends MirrorPidError implements RefusedBatch {
  readonly producerId: bigint
  readonly producerEpoch: number
  readonly offset: bigint
  readonly currentEpoch: number

  /** @param strict whether the epoch of the batch had to be above the current one (markers of transaction version 2) */
  constructor(batch: RefusedBatch, currentEpoch: number, strict = false) {
    super(
      'INVALID_PRODUCER_EPOCH',
      `${describe(batch)}, is fenced: the last epoch is ${currentEpoch}, and this one must be ` +
        `${strict ? 'above it (a marker of transaction version 2)' : 'that or above'}. Nothing was changed; the ` +
        'producer must get a new epoch (initTransactions).',
    )
    this.producerId = batch.producerId
    this.producerEpoch = batch.producerEpoch
    this.offset = batch.offset
    this.currentEpoch = currentEpoch
  }
}

/**
 * A batch outside a transaction from a producer whose transaction is open. A broker that meets one in its log does not
 * start.
 *
 * @see Kafka's InvalidTxnStateException
 * @example
 * const batch = { producerId: 5n, producerEpoch: 0, records: [{ value }] }
 * log.append(encodeRecordBatch({ ...batch, baseSequence: 0, isTransactional: true }), 'client')
 * log.append(encodeRecordBatch({ ...batch, baseSequence: 1 }), 'client') // throws InvalidTxnStateError
 */
export class InvalidTxnStateError extends MirrorPidError implements RefusedBatch {
  readonly producerId: bigint
  readonly producerEpoch: number
  readonly offset: bigint
  /** Of the open transaction. */
  readonly firstOffset: bigint

  constructor(batch: RefusedBatch, firstOffset: bigint) {
    super(
      'INVALID_TXN_STATE',
      `${describe(batch)}, is not transactional, but the producer's transaction from offset ${firstOffset} is open. ` +
        'Nothing was changed. In a log this means that two producers share the id, and a broker that replays it does ' +
        'not start: audit the log before handing it to one.',
    )
    this.producerId = batch.producerId
    this.producerEpoch = batch.producerEpoch
    this.offset = batch.offset
    this.firstOffset = firstOffset
  }
}

/**
 * A marker of a transaction coordinator that another has replaced.
 *
 * @see Kafka's TransactionCoordinatorFencedException
 * @example
 * const marker = { baseOffset: 0n, timestamp: 0n, producerId: 5n, producerEpoch: 0, type: 'ABORT' }
 * log.append(encodeEndTransactionMarker({ ...marker, coordinatorEpoch: 2 }), 'coordinator')
 * const late = encodeEndTransactionMarker({ ...marker, coordinatorEpoch: 1 })
 * log.append(late, 'coordinator') // throws TransactionCoordinatorFencedError
 */
export class TransactionCoordinatorFencedError extends MirrorPidError implements RefusedBatch {
  readonly producerId: bigint
  readonly producerEpoch: number
  readonly offset: bigint
  readonly coordinatorEpoch: number
  readonly currentCoordinatorEpoch: number

  constructor(batch: RefusedBatch, coordinatorEpoch: number, currentCoordinatorEpoch: number) {
    super(
      'TRANSACTION_COORDINATOR_FENCED',
      `${describe(batch)}, is a marker of coordinator epoch ${coordinatorEpoch}, but ${currentCoordinatorEpoch} has ` +
        'written already. Nothing was changed; the new coordinator will end the transaction.',
    )
    this.producerId = batch.producerId
    this.producerEpoch = batch.producerEpoch
    this.offset = batch.offset
    this.coordinatorEpoch = coordinatorEpoch
    this.currentCoordinatorEpoch = currentCoordinatorEpoch
  }
}
