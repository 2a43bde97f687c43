import { requireView } from '../../bytes/view.ts'
import { requireText } from '../../core/arguments.ts'
import { mapProducerId } from '../../core/producerId.ts'
import { NO_SEQUENCE } from '../../formats/recordBatch.ts'
import { incrementSequence } from '../../formats/sequence.ts'
import { BatchHeader } from '../../producers/batchHeader.ts'
import { isBarrier } from '../../producers/controlBatch.ts'
import { toBigInt } from '../../producers/int64.ts'
import type { BatchTaker } from './batchTaker.ts'

const MAX_PRODUCER_ID = 2n ** 63n - 1n

/** Where a producer stands in a source's log. */
export interface SourceRange {
  /** The source's name. */
  source: string
  /** The id that it has there; a mirror maps it. */
  producerId: bigint
  firstEpoch: number
  lowestEpoch: number
  highestEpoch: number
  firstOffset: bigint
  lastOffset: bigint
  /** Of the first batch, and the largest, in milliseconds; -1 where there is none. */
  firstTimestamp: bigint
  lastTimestamp: bigint
  batches: number
}

/** Two producers of one source that a mirror of it would keep under one id. */
export interface OwnOverlap {
  before: SourceRange
  after: SourceRange
  /** Base offset and epoch of the batch of the second at which they meet. */
  offset: bigint
  epoch: number
}

interface Line extends SourceRange {
  /** How many barriers stand before its last batch; -1 where another line goes on with it. */
  barriers: number
  lastSequence: number
}

/**
 * What a source's log would bring into a mirror: for each id that the mirror would store, where it stands.
 *
 * @example
 * const producers = new SourceProducers('A')
 * for (const { bytes, position, magic } of recordBatches(segment)) {
 *   producers.framed(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, bytes.byteLength, magic)
 * }
 * producers.rangeOf(mapProducerId(0n))?.lastOffset
 */
export class SourceProducers implements BatchTaker {
  readonly source: string
  readonly ownOverlaps = new Map<bigint, OwnOverlap>()
  /** By mapped id. Two lines where the log has both the local id and the mapped one. */
  readonly #lines = new Map<bigint, Line[]>()
  readonly #header = new BatchHeader()
  #barriers = 0

  constructor(source: string) {
    this.source = requireText('source', source)
  }

  framed(view: DataView, position: number, size: number, magic: number): void {
    const header = this.#header
    header.read(requireView(view), position, size, magic)
    if (header.producerIdHigh === -1 && header.producerIdLow === -1) {
      if (header.isControl && position + size <= view.byteLength && isBarrier(header)) this.#barriers++
      return
    }
    const { producerId } = header
    // the largest id has no image: a mirror refuses it
    if (producerId !== MAX_PRODUCER_ID) this.#add(producerId, mapProducerId(producerId))
  }

  damaged(): void {}

  /** The ids that a mirror of it would store. */
  mappedIds(): IterableIterator<bigint> {
    return this.#lines.keys()
  }

  /** Where the first producer that a mirror would store under an id stands; null for none. */
  rangeOf(mapped: bigint): SourceRange | null {
    const line = this.#lines.get(mapped)?.[0]
    return line === undefined ? null : plainRange(line)
  }

  #add(producerId: bigint, mapped: bigint): void {
    const header = this.#header
    const lines = this.#lines.get(mapped) ?? []
    if (lines.length === 0) this.#lines.set(mapped, lines)
    let line = lines.find((one) => one.producerId === producerId)
    if (line === undefined) {
      line = newLine(this.source, header)
      lines.push(line)
    }
    const other = lines.find((one) => one.producerId !== producerId)
    if (other !== undefined && other.barriers === this.#barriers) this.#meet(other, line, mapped)
    extend(line, header, this.#barriers)
  }

  /** No barrier stands between them. A transaction that came home is the same producer's (rule R3). */
  #meet(before: Line, after: Line, mapped: bigint): void {
    if (continues(before, this.#header)) {
      before.barriers = -1
    } else if (!this.ownOverlaps.has(mapped)) {
      const { producerEpoch: epoch, baseOffset: offset } = this.#header
      this.ownOverlaps.set(mapped, { before: plainRange(before), after: plainRange(after), offset, epoch })
    }
  }
}

function newLine(source: string, header: BatchHeader): Line {
  const timestamp = timestampOf(header)
  return {
    source,
    producerId: header.producerId,
    firstEpoch: header.producerEpoch,
    lowestEpoch: header.producerEpoch,
    highestEpoch: header.producerEpoch,
    firstOffset: header.baseOffset,
    lastOffset: header.baseOffset,
    firstTimestamp: timestamp,
    lastTimestamp: timestamp,
    batches: 0,
    barriers: 0,
    lastSequence: NO_SEQUENCE,
  }
}

function extend(line: Line, header: BatchHeader, barriers: number): void {
  line.lowestEpoch = Math.min(line.lowestEpoch, header.producerEpoch)
  line.highestEpoch = Math.max(line.highestEpoch, header.producerEpoch)
  line.lastOffset = header.baseOffset
  const timestamp = timestampOf(header)
  if (timestamp > line.lastTimestamp) line.lastTimestamp = timestamp
  line.batches++
  line.barriers = barriers
  if (!header.isControl) line.lastSequence = header.lastSequence
}

function plainRange({ barriers: _barriers, lastSequence: _lastSequence, ...range }: Line): SourceRange {
  return range
}

/** Whether the batch goes on where the other line has stopped. */
function continues({ highestEpoch, lastSequence }: Line, header: BatchHeader): boolean {
  const { producerEpoch, baseSequence } = header
  if (header.isControl) return producerEpoch === highestEpoch || producerEpoch === highestEpoch + 1
  return producerEpoch === highestEpoch && baseSequence === incrementSequence(lastSequence, 1)
}

function timestampOf({ maxTimestampHigh, maxTimestampLow }: BatchHeader): bigint {
  return toBigInt(maxTimestampHigh, maxTimestampLow)
}
