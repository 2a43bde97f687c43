import { readFile, stat } from 'node:fs/promises'
import type { Core } from '../../core/core.ts'
import { dumpSnapshot, dumpTransactionIndex } from '../../dump/companionDump.ts'
import type { DumpFormat } from '../../dump/dumpFormat.ts'
import type { DumpOptions } from '../../dump/dumpOptions.ts'
import { DumpSession, type DumpSink } from '../../dump/dumpSession.ts'
import { FileReport, type FindingSink } from '../../dump/fileReport.ts'
import { dumpOffsetIndex } from '../../dump/indexDump.ts'
import { dumpLog } from '../../dump/logDump.ts'
import { dumpTimeIndex } from '../../dump/timeIndexDump.ts'
import { LogFileError, MirrorPidError } from '../../errors.ts'
import { loadCoreSync } from '../../wasm/load.ts'
import { byteSourceOf } from '../files/fileByteSource.ts'
import { onFile } from '../files/ioErrors.ts'
import { withSource } from '../files/sourceFile.ts'
import { unfinishedRewrites } from '../journal/journalErrors.ts'
import { journalsOf } from '../paths/logPaths.ts'
import {
  absolutePathOf,
  baseOffsetOf,
  type DumpedFile,
  dumpedFiles,
  logHeadOf,
  siblingOf,
} from './dumpedFiles.ts'

/** Where a dump goes, besides its text. */
export interface DumpListener extends FindingSink {
  /** A file of a kind that is not known is left out. */
  unknownFile(path: string): void
  /** A file that the system would not read. */
  failed(error: MirrorPidError): void
  /** A file is done, with all that was found. */
  done(report: FileReport): void
}

export interface DumpTotals {
  findings: number
  errors: MirrorPidError[]
}

/**
 * Dumps files as Kafka's DumpLogSegments does: logs, checkpoints, indexes and producer snapshots. Nothing ends it but a
 * sink that fails: damage, unreadable files and paths of no log are told, and the next batch or file goes on.
 *
 * @param paths of such files, of partition directories or log directories
 * @param sink must not reject with one of this package's errors: those are taken for the file's
 */
export async function dumpPaths(
  paths: readonly string[],
  format: DumpFormat,
  options: DumpOptions,
  sink: DumpSink,
  listener: DumpListener,
  core: Core = loadCoreSync(),
): Promise<DumpTotals> {
  const session = new DumpSession(core, format, options, sink)
  const totals: DumpTotals = { findings: 0, errors: [] }
  const fail = (error: unknown) => {
    if (!MirrorPidError.is(error)) throw error
    totals.errors.push(error)
    listener.failed(error)
  }
  const files = await dumpedFiles(paths, fail)
  format.begin()
  for (const file of files) {
    const report = new FileReport(file.path, absolutePathOf(file.path), listener)
    format.beginFile(file.path, file.kind)
    try {
      // it is dumped all the same: this is how to look at what was interrupted
      for (const error of unfinishedRewrites({ journals: await journalsOf(file.path) })) fail(error)
      await dumpFile(file, session, report, listener)
    } catch (error) {
      fail(error)
    }
    format.endFile(report)
    listener.done(report)
    totals.findings += report.findingCount
    if (session.isFull) await session.flush()
  }
  format.end(totals.findings, totals.errors)
  await session.drain()
  return totals
}

async function dumpFile(
  file: DumpedFile,
  session: DumpSession,
  report: FileReport,
  listener: DumpListener,
): Promise<void> {
  const { path, name, kind } = file
  switch (kind) {
    case 'log':
    case 'checkpoint': {
      const head = logHeadOf(file)
      if (head !== null) session.format.logHead(head)
      const baseOffset = head?.kind === 'log' ? head.baseOffset : null
      await withSource(path, (source) => {
        if (head === null) report.note('its name holds no offset')
        return dumpLog(byteSourceOf(source), session, report, baseOffset, name)
      })
      break
    }
    case 'index':
    case 'timeindex':
      await dumpIndex(file, session, report)
      break
    case 'txnindex':
      await dumpTransactionIndex(await wholeFile(path), session, report)
      break
    case 'snapshot':
      await dumpSnapshot(await wholeFile(path), session, report)
      break
    default:
      listener.unknownFile(path)
      await onFile('read it', path, () => stat(path))
  }
}

/** Companions are small, a few bytes for each producer or aborted transaction. */
function wholeFile(path: string): Promise<Uint8Array> {
  return onFile('read it', path, () => readFile(path))
}

async function dumpIndex(file: DumpedFile, session: DumpSession, report: FileReport): Promise<void> {
  const { path, kind } = file
  let baseOffset = baseOffsetOf(file.name)
  if (baseOffset === null) {
    report.note('its name holds no base offset, so offsets are relative')
    baseOffset = 0n
  }
  const base = baseOffset
  await withSource(siblingOf(file, 'log'), (log) =>
    withSource(path, async (index) => {
      const [source, logSource] = [byteSourceOf(index), byteSourceOf(log)]
      if (kind === 'index') return dumpOffsetIndex(source, logSource, session, report, base)
      return withOffsetIndex(file, report, (offsets) =>
        dumpTimeIndex(source, logSource, offsets, session, report, base),
      )
    }),
  )
}

/** The offset index only makes the way shorter, so a time index is checked without one too. */
async function withOffsetIndex(
  file: DumpedFile,
  report: FileReport,
  use: (offsets: ReturnType<typeof byteSourceOf> | null) => Promise<void>,
): Promise<void> {
  const path = siblingOf(file, 'index')
  try {
    await withSource(path, (source) => use(byteSourceOf(source)))
  } catch (error) {
    if (!(error instanceof LogFileError && error.file === path && error.errno === 'ENOENT')) throw error
    report.note(`there is no ${path}`)
    await use(null)
  }
}
