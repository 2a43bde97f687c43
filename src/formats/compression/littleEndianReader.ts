import { MalformedBytes } from '../../bytes/byteReader.ts'

/** Reads the little-endian numbers of the codecs' frames, never beyond the end. */
export class LittleEndianReader {
  readonly bytes: Uint8Array
  position = 0
  readonly #view: DataView

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get remaining(): number {
    return this.bytes.length - this.position
  }

  uint8(): number {
    return this.#view.getUint8(this.skip(1))
  }

  uint16(): number {
    return this.#view.getUint16(this.skip(2), true)
  }

  uint24(): number {
    return this.uint16() | (this.uint8() << 16)
  }

  uint32(): number {
    return this.#view.getUint32(this.skip(4), true)
  }

  /** As a float: exact up to 2^53, which is more than any memory. */
  uint64(): number {
    const low = this.uint32()
    return this.uint32() * 2 ** 32 + low
  }

  /** Passes `count` bytes; gives where they start. */
  skip(count: number): number {
    const start = this.position
    if (count > this.remaining) {
      throw new MalformedBytes(`the data ends where ${count - this.remaining} more bytes are due`, start)
    }
    this.position = start + count
    return start
  }
}
