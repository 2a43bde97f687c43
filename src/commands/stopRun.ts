import { MirrorPidError } from '../errors.ts'
import type { SettledTransaction } from '../mirroring/stopLog.ts'
import {
  type StopPartitionOptions,
  type StopPartitionReport,
  stopPartition,
} from '../node/partition/stopPartition.ts'
import { commandCore } from './commandCore.ts'
import { forewarn } from './interrupts.ts'
import {
  count,
  describeFailureIn,
  EXIT_FINE,
  exitStatusOf,
  writeError,
  writeJson,
  writeLine,
  writeNote,
  writeWarning,
} from './output.ts'
import { describeCut } from './recoveryOutput.ts'
import { ON_STOCK_BROKERS } from './stockBrokers.ts'
import type { StopFlags } from './stop.ts'

export async function runStop(directory: string, flags: StopFlags): Promise<void> {
  const { json, quiet, ...options } = flags
  if (!flags.dryRun) forewarn(directory, flags)
  try {
    const report = await stopPartition(directory, {
      ...options,
      ...commandCore(),
    } satisfies StopPartitionOptions)
    if (json) writeJson({ ...report, warnings: [...report.warnings, ON_STOCK_BROKERS], errors: [] })
    else if (!quiet) for (const line of describe(report)) writeLine(line)
    for (const warning of report.warnings) writeWarning(warning)
    if (!quiet) writeNote(ON_STOCK_BROKERS)
    process.exitCode = EXIT_FINE
  } catch (error) {
    if (!MirrorPidError.is(error)) throw error
    if (json) writeJson({ directory, errors: [error] })
    writeError(describeFailureIn(directory, error))
    process.exitCode = exitStatusOf([error])
  }
}

function* describe(report: StopPartitionReport): Generator<string> {
  const { directory, sourceClusterId, lastMirroredOffset, mirroredEndOffset, alreadyStopped, dryRun } = report
  if (alreadyStopped) {
    yield `${directory}: already stopped at offset ${lastMirroredOffset}; nothing was changed`
  } else {
    yield `${directory}: ${dryRun ? 'would be stopped' : 'stopped'}; it mirrored ${sourceClusterId}`
    yield* describeChanges(report)
    yield* describeSettled(report)
    yield `  barrier (MIRROR_PID_RESET) at offset ${lastMirroredOffset}, leader epoch ${report.leaderEpoch}; log end offset ${report.logEndOffset}`
    if (report.expiredProducers !== null) {
      yield `  ${count(report.expiredProducers, 'mirrored producer', 'mirrored producers')} expired`
    }
  }
  yield `  mirrored end offset ${mirroredEndOffset}: what ${sourceClusterId} has from there on, this log has not`
  yield `  last mirrored offset ${lastMirroredOffset}: the barrier's`
  if (dryRun) {
    yield 'nothing was changed'
    return
  }
  yield 'Next:'
  yield '  - the other replicas: start this broker as the leader; where the log was cut, see "mirrorpid stop --help" first'
  yield `  - a failback: cut the log of ${sourceClusterId} to the mirrored end offset ${mirroredEndOffset}, then mirror this cluster from there`
}

/** What was cut of a last write is a warning. */
function* describeChanges({ cut, leftovers, foreignFiles, dryRun }: StopPartitionReport): Generator<string> {
  const was = dryRun ? 'would be' : 'was'
  for (const each of cut) if (each.isZero) yield `  ${describeCut(each, was)}`
  for (const name of leftovers) yield `  ${name}, a leftover, ${was} moved or removed`
  for (const name of foreignFiles) yield `  ${name} has no name that a broker gives, and ${was} left alone`
}

function* describeSettled({
  settled,
  openTransactions,
  truncatedOffsets,
  mirroredEndOffset,
}: StopPartitionReport): Generator<string> {
  if (settled.length === 0) yield '  no transaction was open'
  else
    yield `  ${count(settled.length, 'open transaction', 'open transactions')} ${openTransactions === 'truncate' ? 'cut off' : 'aborted'}:`
  for (const transaction of settled) yield `    ${describeTransaction(transaction)}`
  if (truncatedOffsets > 0n) yield `  ${truncatedOffsets} offsets cut off, from ${mirroredEndOffset} on`
}

function describeTransaction({
  producerId,
  sourceProducerId,
  producerEpoch,
  firstOffset,
}: SettledTransaction): string {
  const source = sourceProducerId === null ? 'local' : `${sourceProducerId} in the source`
  return `producer ${producerId} (${source}), epoch ${producerEpoch}, from offset ${firstOffset} on`
}
