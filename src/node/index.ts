/**
 * Segment files, partition directories and log directories, for Node.
 *
 * @module mirrorpid/node
 */

export type { IncompleteBatch } from '../log/batchStream.ts'
export { type AuditedPartition, type AuditPathsOptions, type AuditResult, auditPaths } from './auditPaths.ts'
export type { CutBatch, DamagedBatch } from './auditSegments.ts'
export type { AuditSource } from './auditSources.ts'
export type { CompanionRewrite } from './companionFile.ts'
export { directoryStorage } from './directoryStorage.ts'
export type { JobOptions, JobProgress, JobsOptions } from './job.ts'
export { openPartitionDirectory, type PartitionDirectoryOptions } from './partitionDirectory.ts'
export {
  type RecoveredProducer,
  type RecoverPartitionOptions,
  type RecoverPartitionReport,
  recoverPartition,
} from './recoverPartition.ts'
export {
  type RewritePathsOptions,
  type RewriteResult,
  type RewriteTotals,
  rewritePaths,
} from './rewritePaths.ts'
export { type RewriteSegmentOptions, rewriteSegmentFile, verifySegmentFile } from './segmentFile.ts'
export type { SegmentRewrite, SegmentVerification } from './segmentPasses.ts'
export { type StopPartitionOptions, type StopPartitionReport, stopPartition } from './stopPartition.ts'
export { type VerifyResult, type VerifyTotals, verifyPaths } from './verifyPaths.ts'
