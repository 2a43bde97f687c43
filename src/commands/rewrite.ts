import { type Command, Option } from 'commander'
import type { CrcMode, Direction } from '../core/core.ts'
import { MirrorPidError } from '../errors.ts'
import type { BatchSums } from '../log/counts.ts'
import { type RewriteResult, rewritePaths } from '../node/index.ts'
import { failedRewrite } from '../node/rewritePaths.ts'
import { interruptible } from './interrupts.ts'
import {
  count,
  describeFailure,
  describeIncomplete,
  describeZeros,
  exitStatusOf,
  formatBytes,
  warnOfLeftOut,
  writeError,
  writeJson,
  writeLine,
  writeWarning,
} from './output.ts'
import { startProgress } from './progress.ts'

interface RewriteFlags {
  out?: string
  inPlace?: true
  crc: CrcMode
  unmap?: true
  json?: true
  quiet?: true
}

const HELP = `
PATH is a segment file (.log), a partition directory or a log directory. Of a partition, all that holds producer ids is
rewritten: segments, producer snapshots and transaction indexes; with --out the other files are copied as they are. A
partition with damage in it is not written and the others are; with --crc patch, damage that leaves the batches readable
is no hindrance, and stays visible. Nothing appears under its final name before it is complete.

CRC modes:
  patch      (default) computes the new CRC from the old one and the changed id; a batch that was damaged before still
             fails its check afterwards
  verify     the same, and checks every CRC first: a damaged batch is reported and nothing is written
  recompute  makes a fresh CRC for each rewritten batch: a repair, and the only mode that can hide damage

Examples:
  $ mirrorpid rewrite /kafka/orders-0 --out /mapped
  $ mirrorpid rewrite /kafka --out /mapped --crc verify
  $ mirrorpid rewrite 00000000000000000000.log --out /mapped --json
  $ mirrorpid rewrite /mapped/orders-0 --in-place --unmap`

const STOCK_KAFKA =
  'note: brokers and consumers of Apache Kafka up to at least 4.3 take a mapped id for no producer at all: they keep ' +
  'no state for it, do not hold the last stable offset back for its transactions, and hand its aborted records to ' +
  'read_committed consumers. Restore the ids (--unmap) before such brokers or consumers use this log.'

export function addRewriteCommand(program: Command): void {
  program
    .command('rewrite')
    .summary('map producer ids to -(id + 2), or restore them')
    .description(
      'Maps producer ids p >= 0 to -(p + 2), so that they collide with none of the target cluster; with --unmap, ' +
        'restores them.',
    )
    .argument('<path...>', 'segment files, partition directories or log directories')
    .addOption(
      new Option('--out <dir>', 'write to this directory; made if missing, never overwrites').conflicts(
        'inPlace',
      ),
    )
    .option(
      '--in-place',
      'replace the files, each by a rewritten copy, once all of the partition is found fine',
    )
    .addOption(
      new Option('--crc <mode>', 'patch, verify or recompute (which alone can hide damage), see below')
        .choices(['patch', 'verify', 'recompute'])
        .default('patch'),
    )
    .option('--unmap', 'restore mapped ids instead of mapping')
    .option('--json', 'print one JSON document; 64-bit numbers as decimal strings')
    .option('--quiet', 'print only errors and warnings')
    .addHelpText('after', HELP)
    .action(runRewrite)
}

async function runRewrite(paths: string[], flags: RewriteFlags, command: Command): Promise<void> {
  const { out, inPlace, crc, json, quiet } = flags
  if (out === undefined && inPlace === undefined) {
    command.error("error: one of '--out <dir>' and '--in-place' is needed: where should the result go?")
  }
  if (out === '') command.error("error: option '--out <dir>' needs the name of a directory")
  const direction = flags.unmap ? 'unmap' : 'map'
  const target = out === undefined ? { inPlace: true } : { outDirectory: out }
  const bars = await startProgress(!json && !quiet)
  let result: RewriteResult
  try {
    result = await interruptible((signal) =>
      rewritePaths(paths, { ...target, crc, direction, signal, onProgress: bars.show }),
    )
  } catch (error) {
    if (!json || !MirrorPidError.is(error)) throw error
    result = failedRewrite(error)
  } finally {
    bars.stop()
  }
  if (json) writeJson(result)
  else if (!quiet) printResult(result, direction, out)
  warn(result, direction, quiet ?? false)
  for (const error of result.errors) writeError(describeFailure(error))
  if (inPlace && result.errors.length > 0 && result.files.some((file) => file.rewritten > 0)) {
    writeError('note: what was replaced stays; a second run does the rest, and changes nothing twice')
  }
  process.exitCode = exitStatusOf(result.errors)
}

function printResult(result: RewriteResult, direction: Direction, out: string | undefined): void {
  for (const file of result.files) writeLine(`${file.path}: ${describeCounts(file, direction)}`)
  for (const { path, entries, rewritten } of result.companions) {
    writeLine(`${path}: ${count(entries, 'entry', 'entries')}, ${rewritten} ${pastOf(direction)}`)
  }
  const { files, bytes, seconds } = result.totals
  const parts = [`${count(files, 'segment', 'segments')} (${formatBytes(bytes)}) in ${seconds.toFixed(1)} s`]
  if (result.companions.length > 0) {
    parts.push(count(result.companions.length, 'companion file', 'companion files'))
  }
  if (result.copied > 0) parts.push(`${count(result.copied, 'other file', 'other files')} copied`)
  const where = out === undefined ? 'in place' : `to ${out}`
  writeLine(`total: ${parts.join(', ')}, ${where}: ${describeCounts(result.totals, direction)}`)
}

function describeCounts(counts: BatchSums, direction: Direction): string {
  const { batches, rewritten, alreadyMapped, withoutProducer, control, legacy } = counts
  const parts = [`${rewritten} ${pastOf(direction)}`]
  if (alreadyMapped > 0) parts.push(`${alreadyMapped} ${direction === 'map' ? 'mapped' : 'native'} already`)
  if (withoutProducer > 0) parts.push(`${withoutProducer} without producer`)
  if (legacy > 0) parts.push(`${legacy} of magic 0 or 1`)
  const among = control === 0 ? '' : ` (${control} of all are control batches)`
  return `${count(batches, 'batch', 'batches')}: ${parts.join(', ')}${among}`
}

function pastOf(direction: Direction): string {
  return direction === 'map' ? 'mapped' : 'restored'
}

function warn(result: RewriteResult, direction: Direction, isQuiet: boolean): void {
  for (const { path, incomplete, trailing } of result.files) {
    if (incomplete !== null) writeWarning(`${path}: ${describeIncomplete(incomplete)}; kept as it is`)
    if (trailing.kind === 'zeros' && !isQuiet) {
      writeError(`note: ${path}: ${describeZeros(trailing)}; kept as they are`)
    }
  }
  warnOfLeftOut(result)
  const isChanged = result.totals.rewritten > 0 || result.companions.some((file) => file.rewritten > 0)
  if (direction === 'map' && isChanged && !isQuiet) writeError(STOCK_KAFKA)
}
