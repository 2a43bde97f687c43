import { isUtf8 } from 'node:buffer'
import type { Stats } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { InvalidArgumentError, LogFileError } from '../../errors.ts'
import { isNumberedSegment, isPartitionName, kindOfLogFile, type LogFileKind } from '../../log/fileNames.ts'
import { onFile } from '../files/ioErrors.ts'
import { isJournalName, isTemporaryName, isThere, journalPathOf } from '../files/temporaryFiles.ts'
import { isLockName } from '../locks/directoryLock.ts'
import { withoutRepeats } from './repeatedPaths.ts'

/** A file of a log, by what a rewrite does with it. */
export interface LogFile {
  path: string
  kind: LogFileKind
  /** Bytes, when it was looked at. */
  size: number
}

/** A partition's directory, or a single segment file as if it were one. */
export interface LogUnit {
  /** Null for a single segment file. */
  directory: string | null
  /** By name: so segments by base offset, each beside its companions. */
  files: LogFile[]
  /** What interrupted rewrites in place left to be finished. */
  journals: LogJournal[]
}

/** The journal of an interrupted rewrite in place. */
export interface LogJournal {
  path: string
  /** The segment that is half rewritten; null where it is gone. */
  segment: string | null
}

/** The directory that a unit's files lie in. */
export function directoryOf({ directory, files }: LogUnit): string {
  return directory ?? dirname(files[0]?.path ?? '')
}

/** What a PATH names: one segment file, one partition directory, or a log directory with partitions in it. */
export interface LogPath {
  path: string
  kind: 'segment' | 'partition' | 'log directory'
  units: LogUnit[]
  /** Checkpoints and the like, beside the partitions of a log directory. */
  ownFiles: LogFile[]
  /** What was met and belongs to no log, with the reason. */
  leftOut: { path: string; reason: string }[]
  /** One for each partition that cannot be read; the others are there. */
  errors: LogFileError[]
}

const INTERRUPTED = 'left by an interrupted run of mirrorpid; remove it when none is at work'
const JOURNAL = 'the journal of an interrupted rewrite in place, which "rewrite --in-place --resume" finishes'
// a broker's lock on a log directory says nothing about a copy
const LOCK = '.lock'
// Kafka's RemoteIndexCache; a broker fetches it anew
const REMOTE_INDEX_CACHE = 'remote-log-index-cache'

/** A name in a directory. */
interface Entry {
  name: string
  isDirectory: boolean
  /** Of what cannot be opened, as `name` is not what it is called; null for all else. */
  fault: string | null
}

/** Looks at what each of the paths names, once each; there must be one at least. */
export async function readLogPaths(paths: readonly string[]): Promise<LogPath[]> {
  if (paths.length === 0) throw new InvalidArgumentError('give at least one path')
  const logs: LogPath[] = []
  const unread: LogPath[] = []
  for (const path of paths) {
    try {
      logs.push(await readLogPath(path))
    } catch (error) {
      if (!isUnreadable(error)) throw error
      unread.push({ ...noLog(path), errors: [error] })
    }
  }
  const read = await withoutRepeats(logs)
  const [error] = [...read, ...unread].flatMap(({ errors }) => errors)
  if (error !== undefined && read.every(({ units }) => units.length === 0)) throw error
  return [...read, ...unread]
}

function noLog(path: string): LogPath {
  return { path, kind: 'segment', units: [], ownFiles: [], leftOut: [], errors: [] }
}

/** Whether something is there and the system does not let this user, or anybody, read it. */
function isUnreadable(error: unknown): error is LogFileError {
  return error instanceof LogFileError && ['EACCES', 'EPERM', 'EIO'].includes(error.errno ?? '')
}

/**
 * Looks at what a path names.
 * @throws LogFileError NOT_A_LOG, IO_ERROR
 */
export async function readLogPath(path: string): Promise<LogPath> {
  const log = noLog(path)
  if (isTemporaryName(basename(resolve(path)))) throw notALog(path, INTERRUPTED)
  if (isJournalName(basename(path))) throw notALog(path, JOURNAL)
  const stats = await statOf(path)
  if (stats.isFile()) {
    const kind = kindOfLogFile(basename(path))
    if (kind !== 'segment') throw notALog(path, 'a segment file ends in .log, and this one does not')
    const journals = await journalsOf(path)
    log.units.push({ directory: null, files: [{ path, kind, size: stats.size }], journals })
    return log
  }
  if (!stats.isDirectory()) throw notALog(path, 'it is neither a file nor a directory')
  const entries = await list(path)
  if (isPartition(entries)) {
    log.kind = 'partition'
    log.units.push(await readPartition(log, path, entries))
    return log
  }
  log.kind = 'log directory'
  await readLogDirectory(log, entries)
  return log
}

/** What is in a unit now: another run may have been at work on it since it was looked at. */
export async function readUnitAgain({ directory, files }: LogUnit): Promise<LogUnit> {
  if (directory !== null) return readPartition(noLog(directory), directory, await list(directory))
  const [file] = files
  if (file === undefined) return { directory, files: [], journals: [] }
  const { size } = await statOf(file.path)
  return { directory, files: [{ ...file, size }], journals: await journalsOf(file.path) }
}

/** The journal that an interrupted rewrite in place left beside a segment file, if there is one. */
export async function journalsOf(segment: string): Promise<LogJournal[]> {
  const path = journalPathOf(segment)
  return (await isThere(path)) ? [{ path, segment }] : []
}

/** The journals among these files of one directory. */
export function journalsAmong(paths: readonly string[]): LogJournal[] {
  const segments = new Map(paths.map((path) => [journalPathOf(path), path]))
  return paths.filter(isJournalName).map((path) => ({ path, segment: segments.get(path) ?? null }))
}

/** The segments in whose place stands what the cleaner or a split has finished (`.swap`). */
export function replacedSegments(segments: readonly string[]): Set<string> {
  return new Set(
    segments.map((path) => path.replace(/\.swap$/, '')).filter((path, at) => path !== segments[at]!),
  )
}

/** Numbered segments tell; among files alone, so does anything that ends in .log. */
function isPartition(entries: readonly Entry[]): boolean {
  const files = entries.filter(({ isDirectory }) => !isDirectory)
  if (files.some(({ name }) => isNumberedSegment(name))) return true
  const isSegment = ({ name, fault }: Entry) => fault === null && kindOfLogFile(name) === 'segment'
  return files.length === entries.length && files.some(isSegment)
}

async function readPartition(log: LogPath, directory: string, entries: readonly Entry[]): Promise<LogUnit> {
  const files: LogFile[] = []
  const journals: string[] = []
  for (const { name, fault } of entries) {
    if (isLockName(name)) continue
    const path = join(directory, name)
    if (fault !== null) {
      log.leftOut.push({ path, reason: fault })
      continue
    }
    if (isJournalName(name)) {
      journals.push(path)
      continue
    }
    if (isTemporaryName(name)) {
      log.leftOut.push({ path, reason: INTERRUPTED })
      continue
    }
    const stats = await statOfListed(path)
    if (stats === null) continue
    if (!stats.isFile()) {
      throw notALog(
        path,
        'a partition directory holds files only, so what this is cannot be told; move it away',
      )
    }
    files.push({ path, kind: kindOfLogFile(name), size: stats.size })
  }
  return { directory, files, journals: journalsAmong([...files.map(({ path }) => path), ...journals]) }
}

async function readLogDirectory(log: LogPath, entries: readonly Entry[]): Promise<void> {
  let segments = 0
  for (const { name, fault } of entries) {
    const path = join(log.path, name)
    if (name === LOCK || isLockName(name)) continue
    if (fault !== null) {
      log.leftOut.push({ path, reason: fault })
      continue
    }
    if (isTemporaryName(name)) {
      log.leftOut.push({ path, reason: INTERRUPTED })
      continue
    }
    const stats = await statOfListed(path)
    if (stats === null) continue
    if (stats.isFile()) {
      log.ownFiles.push({ path, kind: 'other', size: stats.size })
    } else if (!stats.isDirectory()) {
      throw notALog(path, 'it is neither a file nor a directory')
    } else if (name === REMOTE_INDEX_CACHE) {
      log.leftOut.push({ path, reason: 'a cache of remote indexes, which a broker fetches anew' })
    } else {
      try {
        const inside = await list(path)
        const held = inside.filter((entry) => isNumberedSegment(entry.name)).length
        segments += held
        if (held > 0 || isPartitionName(name)) log.units.push(await readPartition(log, path, inside))
        else log.leftOut.push({ path, reason: 'it holds no segments' })
      } catch (error) {
        if (!isUnreadable(error)) throw error
        if (isPartitionName(name)) log.errors.push(error)
        else log.leftOut.push({ path, reason: error.message })
      }
    }
  }
  if (segments > 0 || log.errors.length > 0) return
  const unread = entries.find(({ fault }) => fault !== null)?.fault ?? null
  throw notALog(
    log.path,
    'there is no segment (such as 00000000000000000000.log) in it or in the directories directly below' +
      (unread === null ? '' : `, but for one that was left out: ${unread}`),
  )
}

async function list(directory: string): Promise<Entry[]> {
  // as text, a byte that is none becomes U+FFFD: a name that is not there, or another file's; Bun has no types for bytes
  const [names, typed] = await onFile('list it', directory, () =>
    Promise.all([readdir(directory, { encoding: 'buffer' }), readdir(directory, { withFileTypes: true })]),
  )
  const directories = new Set(typed.filter((entry) => entry.isDirectory()).map(({ name }) => name))
  const entries: Entry[] = []
  const taken = new Set<string>()
  for (const bytes of names) {
    const name = bytes.toString()
    // Deno makes its bytes of the text
    const isLost = name.includes('\ufffd') && (taken.has(name) || !(await isThere(join(directory, name))))
    const isName = isUtf8(bytes) && !isLost
    if (isName) taken.add(name)
    const shown = isUtf8(bytes) ? name : escaped(bytes)
    const fault = isName ? null : `its name (${shown}) is not UTF-8; rename it`
    entries.push({ name, isDirectory: directories.has(name), fault })
  }
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Bytes as a shell takes them: "caf\xe9-0". */
function escaped(name: Uint8Array): string {
  return Array.from(name, (byte) =>
    byte < 0x80 ? String.fromCharCode(byte) : `\\x${byte.toString(16)}`,
  ).join('')
}

function statOf(path: string): Promise<Stats> {
  return onFile('read it', path, () => stat(path))
}

/** Null for a name that is gone since it was listed: another run is at work, whose lock will tell, if it matters. */
async function statOfListed(path: string): Promise<Stats | null> {
  try {
    return await statOf(path)
  } catch (error) {
    const isGone = error instanceof LogFileError && error.errno === 'ENOENT' && !(await isThere(path))
    if (isGone) return null
    throw error
  }
}

function notALog(path: string, reason: string): LogFileError {
  return new LogFileError(
    'NOT_A_LOG',
    `${path}: ${reason}. Give a segment file (.log), a partition directory or a log directory.`,
    path,
  )
}
