import type { BatchCounts, CrcMode, Direction } from '../core/core.ts'
import { BASE_OFFSET, PRODUCER_ID } from '../core/layout.ts'
import * as status from '../core/status.ts'
import {
  CorruptBatchError,
  type CorruptBatchFacts,
  type MirrorPidError,
  UnmappableProducerIdError,
} from '../errors.ts'
import type { REPORT_FIELDS } from './exports.ts'

/** What a call of the wasm core was asked for and has found, in numbers and in words. */

export type Report = Record<(typeof REPORT_FIELDS)[number], number>

export const CRC_MODE: Record<CrcMode, number> = {
  patch: status.CRC_PATCH,
  verify: status.CRC_VERIFY,
  recompute: status.CRC_RECOMPUTE,
}

export const DIRECTION: Record<Direction, number> = {
  map: status.DIRECTION_MAP,
  unmap: status.DIRECTION_UNMAP,
}

export function countsOf(report: Report): BatchCounts {
  const { batches, rewritten, alreadyMapped, withoutProducer, control, legacy, validBytes } = report
  const { trailingKind, trailingBytes } = report
  const kind =
    trailingKind === status.FRAME_ZEROS
      ? 'zeros'
      : trailingKind === status.FRAME_INCOMPLETE
        ? 'incomplete'
        : 'none'
  const trailing: BatchCounts['trailing'] = { kind, bytes: trailingBytes }
  return { batches, rewritten, alreadyMapped, withoutProducer, control, legacy, validBytes, trailing }
}

/**
 * What is wrong, by the STATUS_ of a call.
 * @param view the record set
 * @param from where in it the call began
 */
export function faultOf(report: Report, result: number, view: DataView, from: number): CorruptBatchFacts {
  const position = from + report.faultPosition
  const baseOffset = view.getBigInt64(position + BASE_OFFSET)
  if (result !== status.STATUS_BAD_CRC) {
    const reason = result === status.STATUS_BAD_MAGIC ? 'magic' : 'size'
    return { position, baseOffset, reason, stored: null, computed: null }
  }
  return { position, baseOffset, reason: 'crc', stored: report.faultStored, computed: report.faultComputed }
}

/** The same as the error that a rewrite throws. */
export function errorOf(report: Report, result: number, view: DataView, from: number): MirrorPidError {
  const facts = faultOf(report, result, view, from)
  if (result !== status.STATUS_UNMAPPABLE) return new CorruptBatchError(facts)
  return new UnmappableProducerIdError(view.getBigInt64(facts.position + PRODUCER_ID), facts)
}
