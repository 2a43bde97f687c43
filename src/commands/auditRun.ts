import { describeCorruptBatch } from '../errors.ts'
import type { AuditFinding, OpenTransaction } from '../mirroring/audit/auditReport.ts'
import { type AuditResult, auditPaths, failedAudit } from '../node/audit/auditPaths.ts'
import type { AuditFlags } from './audit.ts'
import {
  count,
  describeFailure,
  describeIncomplete,
  EXIT_FINDINGS,
  EXIT_FINE,
  exitStatusOf,
  formatBytes,
  warnOfLeftOut,
  writeError,
  writeJson,
  writeLine,
  writeWarning,
} from './output.ts'
import { runJob } from './runJob.ts'

export async function runAudit(paths: string[], flags: AuditFlags): Promise<void> {
  const { json, quiet, source: sources = [], transactionTimeout: transactionTimeoutMs, maxFindings } = flags
  const options = {
    sources,
    transactionTimeoutMs,
    maxFindings,
    ...(flags.internalTopic && { isInternalTopic: true }),
  }
  const result = await runJob(flags, (hooks) => auditPaths(paths, { ...options, ...hooks }), failedAudit)
  if (json) writeJson(result)
  else await printResult(result, quiet ?? false)
  warn(result)
  process.exitCode = exitStatus(result)
}

function exitStatus({ totals, errors }: AuditResult): number {
  return exitStatusOf(errors) || (totals.findings + totals.damaged > 0 ? EXIT_FINDINGS : EXIT_FINE)
}

function warn(result: AuditResult): void {
  warnOfLeftOut(result)
  const { damaged, incomplete, totals, errors } = result
  for (const facts of damaged) writeWarning(`${facts.path}: ${describeCorruptBatch(facts)}. It was left out.`)
  for (const facts of incomplete) writeWarning(`${facts.path}: ${describeIncomplete(facts)}`)
  const rest = totals.damaged - damaged.length - incomplete.length
  if (rest > 0) writeWarning(`${rest} more damaged batches were left out`)
  for (const error of errors) writeError(describeFailure(error))
}

async function printResult(result: AuditResult, isQuiet: boolean): Promise<void> {
  const { findings, openTransactions, partitions, totals } = result
  if (findings.length > 0) writeLine(await tableOf(findings))
  if (totals.findings > findings.length) writeLine(`${totals.findings - findings.length} more findings`)
  if (isQuiet) return
  for (const transaction of openTransactions) writeLine(describeOpen(transaction))
  for (const { path, compacted, barriers, notes } of partitions) {
    if (compacted) writeLine(`${path}: compacted; gaps that this explains are no findings`)
    for (const { offset, sourceClusterId } of barriers) {
      writeLine(`${path}: barrier at offset ${offset}, source cluster ${sourceClusterId ?? 'not named'}`)
    }
    for (const { count: times, offset, message } of notes) {
      writeLine(`${path}: ${message}: ${times}, the first at offset ${offset}`)
    }
  }
  writeLine(`${describeWhole(totals)}: ${count(totals.findings, 'finding', 'findings')}`)
}

function describeWhole({ batches, bytes, producers, partitions, sourceLogs }: AuditResult['totals']): string {
  const compared = count(sourceLogs, 'log of a source', 'logs of sources')
  if (partitions === 0) return compared
  const audited =
    `${count(partitions, 'log', 'logs')}, ${formatBytes(bytes)} in ${count(batches, 'batch', 'batches')} of ` +
    count(producers, 'producer', 'producers')
  return sourceLogs === 0 ? audited : `${audited}; ${compared}`
}

function describeOpen(open: OpenTransaction): string {
  const { partition, producerId, sourceProducerId, epoch, firstOffset, recordsBehind, bytesBehind } = open
  const origin = sourceProducerId === null ? '' : ` (${sourceProducerId} at its source)`
  return (
    `${partition}: producer ${producerId}${origin}, epoch ${epoch}, has a transaction open since offset ${firstOffset}; ` +
    `readers of committed records wait before ${count(recordsBehind, 'record', 'records')} (${formatBytes(bytesBehind)})`
  )
}

const WIDTH_WITHOUT_TERMINAL = 160
const LEAST_MESSAGE_WIDTH = 40

async function tableOf(findings: readonly AuditFinding[]): Promise<string> {
  const { Table } = await import('console-table-printer')
  const rows = findings.map(
    ({ kind, partition, producerId, sourceProducerId, epoch, offset, previousOffset, message }) => ({
      partition: partition ?? '',
      kind: kind as string,
      producer: `${producerId}`,
      'at source': sourceProducerId === null ? '' : `${sourceProducerId}`,
      epoch: `${epoch}`,
      offset: `${offset}`,
      before: previousOffset === null ? '' : `${previousOffset}`,
      'what is wrong': message,
    }),
  )
  const names = Object.keys(rows[0] ?? {}) as (keyof (typeof rows)[number])[]
  const widths = names.map((name) => Math.max(name.length, ...rows.map((row) => row[name].length)) + 3)
  const others = widths.slice(0, -1).reduce((sum, width) => sum + width, 0)
  const width = (process.stdout.columns ?? WIDTH_WITHOUT_TERMINAL) - others - 4
  const table = new Table({
    shouldDisableColors: true,
    columns: names.map((name) => ({
      name,
      alignment: name === 'what is wrong' || name === 'kind' || name === 'partition' ? 'left' : 'right',
      ...(name === 'what is wrong' && { maxLen: Math.max(width, LEAST_MESSAGE_WIDTH) }),
    })),
  })
  table.addRows(rows)
  return table.render()
}
