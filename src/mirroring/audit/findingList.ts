import { isMirroredProducerId, unmapProducerId } from '../../core/producerId.ts'
import type { AuditFinding, AuditKind } from './auditReport.ts'

/** The id that a mapped one has at its source, or null. */
export function sourceOf(producerId: bigint): bigint | null {
  return isMirroredProducerId(producerId) ? unmapProducerId(producerId) : null
}

/** What is said of a batch; see AuditFinding. */
export interface FindingFacts {
  kind: AuditKind
  producerId: bigint
  epoch: number
  offset: bigint
  previousOffset: bigint | null
  sources?: AuditFinding['sources']
}

/** The first findings, up to a limit; the others are counted. */
export class FindingList {
  readonly kept: AuditFinding[] = []
  count = 0
  readonly #partition: string | null
  readonly #limit: number

  constructor(partition: string | null, limit: number) {
    this.#partition = partition
    this.#limit = limit
  }

  /** A list that goes on from here. */
  copy(): FindingList {
    const copy = new FindingList(this.#partition, this.#limit)
    copy.kept.push(...this.kept)
    copy.count = this.count
    return copy
  }

  /** @param message asked for what is kept only */
  add(
    { kind, producerId, epoch, offset, previousOffset, sources }: FindingFacts,
    message: () => string,
  ): void {
    this.count++
    if (this.kept.length >= this.#limit) return
    const place = { producerId, sourceProducerId: sourceOf(producerId), epoch, offset, previousOffset }
    const finding: AuditFinding = { kind, partition: this.#partition, ...place, message: message() }
    if (sources !== undefined) finding.sources = sources
    this.kept.push(finding)
  }
}
