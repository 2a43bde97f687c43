export * from './core/exports.ts'
export { jsCore } from './core/jsCore.ts'
