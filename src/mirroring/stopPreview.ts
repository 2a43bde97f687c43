import { engineOf } from '../core/crcEngine.ts'
import { MirrorPidError } from '../errors.ts'
import { baseOffsetOfName, logFileName } from '../log/fileNames.ts'
import type { PartitionLogOptions, RecoveryEvent } from '../log/partition/logOptions.ts'
import { maxOffset, minOffset } from '../log/partition/offsets.ts'
import { PartitionLog } from '../log/partition/partitionLog.ts'
import { previewStorage } from '../log/partition/previewStorage.ts'
import { type Cut, changesOf, type RecoveryChanges } from '../log/partition/recoveryChanges.ts'
import type { LogStorage } from '../log/partition/storage.ts'
import { holdsWholeBatch } from '../log/partition/tornTail.ts'
import { StopRefusedError } from './mirrorErrors.ts'
import { isStopUnderWay, type MirrorState } from './mirrorState.ts'

/** What is known of a log from outside of its segments, so that a cut below it takes what was there for good. */
export interface KnownLog {
  /** Ascending or not; the largest counts. */
  floors: { offset: bigint; of: string }[]
  /** A broker that ends cleanly leaves no batch half written, and no room for more. */
  isClean: boolean
  /** Where what an earlier run of the same stop wrote begins; null where there was none, or not so far. */
  ownFrom: bigint | null
}

/** What the checkpoints and snapshots say of a log. What a stop that was killed has cut and written counts for less. */
export function knownOf(
  storage: LogStorage,
  { recoveryPoint = 0n, highWatermark = 0n, shutdown }: PartitionLogOptions,
  state: MirrorState | null,
): KnownLog {
  const newestSnapshot = storage
    .list()
    .map((name) => (name.endsWith('.snapshot') ? (baseOffsetOfName(name) ?? 0n) : 0n))
    .reduce(maxOffset, 0n)
  const isOurs = isStopUnderWay(state)
  const limit = isOurs ? (state.mirroredEndOffset ?? 0n) : null
  const floor = (offset: bigint, of: string) => ({
    offset: limit === null ? offset : minOffset(offset, limit),
    of,
  })
  return {
    floors: [
      floor(recoveryPoint, 'recovery point'),
      floor(highWatermark, 'high watermark'),
      floor(newestSnapshot, 'newest producer snapshot'),
    ],
    isClean: shutdown === 'clean' && !isOurs,
    ownFrom: isOurs ? state.mirroredEndOffset : null,
  }
}

/** The log as opening will leave it, and what opening will take from the files. */
export interface Preview {
  log: PartitionLog
  changes: RecoveryChanges
}

/**
 * Opens the log in memory first, since opening cuts what is damaged. All that it may take is a torn last write, and room
 * that was allocated for more.
 *
 * @throws MirrorPidError CORRUPT_BATCH; StopRefusedError `records`
 */
export function previewOf(storage: LogStorage, options: PartitionLogOptions, known: KnownLog): Preview {
  const events: RecoveryEvent[] = []
  const log = PartitionLog.open(previewStorage(storage), {
    ...options,
    onRecovery: (event) => events.push(event),
  })
  const changes = changesOf(events)
  for (const cut of changes.cut) checkCut(storage, cut, { log, changes }, known)
  checkRemoved({ log, changes }, options)
  checkLeftovers(storage, { log, changes })
  return { log, changes }
}

function checkCut(
  storage: LogStorage,
  cut: Cut,
  { log, changes }: Preview,
  { floors, isClean, ownFrom }: KnownLog,
): void {
  const { segment, position, bytes, fault, isZero } = cut
  const { logEndOffset } = log
  const name = logFileName(segment, '.log')
  const refuse = (why: string) =>
    new MirrorPidError(
      'CORRUPT_BATCH',
      `${name}: damaged at byte ${position} (${why}); opening the log would cut ${bytes} bytes there, and the segments ` +
        'behind. Nothing was changed; take the partition from another replica, or see what "mirrorpid recover" finds.',
    )
  const isLast = changes.removedSegments.length === 0 && segment === log.segments.at(-1)?.baseOffset
  // power that failed while a stop wrote may have left anything of that, and the next run writes it again
  const isOwn = ownFrom !== null && logEndOffset >= ownFrom
  const isTorn = isOwn || (!isClean && (isZero || fault === 'incomplete'))
  if (!isLast || !isTorn) throw refuse(fault)
  const floor = floors.reduce((a, b) => (b.offset > a.offset ? b : a))
  if (logEndOffset < floor.offset) {
    throw refuse(`${fault}; the ${floor.of} is ${floor.offset}, and the log would end at ${logEndOffset}`)
  }
  if (!isOwn && !isZero && holdsWholeBatch(storage.open(name), position, engineOf(log.core), logEndOffset)) {
    throw refuse(`${fault}; a whole batch is there`)
  }
}

function checkRemoved({ log, changes }: Preview, { logStartOffset = 0n }: PartitionLogOptions): void {
  const { removedSegments } = changes
  if (removedSegments.length === 0) return
  const why =
    logStartOffset > 0n && log.logEndOffset === logStartOffset
      ? `: the log start offset ${logStartOffset}, of a checkpoint, lies above the end of the log`
      : ''
  throw new StopRefusedError(
    'records',
    `opening the log would remove ${removedSegments.length} of its segments${why}`,
    'check where the directory and its checkpoints come from, and see what "mirrorpid recover" finds.',
  )
}

/** An unfinished compaction takes the place of segments; a removed one behind the end may be what the log lacks. */
function checkLeftovers(storage: LogStorage, { log, changes }: Preview): void {
  const name = changes.leftovers.find((leftover) => {
    if (leftover.endsWith('.log.swap')) return true
    if (!leftover.endsWith('.log.deleted')) return false
    return (baseOffsetOfName(leftover) ?? 0n) >= log.logEndOffset && storage.open(leftover).size > 0
  })
  if (name === undefined) return
  throw new StopRefusedError(
    'records',
    `${name}, which a broker has left, would be moved or removed by opening the log, and records with it`,
    'let a broker start on it and end cleanly, or look at it with "mirrorpid recover", which finishes this with --write.',
  )
}
