import { MirrorPidError } from '../../errors.ts'
import { ProducerStateManager, type SnapshotOptions } from '../../producers/producerStateManager.ts'
import { baseOffsetOfName, logFileName } from '../fileNames.ts'
import type { LogStorage } from './storage.ts'

const SUFFIX = '.snapshot'

/** A snapshot that is not written yet. */
export interface PreparedSnapshot {
  offset: bigint
  bytes: Uint8Array
}

/** The producer snapshots of a partition; each is named by the offset that its state is before. Source: Kafka's ProducerStateManager. */
export class SnapshotFiles {
  readonly #storage: LogStorage
  readonly #onDamage: (offset: bigint, error: Error) => void
  /** Ascending. */
  #offsets: bigint[]
  /** No snapshot is taken that would not be newer. */
  #lastOffset = 0n

  constructor(storage: LogStorage, onDamage: (offset: bigint, error: Error) => void) {
    this.#storage = storage
    this.#onDamage = onDamage
    this.#offsets = storage
      .list()
      .filter((name) => /^\d{20}\.snapshot$/.test(name))
      .map((name) => baseOffsetOfName(name)!)
      .sort((a, b) => (a < b ? -1 : 1))
  }

  get offsets(): readonly bigint[] {
    return this.#offsets
  }

  /** Writes the state's snapshot, unless there is one that is as new. */
  take(state: ProducerStateManager): void {
    this.write(this.prepare(state, state.mapEndOffset))
  }

  /** What `take` would write of the state as it is now, as the one before an offset; null where it would not. */
  prepare(state: ProducerStateManager, offset: bigint): PreparedSnapshot | null {
    return offset <= this.#lastOffset ? null : { offset, bytes: state.takeSnapshot() }
  }

  write(snapshot: PreparedSnapshot | null): void {
    if (snapshot === null) return
    const { offset, bytes } = snapshot
    this.#storage.write(logFileName(offset, SUFFIX), bytes)
    if (!this.#offsets.includes(offset)) this.#offsets.push(offset)
    this.#lastOffset = offset
  }

  /**
   * The state of the newest snapshot that is sound; damaged ones are removed, so are those above `logEndOffset` and up to
   * the log start offset. Without any, the state is empty and begins at the log start offset.
   */
  load(logStartOffset: bigint, logEndOffset: bigint, options: SnapshotOptions): ProducerStateManager {
    for (const offset of this.#offsets) {
      if (offset > logEndOffset || offset <= logStartOffset) this.remove(offset)
    }
    for (let offset = this.#offsets.at(-1); offset !== undefined; offset = this.#offsets.at(-1)) {
      try {
        const bytes = this.#storage.read(logFileName(offset, SUFFIX)) ?? new Uint8Array(0)
        const state = ProducerStateManager.fromSnapshot(bytes, { ...options, logStartOffset, offset })
        this.#lastOffset = offset
        return state
      } catch (error) {
        if (!MirrorPidError.is(error)) throw error
        this.#onDamage(offset, error)
        this.remove(offset)
      }
    }
    this.#lastOffset = logStartOffset
    return new ProducerStateManager({ ...options, logStartOffset })
  }

  /** Removes those that belong to no segment, but for the newest where it is above all segments: a clean end took it. */
  removeStray(segments: readonly bigint[]): void {
    const stray = this.#offsets.filter((offset) => !segments.includes(offset))
    const newest = stray.at(-1)
    const lastSegment = segments.at(-1)
    const isKept = newest !== undefined && (lastSegment === undefined || newest >= lastSegment)
    for (const offset of stray) if (!isKept || offset !== newest) this.remove(offset)
  }

  remove(offset: bigint): void {
    this.#storage.remove(logFileName(offset, SUFFIX))
    this.#offsets = this.#offsets.filter((held) => held !== offset)
  }

  /** The log begins at an offset now. */
  startAt(logStartOffset: bigint): void {
    this.#lastOffset = this.#offsets.at(-1) ?? logStartOffset
  }

  /** Removes all: the log begins anew. */
  clear(): void {
    for (const offset of this.#offsets) this.remove(offset)
    this.#lastOffset = 0n
  }
}
