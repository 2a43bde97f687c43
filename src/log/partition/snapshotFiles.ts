import { MirrorPidError } from '../../errors.ts'
import { holdsMirrored } from '../../producers/producerSnapshotFormat.ts'
import { ProducerStateManager, type SnapshotOptions } from '../../producers/producerStateManager.ts'
import { baseOffsetOfName, logFileName } from '../fileNames.ts'
import type { LogStorage } from './storage.ts'

const SUFFIX = '.snapshot'

/** A snapshot that is not written yet. */
export interface PreparedSnapshot {
  offset: bigint
  bytes: Uint8Array
}

/**
 * The producer snapshots of a partition; each is named by the offset that its state is before. None is written of a state
 * with mapped ids, which is replayed instead: a broker that exists loads such producers, and has no way to end their
 * transactions. Source: Kafka's ProducerStateManager.
 */
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

  /** Whether files are written of such a state. */
  isKept(state: ProducerStateManager): boolean {
    return !state.holdsMirrored && !this.#storage.isPreview
  }

  /** Writes the state's snapshot, unless there is one that is as new, or files of it are not kept. */
  take(state: ProducerStateManager): void {
    this.write(this.prepare(state, state.mapEndOffset))
  }

  /** What `take` would write of the state as it is now, as the one before an offset; null where it would not. */
  prepare(state: ProducerStateManager, offset: bigint): PreparedSnapshot | null {
    return offset > this.#lastOffset && this.isKept(state) ? { offset, bytes: state.takeSnapshot() } : null
  }

  write(snapshot: PreparedSnapshot | null): void {
    if (snapshot === null) return
    const { offset, bytes } = snapshot
    this.#storage.write(logFileName(offset, SUFFIX), bytes)
    if (this.#offsets.at(-1) !== offset) this.#offsets.push(offset)
    this.#lastOffset = offset
  }

  /** Removes those above `logEndOffset` and up to the log start offset. */
  keepWithin(logStartOffset: bigint, logEndOffset: bigint): void {
    this.#keep((offset) => offset > logStartOffset && offset <= logEndOffset)
  }

  /**
   * The state of the newest snapshot that is sound; damaged ones are removed, so are those above `logEndOffset` and up to
   * the log start offset. Without any, the state is empty and begins at the log start offset. Where it holds mapped ids, the
   * files with such ids are removed: earlier versions have written them.
   */
  load(logStartOffset: bigint, logEndOffset: bigint, options: SnapshotOptions): ProducerStateManager {
    this.keepWithin(logStartOffset, logEndOffset)
    for (let offset = this.#offsets.at(-1); offset !== undefined; offset = this.#offsets.at(-1)) {
      try {
        const bytes = this.#read(offset)
        const state = ProducerStateManager.fromSnapshot(bytes, { ...options, logStartOffset, offset })
        if (state.holdsMirrored) this.#keep((held) => !holdsMirrored(this.#read(held)))
        this.#lastOffset = this.#offsets.at(-1) ?? logStartOffset
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
    const bases = new Set(segments)
    const newest = this.#offsets.findLast((offset) => !bases.has(offset))
    const lastSegment = segments.at(-1)
    const kept = lastSegment === undefined || newest === undefined || newest >= lastSegment ? newest : null
    this.#keep((offset) => bases.has(offset) || offset === kept)
  }

  remove(offset: bigint): void {
    this.#keep((held) => held !== offset)
  }

  /** The log begins at an offset now. */
  startAt(logStartOffset: bigint): void {
    this.#lastOffset = this.#offsets.at(-1) ?? logStartOffset
  }

  /** Removes all: the log begins anew. */
  clear(): void {
    this.#keep(() => false)
    this.#lastOffset = 0n
  }

  #read(offset: bigint): Uint8Array {
    return this.#storage.read(logFileName(offset, SUFFIX)) ?? new Uint8Array(0)
  }

  #keep(isKept: (offset: bigint) => boolean): void {
    this.#offsets = this.#offsets.filter((offset) => {
      if (isKept(offset)) return true
      this.#storage.remove(logFileName(offset, SUFFIX))
      return false
    })
  }
}
