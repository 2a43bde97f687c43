import { bytesOf } from '../bytes/view.ts'
import { checkInitialCrc, checkRewriteOptions } from '../core/arguments.ts'
import type { BatchCounts, Core, CrcMode, Direction, RecordBuffer, VerifyReport } from '../core/core.ts'
import type { CrcEngine } from '../core/crcEngine.ts'
import { createCore, outOfMemory, recordBuffer } from '../core/jsCore.ts'
import { BASE_OFFSET, PRODUCER_ID } from '../core/layout.ts'
import * as status from '../core/status.ts'
import { CorruptBatchError, type CorruptBatchFacts, UnmappableProducerIdError } from '../errors.ts'
import { type CoreExports, REPORT_FIELDS } from './exports.ts'

const CRC_MODE: Record<CrcMode, number> = {
  patch: status.CRC_PATCH,
  verify: status.CRC_VERIFY,
  recompute: status.CRC_RECOMPUTE,
}
const DIRECTION: Record<Direction, number> = { map: status.DIRECTION_MAP, unmap: status.DIRECTION_UNMAP }

/**
 * Binds an instance. Bytes that lie in its memory are handled there; for a caller's own memory the TypeScript walk
 * touches the headers where they are, and only bytes that a CRC must read are copied in, through the scratch region.
 */
export function bindCore(wasm: CoreExports): Core {
  const outside = createCore('wasm', wasmCrcEngine(wasm), (byteLength) => allocateRegion(wasm, byteLength))
  return {
    ...outside,
    features: { simd: wasm.simd.value === 1 },
    crc32c(bytes, initial = 0) {
      if (!isInside(wasm, bytes)) return outside.crc32c(bytes, initial)
      const { byteOffset, byteLength } = bytesOf(bytes, 'bytes')
      return wasm.crc32c(byteOffset, byteLength, checkInitialCrc(initial)) >>> 0
    },
    rewrite(records, options = {}) {
      if (!isInside(wasm, records)) return outside.rewrite(records, options)
      return rewriteInside(wasm, bytesOf(records, 'records'), options)
    },
    verify(records) {
      if (!isInside(wasm, records)) return outside.verify(records)
      return verifyInside(wasm, bytesOf(records, 'records'))
    },
  }
}

/** Whether a view lies in the core's memory. The last byte of a 4 GiB memory is left out: its end is no 32-bit number. */
function isInside(wasm: CoreExports, records: Uint8Array | DataView): boolean {
  return (
    records?.buffer === wasm.memory.buffer &&
    records.byteLength > 0 &&
    records.byteOffset + records.byteLength <= 0xffffffff
  )
}

function rewriteInside(
  wasm: CoreExports,
  bytes: Uint8Array,
  options: Parameters<Core['rewrite']>[1] & object,
) {
  const { crc, direction } = checkRewriteOptions(options)
  const result = wasm.rewrite(bytes.byteOffset, bytes.byteLength, CRC_MODE[crc], DIRECTION[direction])
  if (result === status.STATUS_OK) return countsOf(readReport(wasm))
  const facts = faultOf(wasm, bytes, result)
  if (result !== status.STATUS_UNMAPPABLE) throw new CorruptBatchError(facts)
  throw new UnmappableProducerIdError(viewOf(bytes).getBigInt64(facts.position + PRODUCER_ID), facts)
}

function verifyInside(wasm: CoreExports, bytes: Uint8Array): VerifyReport {
  const corrupt: CorruptBatchFacts[] = []
  let result = wasm.verify(bytes.byteOffset, bytes.byteLength, 0)
  while (result === status.STATUS_BAD_CRC) {
    corrupt.push(faultOf(wasm, bytes, result))
    result = wasm.verify(bytes.byteOffset, bytes.byteLength, wasm.verifyNext.value)
  }
  if (result !== status.STATUS_OK) corrupt.push(faultOf(wasm, bytes, result))
  return { ...countsOf(readReport(wasm)), corrupt }
}

type Report = Record<(typeof REPORT_FIELDS)[number], number>

function readReport(wasm: CoreExports): Report {
  const fields = new Uint32Array(wasm.memory.buffer, wasm.report.value, REPORT_FIELDS.length)
  return Object.fromEntries(REPORT_FIELDS.map((name, index) => [name, fields[index]])) as Report
}

function countsOf(report: Report): BatchCounts {
  const { trailingKind, trailingBytes, faultPosition, faultStored, faultComputed, ...counts } = report
  const kind =
    trailingKind === status.FRAME_ZEROS
      ? 'zeros'
      : trailingKind === status.FRAME_INCOMPLETE
        ? 'incomplete'
        : 'none'
  return { ...counts, trailing: { kind, bytes: trailingBytes } }
}

function faultOf(wasm: CoreExports, bytes: Uint8Array, result: number): CorruptBatchFacts {
  const { faultPosition: position, faultStored, faultComputed } = readReport(wasm)
  const baseOffset = viewOf(bytes).getBigInt64(position + BASE_OFFSET)
  if (result !== status.STATUS_BAD_CRC) {
    const reason = result === status.STATUS_BAD_MAGIC ? 'magic' : 'size'
    return { position, baseOffset, reason, stored: null, computed: null }
  }
  return { position, baseOffset, reason: 'crc', stored: faultStored, computed: faultComputed }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function wasmCrcEngine(wasm: CoreExports): CrcEngine {
  const scratchAt = wasm.scratch.value
  const scratchSize = wasm.SCRATCH_SIZE.value

  /** Runs a CRC over bytes from outside, a piece that stays in cache at a time. */
  function inPieces(
    crc: CoreExports['crc32c'],
    bytes: Uint8Array,
    start: number,
    end: number,
    initial: number,
  ): number {
    const scratch = new Uint8Array(wasm.memory.buffer, scratchAt, scratchSize)
    let state = initial
    for (let at = start; at < end; at += scratchSize) {
      const length = Math.min(scratchSize, end - at)
      scratch.set(bytes.subarray(at, at + length))
      state = crc(scratchAt, length, state)
    }
    return state >>> 0
  }

  return {
    crc32c: (bytes, start, end, initial) => inPieces(wasm.crc32c, bytes, start, end, initial),
    crc32: (bytes, start, end, initial) => inPieces(wasm.crc32, bytes, start, end, initial),
    patchCrc: (crc, deltaHigh, deltaLow, tail) => wasm.patchCrc(crc, deltaHigh, deltaLow, tail) >>> 0,
  }
}

function allocateRegion(wasm: CoreExports, byteLength: number): RecordBuffer {
  let region: number | null
  try {
    region = wasm.allocate(byteLength) >>> 0
  } catch (cause) {
    // the allocator stops before it has changed anything when the memory cannot grow
    throw outOfMemory(byteLength, cause)
  }
  let bytes = new Uint8Array(wasm.memory.buffer, region, byteLength)
  return recordBuffer(
    () => {
      if (region === null) return null
      if (bytes.buffer !== wasm.memory.buffer) bytes = new Uint8Array(wasm.memory.buffer, region, byteLength)
      return bytes
    },
    () => {
      if (region !== null) wasm.free(region)
      region = null
    },
  )
}
