import { chmod, constants, copyFile, mkdir, open, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { CrcMode, Direction } from '../core/core.ts'
import { type CompanionRewrite, checkCompanion, replaceCompanion, writeCompanion } from './companionFile.ts'
import { onFile } from './ioErrors.ts'
import type { Job } from './job.ts'
import type { LogFile, LogUnit } from './logPaths.ts'
import { checkSegment, replaceSegment, type SegmentRewrite, writeSegment } from './segmentPasses.ts'
import { requireNoLink } from './sourceFile.ts'
import { syncDirectory, viaTemporary } from './temporaryFiles.ts'

/** How a rewrite goes about producer ids and CRCs. */
export interface RewriteMode {
  crc: CrcMode
  direction: Direction
}

/** What became of the files of one or more partitions. */
export interface RewrittenFiles {
  /** Segments. */
  files: SegmentRewrite[]
  /** Producer snapshots and transaction indexes. */
  companions: CompanionRewrite[]
  /** How many other files were copied as they are. */
  copied: number
}

export function noFiles(): RewrittenFiles {
  return { files: [], companions: [], copied: 0 }
}

/**
 * Writes a whole partition directory: segments and companions rewritten, the other files as they are. It appears under
 * its name by one rename, when all of it is on disk; when anything in it is damaged, it does not.
 */
export async function writePartition(
  unit: LogUnit & { directory: string },
  out: string,
  job: Job,
  mode: RewriteMode,
): Promise<RewrittenFiles> {
  const { directory } = unit
  return viaTemporary(out, 'new', async (temporary) => {
    await onFile('create it', temporary, () => mkdir(temporary, { mode: 0o700 }))
    const done = noFiles()
    for (const file of unit.files) {
      const name = basename(file.path)
      const target = join(temporary, name)
      const finalName = { out: join(out, name) }
      if (file.kind === 'segment') {
        done.files.push({ ...(await writeSegment(file.path, target, job, mode, 'mine')), ...finalName })
      } else if (file.kind === 'other') {
        await copyAsItIs(file, target, job)
        done.copied++
      } else {
        const report = await writeCompanion(file, target, job, mode.direction, 'mine')
        done.companions.push({ ...report, ...finalName })
      }
    }
    const { mode: permissions } = await onFile('read it', directory, () => stat(directory))
    await onFile('finish it', temporary, () => chmod(temporary, permissions & 0o7777))
    await syncDirectory(temporary)
    return done
  })
}

/**
 * Rewrites a partition's files where they are, each by a rewritten copy that takes its place. Everything is checked
 * first, so that damage anywhere in the partition changes nothing in it. Killed at any time it leaves each file either
 * old or new; a second run does the rest, as the mapping changes nothing twice.
 *
 * @param done takes the files as they are finished: what was replaced stays so when a later file fails
 */
export async function replacePartition(
  unit: LogUnit,
  job: Job,
  mode: RewriteMode,
  done: RewrittenFiles,
): Promise<void> {
  const segments: SegmentRewrite[] = []
  const companions: { file: LogFile; checked: CompanionRewrite }[] = []
  for (const file of unit.files) {
    if (file.kind === 'other') continue
    await requireNoLink(file.path)
    if (file.kind === 'segment') segments.push(await checkSegment(file.path, job, mode))
    else companions.push({ file, checked: await checkCompanion(file, job, mode.direction) })
  }
  for (const checked of segments) {
    done.files.push(checked.rewritten === 0 ? checked : await replaceSegment(checked, job, mode))
  }
  for (const { file, checked } of companions) {
    done.companions.push(
      checked.rewritten === 0 ? checked : await replaceCompanion(file, job, mode.direction),
    )
  }
}

/** Copies a file that holds no producer ids, with its mode and times. */
export async function copyAsItIs(file: LogFile, target: string, job: Job): Promise<void> {
  job.begin(file.path, file.size)
  await onFile('copy it', file.path, async () => {
    await copyFile(file.path, target, constants.COPYFILE_EXCL)
    const { mode, atime, mtime } = await stat(file.path)
    const handle = await open(target, 'r+')
    try {
      await handle.chmod(mode & 0o7777)
      await handle.utimes(atime, mtime)
      await handle.sync()
    } finally {
      await handle.close()
    }
  })
  job.advance(file.size)
}
