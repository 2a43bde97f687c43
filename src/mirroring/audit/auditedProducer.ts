import type { FirstControlRecord } from '../../producers/controlBatch.ts'

/** Any sequence may come next: nothing is known of the ones before. */
export const ANY_SEQUENCE = -2

/** What is remembered of a producer: a few words, whatever the length of its log. */
export interface AuditedProducer {
  /** The highest seen. */
  epoch: number
  /** Of that epoch. -1 (NO_SEQUENCE) where it begins with a marker: 0 comes next then. */
  lastSequence: number
  /** Of the last batch or marker of that epoch. */
  offset: bigint
  /** Of its last marker; -1 before any. */
  coordinatorEpoch: number
  /** Of the last batch or marker, in milliseconds. */
  timestamp: number
  /** How many offsets were missing in the log when its last data came. */
  missing: number
  /** Whether its last data of that epoch was not transactional. */
  isPlain: boolean
  /** Set by AuditState alone. */
  transaction: AuditedTransaction | null
  /** The last marker, until data follows it. */
  marker: AuditedMarker | null
  /** How many barriers it has passed. */
  barriers: number
  /** For an id >= 0: it may start anew, see the option `barrierScope`. */
  mayRestart: boolean
  /** For an id >= 0: where a marker under its mapped id has ended its transaction, or data has gone on with it. */
  leftHomeAt: bigint | null
}

export interface AuditedTransaction {
  firstOffset: bigint
  epoch: number
  /** The log's clock at its last batch; -1 where no batch so far had a timestamp that counts. */
  clock: number
  /** Size and number of records of the log before it. */
  bytesBefore: number
  recordsBefore: number
  /** Whether a finding says that it holds another producer's records. */
  isMixed: boolean
  /** Whether a finding says that it holds plain data. */
  hasPlainData: boolean
  /** Where it began behind its own end: offset of the marker, or of the batch of a higher epoch. */
  lateAfter: bigint | null
  /** A batch made after this time, in milliseconds, shows that it is a transaction of its own. */
  lateUntil: number
}

export interface AuditedMarker extends FirstControlRecord {
  offset: bigint
  epoch: number
  /** Of the data before it: lower with transaction version 2. Null where none is known. */
  dataEpoch: number | null
  /** How many offsets were missing in the log when it came. */
  missing: number
  /** Whether it ended one that held another producer's records, and when that began. */
  endedMixed: boolean
}

export function newProducer(
  epoch: number,
  offset: bigint,
  timestamp: number,
  missing: number,
  barriers: number,
): AuditedProducer {
  return {
    epoch,
    lastSequence: ANY_SEQUENCE,
    offset,
    coordinatorEpoch: -1,
    timestamp,
    missing,
    isPlain: false,
    transaction: null,
    marker: null,
    barriers,
    mayRestart: false,
    leftHomeAt: null,
  }
}
