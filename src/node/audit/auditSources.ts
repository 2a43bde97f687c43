import { type OptionKinds, requireOptions, requireText } from '../../core/arguments.ts'
import { MirrorPidError } from '../../errors.ts'
import type { AuditFinding } from '../../mirroring/audit/auditReport.ts'
import { sourceOverlaps } from '../../mirroring/audit/sourceOverlaps.ts'
import { SourceProducers } from '../../mirroring/audit/sourceProducers.ts'
import type { Job } from '../jobs/job.ts'
import type { LogPath, LogUnit } from '../paths/logPaths.ts'
import { feedLog, type LogDamage, partitionOf } from './auditSegments.ts'

/** A log, or a directory of logs, of a cluster. */
export interface AuditSource {
  name: string
  path: string
}

const SOURCE: OptionKinds<AuditSource> = { name: 'string', path: 'string' }

/** @throws InvalidArgumentError */
export function requireSource(source: AuditSource): AuditSource {
  const { name, path } = requireOptions('one of sources', source, SOURCE)
  requireText('the name of a source', name)
  requireText('the path of a source', path)
  return source
}

export interface SourceUnit {
  source: AuditSource
  kind: LogPath['kind']
  unit: LogUnit
}

/** The sources of one mirrored log, by name. */
type Group = Map<string, SourceProducers>

/**
 * Predicts which producers meet. Of log directories, partitions of the same name are mirrored into one; single partitions
 * and segment files are, whatever their names.
 */
export async function auditSources(
  units: readonly SourceUnit[],
  job: Job,
  maxFindings: number,
  damage: LogDamage,
  errors: MirrorPidError[],
): Promise<{ findings: AuditFinding[]; count: number }> {
  const isOneLog = units.every(({ kind }) => kind !== 'log directory')
  const groups = new Map<string, Group>()
  const names = new Map<string, Set<string>>()
  for (const { source, unit } of units) {
    const partition = partitionOf(unit)
    const key = isOneLog ? '' : partition
    names.set(key, (names.get(key) ?? new Set()).add(partition))
    const group: Group = groups.get(key) ?? new Map()
    groups.set(key, group)
    const producers = group.get(source.name) ?? new SourceProducers(source.name)
    group.set(source.name, producers)
    try {
      await feedLog(unit, producers, job, damage, maxFindings)
    } catch (error) {
      if (!MirrorPidError.is(error)) throw error
      errors.push(error)
    }
  }
  const result = { findings: [] as AuditFinding[], count: 0 }
  for (const [key, group] of groups) {
    const [partition = null, ...others] = names.get(key) ?? []
    const room = Math.max(0, maxFindings - result.findings.length)
    const options = { partition: others.length === 0 ? partition : null, maxFindings: room }
    const { findings, count } = sourceOverlaps([...group.values()], options)
    result.findings.push(...findings)
    result.count += count
  }
  return result
}
