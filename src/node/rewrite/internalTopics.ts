import { realpath } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { holdsIdsInValues } from '../../log/fileNames.ts'
import { MirrorPidError } from '../../mirrorPidError.ts'
import { onFile } from '../files/ioErrors.ts'
import type { LogPath } from '../paths/logPaths.ts'

/**
 * A path that names a partition of `__transaction_state` or `__cluster_metadata`: their record values hold producer ids,
 * which a rewrite of batch headers leaves as they are.
 *
 * @example
 * const { errors } = await rewritePaths(['/kafka'], { outDirectory: '/mapped' })
 * for (const error of errors) if (error instanceof InternalTopicError) console.error(`leave out ${error.file}`)
 */
export class InternalTopicError extends MirrorPidError {
  readonly file: string

  constructor(file: string) {
    super(
      'INTERNAL_TOPIC',
      `${file}: its record values hold producer ids, which would stay as they are: the log of a broker's own coordinator is ` +
        'of use to its own cluster only. Nothing of it was changed; leave it out.',
    )
    this.file = file
  }
}

const REASON =
  'its record values hold producer ids, which would stay as they are; it is of use to its own cluster only'

/** Leaves such partitions out of log directories; a path that names one is refused. */
export async function withoutInternalTopics(
  logs: readonly LogPath[],
): Promise<{ logs: LogPath[]; refused: InternalTopicError[] }> {
  const refused: InternalTopicError[] = []
  const kept: LogPath[] = []
  for (const log of logs) {
    if (log.kind === 'log directory') {
      const units = log.units.filter(({ directory }) => !isOfInternalTopic(directory))
      const skipped = log.units.flatMap(({ directory }) => (isOfInternalTopic(directory) ? [directory] : []))
      const leftOut = [...log.leftOut, ...skipped.map((path) => ({ path, reason: REASON }))]
      kept.push({ ...log, units, leftOut })
    } else if (log.errors.length === 0 && (await namesInternalTopic(log.path, log.kind))) {
      refused.push(new InternalTopicError(log.path))
    } else {
      kept.push(log)
    }
  }
  return { logs: kept, refused }
}

/** @throws InternalTopicError */
export async function requireOtherTopic(segment: string): Promise<void> {
  if (await namesInternalTopic(segment, 'segment')) throw new InternalTopicError(segment)
}

async function namesInternalTopic(path: string, kind: 'partition' | 'segment'): Promise<boolean> {
  // it may be given as "." or by a link
  const real = await onFile('read it', path, () => realpath(path))
  return isOfInternalTopic(kind === 'partition' ? real : dirname(real))
}

function isOfInternalTopic(directory: string | null): directory is string {
  return directory !== null && holdsIdsInValues(basename(directory))
}
