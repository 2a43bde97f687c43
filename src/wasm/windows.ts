import { checkCrc, classify, finish, newCounts } from '../core/batchChecks.ts'
import type { Direction, RewriteReport, VerifyReport } from '../core/core.ts'
import type { CrcEngine } from '../core/crcEngine.ts'
import { RecordSetCursor } from '../core/recordSetCursor.ts'
import { checkBatch, writeRecords } from '../core/rewriteRecords.ts'
import { FRAME_BATCH, STATUS_BAD_CRC, STATUS_UNMAPPABLE } from '../core/status.ts'
import { CorruptBatchError } from '../errors.ts'
import type { CoreExports } from './exports.ts'
import type { CoreMemory } from './memory.ts'
import { CRC_MODE, DIRECTION, errorOf, faultOf, type Report } from './report.ts'

/**
 * Record sets in a caller's own memory of which every byte must be read. They are copied to where the core can read them
 * a window of batches at a time, because a call for each costs more than the CRC of a small batch. What stands at the
 * start of a window is framed from the caller's bytes, so a batch that a window cuts, and what follows the last batch,
 * is judged from all of them.
 */
export interface OutsideWalk {
  wasm: CoreExports
  memory: CoreMemory
  engine: CrcEngine
}

/** Of a window. A larger batch is read by itself in pieces: one that a window cuts is copied twice. */
const LARGEST_SHARE = 4

/** As `verifyRecords`. */
export function verifyOutside(walk: OutsideWalk, bytes: Uint8Array): VerifyReport {
  const { wasm, memory, engine } = walk
  const report: VerifyReport = { ...newCounts(), corrupt: [] }
  const cursor = new RecordSetCursor(bytes)
  let kind = cursor.frame()
  for (; kind === FRAME_BATCH; kind = cursor.frame()) {
    const from = cursor.position
    if (isLarge(walk, cursor)) {
      classify(cursor, report, 'map')
      const corrupt = checkCrc(cursor, engine)
      if (corrupt !== null) report.corrupt.push(corrupt)
      cursor.advance()
      continue
    }
    const length = copyWindow(walk, cursor)
    const start = wasm.scratch.value
    let result = wasm.verify(start, length, 0)
    for (; result === STATUS_BAD_CRC; result = wasm.verify(start, length, wasm.verifyNext.value)) {
      report.corrupt.push(faultOf(memory.report, result, cursor.view, from))
    }
    take(report, cursor, memory.report)
  }
  const unreadable = finish(cursor, report, kind)
  if (unreadable !== null) report.corrupt.push(unreadable)
  return report
}

/** As `rewriteRecords` with `crc: 'verify'`. */
export function rewriteVerifiedOutside(
  walk: OutsideWalk,
  bytes: Uint8Array,
  direction: Direction,
): RewriteReport {
  const { wasm, memory, engine } = walk
  const report = newCounts()
  const cursor = new RecordSetCursor(bytes)
  let kind = cursor.frame()
  for (; kind === FRAME_BATCH; kind = cursor.frame()) {
    if (isLarge(walk, cursor)) {
      checkBatch(cursor, report, 'verify', direction, engine)
      cursor.advance()
      continue
    }
    const length = copyWindow(walk, cursor)
    const result = wasm.check(wasm.scratch.value, length, CRC_MODE.verify, DIRECTION[direction])
    if (result === STATUS_BAD_CRC || result === STATUS_UNMAPPABLE) {
      throw errorOf(memory.report, result, cursor.view, cursor.position)
    }
    take(report, cursor, memory.report)
  }
  const unreadable = finish(cursor, report, kind)
  if (unreadable !== null) throw new CorruptBatchError(unreadable)
  if (report.rewritten > 0) writeRecords(new RecordSetCursor(bytes), 'verify', direction, engine)
  return report
}

function isLarge({ memory }: OutsideWalk, cursor: RecordSetCursor): boolean {
  return cursor.size > memory.scratch.length / LARGEST_SHARE
}

function copyWindow({ memory }: OutsideWalk, { bytes, position }: RecordSetCursor): number {
  const window = bytes.subarray(position, position + memory.scratch.length)
  memory.scratch.set(window)
  return window.length
}

/** Adds what a window came to, and goes behind its whole batches: one at least, the batch that the cursor had framed. */
function take(counts: RewriteReport, cursor: RecordSetCursor, window: Report): void {
  counts.batches += window.batches
  counts.rewritten += window.rewritten
  counts.alreadyMapped += window.alreadyMapped
  counts.withoutProducer += window.withoutProducer
  counts.control += window.control
  counts.legacy += window.legacy
  cursor.position += window.validBytes
}
