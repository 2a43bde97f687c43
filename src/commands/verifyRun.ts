import { describeCorruptBatch } from '../errors.ts'
import type { SegmentVerification } from '../node/jobs/segmentTasks.ts'
import { failedVerification, type VerifyResult, verifyPaths } from '../node/verify/verifyPaths.ts'
import {
  count,
  describeFailure,
  describeIncomplete,
  describeZeros,
  EXIT_FINDINGS,
  EXIT_FINE,
  exitStatusOf,
  formatBytes,
  warnOfLeftOut,
  writeError,
  writeJson,
  writeLine,
} from './output.ts'
import { runJob } from './runJob.ts'
import type { VerifyFlags } from './verify.ts'

export async function runVerify(paths: string[], flags: VerifyFlags): Promise<void> {
  const { json, quiet, jobs = 'auto', records = false, maxBatchBytes } = flags
  const limit = maxBatchBytes === undefined ? {} : { maxBatchBytes }
  const result = await runJob(
    flags,
    (hooks) => verifyPaths(paths, { jobs: hooks.core ? 1 : jobs, records, ...limit, ...hooks }),
    failedVerification,
  )
  if (json) writeJson(result)
  else printResult(result, quiet ?? false)
  warnOfLeftOut(result)
  for (const error of result.errors) writeError(describeFailure(error))
  process.exitCode = exitStatus(result)
}

function exitStatus({ files, errors }: VerifyResult): number {
  const hasFindings = files.some((file) => file.corrupt.length > 0 || file.incomplete !== null)
  return exitStatusOf(errors) || (hasFindings ? EXIT_FINDINGS : EXIT_FINE)
}

function printResult({ files, totals }: VerifyResult, isQuiet: boolean): void {
  for (const file of files) {
    for (const finding of findingsOf(file)) writeLine(`${file.path}: ${finding}`)
    if (isQuiet) continue
    const { path, batches, trailing } = file
    if (trailing.kind === 'zeros') writeLine(`${path}: ${describeZeros(trailing)}`)
    writeLine(`${path}: ${count(batches, 'batch', 'batches')}, ${describeFindings(file)}`)
  }
  if (isQuiet) return
  const findings = files.reduce((sum, file) => sum + findingsOf(file).length, 0)
  const size = `${formatBytes(totals.validBytes)} in ${count(totals.batches, 'batch', 'batches')}`
  writeLine(
    `${count(totals.files, 'segment', 'segments')}, ${size}: ${count(findings, 'finding', 'findings')}`,
  )
}

function findingsOf({ corrupt, incomplete }: SegmentVerification): string[] {
  const findings = corrupt.map(describeCorruptBatch)
  return incomplete === null ? findings : [...findings, describeIncomplete(incomplete)]
}

function describeFindings(file: SegmentVerification): string {
  const { length } = findingsOf(file)
  return length === 0 ? 'fine' : count(length, 'finding', 'findings')
}
