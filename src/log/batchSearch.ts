import { viewOf } from '../bytes/view.ts'
import type { Core } from '../core/core.ts'
import { engineOf } from '../core/crcEngine.ts'
import * as layout from '../core/layout.ts'
import type { RecordSetCursor } from '../core/recordSetCursor.ts'
import { BatchCrc, cursorAtHeader } from './largeBatch.ts'
import type { Windows } from './windows.ts'

/** Where the next whole batch is looked for, and how it is told from bytes that only look like one. */
export interface BatchSearch {
  from: number
  /** No batch of magic 2 that follows goes below it; null where nothing is known. */
  lowestOffset: bigint | null
  /** Nor beyond it: offsets of a segment are relative to its base offset, in 31 bits. */
  highestOffset: bigint | null
}

/** Bytes that all searches in a file may look at; what remains is noted here. */
export interface SearchBudget {
  bytes: number
}

export interface FoundBatch {
  position: number
  /** Whether its offsets are above those before. */
  follows: boolean
}

const MAX_CODEC = 4
const MAX_CODEC_LEGACY = 3
const KNOWN_FLAGS = 0x7f
const KNOWN_FLAGS_LEGACY = 0x0f
const MIN_HEADER_LEGACY = 26

/**
 * Looks for the next whole batch after a place that cannot be read: its header is plausible and its CRC right. Takes the
 * first whose offsets follow, or else the first of all. The budget bounds the work whatever the bytes are: without it,
 * many headers that claim much would have the same bytes read again and again.
 *
 * @returns null when there is none, or the budget is used up (it is 0 then)
 */
export async function findBatch(
  windows: Windows,
  core: Core,
  search: BatchSearch,
  budget: SearchBudget,
): Promise<FoundBatch | null> {
  let fallback: number | null = null
  for (let position = search.from; position < windows.end; position++) {
    const window = await windows.at(position)
    const view = viewOf(window)
    const left = windows.end - position
    // a header must be at hand as a whole
    const limit = window.length === left ? left : window.length - layout.HEADER_SIZE + 1
    const at = nextPlausible(window, view, limit, left)
    if (!spend(budget, at + 1)) return null
    position += at
    if (at === limit) {
      position--
      continue
    }
    const size = sizeAt(view, at)
    if (!spend(budget, size)) return null
    const isFollowing = follows(view, at, search)
    const cursor = cursorAtHeader(window.slice(at, at + layout.HEADER_SIZE), size)
    if (!(await hasRightCrc(windows, core, cursor, position))) continue
    if (isFollowing) return { position, follows: true }
    fallback ??= position
  }
  return fallback === null ? null : { position: fallback, follows: false }
}

function spend(budget: SearchBudget, bytes: number): boolean {
  budget.bytes = Math.max(0, budget.bytes - bytes)
  return budget.bytes > 0
}

/** The next place where something looks like a batch that fits into what is left; `limit` when there is none. */
export function nextPlausible(bytes: Uint8Array, view: DataView, limit: number, left: number): number {
  const last = Math.min(limit, bytes.length - layout.HEADER_SIZE_UP_TO_MAGIC + 1)
  for (let at = 0; at < last; at++) {
    const magic = bytes[at + layout.MAGIC]!
    // no offset is negative
    if (magic > layout.CURRENT_MAGIC || bytes[at]! >= 0x80) continue
    const batchLength = view.getInt32(at + layout.BATCH_LENGTH)
    if (batchLength < layout.MIN_BATCH_LENGTH || layout.LOG_OVERHEAD + batchLength > left - at) continue
    const isPlausible =
      magic === layout.CURRENT_MAGIC
        ? isPlausibleHeader(view, at, batchLength)
        : isPlausibleLegacy(view, at, batchLength)
    if (isPlausible) return at
  }
  return limit
}

function sizeAt(view: DataView, at: number): number {
  return layout.LOG_OVERHEAD + view.getInt32(at + layout.BATCH_LENGTH)
}

function isPlausibleHeader(view: DataView, at: number, batchLength: number): boolean {
  if (batchLength < layout.MIN_BATCH_LENGTH_V2 || at + layout.HEADER_SIZE > view.byteLength) return false
  const attributes = view.getUint16(at + layout.ATTRIBUTES)
  const lastOffsetDelta = view.getInt32(at + layout.LAST_OFFSET_DELTA)
  const count = view.getInt32(at + layout.RECORDS_COUNT)
  return (
    attributes <= KNOWN_FLAGS &&
    (attributes & 7) <= MAX_CODEC &&
    lastOffsetDelta >= 0 &&
    count >= 0 &&
    count <= lastOffsetDelta + 1 &&
    view.getInt32(at + layout.PARTITION_LEADER_EPOCH) >= -1
  )
}

/** An entry of magic 0 or 1: the lengths of its key and value must add up to its own. */
function isPlausibleLegacy(view: DataView, at: number, batchLength: number): boolean {
  if (at + MIN_HEADER_LEGACY > view.byteLength) return false
  const attributes = view.getUint8(at + layout.MAGIC + 1)
  if (attributes > KNOWN_FLAGS_LEGACY || (attributes & 7) > MAX_CODEC_LEGACY) return false
  const keyLengthAt = layout.MAGIC + (view.getUint8(at + layout.MAGIC) === 0 ? 2 : 10)
  const end = layout.LOG_OVERHEAD + batchLength
  const valueLengthAt = afterBytes(view, at, keyLengthAt)
  if (valueLengthAt === 0 || valueLengthAt + 4 > end) return false
  return afterBytes(view, at, valueLengthAt) === end
}

/** Where bytes with their length before them end; 0 where the length is not at hand. */
function afterBytes(view: DataView, at: number, lengthAt: number): number {
  if (at + lengthAt + 4 > view.byteLength) return 0
  return lengthAt + 4 + Math.max(0, view.getInt32(at + lengthAt))
}

async function hasRightCrc(
  windows: Windows,
  core: Core,
  cursor: RecordSetCursor,
  start: number,
): Promise<boolean> {
  const crc = new BatchCrc(engineOf(core), cursor)
  const end = start + cursor.size
  for (let position = start; position < end; ) {
    const bytes = await windows.at(position)
    const piece = bytes.subarray(0, Math.min(bytes.length, end - position))
    crc.update(piece)
    position += piece.length
  }
  return crc.stored === crc.computed
}

function follows(view: DataView, at: number, { lowestOffset, highestOffset }: BatchSearch): boolean {
  const baseOffset = view.getBigInt64(at)
  const isNew = view.getUint8(at + layout.MAGIC) === layout.CURRENT_MAGIC
  const lastOffset = baseOffset + (isNew ? BigInt(view.getInt32(at + layout.LAST_OFFSET_DELTA)) : 0n)
  return (
    (lowestOffset === null || baseOffset >= lowestOffset) &&
    (highestOffset === null || lastOffset <= highestOffset)
  )
}
