import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type AuditOptions, type AuditReport, auditProducers } from '../../../src/index.ts'
import { type BatchOp, logOf } from '../../producers/logBuilder.ts'

export const txn = (pid: number, seq: number, more: Partial<BatchOp> = {}): BatchOp => ({
  kind: 'txn',
  pid,
  seq,
  ...more,
})
export const commit = (pid: number, epoch = 0, more: Partial<BatchOp> = {}): BatchOp => ({
  kind: 'COMMIT',
  pid,
  epoch,
  ...more,
})
export const abort = (pid: number, epoch = 0, more: Partial<BatchOp> = {}): BatchOp => ({
  kind: 'ABORT',
  pid,
  epoch,
  ...more,
})
export const barrier: BatchOp = { kind: 'barrier' }
export const plain = (count = 1): BatchOp => ({ kind: 'data', count })

export const report = (ops: readonly BatchOp[], options: AuditOptions = {}): AuditReport =>
  auditProducers(logOf(ops).batches, options)

/** Kind, producer and offset of each finding. */
export const found = ({ findings }: AuditReport): string[] =>
  findings.map(({ kind, producerId, offset }) => `${kind} ${producerId} @${offset}`)

export const audit = (ops: readonly BatchOp[], options: AuditOptions = {}): string[] =>
  found(report(ops, options))

export const fixtures = fileURLToPath(new URL('../../fixtures/kafka-4.3.1', import.meta.url))

/** The partitions that a real broker wrote, each with its segments in one. */
export function fixtureLogs(): { name: string; bytes: Buffer }[] {
  return readdirSync(fixtures, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && /-\d$/.test(entry.name))
    .map(({ name }) => {
      const segments = readdirSync(join(fixtures, name)).filter((file) => file.endsWith('.log'))
      return {
        name,
        bytes: Buffer.concat(segments.sort().map((file) => readFileSync(join(fixtures, name, file)))),
      }
    })
}
