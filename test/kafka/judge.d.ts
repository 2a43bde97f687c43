/** Counts over one segment, made with Kafka's own classes. Offsets and producer ids are decimal strings. */
export interface SegmentFacts {
  batches: number
  validBatches: number
  records: number
  /** Where the last whole batch ends. */
  validBytes: number
  /** '-1' when there is no batch. */
  firstOffset: string
  lastOffset: string
  /** Distinct, ascending; holds '-1' when there are batches without a producer. */
  producerIds: string[]
  controlBatches: number
  transactionalBatches: number
  emptyBatches: number
  deleteHorizonBatches: number
  gapsBetweenBatches: number
  gapsInsideBatches: number
  /** Batches for each codec: none, gzip, snappy, lz4, zstd. */
  codecs: Record<string, number>
  /** Records for each control record type: ABORT, COMMIT, LEADER_CHANGE, ..., UNKNOWN. */
  controlTypes: Record<string, number>
}

/** A batch as Kafka's FileRecords reads it. After an `error` only the fields before it are there. */
export interface JudgedBatch {
  position: number
  sizeInBytes: number
  magic: number
  isValid: boolean
  /** The stored CRC, unsigned. */
  checksum: number
  baseOffset: string
  lastOffset: string
  /** Null for magic 0 and 1. */
  count: number | null
  partitionLeaderEpoch: number
  producerId: string
  producerEpoch: number
  baseSequence: number
  lastSequence: number
  /** Kafka's test for a producer: false for every id below 0. */
  hasProducerId: boolean
  isTransactional: boolean
  isControl: boolean
  maxTimestamp: string
  timestampType: 'NoTimestampType' | 'CreateTime' | 'LogAppendTime'
  deleteHorizonMs: string | null
  compressionType: 'none' | 'gzip' | 'snappy' | 'lz4' | 'zstd'
  /** Of a control batch, the type of each record. */
  controlTypes: string[]
  /** Records that Kafka could read out of it. */
  records: number
  recordsError?: string
  error?: string
}

export interface JudgedLog {
  path: string
  kind: 'log' | 'checkpoint'
  bytes: number
  batches: JudgedBatch[]
  facts: SegmentFacts
  /** Why Kafka stopped reading; the batches before it stand. */
  error?: string
}

export interface JudgedSnapshotEntry {
  producerId: string
  producerEpoch: number
  coordinatorEpoch: number
  lastTimestamp: string
  currentTxnFirstOffset: string | null
  /** Oldest first; a snapshot keeps only the last. */
  batches: {
    firstSequence: number
    lastSequence: number
    firstOffset: string
    lastOffset: string
    timestamp: string
  }[]
}

export interface JudgedSnapshot {
  path: string
  kind: 'snapshot'
  entries: JudgedSnapshotEntry[]
  error?: string
}

export interface JudgedAbortedTxn {
  version: number
  producerId: string
  firstOffset: string
  lastOffset: string
  lastStableOffset: string
}

export interface JudgedTransactionIndex {
  path: string
  kind: 'txnindex'
  entries: JudgedAbortedTxn[]
  error?: string
}

export type JudgedFile = JudgedLog | JudgedSnapshot | JudgedTransactionIndex

/**
 * Reads files with Kafka's own classes, all in one JVM, and answers in the order of the paths. A directory stands for
 * all its `.log`, `.checkpoint`, `.snapshot` and `.txnindex` files. What Kafka cannot read is an `error` in the
 * result; rejects only when Java or the build fail.
 */
export function judge(paths: readonly string[]): Promise<JudgedFile[]>

export interface DumpResult {
  stdout: string
  stderr: string
  status: number
}

export interface DumpOptions {
  /** Where relative paths start; its own path is cut out of what the tool prints. */
  cwd?: string
}

/** Runs Kafka's own DumpLogSegments with these arguments, as kafka-dump-log.sh does. */
export function kafkaDump(args: readonly string[], options?: DumpOptions): Promise<DumpResult>

/** Many runs of it in one JVM: one list of arguments each. */
export function kafkaDumps(jobs: readonly (readonly string[])[], options?: DumpOptions): Promise<DumpResult[]>

/** What a broker knows of a partition after it has loaded it, with all of it replicated. */
export interface Replayed {
  path: string
  logStartOffset: string
  logEndOffset: string
  lastStableOffset: string
  /** Of all segments; less than before where recovery has cut something off. */
  bytes: number
  /** Ascending by id. After a crash with up to five batches each, else with one. */
  producers: JudgedSnapshotEntry[]
  abortedTransactions: JudgedAbortedTxn[]
  /** Why a broker would not start; nothing but `path` is there then. */
  error?: string
}

/**
 * Opens copies of partition directories with Kafka's own log loading. After a `'crash'` (the default) the state comes
 * from the segments alone: snapshots are dropped, indexes rebuilt. After a `'clean'` shutdown it comes from the
 * snapshots and what the log holds beyond them. No producer expires.
 */
export function replay(
  directories: readonly string[],
  options?: { after?: 'crash' | 'clean' },
): Promise<Replayed[]>

/** An append (`records` in base64), a move of the high watermark, or a check for expired producers. */
export type OracleStep =
  | { origin: string; version: number; records: string }
  | { highWatermark: number }
  | { expire: number }

export interface OracleSequence {
  /** `log`: Kafka's own log. `direct`: its producer state alone, with `!= -1` as the test for a producer. */
  mode: 'log' | 'direct'
  /** Whether clients are those of transaction version 2, whose unknown producers must start at sequence 0. */
  zero: boolean
  expirationMs: number
  steps: OracleStep[]
}

export interface OracleAnswer {
  /** One a step: `ok`, `duplicate` with first offset, last offset and timestamp of the earlier append, or the class of
   * what was thrown; then the first unstable offset, or null. */
  results: (string | null)[][]
  mapEndOffset: string
  producers: JudgedSnapshotEntry[]
  aborted: JudgedAbortedTxn[]
  /** Hexadecimal. */
  snapshot: string
}

/** What Kafka's own producer state answers to sequences of appends, all in one JVM. */
export function stateOracle(sequences: readonly OracleSequence[]): Promise<OracleAnswer[]>

export interface LogOracleSequence {
  /** Names and values of a topic's settings. */
  settings: Record<string, string | number>
  /** Those of test/log/logRun.ts. */
  steps: readonly object[]
  /** What the directory holds before the first step, an `open`, in base64; none for an empty log that is open. */
  files?: Record<string, string>
}

export interface LogOracleAnswer {
  /** One a step; the class of what was thrown where there was an error. Ends early where the log does not open. */
  results: (string | boolean | string[])[][]
  /** After a clean end, in base64. */
  files?: Record<string, string>
}

/** What Kafka's own UnifiedLog makes of sequences of operations, on a directory, all in one JVM. */
export function logOracle(sequences: readonly LogOracleSequence[]): Promise<LogOracleAnswer[]>

/** A small file of a broker: a checkpoint of offsets or of leader epochs, `partition.metadata`, `meta.properties`. */
export interface SmallFile {
  kind: 'offsets' | 'epochs' | 'partition' | 'meta' | 'properties'
  content: Uint8Array
}

/** What a broker reads in such files, in all in one JVM: a string for each thing, or why it reads nothing. */
export function smallFiles(files: readonly SmallFile[]): Promise<((string | null)[] | { error: string })[]>
