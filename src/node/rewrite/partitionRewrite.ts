import { chmod, constants, copyFile, mkdir, open, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { RewriteMode } from '../../core/core.ts'
import { MIRROR_STATE_FILE } from '../../mirroring/mirrorStateFile.ts'
import { setFileTimes } from '../files/fileTimes.ts'
import { onFile } from '../files/ioErrors.ts'
import { syncDirectory } from '../files/syncDirectory.ts'
import { viaTemporary } from '../files/temporaryFiles.ts'
import type { Job } from '../jobs/job.ts'
import type { SegmentRewrite } from '../jobs/segmentTasks.ts'
import type { LogFile, LogUnit } from '../paths/logPaths.ts'
import { type CompanionRewrite, checkCompanion, writeCompanion } from '../segments/companionFile.ts'
import { runTask } from '../threads/runTask.ts'
import { type IdsThatMeet, judgeIds, meetingOf, startOffsetOf } from './idsThatMeet.ts'
import { filesToRebuild } from './rebuiltFiles.ts'

/** What became of the files of one or more partitions. */
export interface RewrittenFiles {
  /** Segments. */
  files: SegmentRewrite[]
  /** Producer snapshots and transaction indexes. */
  companions: CompanionRewrite[]
  /**
   * Producer snapshots and indexes that were left out of a copy, or removed in place, so that a broker builds them anew: all
   * of a partition. No producer under a negative id is to stand in a file that brokers load.
   */
  rebuilt: string[]
  /** Ids that the mapping makes one, and that were let through. */
  meetings: IdsThatMeet[]
  /** How many other files were copied as they are. */
  copied: number
  /** Segments whose interrupted rewrite in place was finished, by its journal. */
  resumed: string[]
  /** Those of them that a broker has added to since, with the bytes that were added. */
  grown: { path: string; bytes: number }[]
  /**
   * The interrupted runs that were finished, with their modes: each over a partition, by its directory, or over a segment
   * alone.
   */
  finishedRuns: ({ path: string } & RewriteMode)[]
  /** Segments whose journals stay, as their rewrite in place failed after something was changed: the next run finishes it. */
  unfinished: string[]
}

export function noFiles(): RewrittenFiles {
  return {
    files: [],
    companions: [],
    rebuilt: [],
    meetings: [],
    copied: 0,
    resumed: [],
    grown: [],
    finishedRuns: [],
    unfinished: [],
  }
}

/**
 * Writes a whole partition directory: segments and companions rewritten, the other files as they are. It appears under
 * its name by one rename, when all of it is on disk; when anything in it is damaged, or ids meet, it does not.
 */
export async function writePartition(
  unit: LogUnit & { directory: string },
  out: string,
  job: Job,
  mode: RewriteMode,
  force: boolean,
): Promise<RewrittenFiles> {
  const { directory, files } = unit
  const rebuilt = filesToRebuild(files, mode.direction)
  const companions = files.filter(({ kind }) => kind === 'snapshot' || kind === 'txnindex')
  const others = files.filter((file) => !rebuilt.includes(file) && !companions.includes(file))
  return viaTemporary(out, 'new', async (temporary) => {
    await onFile('create it', temporary, () => mkdir(temporary, { mode: 0o700 }))
    const done = noFiles()
    const written = await job.each(others, async (file) => {
      const { path, kind } = file
      const name = basename(path)
      const target = join(temporary, name)
      if (kind === 'segment') {
        const { report, ids } = await runTask('write', { path, target, mode, owner: 'mine' }, job)
        return { path, report: { ...report, out: join(out, name) }, ids }
      }
      if (name === MIRROR_STATE_FILE) return skip(file, job)
      await copyAsItIs(file, target, job)
      return 'copied'
    })
    const segments = written.filter((entry) => typeof entry === 'object')
    done.files.push(...segments.map(({ report }) => report))
    done.copied = written.filter((entry) => entry === 'copied').length
    const meeting = meetingOf(segments, mode.direction)
    const startOffset = startOffsetOf(segments)
    for (const file of companions) {
      if (rebuilt.includes(file)) {
        await checkCompanion(file, job, mode.direction, { meeting, startOffset, force: true })
        continue
      }
      const name = basename(file.path)
      const report = await writeCompanion(file, join(temporary, name), job, mode.direction, 'mine', {
        meeting,
        startOffset,
        force,
      })
      done.companions.push({ ...report, out: join(out, name) })
    }
    done.rebuilt.push(...rebuilt.map(({ path }) => path))
    done.meetings.push(...judgeIds(meeting, directory, mode.direction, force))
    const { mode: permissions } = await onFile('read it', directory, () => stat(directory))
    await onFile('finish it', temporary, () => chmod(temporary, permissions & 0o7777))
    await syncDirectory(temporary)
    return done
  })
}

/** What a mirror has come to is said of one log, and not of a copy with other producer ids. */
function skip(file: LogFile, job: Job): 'left out' {
  job.begin(file.path, file.size).end()
  return 'left out'
}

/** Copies a file that holds no producer ids, with its mode and times. */
export async function copyAsItIs(file: LogFile, target: string, job: Job): Promise<void> {
  const progress = job.begin(file.path, file.size)
  const { mode, ...times } = await onFile('copy it', file.path, async () => {
    await copyFile(file.path, target, constants.COPYFILE_EXCL)
    return stat(file.path)
  })
  await onFile('finish it', target, async () => {
    // the copy has the original's mode, which may let nobody write to it
    await chmod(target, 0o600)
    const handle = await open(target, 'r+')
    try {
      await handle.chmod(mode & 0o7777)
      await setFileTimes(handle, times)
      await handle.sync()
    } finally {
      await handle.close()
    }
  })
  progress.end()
}
