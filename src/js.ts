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
export { jsCore } from './core/jsCore.ts'
export {
  isMirroredProducerId,
  legacyMapProducerId,
  mapProducerId,
  NO_PRODUCER_ID,
  unmapProducerId,
} from './core/producerId.ts'
export * from './errors.ts'
