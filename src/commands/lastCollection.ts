import v8 from 'node:v8'
import vm from 'node:vm'

/**
 * Collects the garbage, as the last thing that the program does: 5 to 15 ms.
 *
 * Node waits for compilers in the background when it ends, and one of them that finds the heap full waits for the main
 * thread to collect: then the process never ends (nodejs/node#54918, open in 2026; 20 of 100 runs where compilers are
 * slowed down). Whoever waits is served by this collection, and behind it the heap has room for what they still do.
 */
export function collectGarbage(): void {
  v8.setFlagsFromString('--expose-gc')
  // Bun has none
  const gc: unknown = vm.runInNewContext('globalThis.gc')
  if (typeof gc === 'function') gc()
}
