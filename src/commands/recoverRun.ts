import { MirrorPidError } from '../errors.ts'
import { logFileName } from '../log/fileNames.ts'
import { describeTiered } from '../log/partition/recoveryChanges.ts'
import {
  type RecoveredProducer,
  type RecoverPartitionReport,
  recoverPartition,
} from '../node/partition/recoverPartition.ts'
import { commandCore } from './commandCore.ts'
import { forewarn } from './interrupts.ts'
import {
  count,
  describeFailureIn,
  EXIT_FINDINGS,
  EXIT_FINE,
  exitStatusOf,
  formatBytes,
  writeError,
  writeJson,
  writeLine,
  writeNote,
  writeWarning,
} from './output.ts'
import type { RecoverFlags } from './recover.ts'
import { describeCut } from './recoveryOutput.ts'
import { ON_STOCK_BROKERS } from './stockBrokers.ts'

/** What keeps a broker from starting is in the log, so it is a finding. */
const BROKER_STOPPERS: readonly string[] = ['INVALID_TXN_STATE', 'INVALID_RECORD']

export async function runRecover(directory: string, flags: RecoverFlags): Promise<void> {
  const { json, quiet, ...options } = flags
  const onProgress = json || quiet || !process.stderr.isTTY ? () => {} : showProgress
  if (flags.write) forewarn(directory, flags)
  try {
    const report = await recoverPartition(directory, { ...options, ...commandCore(), onProgress })
    const { unreadable, ...rest } = report
    if (json) writeJson({ ...rest, errors: unreadable })
    else printReport(report, quiet ?? false)
    for (const error of unreadable) writeError(`${error.message} Here nothing was taken to be known of it.`)
    for (const warning of warningsOf(report)) writeWarning(warning)
    if (!quiet && (report.mirroredBatches > 0 || report.barriers.length > 0))
      writeNote(describeMirrored(report, flags))
    process.exitCode = isDamaged(report) ? EXIT_FINDINGS : EXIT_FINE
  } catch (error) {
    if (!MirrorPidError.is(error)) throw error
    const isStopper = BROKER_STOPPERS.includes(error.code)
    if (json) writeJson({ directory, errors: [error] })
    writeError(describeFailureIn(directory, error, isStopper ? 'no broker starts on this log: ' : ''))
    process.exitCode = isStopper ? EXIT_FINDINGS : exitStatusOf([error])
  }
}

/** The work goes on without a pause, in which no bar could be drawn. */
function showProgress(bytes: number, size: number): void {
  const line = `recovering: ${formatBytes(bytes)} of ${formatBytes(size)}`
  process.stderr.write(`\r${line}${bytes < size ? '' : `\r${' '.repeat(line.length)}\r`}`)
}

function isDamaged({ cut, removedSegments, unreadable }: RecoverPartitionReport): boolean {
  return unreadable.length + removedSegments.length > 0 || cut.some(({ isZero }) => !isZero)
}

function printReport(report: RecoverPartitionReport, isQuiet: boolean): void {
  const { directory, written, producers, openTransactions, abortedTransactions, barriers } = report
  const [was, were] = written ? ['was', 'were'] : ['would be', 'would be']
  for (const cut of report.cut)
    if (!isQuiet || !cut.isZero) writeLine(`${directory}: ${describeCut(cut, was)}`)
  for (const { segment, bytes } of report.removedSegments) {
    writeLine(`${directory}: ${logFileName(segment, '.log')}, ${formatBytes(bytes)}, ${was} removed`)
  }
  if (isQuiet) return
  for (const name of report.leftovers) writeLine(`${directory}: ${name}, a leftover, ${was} moved or removed`)
  for (const name of report.foreignFiles) {
    writeLine(
      `${directory}: ${name} has no name that a broker gives, and ${written ? 'was' : 'would be'} left alone`,
    )
  }
  const size = `${formatBytes(report.bytes)} in ${count(report.batches, 'batch', 'batches')}`
  writeLine(`${directory}: ${count(report.segments, 'segment', 'segments')}, ${size}`)
  writeLine(`  log start offset    ${report.logStartOffset}`)
  writeLine(`  log end offset      ${report.logEndOffset}`)
  writeLine(`  last stable offset  ${report.lastStableOffset}, with all of the log replicated`)
  writeLine(`${count(producers.length, 'producer', 'producers')}${producers.length === 0 ? '' : ':'}`)
  if (producers.length > 0) for (const line of tableOf(report)) writeLine(line)
  writeLine(`${count(openTransactions.length, 'open transaction', 'open transactions')}`)
  for (const { producerId, sourceProducerId, epoch, firstOffset } of openTransactions) {
    const source = sourceProducerId === null ? '' : ` (${sourceProducerId} at its source)`
    writeLine(`  producer ${producerId}${source}, epoch ${epoch}, since offset ${firstOffset}`)
  }
  writeLine(`${count(abortedTransactions.length, 'aborted transaction', 'aborted transactions')}`)
  writeLine(`${count(barriers.length, 'barrier', 'barriers')}`)
  for (const { offset, sourceClusterId, applied, expired } of barriers) {
    const effect = applied
      ? `expired ${count(expired.producers, 'producer', 'producers')}, ended ${count(expired.transactions, 'transaction', 'transactions')}`
      : 'not applied'
    writeLine(`  offset ${offset}, source cluster ${sourceClusterId ?? 'not named'}: ${effect}`)
  }
  writeLine(written ? `the files ${were} recovered` : 'nothing was changed')
}

function describeMirrored(
  { mirroredBatches, directory }: RecoverPartitionReport,
  { producerIdTest }: RecoverFlags,
): string {
  if (mirroredBatches === 0) return `${directory}: ${ON_STOCK_BROKERS}`
  const seen = producerIdTest === 'stock' ? ', which are left out here' : ''
  return `${directory}: ${count(mirroredBatches, 'batch is', 'batches are')} under mapped producer ids${seen}: ${ON_STOCK_BROKERS}`
}

function* warningsOf({ producerWarnings, directory, tiered }: RecoverPartitionReport): Generator<string> {
  if (tiered !== undefined) yield `${directory}: ${describeTiered(tiered)}`
  for (const { kind, producerId, offset, found, current } of producerWarnings) {
    const what = {
      'producer-epoch': `epoch ${found} behind ${current}: two producers may share the id, see "mirrorpid audit"`,
      'coordinator-epoch': `a marker of coordinator epoch ${found} behind ${current}`,
      'control-type': `a control record of type ${found}, on which Apache Kafka does not start`,
    }[kind]
    yield `${directory}: offset ${offset}, producer ${producerId}: ${what}`
  }
}

/** Line by line, since a log may have very many producers. */
function* tableOf({ producers }: RecoverPartitionReport): Generator<string> {
  const widths = COLUMNS.map(({ length }) => length)
  for (const producer of producers) {
    for (const [at, { length }] of cellsOf(producer).entries()) widths[at] = Math.max(widths[at]!, length)
  }
  const rule = ([left, middle, right]: string) =>
    `${left}${widths.map((width) => '─'.repeat(width + 2)).join(middle)}${right}`
  const row = (cells: readonly string[]) =>
    `│ ${cells.map((cell, at) => cell.padStart(widths[at]!)).join(' │ ')} │`
  yield rule('┌┬┐')
  yield row(COLUMNS)
  yield rule('├┼┤')
  for (const producer of producers) yield row(cellsOf(producer))
  yield rule('└┴┘')
}

const COLUMNS = [
  'producer',
  'at source',
  'epoch',
  'last sequence',
  'last offset',
  'transaction since',
  'coordinator epoch',
]

function cellsOf(producer: RecoveredProducer): string[] {
  const { producerId, sourceProducerId, epoch, lastSequence, lastOffset, currentTxnFirstOffset } = producer
  return [
    `${producerId}`,
    `${sourceProducerId ?? ''}`,
    `${epoch}`,
    lastSequence < 0 ? '' : `${lastSequence}`,
    lastOffset < 0n ? '' : `${lastOffset}`,
    `${currentTxnFirstOffset ?? ''}`,
    producer.coordinatorEpoch < 0 ? '' : `${producer.coordinatorEpoch}`,
  ]
}
