import type { Core } from '../core/core.ts'
import { jsCore } from '../core/jsCore.ts'
import { WasmUnavailableError } from '../errors.ts'
import { loadCoreSync } from '../wasm/load.ts'
import { writeWarning } from './output.ts'

/**
 * The core that a command gives to what it runs: none where the default can be loaded. Where that cannot be, the plain one,
 * and the command says so: nobody is to wonder why it is slow.
 */
export function commandCore(): { core?: Core } {
  try {
    loadCoreSync()
    return {}
  } catch (error) {
    if (!(error instanceof WasmUnavailableError)) throw error
    writeWarning(
      `no WebAssembly core: ${error.reason}. It goes on with the plain TypeScript core, which does the same and is slower.`,
    )
    return { core: jsCore() }
  }
}
