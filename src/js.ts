/**
 * The core without WebAssembly.
 *
 * @module mirrorpid/js
 */

export * from './core/exports.ts'
export { jsCore } from './core/jsCore.ts'
