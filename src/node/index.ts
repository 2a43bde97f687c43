/**
 * Segment files, partition directories and log directories, for Node.
 *
 * @module mirrorpid/node
 */

export type { IncompleteBatch } from '../log/batchStream.ts'
export {
  type AuditedPartition,
  type AuditPathsOptions,
  type AuditResult,
  auditPaths,
} from './audit/auditPaths.ts'
export type { CutBatch, DamagedBatch } from './audit/auditSegments.ts'
export type { AuditSource } from './audit/auditSources.ts'
export type { JobOptions, JobProgress, JobsOptions } from './jobs/job.ts'
export type { SegmentRewrite, SegmentVerification } from './jobs/segmentTasks.ts'
export { openPartitionDirectory, type PartitionDirectoryOptions } from './partition/partitionDirectory.ts'
export {
  type RecoveredProducer,
  type RecoverPartitionOptions,
  type RecoverPartitionReport,
  recoverPartition,
} from './partition/recoverPartition.ts'
export {
  type StopPartitionOptions,
  type StopPartitionReport,
  stopPartition,
} from './partition/stopPartition.ts'
export type { IdsThatMeet } from './rewrite/idsThatMeet.ts'
export { InternalTopicError } from './rewrite/internalTopics.ts'
export {
  type RewritePathsOptions,
  type RewriteResult,
  type RewriteTotals,
  rewritePaths,
} from './rewrite/rewritePaths.ts'
export { type RewriteSegmentOptions, rewriteSegmentFile } from './rewrite/rewriteSegmentFile.ts'
export type { CompanionRewrite } from './segments/companionFile.ts'
export { directoryStorage } from './storage/directoryStorage.ts'
export type { RecordsOptions } from './verify/recordsOptions.ts'
export {
  type VerifyPathsOptions,
  type VerifyResult,
  type VerifyTotals,
  verifyPaths,
} from './verify/verifyPaths.ts'
export { type VerifySegmentOptions, verifySegmentFile } from './verify/verifySegmentFile.ts'
