import type { Core, RecordBuffer } from '../core/core.ts'
import type { ByteSource } from './byteSource.ts'

interface Ahead {
  readonly position: number
  readonly length: number
  readonly done: Promise<void>
}

/**
 * A file through two windows in the core's own memory, where the core works without a copy: one is worked on while the
 * next is read. What is left of a window when the next is asked for goes in front of it, and each has the room.
 *
 * @example
 * const windows = new Windows(core, source, 1024 * 1024, source.size)
 * const bytes = await windows.at(position) // a view, until the next call
 * windows.free() // once nothing is pending any more: await windows.settled()
 */
export class Windows {
  readonly windowSize: number
  /** Where reading ends: the size of the file, or a limit below it. */
  readonly end: number
  readonly #source: ByteSource
  readonly #region: RecordBuffer
  #slot = 0
  /** The file's bytes from `start` to `stop` are at hand; the slot's window proper begins with byte `windowStart`. */
  #start = 0
  #windowStart = 0
  #stop = 0
  #ahead: Ahead | null = null

  constructor(core: Core, source: ByteSource, windowSize: number, end: number) {
    this.windowSize = windowSize
    this.end = end
    this.#source = source
    this.#region = core.allocate(4 * windowSize)
  }

  /** The bytes from a position on: `windowSize` of them at least, unless the file ends before. */
  async at(position: number): Promise<Uint8Array> {
    if (position < this.#start || position > this.#stop) await this.#jump(position)
    else if (this.#stop - position < this.windowSize && this.#stop < this.end) await this.#advance(position)
    return this.#view(position)
  }

  /** Waits for the read that may be under way. */
  async settled(): Promise<void> {
    await this.#ahead?.done.catch(() => {})
  }

  /** Gives the memory back; nothing may be under way. */
  free(): void {
    this.#region.free()
  }

  #view(position: number): Uint8Array {
    const base = this.#slot * 2 * this.windowSize + this.windowSize - this.#windowStart
    return this.#region.bytes.subarray(base + position, base + this.#stop)
  }

  async #jump(position: number): Promise<void> {
    await this.settled()
    const { done, length } = this.#read(this.#slot, position)
    // nothing is at hand should this fail
    this.#start = this.#windowStart = this.#stop = position
    await done
    this.#stop = position + length
    this.#readAhead()
  }

  async #advance(position: number): Promise<void> {
    const ahead = this.#ahead ?? this.#read(1 - this.#slot, this.#stop)
    await ahead.done
    const left = this.#view(position)
    this.#slot = 1 - this.#slot
    const window = this.#slot * 2 * this.windowSize + this.windowSize
    this.#region.bytes.set(left, window - left.length)
    this.#start = position
    this.#windowStart = ahead.position
    this.#stop = ahead.position + ahead.length
    this.#readAhead()
  }

  #readAhead(): void {
    this.#ahead = this.#stop < this.end ? this.#read(1 - this.#slot, this.#stop) : null
  }

  #read(slot: number, position: number): Ahead {
    const length = Math.min(this.windowSize, this.end - position)
    const start = slot * 2 * this.windowSize + this.windowSize
    const done = this.#source.read(this.#region.bytes.subarray(start, start + length), position)
    // its failure is no "unhandled rejection" while nobody waits for it yet
    done.catch(() => {})
    return { position, length, done }
  }
}
