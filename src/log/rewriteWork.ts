import { checkRewriteOptions } from '../core/arguments.ts'
import { classify, newCounts } from '../core/batchChecks.ts'
import type { Core, CrcMode, Direction, RewriteOptions, RewriteReport } from '../core/core.ts'
import { engineOf } from '../core/crcEngine.ts'
import { CRC, CURRENT_MAGIC, PRODUCER_ID } from '../core/layout.ts'
import { writeBatch } from '../core/rewriteRecords.ts'
import { CorruptBatchError, UnmappableProducerIdError } from '../errors.ts'
import type { BatchWork, WholeBatches } from './batchStream.ts'
import { addCounts } from './counts.ts'
import { BatchCrc, cursorAtHeader, storedCrc } from './largeBatch.ts'

/** A CRC that is known only after its batch has passed by: to be written at `position`, 4 bytes big-endian. */
export interface LateCrc {
  position: number
  crc: number
}

/** The large batch that is passing by. */
interface Passing {
  position: number
  baseOffset: bigint
  storedBefore: number
  /** Over the bytes as they are written; null where no CRC has to read them. */
  crc: BatchCrc | null
  isChanged: boolean
  /** What to throw unless the CRC is wrong, which comes first. */
  unmappable: UnmappableProducerIdError | null
}

const MAX_INT64 = 2n ** 63n - 1n

/** Rewrites the windows of a stream where they lie. Throws what `core.rewrite` throws, with positions in the whole. */
export class RewriteWork implements BatchWork {
  readonly counts: RewriteReport = newCounts()
  /** What to write once the windows are written: CRCs of large batches in `recompute` mode. */
  readonly lateCrcs: LateCrc[] = []
  readonly #core: Core
  readonly #options: { crc: CrcMode; direction: Direction }
  readonly #file: string | null
  #passing: Passing | null = null

  /** @param file named in errors */
  constructor(core: Core, options: RewriteOptions, file: string | null) {
    this.#core = core
    this.#options = checkRewriteOptions(options)
    this.#file = file
  }

  wholeBatches(bytes: Uint8Array, position: number): WholeBatches {
    try {
      const report = this.#core.rewrite(bytes, this.#options)
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
    const isChanged = classify(cursor, this.counts, direction)
    let unmappable: UnmappableProducerIdError | null = null
    if (isChanged && direction === 'map' && cursor.view.getBigInt64(PRODUCER_ID) === MAX_INT64) {
      unmappable = new UnmappableProducerIdError(MAX_INT64, { position, baseOffset }, this.#file)
      if (crc !== 'verify') throw unmappable
    } else if (cursor.magic === CURRENT_MAGIC) {
      writeBatch(cursor, 'patch', direction, engineOf(this.#core))
    }
    const isRead = crc === 'verify' || (crc === 'recompute' && isChanged)
    const running = isRead ? new BatchCrc(this.#core, cursor) : null
    this.#passing = { position, baseOffset, storedBefore, crc: running, isChanged, unmappable }
  }

  largePiece(bytes: Uint8Array): void {
    this.#passing?.crc?.update(bytes)
  }

  endLarge(): void {
    const passing = this.#passing
    this.#passing = null
    if (passing === null || passing.crc === null) return
    const { position, baseOffset, storedBefore, unmappable } = passing
    const { stored, computed } = passing.crc
    if (this.#options.crc === 'recompute') {
      this.lateCrcs.push({ position: position + CRC, crc: computed })
      return
    }
    if (stored !== computed) {
      // a patch changes both CRCs by the same bits, so this is what the old bytes give
      const computedBefore = (computed ^ stored ^ storedBefore) >>> 0
      const facts = { position, baseOffset, stored: storedBefore, computed: computedBefore }
      throw new CorruptBatchError({ ...facts, reason: 'crc' }, this.#file)
    }
    if (unmappable !== null) throw unmappable
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
