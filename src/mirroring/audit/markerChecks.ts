import { isMirroredProducerId, mapProducerId, unmapProducerId } from '../../core/producerId.ts'
import { ControlRecordType } from '../../formats/controlRecordType.ts'
import { NO_SEQUENCE } from '../../formats/recordBatch.ts'
import type { BatchHeader } from '../../producers/batchHeader.ts'
import type { FirstControlRecord } from '../../producers/controlBatch.ts'
import type { AuditedMarker, AuditedProducer, AuditedTransaction } from './auditedProducer.ts'
import * as say from './auditMessages.ts'
import type { AuditState } from './auditState.ts'
import { reportLeftHome } from './dataChecks.ts'

/** A COMMIT or ABORT marker. */
export function auditMarker(
  state: AuditState,
  header: BatchHeader,
  offset: bigint,
  record: FirstControlRecord,
): void {
  const { producerId, producerEpoch: epoch } = header
  const timestamp = Number(record.timestamp)
  const known = state.find(producerId)
  const producer = known ?? state.add(producerId, header, offset, timestamp)
  if (producer.leftHomeAt !== null) reportLeftHome(state, header, producer, offset)
  const marker: AuditedMarker = {
    ...record,
    offset,
    epoch,
    dataEpoch: known === undefined ? null : knownDataEpoch(state, known),
    missing: state.missing,
    endedMixed: false,
  }
  const transaction = producer.transaction ?? transactionAtHome(state, producerId, offset)
  if (transaction !== null) {
    marker.dataEpoch = transaction.epoch
    marker.endedMixed =
      !endsRightly(state, header, producer, transaction, offset, record) || transaction.isMixed
    state.end(producerId, producer)
  } else if (!endsUnderMappedId(state, header, offset)) {
    auditOrphan(state, header, producer, marker)
  }
  if (epoch > producer.epoch) {
    producer.epoch = epoch
    producer.lastSequence = NO_SEQUENCE
  }
  if (record.coordinatorEpoch < producer.coordinatorEpoch) state.notes.add('coordinator-epoch', offset)
  producer.coordinatorEpoch = record.coordinatorEpoch
  producer.timestamp = timestamp
  producer.marker = marker
  if (epoch === producer.epoch) producer.offset = offset
}

/** Of the data before a marker that ends nothing here; null where that may have been removed. */
function knownDataEpoch(state: AuditState, { marker, epoch, missing }: AuditedProducer): number | null {
  if (state.missing > missing) return null
  return marker === null ? epoch : marker.dataEpoch
}

/** An emptied control batch says no more than its epoch. */
export function auditEmptiedMarker(
  state: AuditState,
  header: BatchHeader,
  offset: bigint,
  timestamp: number,
): void {
  const producer = state.find(header.producerId)
  if (producer === undefined) state.add(header.producerId, header, offset, timestamp)
  else if (header.producerEpoch > producer.epoch) {
    producer.epoch = header.producerEpoch
    producer.lastSequence = NO_SEQUENCE
    producer.offset = offset
    producer.marker = null
  }
}

/** Rule R3: a marker under the mapped id ends the transaction of the local producer. */
function transactionAtHome(state: AuditState, producerId: bigint, offset: bigint): AuditedTransaction | null {
  if (!isMirroredProducerId(producerId)) return null
  const homeId = unmapProducerId(producerId)
  const home = state.find(homeId)
  if (home === undefined || home.transaction === null) return null
  const { transaction } = home
  state.end(homeId, home)
  home.leftHomeAt = offset
  state.notes.add('came-home', offset)
  return transaction
}

/** With transaction version 2 the epoch rises before the marker is written. */
function isEpochOfMarker(epoch: number, dataEpoch: number): boolean {
  return epoch === dataEpoch || epoch === dataEpoch + 1
}

function endsRightly(
  state: AuditState,
  { producerId, producerEpoch: epoch }: BatchHeader,
  producer: AuditedProducer,
  transaction: AuditedTransaction,
  offset: bigint,
  record: FirstControlRecord,
): boolean {
  if (isEpochOfMarker(epoch, transaction.epoch)) return true
  // of a transaction that two have written, either may end it: that was told before
  if (transaction.isMixed && isEpochOfMarker(epoch, producer.epoch)) return true
  const facts = { producerId, epoch, offset, previousOffset: transaction.firstOffset }
  state.findings.add({ kind: 'transaction', ...facts }, () =>
    say.foreignMarker(nameOf(record), epoch, transaction),
  )
  return false
}

/** M-20: the marker of a transaction whose data, but not itself, was mapped. */
function endsUnderMappedId(state: AuditState, header: BatchHeader, offset: bigint): boolean {
  const { producerId, producerEpoch: epoch } = header
  if (header.producerIdHigh < 0 || producerId === 2n ** 63n - 1n) return false
  const mapped = mapProducerId(producerId)
  const producer = state.find(mapped)
  const transaction = producer?.transaction ?? null
  if (producer === undefined || transaction === null || !isEpochOfMarker(epoch, transaction.epoch))
    return false
  const facts = { producerId, epoch, offset, previousOffset: transaction.firstOffset }
  state.findings.add({ kind: 'transaction', ...facts }, () =>
    say.halfMapped(producerId, mapped, transaction.firstOffset),
  )
  state.end(mapped, producer) // told already: it is not to be listed as open or mixed as well
  return true
}

/**
 * A marker without an open transaction is normal: it was written twice (KAFKA-19999), the records of its transaction
 * were removed, or none were written to this partition. It is a finding where it shows that another one took its place,
 * or that the producer before it is none that has transactions.
 */
function auditOrphan(
  state: AuditState,
  header: BatchHeader,
  producer: AuditedProducer,
  marker: AuditedMarker,
): void {
  const { producerId, producerEpoch: epoch } = header
  const { offset } = marker
  const facts = { producerId, epoch, offset, previousOffset: producer.offset }
  if (epoch < producer.epoch) {
    const known = producer.epoch
    state.findings.add({ kind: 'epoch', ...facts }, () => say.lowerMarkerEpoch(epoch, known))
  } else if (producer.marker !== null && isSuspicious(producer.marker, marker)) {
    const { offset: previousOffset } = producer.marker
    state.findings.add({ kind: 'transaction', ...facts, previousOffset }, () =>
      say.secondMarker(nameOf(marker), previousOffset),
    )
  } else if (isBehindPlainData(state, producer, marker)) {
    state.findings.add({ kind: 'transaction', ...facts }, () =>
      say.markerBehindPlainData(nameOf(marker), producerId, facts.previousOffset),
    )
  } else {
    state.notes.add('marker-without-transaction', offset)
  }
}

/**
 * Of two markers with no data of the producer between, the second. Before transaction version 2, an ABORT behind a COMMIT
 * may be that of a transaction that wrote nothing here; a COMMIT of such a one is never written.
 */
function isSuspicious(previous: AuditedMarker, marker: AuditedMarker): boolean {
  if (previous.endedMixed) return true
  if (marker.missing > previous.missing || marker.epoch !== previous.epoch || marker.type === previous.type)
    return false
  return (
    marker.type === ControlRecordType.COMMIT ||
    (previous.dataEpoch !== null && previous.dataEpoch < previous.epoch) ||
    marker.coordinatorEpoch < previous.coordinatorEpoch
  )
}

/** A producer is transactional in all that it writes, or in nothing. */
function isBehindPlainData(state: AuditState, producer: AuditedProducer, marker: AuditedMarker): boolean {
  return (
    producer.isPlain &&
    producer.marker === null &&
    isEpochOfMarker(marker.epoch, producer.epoch) &&
    !producer.mayRestart &&
    !state.isExpired(producer, Number(marker.timestamp))
  )
}

function nameOf({ type }: FirstControlRecord): 'COMMIT' | 'ABORT' {
  return type === ControlRecordType.COMMIT ? 'COMMIT' : 'ABORT'
}
