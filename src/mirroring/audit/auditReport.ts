import type { SourceRange } from './sourceProducers.ts'

/**
 * What a finding is. `sequence`: in one epoch, a sequence that does not follow. `epoch`: one lower than an earlier one.
 * `transaction`: transactions of two producers in one, or one that nothing can end rightly. `overlap`: an id that several
 * sources would bring into one log. `hanging-transaction`: one that nothing will end, and that holds the last stable
 * offset back.
 */
export type AuditKind = 'sequence' | 'epoch' | 'transaction' | 'overlap' | 'hanging-transaction'

/** Something that a broker lets pass in silence, and what a reader of the log gets wrong by it. */
export interface AuditFinding {
  kind: AuditKind
  partition: string | null
  producerId: bigint
  /** The id that a mapped one has at its source; null for ids that were not mapped. */
  sourceProducerId: bigint | null
  /** Of the batch at `offset`; of the transaction, where that is a barrier. */
  epoch: number
  /** Base offset of the batch that does not fit, or of the barrier. Of a hanging transaction its first. */
  offset: bigint
  /** Of the batch that it does not fit to; null where there is none. */
  previousOffset: bigint | null
  /** What is wrong, and what a reader of this log gets wrong. */
  message: string
  /** Of an `overlap`: where the id stands in the two sources. */
  sources?: SourceRange[]
}

/** A transaction that nothing has ended when the log ends. */
export interface OpenTransaction {
  partition: string | null
  producerId: bigint
  sourceProducerId: bigint | null
  epoch: number
  firstOffset: bigint
  /** Size and records of the log from its first batch on: what readers of committed records wait for. */
  bytesBehind: number
  recordsBehind: number
  /** How much newer the newest record of the log that is not later than `now` is than the transaction's last batch. In ms. */
  idleMs: bigint
}

/** Something that is no finding, but that a person should know: counted, with where it was met first. */
export interface AuditNote {
  kind: string
  count: number
  offset: bigint
  message: string
}

/** A MIRROR_PID_RESET that an audit has met. */
export interface AuditBarrier {
  offset: bigint
  /** Null in the shape without an id, and where it cannot be read. */
  sourceClusterId: string | null
}

/** How many there were of each, those included that were not kept. */
export interface AuditTotals {
  batches: number
  bytes: number
  producers: number
  findings: number
  openTransactions: number
  barriers: number
}

/** What an audit has found in one partition. */
export interface AuditReport {
  partition: string | null
  findings: AuditFinding[]
  /** Normal at the end of a live log; those that hang are findings as well. */
  openTransactions: OpenTransaction[]
  barriers: AuditBarrier[]
  /** Whether offsets are missing, as compaction leaves it: sequences may have gaps there. */
  compacted: boolean
  notes: AuditNote[]
  /** Of all, also of what was not kept. */
  totals: AuditTotals
}
