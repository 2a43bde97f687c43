import { mkdir } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import {
  checkRewriteOptions,
  type OptionKinds,
  REWRITE_OPTIONS,
  requireOptions,
  requirePaths,
} from '../../core/arguments.ts'
import type { RewriteMode, RewriteOptions } from '../../core/core.ts'
import { InvalidArgumentError, MirrorPidError } from '../../errors.ts'
import { addCounts, type BatchSums, newSums } from '../../log/counts.ts'
import { onFile } from '../files/ioErrors.ts'
import { syncDirectory } from '../files/syncDirectory.ts'
import { isThere, viaTemporary } from '../files/temporaryFiles.ts'
import { JOBS_OPTIONS, Job, type JobsOptions } from '../jobs/job.ts'
import { requireFinished } from '../journal/journalErrors.ts'
import { DirectoryLocks } from '../locks/directoryLock.ts'
import { directoryOf, type LogPath, type LogUnit, readLogPaths } from '../paths/logPaths.ts'
import { runTask } from '../threads/runTask.ts'
import { Workers } from '../threads/workers.ts'
import { judgeSegment } from './idsThatMeet.ts'
import { requireChangeable, rewriteInPlace } from './inPlaceRewrite.ts'
import { withoutInternalTopics } from './internalTopics.ts'
import { rewriteDry } from './partitionCheck.ts'
import { copyAsItIs, noFiles, type RewrittenFiles, writePartition } from './partitionRewrite.ts'
import { type PlannedOutput, planOutputs } from './rewritePlan.ts'

export interface RewritePathsOptions extends RewriteOptions, JobsOptions {
  /** The directory for the output, made where it is missing. Exactly one of this and `inPlace` is given. */
  outDirectory?: string
  inPlace?: boolean
  /**
   * With `inPlace`: only finish what interrupted runs left, each in its mode and as far as it was to go: over a partition,
   * or over one segment and nothing else. What has nothing to be finished is left alone. Without this, the journals of such
   * runs are finished first, and all the rest is rewritten in the mode of this one.
   */
  resume?: boolean
  /** With `inPlace`, default false: where a broker is seen to be at work on a log directory, the call fails with BROKER_RUNNING. */
  ignoreBroker?: boolean
  /**
   * Go on where the mapping puts two producers of a partition under one id. Overrides neither ids without an image nor damage.
   * Default false.
   */
  force?: boolean
  /** Change nothing, and tell what would be. Not with `resume`; what an interrupted run left is an error then. */
  dryRun?: boolean
}

const PATHS_OPTIONS: OptionKinds<RewritePathsOptions> = {
  ...REWRITE_OPTIONS,
  ...JOBS_OPTIONS,
  outDirectory: 'string',
  inPlace: 'boolean',
  resume: 'boolean',
  ignoreBroker: 'boolean',
  force: 'boolean',
  dryRun: 'boolean',
}

/** The sums over all segments. */
export interface RewriteTotals extends BatchSums {
  /** Number of segments. */
  files: number
  /** Their size. */
  bytes: number
  /** Time for everything, not only for segments. */
  seconds: number
  validBytes: number
}

/** What became of each file of a rewrite. What succeeds is there, whatever failed beside it. */
export interface RewriteResult extends RewrittenFiles {
  totals: RewriteTotals
  /** One for each part that was not rewritten: damage, or an error of the system. The other parts are. */
  errors: MirrorPidError[]
  /** What was met and belongs to no log, with the reason. */
  leftOut: LogPath['leftOut']
  /** Whether nothing was changed, as asked for. */
  dryRun: boolean
}

/** What is common to all parts. */
interface Rewriting {
  mode: RewriteMode
  force: boolean
  dryRun: boolean
}

/** Something that succeeds or fails as a whole. */
interface Part {
  /** How far it takes the job. */
  bytes: number
  /** Does it, and tells of each file as it is done. */
  rewrite: (job: Job, done: RewrittenFiles) => Promise<void>
}

/**
 * Rewrites segment files, partition directories and log directories: in segments (`.log`, `.log.swap`), all producer ids.
 * Producer snapshots and indexes do not go with a mapped log (`rebuilt`): brokers build them anew. Where ids are restored
 * and there are snapshots, those and transaction indexes are restored too.
 *
 * Into an output directory, a partition directory appears whole, with its other files as they are, or not at all; so
 * does each file beside partitions. All outputs are looked for before anything is written.
 *
 * In place, a partition is changed when all of it was found to be fine. Of segments only headers change, by a journal
 * (`<segment>.mirrorpid-journal`) that is on disk before them; a job that is killed meanwhile leaves it, and the next one
 * on the same path finishes the work first. Until then other jobs refuse that segment. A file that has more names (hard
 * links) is replaced by a rewritten copy, so that the others keep the old bytes. Modification times stay.
 *
 * A path that is given twice, or lies in another one, is rewritten once. In place, the directory at work is locked, by
 * `.mirrorpid-lock` in it: another run of this package that would change it fails with DIRECTORY_LOCKED.
 *
 * No broker may be at work on the paths. What is damaged is left out and listed in `errors`; the rest is rewritten. So is a
 * partition in which two producers would come under one id (ProducerIdsMeetError), unless `force`. Partitions of
 * `__transaction_state` and `__cluster_metadata` are left out of log directories, and errors where a path names one.
 *
 * @param paths of segment files, partition directories or log directories
 * @throws LogFileError NOT_A_LOG, OUTPUT_EXISTS, IO_ERROR, and in place BROKER_RUNNING, before anything is written
 * @throws CorruptCheckpointError in place, where a small file of the broker is there and cannot be read; nothing was written
 * @throws InvalidArgumentError
 * @example
 * const { files, errors } = await rewritePaths(['/data/orders-0'], { outDirectory: '/mapped', crc: 'verify' })
 */
export async function rewritePaths(
  paths: readonly string[],
  options: RewritePathsOptions,
): Promise<RewriteResult> {
  requirePaths(paths)
  requireOptions('options of rewritePaths', options, PATHS_OPTIONS)
  const { outDirectory, inPlace = false, resume = false, force = false, dryRun = false } = options
  if ((outDirectory === undefined) !== inPlace) {
    throw new InvalidArgumentError(
      'give exactly one of outDirectory (where the output goes) and inPlace: true',
    )
  }
  if (resume && (!inPlace || options.crc !== undefined || options.direction !== undefined)) {
    throw new InvalidArgumentError(
      'resume goes with inPlace, and takes crc and direction from the interrupted run',
    )
  }
  if (resume && dryRun)
    throw new InvalidArgumentError('resume finishes what was begun, and dryRun changes nothing')
  const rewriting = { mode: checkRewriteOptions(options), force, dryRun }
  const job = Job.start(options)
  const began = performance.now()
  const { logs, refused } = await withoutInternalTopics(await readLogPaths(paths))
  const units = logs.flatMap((log) => log.units)
  if (inPlace) requireChangeable(units.map(directoryOf), options)
  const parts =
    outDirectory === undefined
      ? partsInPlace(logs, rewriting, resume)
      : await partsInto(outDirectory, logs, rewriting)
  const { done, errors } = await Workers.employ(job, units, options.signal, () => rewriteParts(parts, job))
  const leftOut = logs.flatMap((log) => log.leftOut)
  const unread = logs.flatMap((log) => log.errors)
  const totals = totalsOf(done, (performance.now() - began) / 1000)
  return { ...done, totals, errors: [...unread, ...refused, ...errors], leftOut, dryRun }
}

async function partsInto(directory: string, logs: readonly LogPath[], rewriting: Rewriting): Promise<Part[]> {
  const outputs = await planOutputs(logs, directory)
  if (!rewriting.dryRun && outputs.length > 0) await makeDirectory(directory)
  return outputs.map((output) => ({
    bytes: sizeOf(output.kind === 'copy' ? [output.file] : output.unit.files),
    rewrite: (job, done) => writeOutput(output, job, rewriting, done),
  }))
}

async function writeOutput(
  output: PlannedOutput,
  job: Job,
  { mode, force, dryRun }: Rewriting,
  done: RewrittenFiles,
): Promise<void> {
  const { out } = output
  if (output.kind === 'copy') {
    if (!dryRun) await viaTemporary(out, 'new', (target) => copyAsItIs(output.file, target, job))
    done.copied++
  } else if (dryRun) {
    await rewriteDry(output.unit, job, mode, done, force, out)
  } else if (output.kind === 'partition') {
    requireFinished(output.unit)
    Object.assign(done, await writePartition(output.unit, out, job, mode, force))
  } else {
    requireFinished(output.unit)
    const { path } = output.file
    const { report, meetings } = await viaTemporary(out, 'new', async (target) =>
      judgeSegment(await runTask('write', { path, target, mode, owner: 'mine' }, job), mode.direction, force),
    )
    done.files.push({ ...report, out })
    done.meetings.push(...meetings)
  }
}

function partsInPlace(logs: readonly LogPath[], { mode, force, dryRun }: Rewriting, resume: boolean): Part[] {
  const locks = new DirectoryLocks()
  return logs
    .flatMap((log) => log.units)
    .map((unit) => ({
      // once to check, once to rewrite
      bytes: (dryRun ? 1 : 2) * sizeOf(unit.files.filter((file) => file.kind !== 'other')),
      rewrite: (job, done) =>
        dryRun
          ? rewriteDry(unit, job, mode, done, force, null)
          : rewriteInPlace(unit, job, resume ? null : mode, done, locks, force),
    }))
}

async function rewriteParts(
  parts: readonly Part[],
  job: Job,
): Promise<{ done: RewrittenFiles; errors: MirrorPidError[] }> {
  job.plan(parts.reduce((sum, part) => sum + part.bytes, 0))
  const outcomes = await job.each(parts, async ({ bytes, rewrite }) => {
    const part = job.part(bytes)
    const done = noFiles()
    try {
      await rewrite(part, done)
      return { done, error: null }
    } catch (error) {
      if (!MirrorPidError.is(error)) throw error
      return { done, error }
    } finally {
      part.end()
    }
  })
  const all = noFiles()
  for (const { done } of outcomes) {
    all.files.push(...done.files)
    all.companions.push(...done.companions)
    all.rebuilt.push(...done.rebuilt)
    all.meetings.push(...done.meetings)
    all.copied += done.copied
    all.resumed.push(...done.resumed)
    all.grown.push(...done.grown)
    all.finishedRuns.push(...done.finishedRuns)
    all.unfinished.push(...done.unfinished)
  }
  return { done: all, errors: outcomes.flatMap(({ error }) => error ?? []) }
}

function sizeOf(files: LogUnit['files']): number {
  return files.reduce((sum, file) => sum + file.size, 0)
}

/** Makes the directory and those above it where they are missing, and their names last. Fails first where they cannot. */
async function makeDirectory(directory: string): Promise<void> {
  if (await isThere(directory)) return syncDirectory(directory)
  const above = dirname(resolve(directory))
  await makeDirectory(above)
  await onFile('create it', directory, () => mkdir(directory))
  await syncDirectory(above)
}

function totalsOf(done: RewrittenFiles, seconds: number): RewriteTotals {
  const totals = { files: done.files.length, bytes: 0, seconds, ...newSums(), validBytes: 0 }
  for (const file of done.files) {
    addCounts(totals, file)
    totals.bytes += file.bytes
    totals.validBytes += file.validBytes
  }
  return totals
}

/** The result of a job that failed before it began. */
export function failedRewrite(error: MirrorPidError): RewriteResult {
  const done = noFiles()
  return { ...done, totals: totalsOf(done, 0), errors: [error], leftOut: [], dryRun: false }
}
