import { realpath } from 'node:fs/promises'
import { dirname } from 'node:path'
import { onFile } from '../files/ioErrors.ts'
import type { LogPath, LogUnit } from './logPaths.ts'

/**
 * Leaves of what several paths name each partition and each segment once: a path may be given twice, a partition beside its
 * log directory, a segment beside its partition.
 */
export async function withoutRepeats(logs: readonly LogPath[]): Promise<LogPath[]> {
  if (logs.length < 2) return [...logs]
  const partitions = new Set<string>()
  const paths = new Set<string>()
  const kept = new Set<LogUnit>()
  const units = logs.flatMap((log) => log.units)
  for (const unit of units) {
    if (unit.directory === null) continue
    const path = await realPathOf(unit.directory)
    if (!partitions.has(path)) kept.add(unit)
    partitions.add(path)
  }
  for (const unit of units) {
    const [file] = unit.files
    if (unit.directory !== null || file === undefined) continue
    const path = await realPathOf(file.path)
    if (!paths.has(path) && !partitions.has(dirname(path))) kept.add(unit)
    paths.add(path)
  }
  const distinct: LogPath[] = []
  const directories = new Set<string>()
  for (const log of logs) {
    const path = await realPathOf(log.path)
    const isAgain = directories.has(path)
    if (log.kind !== 'segment') directories.add(path)
    const rest = isAgain ? { ownFiles: [], leftOut: [], errors: [] } : {}
    distinct.push({ ...log, ...rest, units: log.units.filter((unit) => kept.has(unit)) })
  }
  return distinct
}

/** To be compared only: each byte is a character, as two names that are not UTF-8 may be one as text. */
async function realPathOf(path: string): Promise<string> {
  const bytes = await onFile('read it', path, () => realpath(path, 'buffer'))
  return bytes.toString('latin1')
}
