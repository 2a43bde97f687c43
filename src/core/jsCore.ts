import { bytesOf } from '../bytes/view.ts'
import { MirrorPidError } from '../errors.ts'
import { checkByteLength, checkInitialCrc, rewriteModeOf } from './arguments.ts'
import type { Core, RecordBuffer } from './core.ts'
import { type CoreWithEngine, CRC_ENGINE, type CrcEngine } from './crcEngine.ts'
import { jsCrcEngine } from './jsCrc.ts'
import { rewriteRecords } from './rewriteRecords.ts'
import { verifyRecords } from './verifyRecords.ts'

/**
 * The core in plain TypeScript: the same calls, reports and errors as the wasm one, without WebAssembly. For pages
 * whose Content-Security-Policy forbids it, and the reference that tests and benchmarks compare with.
 *
 * @example
 * const core = jsCore()
 * core.rewrite(records).rewritten
 */
export function jsCore(): Core {
  return createCore('js', jsCrcEngine(), (byteLength) => {
    let bytes: Uint8Array<ArrayBuffer> | null = newRegion(byteLength)
    return recordBuffer(
      () => bytes,
      () => {
        bytes = null
      },
    )
  })
}

/** A Core over the TypeScript walk with a backend's CRC engine and allocator. */
export function createCore(
  backend: Core['backend'],
  engine: CrcEngine,
  allocate: (byteLength: number) => RecordBuffer,
): CoreWithEngine {
  return {
    [CRC_ENGINE]: engine,
    backend,
    features: { simd: false },
    crc32c(bytes, initial = 0) {
      const plain = bytesOf(bytes, 'bytes')
      return engine.crc32c(plain, 0, plain.length, checkInitialCrc(initial))
    },
    rewrite(records, options) {
      const { crc, direction } = rewriteModeOf(options)
      return rewriteRecords(bytesOf(records, 'records'), crc, direction, engine)
    },
    verify: (records) => verifyRecords(bytesOf(records, 'records'), engine),
    allocate: (byteLength) => allocate(checkByteLength(byteLength)),
  }
}

/** A RecordBuffer over a region that `current` gives (null once freed). */
export function recordBuffer(current: () => Uint8Array<ArrayBuffer> | null, free: () => void): RecordBuffer {
  return {
    get bytes() {
      const bytes = current()
      if (bytes === null)
        throw new MirrorPidError('BUFFER_FREED', 'this region was given back by free(); allocate anew')
      return bytes
    },
    free,
  }
}

function newRegion(byteLength: number): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(byteLength)
  } catch (cause) {
    throw outOfMemory(byteLength, cause)
  }
}

export function outOfMemory(byteLength: number, cause: unknown): MirrorPidError {
  return new MirrorPidError(
    'OUT_OF_MEMORY',
    `no region of ${byteLength} bytes can be had: free() regions that are done with, or work in smaller pieces`,
    { cause },
  )
}
