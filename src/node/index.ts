export type { IncompleteBatch } from '../log/batchStream.ts'
export type { CompanionRewrite } from './companionFile.ts'
export { directoryStorage } from './directoryStorage.ts'
export type { JobOptions, JobProgress } from './job.ts'
export { openPartitionDirectory, type PartitionDirectoryOptions } from './partitionDirectory.ts'
export {
  type RewritePathsOptions,
  type RewriteResult,
  type RewriteTotals,
  rewritePaths,
} from './rewritePaths.ts'
export { type RewriteSegmentOptions, rewriteSegmentFile, verifySegmentFile } from './segmentFile.ts'
export type { SegmentRewrite, SegmentVerification } from './segmentPasses.ts'
export { type VerifyResult, type VerifyTotals, verifyPaths } from './verifyPaths.ts'
