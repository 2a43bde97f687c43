/**
 * All that works on bytes, for Node, workers and pages.
 *
 * @module mirrorpid
 */

export * from './core/exports.ts'
export {
  type CodecName,
  type CodecOf,
  createCodecs,
  type Decompress,
  type DecompressLimits,
} from './formats/compression/codec.ts'
export {
  type AbortedTransaction,
  type ConsumerView,
  type ConsumerViewOptions,
  consumerView,
} from './formats/consumerView.ts'
export {
  type ControlRecord,
  type ControlRecordValue,
  decodeControlRecord,
  decodeControlRecords,
} from './formats/controlRecord.ts'
export { ControlRecordType } from './formats/controlRecordType.ts'
export { type DecodeOptions, decodeRecords } from './formats/decodeRecords.ts'
export { encodeRecordBatch, type RecordBatchSpec, type RecordSpec } from './formats/encodeRecordBatch.ts'
export { type EndTransactionMarkerSpec, encodeEndTransactionMarker } from './formats/endTransactionMarker.ts'
export type {
  KRaftVersionRecord,
  LeaderChangeMessage,
  SnapshotFooterRecord,
  SnapshotHeaderRecord,
  VotersRecord,
} from './formats/kraftRecords.ts'
export {
  decodeMirrorPidReset,
  encodeMirrorPidReset,
  type MirrorPidReset,
  type MirrorPidResetSpec,
} from './formats/mirrorPidReset.ts'
export type { KafkaRecord, RecordHeader } from './formats/record.ts'
export type { CompressionName, RecordBatch, TimestampType } from './formats/recordBatch.ts'
export { recordBatches } from './formats/recordBatches.ts'
export { decrementSequence, incrementSequence } from './formats/sequence.ts'
export type { TaggedField } from './formats/taggedFields.ts'
export type { CompanionOptions, CompanionReport } from './log/companion.ts'
export type { EpochEnd, EpochEntry } from './log/partition/leaderEpochs.ts'
export type { LogAppendOptions, LogAppendResult } from './log/partition/logAppend.ts'
export {
  CorruptCheckpointError,
  LogClosedError,
  OffsetOutOfRangeError,
  RecordTooLargeError,
  UnexpectedAppendOffsetError,
} from './log/partition/logErrors.ts'
export type {
  CheckedSegment,
  IndexOptions,
  PartitionLogOptions,
  RecoveryEvent,
} from './log/partition/logOptions.ts'
export type { LogOffsets, LogRead, LogReadOptions, ReadIsolation } from './log/partition/logRead.ts'
export { memoryStorage } from './log/partition/memoryStorage.ts'
export { overlayStorage } from './log/partition/overlayStorage.ts'
export { PartitionLog } from './log/partition/partitionLog.ts'
export type { Cut, RecoveryChanges } from './log/partition/recoveryChanges.ts'
export type { LogStorage, StoredFile } from './log/partition/storage.ts'
export { type MetProducerIds, ProducerIdsMeetError } from './log/producerIdsMeetError.ts'
export { rewriteProducerSnapshot, verifyProducerSnapshot } from './log/producerSnapshot.ts'
export { type RewriteStream, type RewriteStreamOptions, rewriteStream } from './log/rewriteStream.ts'
export {
  rewriteTransactionIndex,
  type TransactionIndexReport,
  verifyTransactionIndex,
} from './log/transactionIndex.ts'
export type { AuditOptions } from './mirroring/audit/auditOptions.ts'
export { auditProducers } from './mirroring/audit/auditProducers.ts'
export type {
  AuditBarrier,
  AuditFinding,
  AuditKind,
  AuditNote,
  AuditReport,
  AuditTotals,
  OpenTransaction,
} from './mirroring/audit/auditReport.ts'
export { ProducerAudit } from './mirroring/audit/producerAudit.ts'
export { type OverlapOptions, sourceOverlaps } from './mirroring/audit/sourceOverlaps.ts'
export { type OwnOverlap, SourceProducers, type SourceRange } from './mirroring/audit/sourceProducers.ts'
export { type Leader, SoleReplica } from './mirroring/leader.ts'
export {
  AppendRefusedError,
  CorruptMirrorStateError,
  InvalidTransitionError,
  SourceClusterMismatchError,
  type StopRefusal,
  StopRefusedError,
} from './mirroring/mirrorErrors.ts'
export {
  MirrorPartition,
  type MirrorPartitionOptions,
  type PrepareRequest,
  type StopRequest,
} from './mirroring/mirrorPartition.ts'
export type { MirrorState, MirrorStateName, OpenTransactionsMode } from './mirroring/mirrorState.ts'
export { type MirrorStateStore, memoryStateStore, mirrorStateFile } from './mirroring/mirrorStateFile.ts'
export type { Replica } from './mirroring/replica.ts'
export { ReplicaSet } from './mirroring/replicaSet.ts'
export { isAligned, sharedEndOffset } from './mirroring/sharedLog.ts'
export {
  type SettledTransaction,
  type StopLogReport,
  type StopLogRequest,
  stopLog,
} from './mirroring/stopLog.ts'
export type { AppendOrigin } from './producers/appendOrigin.ts'
export type { AppendOptions, AppendResult, Barrier, DuplicateBatch } from './producers/appendResult.ts'
export type { BarrierRule, ProducerStateManagerOptions, ProducerWarning } from './producers/managerOptions.ts'
export type { ProducerState, ProducerStateRow } from './producers/plainState.ts'
export {
  InvalidProducerEpochError,
  InvalidTxnStateError,
  OutOfOrderSequenceError,
  type RefusedBatch,
  TransactionCoordinatorFencedError,
} from './producers/producerErrors.ts'
export type { BatchMetadata, ProducerStateEntry } from './producers/producerStateEntry.ts'
export {
  type OngoingTransaction,
  ProducerStateManager,
  type SnapshotOptions,
} from './producers/producerStateManager.ts'
export type { AbortedTransactionEntry } from './producers/transactions.ts'
export { loadCore, loadCoreSync } from './wasm/load.ts'
