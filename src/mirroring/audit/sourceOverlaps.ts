import { type OptionKinds, requireList, requireOptions, requireThing } from '../../core/arguments.ts'
import * as say from './auditMessages.ts'
import type { AuditFinding } from './auditReport.ts'
import { FindingList } from './findingList.ts'
import type { SourceProducers, SourceRange } from './sourceProducers.ts'

/** What is named in the findings, and how many are kept. */
export interface OverlapOptions {
  partition: string | null
  /** The most findings to keep; what comes on top is counted. */
  maxFindings: number
}

const OVERLAP_OPTIONS: OptionKinds<OverlapOptions> = { partition: 'any', maxFindings: 'any' }

/**
 * The ids under which producers of several sources would meet in one log that mirrors them all: ids >= 0 are mapped, the
 * others stay. And those under which producers of one source would meet. A finding's offset is where the second begins.
 *
 * @throws InvalidArgumentError
 * @example
 * sourceOverlaps([a, b], { partition: 'orders-0', maxFindings: 100 }).findings
 */
export function sourceOverlaps(
  sources: readonly SourceProducers[],
  options: OverlapOptions,
): { findings: AuditFinding[]; count: number } {
  for (const one of requireList('sources', sources)) {
    requireThing('one of sources', one, 'ownOverlaps', 'SourceProducers')
  }
  const { partition, maxFindings } = requireOptions('options of sourceOverlaps', options, OVERLAP_OPTIONS)
  const findings = new FindingList(partition, maxFindings)
  for (const [index, one] of sources.entries()) {
    for (const [mapped, own] of one.ownOverlaps) {
      const { before, after, offset, epoch } = own
      const facts = { producerId: mapped, epoch, offset, previousOffset: before.lastOffset }
      findings.add({ kind: 'overlap', ...facts, sources: [before, after] }, () => say.ownId(mapped, own))
    }
    for (const other of sources.slice(index + 1)) {
      for (const mapped of one.mappedIds()) {
        const [a, b] = [one.rangeOf(mapped), other.rangeOf(mapped)]
        if (a !== null && b !== null) addShared(findings, mapped, a, b)
      }
    }
  }
  return { findings: findings.kept, count: findings.count }
}

function addShared(findings: FindingList, mapped: bigint, a: SourceRange, b: SourceRange): void {
  const [before, after] = a.firstTimestamp <= b.firstTimestamp ? [a, b] : [b, a]
  const isAmong = after.firstTimestamp <= before.lastTimestamp
  const { firstOffset: offset, firstEpoch: epoch } = after
  const previousOffset = isAmong ? before.firstOffset : before.lastOffset
  const facts = { producerId: mapped, epoch, offset, previousOffset, sources: [before, after] }
  findings.add({ kind: 'overlap', ...facts }, () => say.sharedId(mapped, before, after, isAmong))
}
