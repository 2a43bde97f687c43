import { requireView } from '../../bytes/view.ts'
import { requireOptions } from '../../core/arguments.ts'
import * as layout from '../../core/layout.ts'
import { isMirroredProducerId } from '../../core/producerId.ts'
import { InvalidRecordError } from '../../errors.ts'
import { ControlRecordType } from '../../formats/controlRecordType.ts'
import { type RecordBatch, requireBatch } from '../../formats/recordBatch.ts'
import { MeetingIds } from '../../log/meetingIds.ts'
import { mergingOf } from '../../log/seenIds.ts'
import { BatchHeader } from '../../producers/batchHeader.ts'
import {
  type FirstControlRecord,
  readBarrierSource,
  readFirstControlRecord,
} from '../../producers/controlBatch.ts'
import * as say from './auditMessages.ts'
import { noteOfMeeting } from './auditNotes.ts'
import { AUDIT_OPTIONS, type AuditOptions, checkAuditOptions } from './auditOptions.ts'
import type { AuditBarrier, AuditReport, OpenTransaction } from './auditReport.ts'
import { AuditState } from './auditState.ts'
import type { BatchTaker } from './batchTaker.ts'
import { auditData } from './dataChecks.ts'
import { type FindingList, sourceOf } from './findingList.ts'
import { auditEmptiedMarker, auditMarker } from './markerChecks.ts'

const LOG_APPEND_TIME_FLAG = 0x08
// Kafka's TransactionsCommand.FindHangingTransactions allows this much above the timeout
const TIMEOUT_GRACE_MS = 300_000
/** A client whose clock is ahead by no more is not worth a note. */
const CLOCK_SKEW_MS = 300_000

/**
 * Looks for the harm that producers under one id do to each other, batch by batch in log order, in the memory of what
 * the producers need: findings are bounded, and the log is never held. Batches are taken as they are; CRCs are for the
 * caller to check (see `damaged`).
 *
 * @see KIP-1279 (Cluster Mirroring)
 * @example
 * const audit = new ProducerAudit({ partition: 'orders-0' })
 * for (const batch of recordBatches(segment)) audit.take(batch)
 * audit.finish().findings
 */
export class ProducerAudit implements BatchTaker {
  readonly #state: AuditState
  readonly #header = new BatchHeader()
  readonly #meeting = new MeetingIds(mergingOf('map'))
  readonly #barriers: AuditBarrier[] = []
  #barrierCount = 0
  #batches = 0
  #nextOffset: bigint | null = null
  #isCompacted = false
  #isDamaged = false
  /** Whether mapped ids were seen since the last barrier. */
  #hasMirrored = false

  /** @throws InvalidArgumentError */
  constructor(options: AuditOptions = {}) {
    requireOptions('options of an audit', options, AUDIT_OPTIONS)
    this.#state = new AuditState(checkAuditOptions(options))
  }

  /** What follows the last batch; null before the first. */
  get nextOffset(): bigint | null {
    return this.#nextOffset
  }

  /** Takes the next batch of the log. */
  take(batch: RecordBatch): void {
    const { bytes, magic } = requireBatch(batch)
    this.framed(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, bytes.byteLength, magic)
  }

  /** The same for the batch at `position` of `view`, of the size and magic that framing has found. */
  framed(view: DataView, position: number, size: number, magic: number): void {
    this.#header.read(requireView(view), position, size, magic)
    this.#meeting.framed(view, position, size, magic)
    const isWhole = position + size <= view.byteLength
    this.#take(isWhole)
  }

  /**
   * The batches that stand next are of a file that was changed last at this time, in milliseconds since 1970: what claims to
   * be younger is not believed.
   */
  modifiedAt(time: number): void {
    this.#state.latest = Math.min(this.#state.options.now, time)
  }

  /** A batch that cannot be trusted, or a part that cannot be read, stands next: what it was is not known. */
  damaged(): void {
    const state = this.#state
    this.#isDamaged = true
    state.notes.add('damaged', this.#nextOffset ?? 0n)
    state.endAll()
  }

  /** What was found so far; the log may go on after it. */
  finish(): AuditReport {
    const { notes, options, bytes, producerCount } = this.#state
    const open = this.#openTransactions()
    const { met } = this.#meeting
    return {
      partition: options.partition,
      findings: open.findings.kept,
      openTransactions: open.kept,
      barriers: this.#barriers.slice(),
      compacted: this.#isCompacted,
      notes: [...notes.toArray(), ...(met === null ? [] : [noteOfMeeting(met)])],
      totals: {
        batches: this.#batches,
        bytes,
        producers: producerCount,
        findings: open.findings.count,
        openTransactions: open.count,
        barriers: this.#barrierCount,
      },
    }
  }

  #take(isWhole: boolean): void {
    const state = this.#state
    const header = this.#header
    const { view, position, size, isLegacy } = header
    const offset = view.getBigInt64(position + layout.BASE_OFFSET)
    const timestamp = isLegacy ? -1 : header.maxTimestampHigh * 2 ** 32 + (header.maxTimestampLow >>> 0)
    const count = isLegacy ? 1 : view.getInt32(position + layout.RECORDS_COUNT)
    this.#walk(offset, count)
    if (timestamp <= state.latest) state.tick(timestamp)
    else if (timestamp > state.latest + CLOCK_SKEW_MS) state.notes.add('timestamp-ahead', offset)
    if (header.isControl) this.#control(offset, timestamp, isWhole)
    else if (this.#hasProducer()) this.#data(offset, timestamp)
    this.#batches++
    state.bytes += size
    state.records += Math.max(count, 0)
  }

  /** Offsets: where some are missing, batches were removed, or records of one. */
  #walk(offset: bigint, count: number): void {
    const { isLegacy, lastOffsetDelta } = this.#header
    const state = this.#state
    // a compressed entry of magic 0 and 1 holds its last offset: what is before it tells nothing
    if (this.#nextOffset !== null && !isLegacy && offset !== this.#nextOffset) {
      if (offset < this.#nextOffset) state.notes.add('offsets-go-back', offset)
      else {
        state.missing += Number(offset - this.#nextOffset)
        if (!this.#isDamaged) this.#isCompacted = true
      }
    }
    if (!isLegacy && count >= 0 && count <= lastOffsetDelta) this.#isCompacted = true
    this.#isDamaged = false
    this.#nextOffset = offset + BigInt(Math.max(lastOffsetDelta, 0) + 1)
  }

  #hasProducer(): boolean {
    const { producerIdHigh, producerIdLow } = this.#header
    if (this.#state.options.producerIdTest === 'stock') return producerIdHigh >= 0
    return producerIdHigh !== -1 || producerIdLow !== -1
  }

  #data(offset: bigint, timestamp: number): void {
    const header = this.#header
    if (header.producerIdHigh < 0) this.#hasMirrored = true
    else if (this.#hasMirrored) this.#state.notes.add('local-after-mirrored', offset)
    const attributes = header.view.getInt16(header.position + layout.ATTRIBUTES)
    auditData(this.#state, header, offset, timestamp, (attributes & LOG_APPEND_TIME_FLAG) === 0)
  }

  #control(offset: bigint, timestamp: number, isWhole: boolean): void {
    const record = isWhole ? this.#readControl() : undefined
    const hasProducer = this.#hasProducer()
    if (record === undefined) {
      this.#state.notes.add('unreadable-control', offset)
      if (hasProducer) this.#forgetTransaction()
    } else if (record === null) {
      if (hasProducer) auditEmptiedMarker(this.#state, this.#header, offset, timestamp)
    } else if (record.type === ControlRecordType.MIRROR_PID_RESET) {
      this.#barrier(offset)
    } else if (!hasProducer) {
      return // a leader change and the like
    } else if (record.type === ControlRecordType.COMMIT || record.type === ControlRecordType.ABORT) {
      auditMarker(this.#state, this.#header, offset, record)
    } else {
      this.#state.notes.add('control-type', offset)
    }
  }

  /** Null for an emptied one, undefined for one that cannot be read. */
  #readControl(): FirstControlRecord | null | undefined {
    try {
      return readFirstControlRecord(this.#header)
    } catch (error) {
      if (error instanceof InvalidRecordError) return undefined
      throw error
    }
  }

  /** It may have been the marker that ends it. */
  #forgetTransaction(): void {
    const { producerId } = this.#header
    const producer = this.#state.find(producerId)
    if (producer !== undefined) this.#state.end(producerId, producer)
  }

  /** The writer of a barrier has settled every mirrored transaction before (rule R2). */
  #barrier(offset: bigint): void {
    const { open, findings, notes, options } = this.#state
    for (const [producerId, { transaction }] of open) {
      if (transaction === null) continue
      const { epoch, firstOffset } = transaction
      const facts = { producerId, epoch, offset, previousOffset: firstOffset }
      if (isMirroredProducerId(producerId))
        findings.add({ kind: 'transaction', ...facts }, () => say.openAtBarrier(firstOffset))
      else notes.add('local-transaction-at-barrier', offset)
    }
    this.#state.passBarrier()
    this.#hasMirrored = false
    this.#barrierCount++
    if (this.#barriers.length >= options.maxFindings) return
    this.#barriers.push({ offset, sourceClusterId: readBarrierSource(this.#header) })
  }

  /** The transactions that are open now, and the findings with those that hang. */
  #openTransactions(): { kept: OpenTransaction[]; count: number; findings: FindingList } {
    const { options, open, bytes, records, clock, firstClock } = this.#state
    const findings = this.#state.findings.copy()
    const kept: OpenTransaction[] = []
    for (const [producerId, { transaction }] of open) {
      if (transaction === null) continue
      const { epoch, firstOffset, lateAfter } = transaction
      const bytesBehind = bytes - transaction.bytesBefore
      const idleMs = Math.max(0, clock - (transaction.clock < 0 ? firstClock : transaction.clock))
      if (lateAfter !== null || idleMs > options.transactionTimeoutMs + TIMEOUT_GRACE_MS) {
        const facts = { producerId, epoch, offset: firstOffset, previousOffset: lateAfter }
        findings.add({ kind: 'hanging-transaction', ...facts }, () =>
          say.hanging(transaction, bytesBehind, idleMs),
        )
      }
      if (kept.length >= options.maxFindings) continue
      const { partition } = options
      const place = { partition, producerId, sourceProducerId: sourceOf(producerId), epoch, firstOffset }
      kept.push({
        ...place,
        bytesBehind,
        recordsBehind: records - transaction.recordsBefore,
        idleMs: BigInt(idleMs),
      })
    }
    return { kept, count: open.size, findings }
  }
}
