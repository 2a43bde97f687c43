/**
 * The oldest Node that is supported, the oldest of the next line in which `require()` takes an ES module, and a new one.
 * The tests themselves run on whatever Node runs them.
 */
export const NODE_VERSIONS = ['20.19.0', '22.12.0', '24.9.0'] as const

/** The oldest TypeScript that knows `Uint8Array<ArrayBuffer>`. */
export const OLDEST_TYPESCRIPT = '5.7.3'

/** A test runner that loads modules itself, and so trips over what others take. */
export const JEST = '30.5.2'

/** Other runtimes, whose binaries npm has too. */
export const RUNTIMES = { bun: '1.4.5', deno: '2.9.6' } as const
