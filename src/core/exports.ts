/** What both entries, `mirrorpid` and `mirrorpid/js`, hold: ids, errors and the types of a core. */

export * from '../errors.ts'
export type {
  BatchCounts,
  Core,
  CrcMode,
  Direction,
  RecordBuffer,
  RecordBytes,
  RewriteMode,
  RewriteOptions,
  RewriteReport,
  Trailing,
  VerifyReport,
} from './core.ts'
export {
  isMirroredProducerId,
  legacyMapProducerId,
  mapProducerId,
  NO_PRODUCER_ID,
  unmapProducerId,
} from './producerId.ts'
