import { InvalidArgumentError } from '../errors.ts'
import { LEADER_EPOCH_CHECKPOINT, readLeaderEpochs } from '../log/partition/leaderEpochs.ts'
import type { PartitionLog } from '../log/partition/partitionLog.ts'
import type { LogStorage } from '../log/partition/storage.ts'
import { isStopUnderWay, type MirrorState, type OpenTransactionsMode } from './mirrorState.ts'

/** The latest epoch that the replica has heard of: opening forgets one that no batch was written in. */
export function notedEpoch(storage: LogStorage): number {
  return readLeaderEpochs(storage).at(-1)?.epoch ?? 0
}

/**
 * The leader epoch of what a stop writes. Replicas learn of a cut by an epoch that is above all of the log; a stop that was
 * killed has noted the one that it began with.
 *
 * @throws InvalidArgumentError
 */
export function leaderEpochOf(
  noted: number,
  log: PartitionLog,
  state: MirrorState | null,
  mode: OpenTransactionsMode,
  given: number | undefined,
): number {
  const latest = Math.max(noted, log.leaderEpochs.at(-1)?.epoch ?? 0)
  const own = isStopUnderWay(state) ? state.leaderEpoch : undefined
  const isOurs = own !== undefined && own >= latest
  const least = isOurs ? own : mode === 'truncate' ? latest + 1 : latest
  if (given === undefined) return least
  if (Number.isInteger(given) && given >= least && given < 2 ** 31) return given
  const why =
    isOurs || mode === 'abort'
      ? `the latest of this log; got ${given}`
      : `so that replicas learn of the cut: the latest of this log is ${latest}; got ${given}`
  throw new InvalidArgumentError(`the leader epoch must be a whole number from ${least} on, ${why}`)
}

/** Storage whose `leader-epoch-checkpoint` stays as it is until it is let through. */
export interface HeldEpochs {
  storage: LogStorage
  /** Writes what was held back, and holds no more; safe to repeat. */
  letThrough(): void
}

/**
 * Opening a log drops an epoch without batches from the checkpoint, which is the only place that has it. So what a log
 * writes there is held back until the stop has noted its epoch: a stop that is killed before finds it again.
 */
export function holdEpochs(below: LogStorage): HeldEpochs {
  let held: Uint8Array | null = null
  let isHolding = true
  const isHeld = (name: string) => isHolding && name === LEADER_EPOCH_CHECKPOINT
  return {
    storage: {
      isPreview: below.isPreview ?? false,
      list: () => below.list(),
      read: (name) => (isHeld(name) && held !== null ? held : below.read(name)),
      write(name, bytes) {
        if (isHeld(name)) held = bytes
        else below.write(name, bytes)
      },
      open: (name) => below.open(name),
      rename: (from, to) => below.rename(from, to),
      remove: (name) => below.remove(name),
      sync: () => below.sync(),
      close: () => below.close(),
    },
    letThrough() {
      isHolding = false
      if (held !== null) below.write(LEADER_EPOCH_CHECKPOINT, held)
      held = null
    },
  }
}
