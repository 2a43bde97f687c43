import type { Direction } from '../core/core.ts'
import { mapProducerId, unmapProducerId } from '../core/producerId.ts'
import { incrementSequence } from '../formats/sequence.ts'
import { highOf, lowOf, toBigInt } from '../producers/int64.ts'

/** Which producer ids a mapping makes one, and where the ids of a part of a log stand. */

/** Two ids at most have the same image. */
export interface IdMerging {
  /** The other id that gets the same image; null for none. */
  counterpartOf(producerId: bigint): bigint | null
  /** Of an id that has a counterpart. */
  imageOf(producerId: bigint): bigint
  /** Whether readers of what is written know MIRROR_PID_RESET, so that producers on both sides of one are told apart. */
  knowsBarriers: boolean
}

const MAX_INT64 = 2n ** 63n - 1n

/** p >= 0 and -(p + 2) become one, in either direction; an unmapped log is for brokers that know no barrier. */
export function mergingOf(direction: Direction): IdMerging {
  const isMap = direction === 'map'
  const imageOf = isMap ? mapProducerId : unmapProducerId
  return { counterpartOf: negativeCounterpart, imageOf, knowsBarriers: isMap }
}

function negativeCounterpart(producerId: bigint): bigint | null {
  return producerId === -1n || producerId === MAX_INT64 ? null : -(producerId + 2n)
}

/** What was seen of some part of a log: plain data, which a thread can hand to another. */
export interface SeenIds {
  ids: Map<IdKey, SeenId>
  /** Offsets. They part the log into stretches, which have numbers from 0. */
  barriers: bigint[]
}

/** Where an id stands. */
export interface SeenId {
  producerId: bigint
  /** Null where only a producer snapshot knows the id, and no offset of it. */
  firstOffset: bigint | null
  /** In which it stands, in order. */
  stretches: number[]
  /** The id that gets the same image, where that was seen too. */
  other: SeenId | null
  /** Of a mapped id that has such a one: whether they meet in some stretch, as two producers. */
  meets: boolean
  /** Of a local id: those stretches in which its open transaction has gone on under the mapped id (rule R3). */
  homecomings: number[]
  /** Of a local id: the last batch of its open transaction; null where none is open. Of a live log, the last batch. */
  open: TransactionBatch | null
  /** Of a mapped id: its first batch, where that may belong to a transaction. */
  begun: TransactionBatch | null
}

export interface TransactionBatch {
  epoch: number
  /** Both -1 in a marker. */
  baseSequence: number
  lastSequence: number
}

export const MARKER_SEQUENCE = -1

export function newSeenId(producerId: bigint, firstOffset: bigint | null): SeenId {
  return {
    producerId,
    firstOffset,
    stretches: [],
    other: null,
    meets: false,
    homecomings: [],
    open: null,
    begun: null,
  }
}

/**
 * Where a source was cut and got the same batches back from its own mirror, the rest of a producer's batches comes under its
 * mapped id, in transactions or not: whether a batch goes on with those under the local one.
 */
export function goesOn({ open }: SeenId, batch: TransactionBatch | null): boolean {
  if (open === null || batch === null) return false
  if (batch.epoch !== open.epoch || batch.baseSequence === MARKER_SEQUENCE) {
    return batch.epoch >= open.epoch && batch.baseSequence <= 0
  }
  return batch.baseSequence === (open.lastSequence < 0 ? 0 : incrementSequence(open.lastSequence, 1))
}

/** Rule R3: whether a batch under a mapped id goes on with the open transaction of the local one. */
export function comesHome({ open }: SeenId, batch: TransactionBatch | null): boolean {
  if (open === null || batch === null) return false
  // with transaction version 2 the epoch rises before the marker is written
  if (batch.baseSequence === MARKER_SEQUENCE)
    return batch.epoch === open.epoch || batch.epoch === open.epoch + 1
  return batch.epoch === open.epoch && batch.baseSequence === incrementSequence(open.lastSequence, 1)
}

/** An offset that is not known comes first: that of a producer of before the log. */
export function isBefore({ firstOffset: one }: SeenId, { firstOffset: other }: SeenId): boolean {
  return other !== null && (one === null || one < other)
}

/** A producer id, as a number where that is exact: no bigint is to be made for each batch. */
export type IdKey = number | bigint

const SAFE_HIGH = 2 ** 20

export function keyOf(high: number, low: number): IdKey {
  return high < SAFE_HIGH && high >= -SAFE_HIGH ? high * 2 ** 32 + (low >>> 0) : toBigInt(high, low)
}

export function keyOfId(producerId: bigint): IdKey {
  return keyOf(highOf(producerId), lowOf(producerId))
}
