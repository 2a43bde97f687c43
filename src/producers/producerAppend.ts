import { InvalidRecordError } from '../errors.ts'
import { ControlRecordType } from '../formats/controlRecordType.ts'
import type { RecordBatch } from '../formats/recordBatch.ts'
import { type AppendOrigin, isLeaderAppend } from './appendOrigin.ts'
import {
  type AppendOptions,
  type AppendResult,
  type Barrier,
  type DuplicateBatch,
  findDuplicate,
  versionOf,
} from './appendResult.ts'
import {
  checkClientBatch,
  checkLeaderEpoch,
  checkSequence,
  coordinatorEpochOf,
  epochOf,
  isFencedMarker,
  isOpen,
  refused,
  transactionFirstOffset,
} from './appendRules.ts'
import { BatchHeader } from './batchHeader.ts'
import {
  type FirstControlRecord,
  isBarrier,
  readBarrierSource,
  readFirstControlRecord,
} from './controlBatch.ts'
import { highOf, isMirrored, lowOf, toBigInt } from './int64.ts'
import type { CheckedOptions, ProducerWarning } from './managerOptions.ts'
import {
  InvalidProducerEpochError,
  InvalidTxnStateError,
  TransactionCoordinatorFencedError,
} from './producerErrors.ts'
import { PRODUCER_ID_HIGH, PRODUCER_ID_LOW } from './producerRow.ts'
import { newestOffsetOf } from './producerStateEntry.ts'
import type { ProducerTable } from './producerTable.ts'
import { type Expired, ProducerUpdates } from './producerUpdates.ts'

const APPENDED: AppendResult = Object.freeze({ duplicate: null })
const NOTHING: Expired = Object.freeze({ producers: 0, transactions: 0 })

/** Takes appends, in the order of Kafka's UnifiedLog: first all that can throw, then the changes. */
export class ProducerAppend {
  updates = new ProducerUpdates()
  barriers: Barrier[] = []
  readonly #options: CheckedOptions
  readonly #header = new BatchHeader()
  #view: DataView = this.#header.view
  #mapEndHigh = 0
  #mapEndLow = 0
  /** Whether batches are gathered until the end of the append. */
  #isStaged = false

  constructor(options: CheckedOptions) {
    this.#options = options
    this.raiseMapEndOffset(options.logStartOffset)
  }

  get mapEndOffset(): bigint {
    return toBigInt(this.#mapEndHigh, this.#mapEndLow)
  }

  raiseMapEndOffset(offset: bigint): void {
    if (offset > this.mapEndOffset) this.#setMapEndOffset(offset)
  }

  /** Takes over a state that was read from elsewhere. */
  restore(updates: ProducerUpdates, mapEndOffset: bigint): void {
    this.updates = updates
    this.#setMapEndOffset(mapEndOffset)
  }

  one(batch: RecordBatch, origin: AppendOrigin, options: AppendOptions): AppendResult {
    this.#read(batch)
    return this.#take(origin, versionOf(options))
  }

  framed(view: DataView, position: number, size: number, magic: number, origin: AppendOrigin): void {
    this.#header.read(view, position, size, magic)
    this.#take(origin, 0)
  }

  all(batches: readonly RecordBatch[], origin: AppendOrigin, options: AppendOptions): AppendResult {
    const [first] = batches
    if (first === undefined) return APPENDED
    if (batches.length === 1) return this.one(first, origin, options)
    if (isLeaderAppend(origin)) {
      throw new InvalidRecordError(
        `${batches.length} batches in one append of origin ${origin}; a leader takes one at a time. Nothing was ` +
          'changed; append them one by one.',
        { baseOffset: first.baseOffset },
      )
    }
    const { mapEndOffset } = this
    const barriers = this.barriers.length
    this.#isStaged = true
    try {
      for (const batch of batches) {
        this.#read(batch)
        this.#take(origin, 0)
      }
      this.updates.end()
    } catch (error) {
      this.updates.refuse()
      this.barriers.length = barriers
      this.#setMapEndOffset(mapEndOffset)
      throw error
    } finally {
      this.#isStaged = false
    }
    return APPENDED
  }

  /**
   * Rules R1 and R2 at `offset`. `end` keeps what lies at or behind it; null where log order says that all of the state
   * came before.
   */
  expire(offset: bigint, end: bigint | null): Expired {
    const { barrierScope, withoutRules } = this.#options
    const isAll = barrierScope === 'all'
    const expires = !withoutRules.includes('R1')
    return this.updates.reset(offset, end, !withoutRules.includes('R2'), (words, start) => {
      if (!expires) return false
      if (!isAll && !isMirrored(words[start + PRODUCER_ID_HIGH]!, words[start + PRODUCER_ID_LOW]!))
        return false
      return end === null || newestOffsetOf(words, start) < end
    })
  }

  #setMapEndOffset(offset: bigint): void {
    this.#mapEndHigh = highOf(offset)
    this.#mapEndLow = lowOf(offset)
  }

  #read({ bytes, magic }: RecordBatch): void {
    // Batches of one record set share its memory, so one view serves them all.
    if (bytes.buffer !== this.#view.buffer) this.#view = new DataView(bytes.buffer)
    this.#header.read(this.#view, bytes.byteOffset, bytes.byteLength, magic)
  }

  #take(origin: AppendOrigin, transactionVersion: number): AppendResult {
    const header = this.#header
    const hasProducer = this.#hasProducer(header)
    if (origin === 'client') checkClientBatch(header, hasProducer)
    if (header.isControl) {
      this.#control(origin, transactionVersion, hasProducer)
    } else if (hasProducer) {
      const duplicate = this.#data(origin)
      if (duplicate !== null) return { duplicate }
    }
    if (!this.#isStaged) this.updates.end()
    const low = (header.baseOffsetLow >>> 0) + header.lastOffsetDelta + 1
    this.#mapEndHigh = (header.baseOffsetHigh + Math.floor(low / 2 ** 32)) | 0
    this.#mapEndLow = low | 0
    return APPENDED
  }

  #hasProducer(header: BatchHeader): boolean {
    if (this.#options.producerIdTest === 'stock') return header.producerIdHigh >= 0
    return header.producerIdHigh !== -1 || header.producerIdLow !== -1
  }

  #row(header: BatchHeader): number {
    const { producerIdHigh, producerIdLow } = header
    return this.#isStaged
      ? this.updates.stagedRow(producerIdHigh, producerIdLow)
      : this.updates.producers.find(producerIdHigh, producerIdLow)
  }

  #data(origin: AppendOrigin): DuplicateBatch | null {
    const header = this.#header
    const table = this.updates.table(this.#isStaged)
    let row = this.#row(header)
    if (origin === 'client') {
      const duplicate = findDuplicate(table, row, header)
      if (duplicate !== null) return duplicate
    }
    const current = epochOf(table, row)
    if (header.producerEpoch < current) {
      if (isLeaderAppend(origin)) throw new InvalidProducerEpochError(refused(header), current)
      this.#warn('producer-epoch', header.producerEpoch, current)
    }
    if (origin === 'client') {
      checkSequence(table, row, header, this.#options.unknownProducerSequence === 'zero')
    }
    if (!header.isTransactional) {
      if (isOpen(table, row)) {
        throw new InvalidTxnStateError(refused(header), transactionFirstOffset(table, row))
      }
    } else if (this.#continuesLocal(table, row)) {
      this.updates.comeHome(header.producerIdHigh, header.producerIdLow)
      row = this.#row(header)
    }
    this.updates.data(table, row, header)
    return null
  }

  #control(origin: AppendOrigin, transactionVersion: number, hasProducer: boolean): void {
    const header = this.#header
    const table = this.updates.table(this.#isStaged)
    if (!hasProducer) {
      if (isBarrier(header)) this.#barrier(origin)
      return
    }
    const row = this.#row(header)
    if (isLeaderAppend(origin) && header.isTransactional) checkLeaderEpoch(table, row, header)
    const record = readFirstControlRecord(header)
    if (record === null) {
      this.updates.touch(table, row, header)
    } else if (record.type === ControlRecordType.ABORT || record.type === ControlRecordType.COMMIT) {
      this.#marker(origin, transactionVersion, record)
    } else if (this.#options.producerIdTest === 'stock') {
      throw new InvalidRecordError(
        `the control batch at offset ${header.baseOffset} has the type ${record.type} and the producer ` +
          `${header.producerId}. Nothing was changed; a broker fails on it, at its start too: such a batch must have the ` +
          'producer id -1.',
        { baseOffset: header.baseOffset },
      )
    } else if (record.type === ControlRecordType.MIRROR_PID_RESET) {
      this.#barrier(origin)
    } else {
      this.#warn('control-type', record.type, null)
    }
  }

  #marker(origin: AppendOrigin, transactionVersion: number, record: FirstControlRecord): void {
    const header = this.#header
    const isLeader = isLeaderAppend(origin)
    const table = this.updates.table(this.#isStaged)
    let row = this.#row(header)
    const { coordinatorEpoch, timestamp } = record
    if (isFencedMarker(table, row, header.producerEpoch, isLeader ? transactionVersion : 0)) {
      const current = epochOf(table, row)
      if (isLeader) throw new InvalidProducerEpochError(refused(header), current, transactionVersion >= 2)
      this.#warn('producer-epoch', header.producerEpoch, current)
    }
    const currentCoordinator = coordinatorEpochOf(table, row)
    if (coordinatorEpoch < currentCoordinator) {
      if (isLeader) {
        throw new TransactionCoordinatorFencedError(refused(header), coordinatorEpoch, currentCoordinator)
      }
      this.#warn('coordinator-epoch', coordinatorEpoch, currentCoordinator)
    }
    const isAborted = record.type === ControlRecordType.ABORT
    if (this.#continuesLocal(table, row)) {
      this.updates.endAtHome(header, isAborted)
      row = this.#row(header)
    }
    this.updates.marker(table, row, header, { isAborted, coordinatorEpoch, timestamp })
  }

  /** Rule R3, for a transactional batch or a marker that has passed all checks. */
  #continuesLocal(table: ProducerTable, row: number): boolean {
    const { producerIdHigh, producerIdLow } = this.#header
    if (isOpen(table, row) || !this.updates.isOpenAtHome(producerIdHigh, producerIdLow)) return false
    if (this.#options.withoutRules.includes('R3')) return false
    this.#protect()
    return true
  }

  #barrier(origin: AppendOrigin): void {
    const offset = this.#header.baseOffset
    const sourceClusterId = readBarrierSource(this.#header)
    const applied = this.#acts(origin, sourceClusterId)
    let expired = NOTHING
    if (applied) {
      this.#protect()
      expired = this.expire(offset, null)
    }
    this.barriers.push({ offset, sourceClusterId, applied, expired })
  }

  /** A cluster never mirrors itself, so under the draft's reading a barrier that names it as source is another's. */
  #acts(origin: AppendOrigin, sourceClusterId: string | null): boolean {
    const { barrierPolicy, clusterId } = this.#options
    if (barrierPolicy === 'log-order') return true
    if (barrierPolicy === 'ignore' || origin === 'mirror') return false
    return clusterId === null || sourceClusterId !== clusterId
  }

  /** Called before an append of several batches changes anything for good. */
  #protect(): void {
    if (this.#isStaged) this.updates.protect()
  }

  #warn(kind: ProducerWarning['kind'], found: number, current: number | null): void {
    const { onWarning } = this.#options
    if (onWarning === null) return
    const { producerId, baseOffset } = this.#header
    onWarning({ kind, producerId, offset: baseOffset, found, current })
  }
}
