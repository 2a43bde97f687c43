import type { Core } from '../core/core.ts'
import { engineOf } from '../core/crcEngine.ts'
import { InvalidArgumentError, WasmUnavailableError } from '../errors.ts'
import { SCALAR_CORE_BASE64, SIMD_CORE_BASE64 } from './embedded.ts'
import { ABI, type CoreExports, EXPORT_NAMES } from './exports.ts'
import { bindCore } from './wasmCore.ts'

declare global {
  // TypeScript knows it with the library of browsers only; our types are to be good without
  namespace WebAssembly {
    interface Module {}
  }
}

// One instance a thread: each reserves gigabytes of address space, and every call runs to its end before the next.
let embedded: Core | undefined
let loading: Promise<Core> | undefined
const given = new WeakMap<WebAssembly.Module, Core>()

function requireWasm(): void {
  if (typeof WebAssembly === 'undefined') {
    throw new WasmUnavailableError('this runtime has no WebAssembly (node --jitless has none)')
  }
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}

/** The build with SIMD where the engine takes it, else the one without. */
function embeddedBytes(): Uint8Array<ArrayBuffer> {
  const simd = fromBase64(SIMD_CORE_BASE64)
  return WebAssembly.validate(simd) ? simd : fromBase64(SCALAR_CORE_BASE64)
}

function requireModule(module: WebAssembly.Module): void {
  if (!(module instanceof WebAssembly.Module)) {
    throw new InvalidArgumentError(
      'module must be a WebAssembly.Module: compile mirrorpid/core.wasm yourself, or call without it for the embedded core',
    )
  }
  const names = new Set(WebAssembly.Module.exports(module).map((entry) => entry.name))
  const missing = EXPORT_NAMES.find((name) => !names.has(name))
  if (missing !== undefined) {
    throw new InvalidArgumentError(
      `module is not this version's mirrorpid/core.wasm: it has no export "${missing}"`,
    )
  }
}

function bind(instance: { exports: unknown }): Core {
  const wasm = instance.exports as CoreExports
  if (wasm.abi.value !== ABI) {
    throw new InvalidArgumentError(
      `module is another version's mirrorpid/core.wasm: interface ${wasm.abi.value}, expected ${ABI}`,
    )
  }
  return bindCore(wasm)
}

function unavailable(cause: unknown): WasmUnavailableError {
  const said = cause instanceof Error ? cause.message : String(cause)
  // engines reserve some 10 GB of address space for a memory, so that they need not check each access
  const reason = /memory/i.test(said)
    ? `there is no address space left for its memory, of which engines reserve gigabytes: raise its limit (ulimit -v) (${said})`
    : said
  return new WasmUnavailableError(reason, { cause })
}

/**
 * Loads the wasm core; the first call compiles it, later ones return the same core.
 *
 * @param module a compiled `mirrorpid/core.wasm` (or `core.scalar.wasm`, where the engine has no SIMD), for runtimes that
 *   forbid compiling from bytes, and for workers that get the module from their parent. Without it the embedded copy is
 *   compiled.
 * @throws WasmUnavailableError where WebAssembly is missing or forbidden; it names `mirrorpid/js`
 * @throws InvalidArgumentError for a module that is not this version's core
 * @example
 * const core = await loadCore()
 * core.backend // 'wasm'
 */
export async function loadCore(module?: WebAssembly.Module): Promise<Core> {
  requireWasm()
  if (module === undefined) {
    if (embedded !== undefined) return embedded
    loading ??= WebAssembly.instantiate(embeddedBytes()).then(
      // a loadCoreSync that ran meanwhile has won
      ({ instance }) => (embedded ??= bind(instance)),
      (cause) => {
        loading = undefined
        throw unavailable(cause)
      },
    )
    return loading
  }
  const known = knownCore(module)
  if (known !== undefined) return known
  const instance = await WebAssembly.instantiate(module).catch((cause) => {
    throw unavailable(cause)
  })
  return remember(module, instance)
}

/**
 * The same without waiting, where the platform compiles synchronously: Node, workers, and pages in current browsers.
 *
 * @param module as for `loadCore`
 * @throws WasmUnavailableError where WebAssembly is missing or forbidden; it names `mirrorpid/js`
 * @throws InvalidArgumentError for a module that is not this version's core
 * @example
 * const core = loadCoreSync()
 * core.backend // 'wasm'
 */
export function loadCoreSync(module?: WebAssembly.Module): Core {
  requireWasm()
  if (module !== undefined) return knownCore(module) ?? remember(module, start(module))
  embedded ??= bind(start(embeddedBytes()))
  return embedded
}

/**
 * The core of a call: the one that it was given, or the embedded one, loaded when it is first needed.
 *
 * @throws WasmUnavailableError; InvalidArgumentError for what is no core
 */
export function coreOf(core: Core | undefined): Core {
  if (core === undefined) return loadCoreSync()
  engineOf(core)
  return core
}

/** The embedded core, compiled: to be given to other threads, each of which loads a core of its own from it. */
export function compileEmbedded(): WebAssembly.Module {
  requireWasm()
  try {
    return new WebAssembly.Module(embeddedBytes())
  } catch (cause) {
    throw unavailable(cause)
  }
}

function start(source: WebAssembly.Module | Uint8Array<ArrayBuffer>): { exports: unknown } {
  try {
    return new WebAssembly.Instance(
      source instanceof WebAssembly.Module ? source : new WebAssembly.Module(source),
    )
  } catch (cause) {
    throw unavailable(cause)
  }
}

function knownCore(module: WebAssembly.Module): Core | undefined {
  requireModule(module)
  return given.get(module)
}

function remember(module: WebAssembly.Module, instance: { exports: unknown }): Core {
  const core = given.get(module) ?? bind(instance)
  given.set(module, core)
  return core
}
