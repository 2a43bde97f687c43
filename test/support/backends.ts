import { readFileSync } from 'node:fs'
import type { Core, MirrorPidError, RecordBytes } from '../../src/index.ts'
import { loadCoreSync } from '../../src/index.ts'
import { jsCore } from '../../src/js.ts'

/** What a call gave, and the bytes as they were afterwards. */
export interface Outcome<T> {
  result: T | undefined
  error: MirrorPidError | undefined
  after: Buffer
}

/** One way to hand bytes to a core: the same suite runs over each, so that no path stays untested. */
export interface Backend {
  name: string
  core: Core
  /** Runs `use` on a copy of the bytes, in the memory that this path is about. */
  run<T>(bytes: Uint8Array, use: (records: Uint8Array) => T): Outcome<T>
}

const GUARD = 0xaa

/** Puts the bytes between guards at an odd place; a changed guard fails the test, whichever it is. */
function guarded<T>(
  memory: Uint8Array,
  bytes: Uint8Array,
  use: (records: Uint8Array) => T,
  current: () => Uint8Array = () => memory,
): Outcome<T> {
  const start = 3
  const end = start + bytes.length
  memory.fill(GUARD)
  memory.set(bytes, start)
  const outcome: Outcome<T> = { result: undefined, error: undefined, after: Buffer.alloc(0) }
  try {
    outcome.result = use(memory.subarray(start, end))
  } catch (error) {
    outcome.error = error as MirrorPidError
  }
  const copy = Buffer.from(current())
  const isGuarded = [...copy.subarray(0, start), ...copy.subarray(end)].every((byte) => byte === GUARD)
  if (!isGuarded) throw new Error('a byte outside the view was written')
  outcome.after = copy.subarray(start, end)
  return outcome
}

function outside(name: string, core: Core, allocate: (byteLength: number) => Uint8Array): Backend {
  return { name, core, run: (bytes, use) => guarded(allocate(bytes.length + 16), bytes, use) }
}

function inside(name: string, core: Core): Backend {
  return {
    name,
    core,
    run(bytes, use) {
      const region = core.allocate(bytes.length + 16)
      try {
        return guarded(region.bytes, bytes, use, () => region.bytes)
      } finally {
        region.free()
      }
    },
  }
}

const js = jsCore()
const wasm = loadCoreSync()
const scalarFile = readFileSync(new URL('../../dist/core.scalar.wasm', import.meta.url))
const scalar = loadCoreSync(new WebAssembly.Module(scalarFile))

export const backends: readonly Backend[] = [
  outside('js on a Uint8Array', js, (byteLength) => new Uint8Array(byteLength)),
  outside('wasm on a pooled Buffer', wasm, (byteLength) => Buffer.allocUnsafe(byteLength)),
  outside('wasm on shared memory', wasm, (byteLength) => new Uint8Array(new SharedArrayBuffer(byteLength))),
  inside('wasm in its own memory', wasm),
  inside('wasm without SIMD, in its own memory', scalar),
]

/** The result of a call that must not throw. */
export function resultOf<T>(backend: Backend, bytes: Uint8Array, use: (records: RecordBytes) => T): T {
  const { result, error } = backend.run(bytes, use)
  if (error !== undefined) throw error
  return result as T
}

/** An outcome as plain data, to compare backends report for report and byte for byte. */
export function comparable(outcome: Outcome<unknown>): unknown {
  const { result, error, after } = outcome
  if (error !== undefined && typeof error.toJSON !== 'function') throw error
  return { result, error: error?.toJSON(), after: after.toString('hex') }
}
