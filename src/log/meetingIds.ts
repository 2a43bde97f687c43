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
  APART,
  comesHome,
  type IdKey,
  type IdMerging,
  isBefore,
  keyOf,
  keyOfId,
  MARKER_SEQUENCE,
  MET,
  newSeenId,
  ONE_PRODUCER,
  type Relation,
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
  readonly #ids: SeenIds['ids'] = new Map()
  readonly #barriers: SeenIds['barriers'] = []
  readonly #header = new BatchHeader()
  /** Of the last batch outside transactions: the same one again tells nothing new. */
  #lastHigh = -1
  #lastLow = -1
  #isAnyMet = false

  constructor(merging: IdMerging) {
    this.#merging = merging
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
    return this.#isAnyMet ? this.#pairs(MET) : null
  }

  /** The pairs that barriers tell apart. */
  get apart(): MetProducerIds | null {
    return this.#pairs(APART)
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
    const isPlain = !isControl && (attributes & TRANSACTIONAL_FLAG) === 0
    if (isPlain && high === this.#lastHigh && low === this.#lastLow) return
    this.#lastHigh = high
    this.#lastLow = low
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
    if (isLocal) seen.open = isControl ? null : batch
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
    const isTogether = before.stretches.at(-1) === stretch
    this.#note(seen, before, isTogether ? together(seen, before, stretch, batch) : APART)
  }

  #note(one: SeenId, other: SeenId, relation: Relation): void {
    const mapped = one.producerId < other.producerId ? one : other
    if (relation > mapped.relation) mapped.relation = relation
    if (relation === MET) this.#isAnyMet = true
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
    let relation = seen.relation
    if (before !== null) {
      const isTogether = seen.stretches[0] === 0 && before.stretches.at(-1) === base
      // what the part has of the local id before this one is younger than what is known here, and was compared there
      const younger = this.#counterpart(seen.producerId, part)
      const isCompared = younger !== null && younger.stretches[0] === 0 && isBefore(younger, seen)
      if (!isTogether) relation = worse(relation, APART)
      else if (seen.producerId >= 0n || !isCompared) {
        relation = worse(relation, together(seen, before, base, seen.begun))
      }
    }
    return () => this.#fold(key, seen, base, relation)
  }

  #fold(key: IdKey, seen: SeenId, base: number, relation: Relation): void {
    const mine = this.#ids.get(key) ?? this.#add(key, newSeenId(seen.producerId, seen.firstOffset))
    if (mine.stretches.length === 0) mine.begun = seen.begun
    const stretches = seen.stretches.map((stretch) => stretch + base)
    if (mine.stretches.at(-1) === stretches[0]) stretches.shift()
    mine.stretches.push(...stretches)
    mine.homecomings.push(...seen.homecomings.map((stretch) => stretch + base))
    mine.open = seen.open
    // the local one of the pair may be added only after this
    if (mine.producerId < 0n) this.#note(mine, mine, relation)
    else if (mine.other !== null) this.#note(mine, mine.other, relation)
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
    const relation = !other.stretches.includes(stretch) ? APART : isHome ? ONE_PRODUCER : MET
    this.#note(seen, other, relation)
  }

  /** Forgets the other ids, so that what is taken for a long time stays small. */
  keepOnly(isWorth: (producerId: bigint) => boolean): void {
    for (const [key, { producerId, other }] of this.#ids) {
      if (isWorth(producerId)) continue
      this.#ids.delete(key)
      if (other !== null) other.other = null
    }
  }

  #pairs(relation: Relation): MetProducerIds | null {
    let first: { one: SeenId; other: SeenId } | null = null
    let pairs = 0
    for (const one of this.#ids.values()) {
      const { other } = one
      if (other === null || one.producerId >= 0n || one.relation !== relation) continue
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

function together(seen: SeenId, before: SeenId, stretch: number, batch: TransactionBatch | null): Relation {
  if (seen.producerId >= 0n) return MET
  if (before.homecomings.includes(stretch)) return ONE_PRODUCER
  if (!comesHome(before, batch)) return MET
  before.homecomings.push(stretch)
  return ONE_PRODUCER
}

function worse(one: Relation, other: Relation): Relation {
  return one > other ? one : other
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
