import { PRODUCER_ID } from '../../core/layout.ts'
import { isMirroredProducerId, unmapProducerId } from '../../core/producerId.ts'
import { ControlRecordType } from '../../formats/controlRecordType.ts'
import { NO_SEQUENCE } from '../../formats/recordBatch.ts'
import { incrementSequence } from '../../formats/sequence.ts'
import type { BatchHeader } from '../../producers/batchHeader.ts'
import { ANY_SEQUENCE, type AuditedProducer, type AuditedTransaction } from './auditedProducer.ts'
import * as say from './auditMessages.ts'
import type { AuditState } from './auditState.ts'

const SEQUENCE_MASK = 0x7fffffff
/** Sequences wrap, so what is farther ahead than this has gone back. */
const MAX_GAP = 2 ** 30

/** A data batch of a producer. `isCreateTime`: whether its timestamps are those of the client. */
export function auditData(
  state: AuditState,
  header: BatchHeader,
  offset: bigint,
  timestamp: number,
  isCreateTime: boolean,
): void {
  const producerId = header.view.getBigInt64(header.position + PRODUCER_ID)
  const producer = rememberedProducer(state, header, producerId, offset, timestamp)
  const isLower = header.producerEpoch < producer.epoch
  if (header.isTransactional) comeHome(state, producerId, producer, offset)
  const isOutOfLine = isLower
    ? reportEpoch(state, header, producer, offset)
    : !follows(state, header, producer, offset)
  if (header.isTransactional) {
    auditTransactional(state, header, producer, { offset, timestamp, isCreateTime, isLower, isOutOfLine })
  } else if (producer.transaction !== null) {
    reportPlainData(state, header, producer.transaction, offset)
  }
  producer.timestamp = timestamp
  if (isLower) return // the line of the higher epoch goes on, so that each foreign batch is told once
  producer.epoch = header.producerEpoch
  producer.lastSequence = hasSequence(state, header) ? header.lastSequence : ANY_SEQUENCE
  producer.offset = offset
  producer.missing = state.missing
  producer.isPlain = !header.isTransactional
  producer.marker = null
}

function hasSequence(state: AuditState, header: BatchHeader): boolean {
  return !state.options.isInternalTopic && header.baseSequence >= 0
}

/** The producer as a broker would know it: anew where it has expired, or may start anew behind a barrier. */
function rememberedProducer(
  state: AuditState,
  header: BatchHeader,
  producerId: bigint,
  offset: bigint,
  timestamp: number,
): AuditedProducer {
  const producer = state.find(producerId)
  if (producer === undefined) return state.add(producerId, header, offset, timestamp)
  if (producer.leftHomeAt !== null) reportLeftHome(state, header, producer, offset)
  const isExpired = state.isExpired(producer, timestamp)
  if (isExpired) state.notes.add('expired', offset)
  const isRestart = producer.mayRestart && header.baseSequence === 0 && !continues(producer, header)
  if (isRestart) state.notes.add('restart-at-barrier', offset)
  producer.mayRestart = false
  if (isExpired || isRestart) {
    producer.epoch = header.producerEpoch
    producer.lastSequence = ANY_SEQUENCE
    producer.marker = null
  }
  return producer
}

function nextSequence({ lastSequence }: AuditedProducer): number {
  return lastSequence === NO_SEQUENCE ? 0 : incrementSequence(lastSequence, 1)
}

/** Whether the batch follows the producer's last one with nothing between, or begins its next epoch. */
function continues(producer: AuditedProducer, { producerEpoch, baseSequence }: BatchHeader): boolean {
  if (producerEpoch > producer.epoch) return baseSequence === 0
  return producerEpoch === producer.epoch && baseSequence === nextSequence(producer)
}

/** Rule R3: a local producer's transaction goes on under its mapped id. */
function comeHome(state: AuditState, producerId: bigint, producer: AuditedProducer, offset: bigint): void {
  if (producer.transaction !== null || !isMirroredProducerId(producerId)) return
  const homeId = unmapProducerId(producerId)
  const home = state.find(homeId)
  if (home === undefined || home.transaction === null) return
  state.begin(producerId, producer, home.transaction)
  state.end(homeId, home)
  home.leftHomeAt = offset
  state.notes.add('came-home', offset)
}

function reportEpoch(
  state: AuditState,
  header: BatchHeader,
  producer: AuditedProducer,
  offset: bigint,
): true {
  const { producerId, producerEpoch } = header
  const facts = { producerId, epoch: producerEpoch, offset, previousOffset: producer.offset }
  const { epoch } = producer
  state.findings.add({ kind: 'epoch', ...facts }, () => say.lowerEpoch(producerEpoch, epoch))
  return true
}

/**
 * Whether the sequence follows. Each sequence has had an offset, so what is missing between two batches of a producer is
 * at most what is missing in the log between them: compaction explains no more, and nothing that goes back.
 */
function follows(state: AuditState, header: BatchHeader, producer: AuditedProducer, offset: bigint): boolean {
  const { producerEpoch, baseSequence } = header
  const isNewEpoch = producerEpoch > producer.epoch
  if (!hasSequence(state, header) || (!isNewEpoch && producer.lastSequence === ANY_SEQUENCE)) return true
  const expected = isNewEpoch ? 0 : nextSequence(producer)
  const distance = (baseSequence - expected) & SEQUENCE_MASK
  if (distance === 0) return true
  if (distance <= MAX_GAP && distance <= state.missing - producer.missing) {
    state.notes.add('compaction-gap', offset)
    return true
  }
  const { producerId } = header
  const facts = { producerId, epoch: producerEpoch, offset, previousOffset: producer.offset }
  const previousEpoch = producer.epoch
  state.findings.add({ kind: 'sequence', ...facts }, () =>
    isNewEpoch
      ? say.newEpochSequence(producerEpoch, previousEpoch, baseSequence)
      : say.wrongSequence(baseSequence, expected, distance),
  )
  return false
}

interface Situation {
  offset: bigint
  timestamp: number
  isCreateTime: boolean
  /** Of a lower epoch than the producer's. */
  isLower: boolean
  /** Not what follows the producer's last batch. */
  isOutOfLine: boolean
}

function auditTransactional(
  state: AuditState,
  header: BatchHeader,
  producer: AuditedProducer,
  situation: Situation,
): void {
  const { producerEpoch: epoch } = header
  const { offset, timestamp, isOutOfLine } = situation
  const { transaction } = producer
  if (transaction === null) {
    state.begin(header.producerId, producer, newTransaction(state, header, producer, situation))
    return
  }
  transaction.clock = state.clock
  if (timestamp > transaction.lateUntil) transaction.lateAfter = null
  const isOtherEpoch = epoch !== transaction.epoch
  if (transaction.isMixed || !(isOtherEpoch || isOutOfLine)) return
  transaction.isMixed = true
  const { firstOffset, epoch: openEpoch } = transaction
  const facts = { producerId: header.producerId, epoch, offset, previousOffset: firstOffset }
  state.findings.add({ kind: 'transaction', ...facts }, () =>
    isOtherEpoch ? say.otherEpochInside(epoch, openEpoch, firstOffset) : say.otherLineInside(firstOffset),
  )
}

function newTransaction(
  state: AuditState,
  header: BatchHeader,
  producer: AuditedProducer,
  situation: Situation,
): AuditedTransaction {
  const late = lateness(header, producer, situation)
  return {
    firstOffset: situation.offset,
    epoch: header.producerEpoch,
    clock: state.clock,
    bytesBefore: state.bytes,
    recordsBefore: state.records,
    isMixed: false,
    hasPlainData: false,
    lateAfter: late === null ? null : late.after,
    lateUntil: late === null ? -1 : late.until,
  }
}

/**
 * Data of a delayed request may come behind the ABORT of its transaction, and opens one that nobody will end
 * (KAFKA-12671). With transaction version 2 its epoch is then lower. Before, it looks as the next transaction does, but
 * for two things that are rare together there: it follows its marker at once, and was made before it.
 */
function lateness(
  { producerEpoch }: BatchHeader,
  { marker, offset: previousOffset }: AuditedProducer,
  { offset, timestamp, isCreateTime, isLower }: Situation,
): { after: bigint; until: number } | null {
  if (isLower) return { after: previousOffset, until: Number.POSITIVE_INFINITY }
  if (marker === null || marker.type !== ControlRecordType.ABORT || marker.dataEpoch !== marker.epoch)
    return null
  if (marker.epoch !== producerEpoch || marker.offset + 1n !== offset) return null
  const until = Number(marker.timestamp)
  return isCreateTime && timestamp <= until ? { after: marker.offset, until } : null
}

function reportPlainData(
  state: AuditState,
  { producerId, producerEpoch }: BatchHeader,
  transaction: AuditedTransaction,
  offset: bigint,
): void {
  if (transaction.hasPlainData) return
  transaction.hasPlainData = true
  const { firstOffset } = transaction
  const facts = { producerId, epoch: producerEpoch, offset, previousOffset: firstOffset }
  state.findings.add({ kind: 'transaction', ...facts }, () => say.plainDataInside(firstOffset))
}

/** A local producer writes on although its transaction was taken for one that came home: half of a pair was mapped. */
export function reportLeftHome(
  state: AuditState,
  { producerId, producerEpoch }: BatchHeader,
  producer: AuditedProducer,
  offset: bigint,
): void {
  const { leftHomeAt } = producer
  producer.leftHomeAt = null
  const facts = { producerId, epoch: producerEpoch, offset, previousOffset: leftHomeAt }
  state.findings.add({ kind: 'transaction', ...facts }, () => say.halfUnmapped(producerId, leftHomeAt))
}
