import { rm } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import type { Direction } from '../../core/core.ts'
import { isRebuilt } from '../../log/fileNames.ts'
import { onFile } from '../files/ioErrors.ts'
import { syncDirectory } from '../files/syncDirectory.ts'
import type { LogFile } from '../paths/logPaths.ts'

/**
 * The files of a partition that are not to go with it, as a broker is to build them anew: all of them or none. Mapped ids
 * stand in none that a broker loads: it would keep their open transactions for ever. And restored ones are not believed
 * where there is no producer snapshot, since a broker that finds indexes looks no further.
 */
export function filesToRebuild(files: readonly LogFile[], direction: Direction): LogFile[] {
  const rebuilt = files.filter(({ path }) => isRebuilt(basename(path)))
  const isKept = direction === 'unmap' && files.some(({ kind }) => kind === 'snapshot')
  return isKept ? [] : rebuilt
}

/** Removes them, and makes that last. Offset indexes come first: a broker that finds none recovers, whatever else is there. */
export async function removeRebuilt(files: readonly LogFile[]): Promise<void> {
  const isOffsetIndex = ({ path }: LogFile) => /\.index(\.swap)?$/.test(path)
  for (const part of [files.filter(isOffsetIndex), files.filter((file) => !isOffsetIndex(file))]) {
    for (const { path } of part) await onFile('remove it', path, () => rm(path, { force: true }))
    if (part[0] !== undefined) await syncDirectory(dirname(part[0].path))
  }
}
