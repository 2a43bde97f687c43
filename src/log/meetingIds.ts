import {
  ATTRIBUTES,
  BASE_OFFSET,
  BASE_SEQUENCE,
  CONTROL_FLAG,
  CURRENT_MAGIC,
  LAST_OFFSET_DELTA,
  PRODUCER_EPOCH,
  PRODUCER_ID,
  TRANSACTIONAL_FLAG,
} from '../core/layout.ts'
import { RecordSetCursor } from '../core/recordSetCursor.ts'
import { FRAME_BATCH } from '../core/status.ts'
import { incrementSequence } from '../formats/sequence.ts'
import { BatchHeader } from '../producers/batchHeader.ts'
import { isBarrier } from '../producers/controlBatch.ts'
import type { MetProducerIds } from './producerIdsMeetError.ts'
import {
  comesHome,
  goesOn,
  type IdKey,
  type IdMerging,
  isBefore,
  keyOf,
  keyOfId,
  MARKER_SEQUENCE,
  newSeenId,
  type SeenId,
  type SeenIds,
  type TransactionBatch,
} from './seenIds.ts'

/**
 * Finds ids that meet: two ids of one partition that a mapping makes one, so that two producers would be under it. A barrier
 * between them tells them apart, for readers that know it. Takes the batches of a log, in its order; memory is for distinct
 * ids.
 *
 * @example
 * const meeting = new MeetingIds(mergingOf('map'))
 * meeting.takeWhole(records)
 * meeting.met // null where the mapping puts no two producers under one id
 */
export class MeetingIds {
  readonly #merging: IdMerging
  readonly #isLive: boolean
  readonly #ids: SeenIds['ids'] = new Map()
  readonly #barriers: SeenIds['barriers'] = []
  readonly #header = new BatchHeader()
  /** Of the last batch outside transactions: the same one again tells nothing new. */
  #lastHigh = -1
  #lastLow = -1
  #isAnyMet = false

  /** @param isLive whether the log may be cut and written anew while its batches are taken: that of a mirror's source */
  constructor(merging: IdMerging, isLive = false) {
    this.#merging = merging
    this.#isLive = isLive
  }

  /** What was taken so far, for `append`. */
  get seen(): SeenIds {
    return { ids: this.#ids, barriers: this.#barriers }
  }

  /** Number of distinct ids. */
  get size(): number {
    return this.#ids.size
  }

  /** The pairs of ids that meet. */
  get met(): MetProducerIds | null {
    return this.#isAnyMet ? this.#pairs(({ meets }) => meets) : null
  }

  /** The pairs that barriers tell apart. */
  get apart(): MetProducerIds | null {
    return this.#pairs((one, other) => !one.meets && !isSame(one.stretches, other.stretches))
  }

  /** Takes the whole batches at the start of `bytes`. */
  takeWhole(bytes: Uint8Array): void {
    const cursor = new RecordSetCursor(bytes)
    for (; cursor.frame() === FRAME_BATCH; cursor.advance()) {
      this.framed(cursor.view, cursor.position, cursor.size, cursor.magic)
    }
  }

  /** Takes the batch at `position` of `view`. One whose header alone is there is taken for no barrier. */
  framed(view: DataView, position: number, size: number, magic: number): void {
    if (magic !== CURRENT_MAGIC) return
    const high = view.getInt32(position + PRODUCER_ID)
    const low = view.getInt32(position + PRODUCER_ID + 4)
    const attributes = view.getInt16(position + ATTRIBUTES)
    const isControl = (attributes & CONTROL_FLAG) !== 0
    if (high === -1 && low === -1) {
      if (isControl) this.#control(view, position, size)
      return
    }
    const isPlain = !this.#isLive && !isControl && (attributes & TRANSACTIONAL_FLAG) === 0
    if (isPlain && high === this.#lastHigh && low === this.#lastLow) return
    this.#lastHigh = isPlain ? high : -1
    this.#lastLow = isPlain ? low : -1
    this.#take(view, position, keyOf(high, low), isPlain, isControl)
  }

  #control(view: DataView, position: number, size: number): void {
    if (!this.#merging.knowsBarriers || position + size > view.byteLength) return
    this.#header.read(view, position, size, CURRENT_MAGIC)
    if (!isBarrier(this.#header)) return
    this.#barriers.push(this.#header.baseOffset)
    this.#lastHigh = -1
    this.#lastLow = -1
  }

  #take(view: DataView, position: number, key: IdKey, isPlain: boolean, isControl: boolean): void {
    const stretch = this.#barriers.length
    const known = this.#ids.get(key)
    const seen =
      known ??
      this.#add(
        key,
        newSeenId(view.getBigInt64(position + PRODUCER_ID), view.getBigInt64(position + BASE_OFFSET)),
      )
    if (seen.stretches.at(-1) !== stretch) seen.stretches.push(stretch)
    const isLocal = seen.producerId >= 0n
    let batch: TransactionBatch | null = null
    if (!isPlain && (isLocal || known === undefined || seen.other !== null)) {
      batch = isControl ? markerAt(view, position) : transactionBatchAt(view, position)
    }
    if (known === undefined && !isLocal) seen.begun = batch
    if (seen.other !== null) this.#compare(seen, seen.other, stretch, batch)
    if (isLocal) seen.open = this.#isLive ? lineAfter(seen.open, batch) : isControl ? null : batch
  }

  #add(key: IdKey, seen: SeenId): SeenId {
    this.#ids.set(key, seen)
    const other = this.#counterpart(seen.producerId, this.#ids)
    seen.other = other
    if (other !== null) other.other = seen
    return seen
  }

  #counterpart(producerId: bigint, ids: SeenIds['ids']): SeenId | null {
    const counterpart = this.#merging.counterpartOf(producerId)
    return counterpart === null ? null : (ids.get(keyOfId(counterpart)) ?? null)
  }

  /** Of two ids, `seen` stands in the stretch, after all that was taken of the other one. */
  #compare(seen: SeenId, before: SeenId, stretch: number, batch: TransactionBatch | null): void {
    if (before.stretches.at(-1) === stretch && !this.#isOne(seen, before, stretch, batch))
      this.#meet(seen, before)
  }

  /** Whether they are one producer, who goes on under the mapped id. */
  #isOne(seen: SeenId, before: SeenId, stretch: number, batch: TransactionBatch | null): boolean {
    if (seen.producerId >= 0n) return false
    if (before.homecomings.includes(stretch)) return true
    if (!(this.#isLive ? goesOn(before, batch) : comesHome(before, batch))) return false
    before.homecomings.push(stretch)
    return true
  }

  #meet(one: SeenId, other: SeenId): void {
    const mapped = one.producerId < other.producerId ? one : other
    mapped.meets = true
    this.#isAnyMet = true
  }

  /** Adds what was seen of the next part of the log. */
  append({ ids, barriers }: SeenIds): void {
    const base = this.#barriers.length
    const added = [...ids].map(([key, seen]) => this.#appended(key, seen, base, ids))
    for (const add of added) add()
    this.#barriers.push(...barriers)
  }

  /** Compares an id with what was known before the part it is of; what is given adds it. */
  #appended(key: IdKey, seen: SeenId, base: number, part: SeenIds['ids']): () => void {
    const before = this.#counterpart(seen.producerId, this.#ids)
    // what the part has of the other one before this is younger than what is known here, and was compared there
    const younger = this.#counterpart(seen.producerId, part)
    const isTogether = seen.stretches[0] === 0 && before?.stretches.at(-1) === base
    const isNew = before !== null && isTogether && (younger === null || isBefore(seen, younger))
    const isMet = isNew && !this.#isOne(seen, before, base, seen.begun)
    return () => {
      this.#fold(key, seen, base)
      if (isMet) this.#meet(seen.producerId < 0n ? this.#ids.get(key)! : before, before)
    }
  }

  #fold(key: IdKey, seen: SeenId, base: number): void {
    const mine = this.#ids.get(key) ?? this.#add(key, newSeenId(seen.producerId, seen.firstOffset))
    if (mine.stretches.length === 0) mine.begun = seen.begun
    const stretches = seen.stretches.map((stretch) => stretch + base)
    if (mine.stretches.at(-1) === stretches[0]) stretches.shift()
    mine.stretches.push(...stretches)
    mine.homecomings.push(...seen.homecomings.map((stretch) => stretch + base))
    mine.open = seen.open
    if (seen.meets) this.#meet(mine, mine)
  }

  /**
   * Takes an id that a companion of the segments holds, whose batches all were taken before.
   * @param offset null where it is not known: before the log, unless the log has the id too
   */
  takePoint(producerId: bigint, offset: bigint | null): void {
    const key = keyOfId(producerId)
    const known = this.#ids.get(key)
    if (producerId === -1n || (known !== undefined && offset === null)) return
    const seen = known ?? this.#add(key, newSeenId(producerId, offset))
    const stretch = offset === null ? 0 : this.#barriers.filter((barrier) => barrier < offset).length
    if (!seen.stretches.includes(stretch)) seen.stretches.push(stretch)
    if (offset !== null && seen.firstOffset !== null && offset < seen.firstOffset) seen.firstOffset = offset
    const { other } = seen
    if (other === null) return
    const isHome = seen.homecomings.includes(stretch) || other.homecomings.includes(stretch)
    if (other.stretches.includes(stretch) && !isHome) this.#meet(seen, other)
  }

  /** Forgets the other ids, so that what is taken for a long time stays small. */
  keepOnly(isWorth: (producerId: bigint) => boolean): void {
    for (const [key, { producerId, other }] of this.#ids) {
      if (isWorth(producerId)) continue
      this.#ids.delete(key)
      if (other !== null) other.other = null
    }
  }

  #pairs(isSuch: (mapped: SeenId, local: SeenId) => boolean): MetProducerIds | null {
    let first: { one: SeenId; other: SeenId } | null = null
    let pairs = 0
    for (const one of this.#ids.values()) {
      const { other } = one
      if (other === null || one.producerId >= 0n || !isSuch(one, other)) continue
      pairs++
      if (first === null || isBefore(later(one, other), later(first.one, first.other))) first = { one, other }
    }
    if (first === null) return null
    const { one, other } = first
    const [before, after] = isBefore(one, other) ? [one, other] : [other, one]
    return {
      producerId: before.producerId,
      firstOffset: before.firstOffset,
      otherProducerId: after.producerId,
      otherFirstOffset: after.firstOffset,
      mappedProducerId: this.#merging.imageOf(before.producerId),
      pairs,
    }
  }
}

/** What a producer's batches end with: a marker of a higher epoch begins a line of its own. */
function lineAfter(line: TransactionBatch | null, batch: TransactionBatch | null): TransactionBatch | null {
  if (line === null || batch === null || batch.baseSequence !== MARKER_SEQUENCE) return batch
  return batch.epoch === line.epoch ? line : batch
}

/** Points of companions come in no order. */
function isSame(one: readonly number[], other: readonly number[]): boolean {
  return one.length === other.length && one.every((stretch) => other.includes(stretch))
}

function later(one: SeenId, other: SeenId): SeenId {
  return isBefore(one, other) ? other : one
}

function markerAt(view: DataView, position: number): TransactionBatch {
  const epoch = view.getInt16(position + PRODUCER_EPOCH)
  return { epoch, baseSequence: MARKER_SEQUENCE, lastSequence: MARKER_SEQUENCE }
}

function transactionBatchAt(view: DataView, position: number): TransactionBatch {
  const epoch = view.getInt16(position + PRODUCER_EPOCH)
  const baseSequence = view.getInt32(position + BASE_SEQUENCE)
  const lastSequence = incrementSequence(baseSequence, view.getInt32(position + LAST_OFFSET_DELTA))
  return { epoch, baseSequence, lastSequence }
}
