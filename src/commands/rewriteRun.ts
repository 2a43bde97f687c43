import { dirname, resolve } from 'node:path'
import type { Command } from 'commander'
import type { Direction } from '../core/core.ts'
import type { BatchSums } from '../log/counts.ts'
import { describePair } from '../log/producerIdsMeetError.ts'
import { readLogPaths } from '../node/paths/logPaths.ts'
import { failedRewrite, type RewriteResult, rewritePaths } from '../node/rewrite/rewritePaths.ts'
import { Interrupted, type Left } from './interrupts.ts'
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
  writeNote,
  writeWarning,
} from './output.ts'
import type { RewriteFlags } from './rewrite.ts'
import { runJob } from './runJob.ts'
import { ON_STOCK_BROKERS } from './stockBrokers.ts'

/** Of the journals that a signal leaves: the paths of the others are alike. */
const MAX_NAMED = 20

const NOTHING_TO_RESUME = 'nothing to resume: no rewrite in place was interrupted here'

export async function runRewrite(paths: string[], flags: RewriteFlags, command: Command): Promise<void> {
  const { out, inPlace, resume, crc, json, quiet, jobs = 'auto', force = false, dryRun = false } = flags
  if (resume && !inPlace) command.error("error: option '--resume' goes with '--in-place'")
  if (out === undefined && inPlace === undefined) {
    command.error("error: one of '--out <dir>' and '--in-place' is needed: where should the result go?")
  }
  if (flags.ignoreBroker && !inPlace) command.error("error: option '--ignore-broker' goes with '--in-place'")
  if (out === '') command.error("error: option '--out <dir>' needs the name of a directory")
  const direction: Direction = flags.unmap ? 'unmap' : 'map'
  const target =
    out === undefined ? { inPlace: true, ignoreBroker: flags.ignoreBroker ?? false } : { outDirectory: out }
  // what is resumed goes on in the mode of the run that was killed
  const mode = resume ? { resume } : { crc, direction }
  const result = await runJob(
    flags,
    (hooks) =>
      rewritePaths(paths, { ...target, ...mode, force, dryRun, jobs: hooks.core ? 1 : jobs, ...hooks }),
    (error) => ({
      ...failedRewrite(error),
      ...(error instanceof Interrupted && { unfinished: [...error.unfinished] }),
    }),
    () => (out === undefined ? leftInPlace(paths) : leftIn(out)),
  )
  const directions = resume ? finishedDirections(result) : givenDirection(direction)
  if (json) writeJson(result)
  else if (!quiet && resume && isNothingFound(result)) writeLine(NOTHING_TO_RESUME)
  else if (!quiet) printResult(result, directions, out)
  warn(result, quiet ?? false)
  if (!quiet && directions.isAnyMapped && isAnyChanged(result)) writeNote(ON_STOCK_BROKERS)
  if (!quiet) noteRebuilt(result, inPlace ?? false, directions)
  for (const error of result.errors) writeError(describeFailure(error))
  if (inPlace && !dryRun && result.errors.length > 0 && result.files.some((file) => file.rewritten > 0)) {
    writeNote('what was rewritten stays; a second run does the rest, and changes nothing twice')
  }
  for (const path of result.unfinished) {
    writeNote(
      `${path}: its rewrite is not finished, and its journal stays; run it again, or with --resume, before anything ` +
        'else uses this partition',
    )
  }
  process.exitCode = exitStatusOf(result.errors)
}

async function leftIn(out: string): Promise<Left> {
  return {
    text:
      `unfinished output was removed, and what was finished stays in ${out}; to run it again, move that away, or give ` +
      'another --out',
  }
}

/** By what is there now: a journal tells of what is half rewritten, whichever run has left it. */
async function leftInPlace(paths: readonly string[]): Promise<Left> {
  const units = (await readLogPaths(paths)).flatMap((log) => log.units)
  const journals = units.flatMap((unit) => unit.journals)
  if (journals.length === 0) {
    return {
      text:
        'nothing is half rewritten; partitions that were finished stay so, the others are as they were. A second run does ' +
        'the rest, and changes nothing twice',
    }
  }
  const named = journals.slice(0, MAX_NAMED).map(({ path }) => path)
  const others = journals.length > MAX_NAMED ? ` and ${journals.length - MAX_NAMED} more` : ''
  return {
    text:
      `what was finished stays, and ${count(journals.length, 'segment', 'segments')} may be half rewritten. Before anything ` +
      `else uses them, finish them by "mirrorpid rewrite ${paths.join(' ')} --in-place --resume". ` +
      `${journals.length === 1 ? 'The journal' : 'Their journals'}: ${named.join(', ')}${others}`,
    unfinished: journals.flatMap(({ segment }) => segment ?? []),
  }
}

/** In which direction files were rewritten; null where it was one for some and the other for others, or none. */
interface Directions {
  ofFile(path: string): Direction | null
  ofAll: Direction | null
  isAnyMapped: boolean
}

function givenDirection(direction: Direction): Directions {
  return { ofFile: () => direction, ofAll: direction, isAnyMapped: direction === 'map' }
}

/** Those of the interrupted runs, each of which was over a segment alone or over the directory that a file is in. */
function finishedDirections({ finishedRuns }: RewriteResult): Directions {
  const byPath = new Map(finishedRuns.map(({ path, direction }) => [resolve(path), direction]))
  const all = new Set(byPath.values())
  const [first = null] = all
  return {
    ofFile: (path) => byPath.get(resolve(path)) ?? byPath.get(dirname(resolve(path))) ?? null,
    ofAll: all.size === 1 ? first : null,
    isAnyMapped: all.has('map'),
  }
}

function printResult(result: RewriteResult, directions: Directions, out: string | undefined): void {
  for (const path of result.resumed) writeLine(`${path}: finished what an interrupted rewrite had begun`)
  for (const file of result.files)
    writeLine(`${file.path}: ${describeCounts(file, directions.ofFile(file.path))}`)
  for (const { path, entries, rewritten } of result.companions) {
    writeLine(
      `${path}: ${count(entries, 'entry', 'entries')}, ${rewritten} ${pastOf(directions.ofFile(path))}`,
    )
  }
  const { files, bytes, seconds } = result.totals
  const parts = [`${count(files, 'segment', 'segments')} (${formatBytes(bytes)}) in ${seconds.toFixed(1)} s`]
  if (result.companions.length > 0) {
    parts.push(count(result.companions.length, 'companion file', 'companion files'))
  }
  if (result.copied > 0) parts.push(`${count(result.copied, 'other file', 'other files')} copied`)
  const place = out === undefined ? 'in place' : `to ${out}`
  const where = result.dryRun ? `${place} (dry run: nothing was changed)` : place
  writeLine(`total: ${parts.join(', ')}, ${where}: ${describeCounts(result.totals, directions.ofAll)}`)
}

function describeCounts(counts: BatchSums, direction: Direction | null): string {
  const { batches, rewritten, alreadyMapped, withoutProducer, control, legacy } = counts
  const parts = [`${rewritten} ${pastOf(direction)}`]
  if (alreadyMapped > 0) parts.push(`${alreadyMapped} ${alreadyOf(direction)} already`)
  if (withoutProducer > 0) parts.push(`${withoutProducer} without producer`)
  if (legacy > 0) parts.push(`${legacy} of magic 0 or 1`)
  const among = control === 0 ? '' : ` (${control} of all are control batches)`
  return `${count(batches, 'batch', 'batches')}: ${parts.join(', ')}${among}`
}

function pastOf(direction: Direction | null): string {
  if (direction === null) return 'rewritten'
  return direction === 'map' ? 'mapped' : 'restored'
}

function alreadyOf(direction: Direction | null): string {
  if (direction === null) return 'so'
  return direction === 'map' ? 'mapped' : 'native'
}

function isNothingFound({ resumed, errors }: RewriteResult): boolean {
  return resumed.length === 0 && errors.length === 0
}

function isAnyChanged({ totals, companions, resumed }: RewriteResult): boolean {
  return totals.rewritten > 0 || resumed.length > 0 || companions.some(({ rewritten }) => rewritten > 0)
}

function noteRebuilt(
  { rebuilt, dryRun }: RewriteResult,
  inPlace: boolean,
  { isAnyMapped }: Directions,
): void {
  if (rebuilt.length === 0) return
  const files = count(rebuilt.length, 'producer snapshot or index', 'producer snapshots and indexes')
  const what = dryRun ? 'would be' : 'were'
  const why = isAnyMapped ? ' (no producer under a negative id may stand in them)' : ''
  writeNote(
    `${files} ${what} ${inPlace ? 'removed' : 'left out'}, so that a broker recovers the log and builds them anew${why}`,
  )
}

function warn(result: RewriteResult, isQuiet: boolean): void {
  for (const { path, bytes } of result.grown) {
    writeWarning(
      `${path}: ${bytes} bytes were added since the interrupted rewrite: a broker was at work on a half rewritten segment. ` +
        'The journal was finished, and what was added is rewritten as the rest',
    )
  }
  for (const met of result.meetings) {
    const { path, hasBarrier, mappedProducerId } = met
    const text = `${path}: ${describePair(met)} become one ${mappedProducerId}`
    if (!hasBarrier) writeWarning(`${text}, and no barrier tells them apart: --force`)
    else if (!isQuiet) writeNote(`${text}; a barrier stands between them`)
  }
  for (const { path, incomplete, trailing } of result.files) {
    if (incomplete !== null) writeWarning(`${path}: ${describeIncomplete(incomplete)}; kept as it is`)
    if (trailing.kind === 'zeros' && !isQuiet) {
      writeNote(`${path}: ${describeZeros(trailing)}; kept as they are`)
    }
  }
  warnOfLeftOut(result)
}
