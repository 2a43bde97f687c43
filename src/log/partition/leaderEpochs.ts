import { InvalidArgumentError } from '../../errors.ts'
import { CorruptCheckpointError } from './logErrors.ts'
import { MAX_OFFSET } from './offsets.ts'
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
 * Reads the text of a `leader-epoch-checkpoint`: a version, a count, and a line `<epoch> <startOffset>` each. Both rise
 * from line to line; as in a broker, a line drops those before it that it contradicts.
 *
 * @throws CorruptCheckpointError
 * @see Kafka's CheckpointFile, LeaderEpochCheckpointFile
 * @example
 * decodeLeaderEpochs('0\n1\n5 100\n') // [{ epoch: 5, startOffset: 100n }]
 */
export function decodeLeaderEpochs(text: string, file = LEADER_EPOCH_CHECKPOINT): EpochEntry[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  // after a crash of the machine a file may be empty
  if (lines.length < 2) return []
  const [version, count, ...rest] = lines
  if (version !== VERSION) throw new CorruptCheckpointError(file, `version ${version}, expected ${VERSION}`)
  if (count !== String(rest.length)) {
    throw new CorruptCheckpointError(file, `claims ${count} entries, has ${rest.length}`)
  }
  const entries = rest.map((line, index) => {
    const match = /^(\d{1,10})\s+(\d{1,19})$/.exec(line)
    const fault = (what: string) => new CorruptCheckpointError(file, `line ${index + 3} ${what}: ${line}`)
    if (match === null) throw fault('is not "<epoch> <start offset>"')
    const [epoch, startOffset] = [Number(match[1]), BigInt(match[2]!)]
    if (epoch > MAX_EPOCH) throw fault(`has an epoch above ${MAX_EPOCH}`)
    if (startOffset > MAX_OFFSET) throw fault(`has an offset above ${MAX_OFFSET}`)
    return { epoch, startOffset }
  })
  return entries.reduce(withEntry, [] as EpochEntry[])
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
    const bytes = storage.read(LEADER_EPOCH_CHECKPOINT)
    this.#entries = bytes === null ? [] : decodeLeaderEpochs(new TextDecoder().decode(bytes))
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
