export type {
  BatchCounts,
  Core,
  CrcMode,
  Direction,
  RecordBuffer,
  RecordBytes,
  RewriteOptions,
  RewriteReport,
  Trailing,
  VerifyReport,
} from './core/core.ts'
export {
  isMirroredProducerId,
  legacyMapProducerId,
  mapProducerId,
  NO_PRODUCER_ID,
  unmapProducerId,
} from './core/producerId.ts'
export * from './errors.ts'
export { loadCore, loadCoreSync } from './wasm/load.ts'
