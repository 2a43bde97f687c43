import { type OptionKinds, requireOptions, requirePaths } from '../../core/arguments.ts'
import { InvalidArgumentError, MirrorPidError } from '../../errors.ts'
import { AUDIT_OPTIONS, type AuditOptions, checkAuditOptions } from '../../mirroring/audit/auditOptions.ts'
import type {
  AuditBarrier,
  AuditFinding,
  AuditNote,
  AuditTotals,
  OpenTransaction,
} from '../../mirroring/audit/auditReport.ts'
import { ProducerAudit } from '../../mirroring/audit/producerAudit.ts'
import { JOB_OPTIONS, Job, type JobOptions } from '../jobs/job.ts'
import { unfinishedRewrites } from '../journal/journalErrors.ts'
import { type LogPath, type LogUnit, readLogPath, readLogPaths } from '../paths/logPaths.ts'
import { withoutRepeats } from '../paths/repeatedPaths.ts'
import { feedLog, type LogDamage, partitionOf, segmentsOf } from './auditSegments.ts'
import { type AuditSource, auditSources, requireSource, type SourceUnit } from './auditSources.ts'

export interface AuditPathsOptions extends JobOptions, Omit<AuditOptions, 'partition'> {
  /** Logs that one log is to mirror: what would collide there is predicted. Those of one name are one cluster's. */
  sources?: readonly AuditSource[]
}

const { partition: _, ...NAMELESS } = AUDIT_OPTIONS
const PATHS_OPTIONS: OptionKinds<AuditPathsOptions> = { ...JOB_OPTIONS, ...NAMELESS, sources: 'list' }

/** What was found of one partition's log, beside its findings. */
export interface AuditedPartition {
  path: string
  partition: string
  compacted: boolean
  barriers: AuditBarrier[]
  notes: AuditNote[]
  totals: AuditTotals
}

/** What an audit of paths has found, in all partitions together. */
export interface AuditResult {
  /** Up to `maxFindings` in all. */
  findings: AuditFinding[]
  openTransactions: OpenTransaction[]
  partitions: AuditedPartition[]
  /** Batches that were left out, since they are damaged. */
  damaged: LogDamage['damaged']
  /** Batches that the end of a segment cuts. */
  incomplete: LogDamage['incomplete']
  /** Of all, also of what was not kept. */
  totals: AuditTotals & { partitions: number; sourceLogs: number; damaged: number }
  /** Files that the system would not read, and partitions that were not looked at. */
  errors: MirrorPidError[]
  leftOut: LogPath['leftOut']
}

/**
 * Audits segment files, partition directories and log directories as `auditProducers` does: the segments of a directory are
 * one log. And predicts for `sources` which producers would meet in a mirror of them. Changes nothing. Whether a transaction
 * hangs is judged by the greatest timestamp that is later neither than `now` nor than the last change of its segment file.
 *
 * @throws LogFileError NOT_A_LOG, IO_ERROR where a path cannot be looked at
 * @throws InvalidArgumentError
 * @example
 * const { findings } = await auditPaths(['/kafka/orders-0'])
 */
export async function auditPaths(
  paths: readonly string[],
  options: AuditPathsOptions = {},
): Promise<AuditResult> {
  requirePaths(paths)
  requireOptions('options of auditPaths', options, PATHS_OPTIONS)
  const {
    sources = [],
    core: _core,
    signal: _signal,
    onProgress: _onProgress,
    windowSize: _size,
    ...auditOptions
  } = options
  sources.forEach(requireSource)
  const { maxFindings } = checkAuditOptions(auditOptions)
  if (paths.length + sources.length === 0) throw new InvalidArgumentError('give at least one path or source')
  const job = Job.start(options)
  const result = newResult()
  const units = await unitsOf(paths, result)
  const sourceUnits: SourceUnit[] = []
  for (const { source, log } of await readSources(sources)) {
    for (const unit of takeFinished(log, result)) sourceUnits.push({ source, kind: log.kind, unit })
  }
  const all = [...units, ...sourceUnits.map(({ unit }) => unit)]
  job.plan(all.flatMap(segmentsOf).reduce((sum, file) => sum + file.size, 0))
  const damage: LogDamage = { damaged: result.damaged, incomplete: result.incomplete, count: 0 }
  for (const unit of units) await auditUnit(unit, job, auditOptions, maxFindings, damage, result)
  const room = Math.max(0, maxFindings - result.findings.length)
  const overlaps = await auditSources(sourceUnits, job, room, damage, result.errors)
  result.findings.push(...overlaps.findings)
  result.totals.findings += overlaps.count
  result.totals.damaged = damage.count
  result.totals.sourceLogs = sourceUnits.length
  return result
}

/** What the sources name, once each for every name. */
async function readSources(
  sources: readonly AuditSource[],
): Promise<{ source: AuditSource; log: LogPath }[]> {
  const byName = new Map<string, { source: AuditSource; log: LogPath }[]>()
  for (const source of sources) {
    const log = await readLogPath(source.path)
    byName.set(source.name, [...(byName.get(source.name) ?? []), { source, log }])
  }
  const read: { source: AuditSource; log: LogPath }[] = []
  for (const entries of byName.values()) {
    const logs = await withoutRepeats(entries.map(({ log }) => log))
    read.push(...entries.map(({ source }, at) => ({ source, log: logs[at]! })))
  }
  return read
}

async function unitsOf(paths: readonly string[], result: AuditResult): Promise<LogUnit[]> {
  if (paths.length === 0) return []
  return (await readLogPaths(paths)).flatMap((log) => takeFinished(log, result))
}

/** Those that no interrupted rewrite has left half mapped; the others, what cannot be read and what is no log, are noted in the result. */
function takeFinished({ units, leftOut, errors }: LogPath, result: AuditResult): LogUnit[] {
  result.leftOut.push(...leftOut)
  result.errors.push(...errors)
  return units.filter((unit) => {
    const unfinished = unfinishedRewrites(unit)
    result.errors.push(...unfinished)
    return unfinished.length === 0
  })
}

async function auditUnit(
  unit: LogUnit,
  job: Job,
  options: AuditOptions,
  maxFindings: number,
  damage: LogDamage,
  result: AuditResult,
): Promise<void> {
  const partition = partitionOf(unit)
  const room = Math.max(0, maxFindings - result.findings.length)
  const audit = new ProducerAudit({ ...options, partition, maxFindings: room })
  try {
    await feedLog(unit, audit, job, damage, maxFindings)
  } catch (error) {
    if (!MirrorPidError.is(error)) throw error
    result.errors.push(error)
  }
  const { findings, openTransactions, compacted, barriers, notes, totals } = audit.finish()
  result.findings.push(...findings)
  result.openTransactions.push(...openTransactions)
  const path = unit.directory ?? unit.files[0]?.path ?? ''
  result.partitions.push({ path, partition, compacted, barriers, notes, totals })
  result.totals.partitions++
  for (const name of Object.keys(totals) as (keyof AuditTotals)[]) result.totals[name] += totals[name]
}

function newResult(): AuditResult {
  const totals = {
    partitions: 0,
    sourceLogs: 0,
    batches: 0,
    bytes: 0,
    producers: 0,
    findings: 0,
    openTransactions: 0,
    barriers: 0,
    damaged: 0,
  }
  return {
    findings: [],
    openTransactions: [],
    partitions: [],
    damaged: [],
    incomplete: [],
    totals,
    errors: [],
    leftOut: [],
  }
}

/** The result of an audit that failed before it began. */
export function failedAudit(error: MirrorPidError): AuditResult {
  return { ...newResult(), errors: [error] }
}
