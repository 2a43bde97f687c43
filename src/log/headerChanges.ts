import { isChanged } from '../core/batchChecks.ts'
import type { Direction } from '../core/core.ts'
import { CRC, CURRENT_MAGIC, PRODUCER_ID } from '../core/layout.ts'
import { RecordSetCursor } from '../core/recordSetCursor.ts'
import { FRAME_BATCH } from '../core/status.ts'

/** A change of a header, 24 bytes big-endian: position of the batch (u64), old id (i64), old and new CRC (u32 each). */
export const CHANGE_SIZE = 24
export const CHANGE_POSITION = 0
export const CHANGE_PRODUCER_ID = 8
export const CHANGE_OLD_CRC = 16
export const CHANGE_NEW_CRC = 20

const FIRST_ROOM = 2048

/** The changes of headers that a rewrite comes to, as it passes over a record set; nothing else of it is kept. */
export class HeaderChanges {
  #bytes = new Uint8Array(FIRST_ROOM * CHANGE_SIZE)
  #view = new DataView(this.#bytes.buffer)
  #count = 0

  get byteLength(): number {
    return this.#count * CHANGE_SIZE
  }

  /** All since the last call; a view, until the next change comes. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = this.#bytes.subarray(0, this.byteLength)
    this.#count = 0
    return taken
  }

  /** Notes a batch. The id that it gets follows from the one that it has. */
  add(position: number, producerId: bigint, oldCrc: number, newCrc: number): void {
    const at = this.#next(position)
    this.#view.setBigInt64(at + CHANGE_PRODUCER_ID, producerId)
    this.#view.setUint32(at + CHANGE_OLD_CRC, oldCrc)
    this.#view.setUint32(at + CHANGE_NEW_CRC, newCrc)
  }

  /**
   * Notes what is about to change in the whole batches at the start of `bytes`.
   * @returns what to call once they have changed, for their new CRCs
   */
  note(bytes: Uint8Array, position: number, direction: Direction): () => void {
    const from = this.#count
    const cursor = new RecordSetCursor(bytes)
    const { view } = cursor
    for (; cursor.frame() === FRAME_BATCH; cursor.advance()) {
      if (cursor.magic !== CURRENT_MAGIC) continue
      const id = cursor.position + PRODUCER_ID
      const [high, low] = [view.getInt32(id), view.getInt32(id + 4)]
      if (!isChanged(high, low, direction)) continue
      const at = this.#next(position + cursor.position)
      this.#view.setInt32(at + CHANGE_PRODUCER_ID, high)
      this.#view.setInt32(at + CHANGE_PRODUCER_ID + 4, low)
      this.#view.setUint32(at + CHANGE_OLD_CRC, view.getUint32(cursor.position + CRC))
    }
    return () => {
      for (let at = from * CHANGE_SIZE; at < this.byteLength; at += CHANGE_SIZE) {
        const batch = this.#positionAt(at) - position
        this.#view.setUint32(at + CHANGE_NEW_CRC, view.getUint32(batch + CRC))
      }
    }
  }

  #next(position: number): number {
    const at = this.byteLength
    if (at === this.#bytes.length) this.#grow()
    this.#count++
    // no BigInt for each batch: positions are far below 2^53
    this.#view.setUint32(at + CHANGE_POSITION, Math.floor(position / 2 ** 32))
    this.#view.setUint32(at + CHANGE_POSITION + 4, position >>> 0)
    return at
  }

  #positionAt(at: number): number {
    return (
      this.#view.getUint32(at + CHANGE_POSITION) * 2 ** 32 + this.#view.getUint32(at + CHANGE_POSITION + 4)
    )
  }

  #grow(): void {
    const larger = new Uint8Array(this.#bytes.length * 2)
    larger.set(this.#bytes)
    this.#bytes = larger
    this.#view = new DataView(larger.buffer)
  }
}
