import * as layout from '../core/layout.ts'
import type { FramedBatch } from './batchLine.ts'

/** What stands before the place that a dump has come to. */
export class LastGood {
  /**
   * The first of the batches right before whose CRCs are wrong; null where the one before is good. The size of such a
   * batch may be wrong too, so that it hides good ones.
   */
  damaged: number | null = null
  #last: { position: number; baseOffset: bigint; lastOffset: bigint } | null = null

  note({ view, at, position, magic, isValid }: FramedBatch): void {
    if (!isValid) {
      this.damaged ??= position
      return
    }
    this.damaged = null
    const baseOffset = view.getBigInt64(at)
    const delta = magic === layout.CURRENT_MAGIC ? view.getInt32(at + layout.LAST_OFFSET_DELTA) : 0
    this.#last = { position, baseOffset, lastOffset: baseOffset + BigInt(delta) }
  }

  /** The offset that a batch behind cannot go below; null before the first good one. */
  get nextOffset(): bigint | null {
    return this.#last === null ? null : this.#last.lastOffset + 1n
  }

  describe(): string {
    if (this.#last === null) return 'no good batch is before it'
    const { position, baseOffset, lastOffset } = this.#last
    return `the last good one is at byte ${position} (offsets ${baseOffset} to ${lastOffset})`
  }
}
