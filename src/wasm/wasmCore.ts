import { bytesOf, requireBytes } from '../bytes/view.ts'
import { checkInitialCrc, rewriteModeOf } from '../core/arguments.ts'
import type {
  Core,
  CrcMode,
  Direction,
  RecordBuffer,
  RecordBytes,
  RewriteReport,
  VerifyReport,
} from '../core/core.ts'
import type { CrcEngine } from '../core/crcEngine.ts'
import { createCore, outOfMemory, recordBuffer } from '../core/jsCore.ts'
import { rewriteRecords } from '../core/rewriteRecords.ts'
import * as status from '../core/status.ts'
import type { CorruptBatchFacts } from '../errors.ts'
import type { CoreExports } from './exports.ts'
import { CoreMemory } from './memory.ts'
import { CRC_MODE, countsOf, DIRECTION, errorOf, faultOf } from './report.ts'
import { rewriteVerifiedOutside, verifyOutside } from './windows.ts'

/**
 * Binds an instance. Bytes that lie in its memory are handled there; for a caller's own memory the TypeScript walk
 * touches the headers where they are, and only bytes that a CRC must read are copied in, through the scratch region.
 */
export function bindCore(wasm: CoreExports): Core {
  const memory = new CoreMemory(wasm)
  const engine = wasmCrcEngine(wasm, memory)
  const walk = { wasm, memory, engine }
  const outside = createCore('wasm', engine, (byteLength) => allocateRegion(wasm, memory, byteLength))
  return {
    ...outside,
    features: { simd: wasm.simd.value === 1 },
    crc32c(bytes, initial = 0) {
      if (!memory.holds(bytes)) return outside.crc32c(bytes, initial)
      requireBytes(bytes, 'bytes')
      return wasm.crc32c(bytes.byteOffset, bytes.byteLength, checkInitialCrc(initial)) >>> 0
    },
    rewrite(records, options) {
      const { crc, direction } = rewriteModeOf(options)
      if (memory.holds(records)) return rewriteInside(wasm, memory, records, crc, direction)
      if (crc !== 'verify') return rewriteRecords(bytesOf(records, 'records'), crc, direction, engine)
      return rewriteVerifiedOutside(walk, bytesOf(records, 'records'), direction)
    },
    verify(records) {
      if (memory.holds(records)) return verifyInside(wasm, memory, records)
      return verifyOutside(walk, bytesOf(records, 'records'))
    },
  }
}

function rewriteInside(
  wasm: CoreExports,
  memory: CoreMemory,
  records: RecordBytes,
  crc: CrcMode,
  direction: Direction,
): RewriteReport {
  requireBytes(records, 'records')
  const { byteOffset, byteLength } = records
  const result = wasm.rewrite(byteOffset, byteLength, CRC_MODE[crc], DIRECTION[direction])
  if (result === status.STATUS_OK) return countsOf(memory.report)
  throw errorOf(memory.report, result, viewOf(records), 0)
}

function verifyInside(wasm: CoreExports, memory: CoreMemory, records: RecordBytes): VerifyReport {
  requireBytes(records, 'records')
  const { byteOffset, byteLength } = records
  const corrupt: CorruptBatchFacts[] = []
  let result = wasm.verify(byteOffset, byteLength, 0)
  while (result === status.STATUS_BAD_CRC) {
    corrupt.push(faultOf(memory.report, result, viewOf(records), 0))
    result = wasm.verify(byteOffset, byteLength, wasm.verifyNext.value)
  }
  if (result !== status.STATUS_OK) corrupt.push(faultOf(memory.report, result, viewOf(records), 0))
  return { ...countsOf(memory.report), corrupt }
}

function viewOf({ buffer, byteOffset, byteLength }: RecordBytes): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}

function wasmCrcEngine(wasm: CoreExports, memory: CoreMemory): CrcEngine {
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
    const { scratch } = memory
    let state = initial
    for (let at = start; at < end; at += scratchSize) {
      const length = Math.min(scratchSize, end - at)
      scratch.set(length === bytes.length ? bytes : bytes.subarray(at, at + length))
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

function allocateRegion(wasm: CoreExports, memory: CoreMemory, byteLength: number): RecordBuffer {
  let region: number | null
  try {
    region = wasm.allocate(byteLength) >>> 0
  } catch (cause) {
    // the allocator stops before it has changed anything when the memory cannot grow
    throw outOfMemory(byteLength, cause)
  }
  let bytes = new Uint8Array(memory.buffer, region, byteLength)
  return recordBuffer(
    () => {
      if (region === null) return null
      if (bytes.buffer !== memory.buffer) bytes = new Uint8Array(memory.buffer, region, byteLength)
      return bytes
    },
    () => {
      if (region !== null) wasm.free(region)
      region = null
    },
  )
}
