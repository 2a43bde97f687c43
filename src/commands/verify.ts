import type { Command } from 'commander'
import { describeCorruptBatch, MirrorPidError } from '../errors.ts'
import { type SegmentVerification, type VerifyResult, verifyPaths } from '../node/index.ts'
import { failedVerification } from '../node/verifyPaths.ts'
import { interruptible } from './interrupts.ts'
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
import { startProgress } from './progress.ts'

interface VerifyFlags {
  json?: true
  quiet?: true
}

const HELP = `
PATH is a segment file (.log), a partition directory or a log directory. Checked are: sizes and magics of batches, their
CRCs, and that offsets go up from the number in the file's name; of producer snapshots the CRC and the entry count, of
transaction indexes the versions. Nothing is changed.

An incomplete last batch is a finding. Zeros at the end are a note: a preallocated segment has them.

Examples:
  $ mirrorpid verify /kafka/orders-0
  $ mirrorpid verify /kafka --quiet
  $ mirrorpid verify 00000000000000000000.log --json`

export function addVerifyCommand(program: Command): void {
  program
    .command('verify')
    .summary('check CRCs, sizes and offsets')
    .description('Checks batches: their sizes, CRCs and offsets.')
    .argument('<path...>', 'segment files, partition directories or log directories')
    .option('--json', 'print one JSON document; 64-bit numbers as decimal strings')
    .option('--quiet', 'print only findings and errors')
    .addHelpText('after', HELP)
    .action(runVerify)
}

async function runVerify(paths: string[], { json, quiet }: VerifyFlags): Promise<void> {
  const bars = await startProgress(!json && !quiet)
  let result: VerifyResult
  try {
    result = await interruptible((signal) => verifyPaths(paths, { signal, onProgress: bars.show }))
  } catch (error) {
    if (!json || !MirrorPidError.is(error)) throw error
    result = failedVerification(error)
  } finally {
    bars.stop()
  }
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
