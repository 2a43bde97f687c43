import { InvalidArgumentError } from '../../errors.ts'
import { isNumberedSegment } from '../fileNames.ts'
import { decodeCheckpointFile, parseInt32, parseInt64 } from './checkpointFile.ts'
import type { LogStorage } from './storage.ts'

export const LEADER_EPOCH_CHECKPOINT = 'leader-epoch-checkpoint'
const VERSION = '0'
const MAX_EPOCH = 2 ** 31 - 1

/** A leader's epoch, and the first offset that was written in it. */
export interface EpochEntry {
  epoch: number
  startOffset: bigint
}

/**
 * Reads a `leader-epoch-checkpoint`: a version, a count, and a line `<epoch> <start offset>` each. Both rise from line to
 * line; as in a broker, a line drops those before it that it contradicts.
 *
 * @throws CorruptCheckpointError
 * @see Kafka's LeaderEpochCheckpointFile
 * @example
 * decodeLeaderEpochs('0\n1\n5 100\n') // [{ epoch: 5, startOffset: 100n }]
 */
export function decodeLeaderEpochs(
  content: Uint8Array | string,
  file = LEADER_EPOCH_CHECKPOINT,
): EpochEntry[] {
  const entries = decodeCheckpointFile(content, file, '<epoch> <start offset>', ([first, second]) => {
    const [epoch, startOffset] = [parseInt32(first!), parseInt64(second!)]
    if (epoch === null || epoch < 0 || startOffset === null || startOffset < 0n) return null
    return { epoch, startOffset }
  })
  return entries.reduce(withEntry, [] as EpochEntry[])
}

/**
 * The leader epochs that storage holds. A broker makes the file with a partition, empty, and writes to it with the first
 * batch: so an empty one is that of a log without batches, and of no other.
 * @throws CorruptCheckpointError
 */
export function readLeaderEpochs(storage: LogStorage, file = LEADER_EPOCH_CHECKPOINT): EpochEntry[] {
  const bytes = storage.read(LEADER_EPOCH_CHECKPOINT)
  if (bytes === null || (bytes.length === 0 && isNewLog(storage))) return []
  return decodeLeaderEpochs(bytes, file)
}

function isNewLog(storage: LogStorage): boolean {
  const segments = storage.list().filter(isNumberedSegment)
  return segments.every((name) => /^0+\.log$/.test(name) && storage.open(name).size === 0)
}

/** @throws InvalidArgumentError for what is no epoch of a leader */
export function requireLeaderEpoch(name: string, epoch: number): number {
  if (Number.isInteger(epoch) && epoch >= 0 && epoch <= MAX_EPOCH) return epoch
  throw new InvalidArgumentError(
    `${name} must be a whole number from 0 to ${MAX_EPOCH}; got ${String(epoch)}`,
  )
}

/** The inverse of `decodeLeaderEpochs`. */
export function encodeLeaderEpochs(entries: readonly EpochEntry[]): string {
  const lines = entries.map(({ epoch, startOffset }) => `${epoch} ${startOffset}`)
  return `${[VERSION, entries.length, ...lines].join('\n')}\n`
}

/** Where a leader epoch ends: the offset behind its last record. Source: Kafka's EpochEndOffset. */
export interface EpochEnd {
  epoch: number
  endOffset: bigint
}

/** Which leader epoch began where. Each change is in its file when the call returns. Source: Kafka's LeaderEpochFileCache. */
export class LeaderEpochs {
  readonly #storage: LogStorage
  #entries: EpochEntry[]

  /** @throws CorruptCheckpointError */
  constructor(storage: LogStorage) {
    this.#storage = storage
    this.#entries = readLeaderEpochs(storage)
  }

  get entries(): readonly EpochEntry[] {
    return this.#entries
  }

  /** Null where no batch with an epoch is known. */
  get latestEpoch(): number | null {
    return this.#entries.at(-1)?.epoch ?? null
  }

  /** Notes that a batch of an epoch begins at an offset; entries that cannot stand beside that are dropped. */
  assign(epoch: number, startOffset: bigint): void {
    const assigned = withEntry(this.#entries, {
      epoch: requireLeaderEpoch('leader epoch', epoch),
      startOffset,
    })
    if (assigned !== this.#entries) this.#replace(assigned)
  }

  /**
   * Where an epoch ends: the first offset of the next higher one, or the log end offset. A follower truncates to it.
   *
   * @returns the largest known epoch up to the one asked for, with its end; null for one above all that are known
   */
  endOffsetFor(epoch: number, logEndOffset: bigint): EpochEnd | null {
    if (epoch === this.latestEpoch) return { epoch, endOffset: logEndOffset }
    const next = this.#entries.findIndex((entry) => entry.epoch > epoch)
    if (next < 0) return null
    return { epoch: this.#entries[next - 1]?.epoch ?? epoch, endOffset: this.#entries[next]!.startOffset }
  }

  /** The log ends at an offset now. */
  truncateFromEnd(offset: bigint): void {
    const kept = this.#entries.filter(({ startOffset }) => startOffset < offset)
    if (kept.length < this.#entries.length) this.#replace(kept)
  }

  /** The log starts at an offset now: the epoch that holds it starts there. */
  truncateFromStart(offset: bigint): void {
    const last = this.#entries.findLastIndex(({ startOffset }) => startOffset <= offset)
    if (last < 0) return
    const { epoch, startOffset } = this.#entries[last]!
    if (last === 0 && startOffset === offset) return
    this.#replace([{ epoch, startOffset: offset }, ...this.#entries.slice(last + 1)])
  }

  clear(): void {
    if (this.#entries.length > 0) this.#replace([])
  }

  #replace(entries: EpochEntry[]): void {
    this.#entries = entries
    this.#storage.write(LEADER_EPOCH_CHECKPOINT, new TextEncoder().encode(encodeLeaderEpochs(entries)))
  }
}

/** The same entries where they hold the epoch already; otherwise without those that contradict it. */
function withEntry(entries: EpochEntry[], { epoch, startOffset }: EpochEntry): EpochEntry[] {
  const last = entries.at(-1)
  if (last !== undefined && last.epoch === epoch && startOffset >= last.startOffset) return entries
  const kept = entries.filter((entry) => entry.epoch < epoch && entry.startOffset < startOffset)
  return [...kept, { epoch, startOffset }]
}
