import { checkRewriteOptions } from '../core/arguments.ts'
import { classify, newCounts } from '../core/batchChecks.ts'
import type { Core, RewriteMode, RewriteOptions, RewriteReport } from '../core/core.ts'
import { engineOf } from '../core/crcEngine.ts'
import { ATTRIBUTES, CONTROL_FLAG, CRC, CURRENT_MAGIC, PRODUCER_ID } from '../core/layout.ts'
import type { RecordSetCursor } from '../core/recordSetCursor.ts'
import { writeBatch } from '../core/rewriteRecords.ts'
import { CorruptBatchError, UnmappableProducerIdError } from '../errors.ts'
import type { BatchWork, WholeBatches } from './batchStream.ts'
import { addCounts } from './counts.ts'
import type { HeaderChanges } from './headerChanges.ts'
import { BatchCrc, BatchGatherer, cursorAtHeader, storedCrc } from './largeBatch.ts'
import type { MeetingIds } from './meetingIds.ts'

/** A CRC that is known only after its batch has passed by: to be written at `position`, 4 bytes big-endian. */
export interface LateCrc {
  position: number
  crc: number
}

/** The large batch that is passing by. */
interface Passing {
  position: number
  baseOffset: bigint
  producerIdBefore: bigint
  storedBefore: number
  /** What the patch makes of it; the same where there is none. */
  storedAfter: number
  /** Over the bytes as they are written; null where no CRC has to read them. */
  crc: BatchCrc | null
  isChanged: boolean
  /** What to throw unless the CRC is wrong, which comes first. */
  unmappable: UnmappableProducerIdError | null
}

const MAX_INT64 = 2n ** 63n - 1n
/** Far above that of a barrier, whose cluster id has 32 KiB at most. */
const MAX_BARRIER_SIZE = 1024 * 1024

/** Rewrites the windows of a stream where they lie. Throws what `core.rewrite` throws, with positions in the whole. */
export class RewriteWork implements BatchWork {
  readonly counts: RewriteReport = newCounts()
  /** What to write once the windows are written: CRCs of large batches in `recompute` mode. */
  readonly lateCrcs: LateCrc[] = []
  readonly #core: Core
  readonly #options: RewriteMode
  readonly #file: string | null
  readonly #meeting: MeetingIds | null
  readonly #changes: HeaderChanges | null
  #passing: Passing | null = null
  /** What passes by and may be a barrier. */
  readonly #control = new BatchGatherer()
  #isControl = false

  /**
   * @param file named in errors
   * @param meeting takes the batches as they were before
   * @param changes takes what changes in the headers, in order of position
   */
  constructor(
    core: Core,
    options: RewriteOptions,
    file: string | null,
    meeting: MeetingIds | null = null,
    changes: HeaderChanges | null = null,
  ) {
    this.#core = core
    this.#options = checkRewriteOptions(options)
    this.#file = file
    this.#meeting = meeting
    this.#changes = changes
  }

  get readsPieces(): boolean {
    return this.#isControl || (this.#passing !== null && this.#passing.crc !== null)
  }

  wholeBatches(bytes: Uint8Array, position: number): WholeBatches {
    this.#meeting?.takeWhole(bytes)
    try {
      const noted = this.#changes?.note(bytes, position, this.#options.direction)
      const report = this.#core.rewrite(bytes, this.#options)
      noted?.()
      addCounts(this.counts, report)
      return report
    } catch (error) {
      throw inWhole(error, position, this.#file)
    }
  }

  beginLarge(header: Uint8Array, position: number, size: number): void {
    const { crc, direction } = this.#options
    const cursor = cursorAtHeader(header, size)
    const { baseOffset } = cursor
    const storedBefore = storedCrc(cursor)
    this.#meet(cursor)
    const producerIdBefore = cursor.magic === CURRENT_MAGIC ? cursor.view.getBigInt64(PRODUCER_ID) : 0n
    const isChanged = classify(cursor, this.counts, direction)
    let unmappable: UnmappableProducerIdError | null = null
    if (isChanged && direction === 'map' && producerIdBefore === MAX_INT64) {
      unmappable = new UnmappableProducerIdError(MAX_INT64, { position, baseOffset }, this.#file)
      if (crc !== 'verify') throw unmappable
    } else if (cursor.magic === CURRENT_MAGIC) {
      writeBatch(cursor, 'patch', direction, engineOf(this.#core))
    }
    const isRead = crc === 'verify' || (crc === 'recompute' && isChanged)
    const running = isRead ? new BatchCrc(engineOf(this.#core), cursor) : null
    const stored = { producerIdBefore, storedBefore, storedAfter: storedCrc(cursor) }
    this.#passing = { position, baseOffset, ...stored, crc: running, isChanged, unmappable }
  }

  /** What a large batch is can be told by its header, but for a barrier. */
  #meet(cursor: RecordSetCursor): void {
    const { view, size, magic } = cursor
    if (this.#meeting === null || magic !== CURRENT_MAGIC) return
    this.#isControl =
      view.getBigInt64(PRODUCER_ID) === -1n &&
      (view.getInt16(ATTRIBUTES) & CONTROL_FLAG) !== 0 &&
      size <= MAX_BARRIER_SIZE
    if (this.#isControl) this.#control.begin(size)
    else this.#meeting.framed(view, 0, size, magic)
  }

  largePiece(bytes: Uint8Array): void {
    this.#passing?.crc?.update(bytes)
    if (this.#isControl) this.#control.update(bytes)
  }

  endLarge(): void {
    const control = this.#control.end()
    this.#isControl = false
    if (control !== null) this.#meeting?.takeWhole(control)
    const passing = this.#passing
    this.#passing = null
    if (passing === null) return
    const crcAfter = passing.crc === null ? passing.storedAfter : this.#crcAfter(passing, passing.crc)
    if (!passing.isChanged) return
    this.#changes?.add(passing.position, passing.producerIdBefore, passing.storedBefore, crcAfter)
  }

  /** What its CRC becomes, now that all its bytes were read. */
  #crcAfter(passing: Passing, { stored, computed }: BatchCrc): number {
    const { position, baseOffset, storedBefore, unmappable } = passing
    if (this.#options.crc === 'recompute') {
      this.lateCrcs.push({ position: position + CRC, crc: computed })
      return computed
    }
    if (stored !== computed) {
      // a patch changes both CRCs by the same bits, so this is what the old bytes give
      const computedBefore = (computed ^ stored ^ storedBefore) >>> 0
      const facts = { position, baseOffset, stored: storedBefore, computed: computedBefore }
      throw new CorruptBatchError({ ...facts, reason: 'crc' }, this.#file)
    }
    if (unmappable !== null) throw unmappable
    return stored
  }

  unreadable(facts: ConstructorParameters<typeof CorruptBatchError>[0]): never {
    throw new CorruptBatchError(facts, this.#file)
  }
}

/** An error of a window as one of the whole: its position there, and the file. */
function inWhole(error: unknown, position: number, file: string | null): unknown {
  if (error instanceof CorruptBatchError) {
    const { baseOffset, reason, stored, computed } = error
    return new CorruptBatchError(
      { position: error.position + position, baseOffset, reason, stored, computed },
      file,
    )
  }
  if (error instanceof UnmappableProducerIdError && error.position !== null) {
    const place = { position: error.position + position, baseOffset: error.baseOffset }
    return new UnmappableProducerIdError(error.producerId, place, file)
  }
  return error
}
