import { Int64Pairs } from './int64Pairs.ts'
import { OffsetGaps } from './offsetGaps.ts'

/**
 * Kinds of findings: a wrong CRC, a place where no batch can be read, bytes behind the last batch, records or a control
 * record of a form that cannot be, an index that does not fit its log, a damaged snapshot or transaction index.
 */
export type FindingKind = 'crc' | 'unreadable' | 'trailing' | 'records' | 'control' | 'index' | 'companion'

/** Something in the input that should not be so. */
export interface Finding {
  kind: FindingKind
  message: string
  /** Byte position in the file; null where there is none. */
  position: number | null
}

/** Where findings and notes go as they come up. */
export interface FindingSink {
  finding(path: string, finding: Finding): void
  note(path: string, message: string): void
}

/** Of each file; more are counted only. */
const MOST_FINDINGS = 1000

/** What is to be said of a file besides its contents: what Kafka's tool prints at its end, findings and notes. */
export class FileReport {
  /** As it was given. */
  readonly path: string
  readonly absolutePath: string
  batches = 0
  /** Bytes of whole batches. */
  validBytes = 0
  /** Of offsets of records. */
  readonly gaps = new OffsetGaps()
  /** Offsets in the index, and in the log where it points to. */
  readonly mismatches = new Int64Pairs()
  /** Timestamps in the index, and in the log. */
  readonly timestampMismatches = new Int64Pairs()
  /** Timestamps in the index, and those of the entries before. */
  readonly outOfOrderTimestamps = new Int64Pairs()
  /** Offsets in the index, and the next that the log has, -1 for none. */
  readonly offsetsNotFound = new Int64Pairs()
  /** The first of them. */
  readonly findings: Finding[] = []
  readonly notes: string[] = []
  readonly counts = new Map<FindingKind, number>()
  readonly #sink: FindingSink

  constructor(path: string, absolutePath: string, sink: FindingSink) {
    this.path = path
    this.absolutePath = absolutePath
    this.#sink = sink
  }

  finding(kind: FindingKind, message: string, position: number | null = null): void {
    this.count(kind)
    if (this.findings.length === MOST_FINDINGS) return
    const finding = { kind, message, position }
    this.findings.push(finding)
    this.#sink.finding(this.path, finding)
  }

  /** A finding that is in one of the lists above. */
  count(kind: FindingKind): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1)
  }

  /** Worth saying, and nothing wrong. */
  note(message: string): void {
    if (this.notes.length === MOST_FINDINGS) return
    this.notes.push(message)
    this.#sink.note(this.path, message)
  }

  get findingCount(): number {
    let sum = 0
    for (const count of this.counts.values()) sum += count
    return sum
  }
}
