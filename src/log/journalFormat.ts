import type { Core, CrcMode, Direction, RewriteMode } from '../core/core.ts'
import { CHANGE_SIZE } from './headerChanges.ts'

/**
 * The journal of a rewrite in place: what it is about to change in the headers of one segment. Big-endian.
 *
 *     header   64 bytes: magic "MPIDJRNL", version u16, direction u8, crc mode u8, 4 zeros,
 *              the segment's size u64, its access and modification times as f64 (ms), number of changes u64,
 *              scope u8, 11 zeros, CRC-32C of the 60 bytes before u32
 *     blocks   number of changes u32, CRC-32C of the changes u32, the changes (24 bytes each, headerChanges.ts)
 *
 * A scope of 0 is a whole partition. The header is written last. Changes go up by position. The blocks fill the file to
 * its end.
 */
export interface JournalHeader extends JournalMode {
  segmentSize: number
  /** Milliseconds since 1970, which the rewritten segment keeps. */
  atimeMs: number
  mtimeMs: number
  changes: number
}

/** How the run goes about its segments. */
export interface JournalMode extends RewriteMode {
  scope: JournalScope
}

/** What the run is to rewrite: the whole partition, or this segment alone. */
export type JournalScope = 'partition' | 'segment'

export const JOURNAL_HEADER_SIZE = 64
export const BLOCK_HEADER_SIZE = 8
/** So that a reader knows how much room it needs, whatever a damaged file claims. */
export const MAX_BLOCK_CHANGES = 16384

const MAGIC = 0x4d5049444a524e4cn // MPIDJRNL
const VERSION = 1
const DIRECTIONS: readonly Direction[] = ['map', 'unmap']
const CRC_MODES: readonly CrcMode[] = ['patch', 'verify', 'recompute']
const SCOPES: readonly JournalScope[] = ['partition', 'segment']
const HEADER_CRC = 60

export function encodeJournalHeader(header: JournalHeader, core: Core): Uint8Array {
  const bytes = new Uint8Array(JOURNAL_HEADER_SIZE)
  const view = new DataView(bytes.buffer)
  view.setBigUint64(0, MAGIC)
  view.setUint16(8, VERSION)
  view.setUint8(10, DIRECTIONS.indexOf(header.direction))
  view.setUint8(11, CRC_MODES.indexOf(header.crc))
  view.setBigUint64(16, BigInt(header.segmentSize))
  view.setFloat64(24, header.atimeMs)
  view.setFloat64(32, header.mtimeMs)
  view.setBigUint64(40, BigInt(header.changes))
  view.setUint8(48, SCOPES.indexOf(header.scope))
  view.setUint32(HEADER_CRC, core.crc32c(bytes.subarray(0, HEADER_CRC)))
  return bytes
}

/** The header, or what is wrong with it. */
export function decodeJournalHeader(bytes: Uint8Array, core: Core): JournalHeader | string {
  if (bytes.length < JOURNAL_HEADER_SIZE) return `it ends within its header, after ${bytes.length} bytes`
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (view.getBigUint64(0) !== MAGIC) return 'it does not begin as a journal does'
  if (view.getUint32(HEADER_CRC) !== core.crc32c(bytes.subarray(0, HEADER_CRC))) {
    return 'the CRC of its header is wrong'
  }
  const direction = DIRECTIONS[view.getUint8(10)]
  const crc = CRC_MODES[view.getUint8(11)]
  const scope = SCOPES[view.getUint8(48)]
  const [segmentSize, changes] = [Number(view.getBigUint64(16)), Number(view.getBigUint64(40))]
  const [atimeMs, mtimeMs] = [view.getFloat64(24), view.getFloat64(32)]
  if (
    view.getUint16(8) !== VERSION ||
    direction === undefined ||
    crc === undefined ||
    scope === undefined ||
    ![segmentSize, changes].every(Number.isSafeInteger) ||
    !Number.isFinite(atimeMs + mtimeMs)
  ) {
    return 'it was made by another version'
  }
  return { crc, direction, scope, segmentSize, atimeMs, mtimeMs, changes }
}

/** The header of a block, to be written before its changes. */
export function encodeBlockHeader(changes: Uint8Array, core: Core): Uint8Array {
  const bytes = new Uint8Array(BLOCK_HEADER_SIZE)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, changes.length / CHANGE_SIZE)
  view.setUint32(4, core.crc32c(changes))
  return bytes
}
