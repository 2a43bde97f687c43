/** Writes what ByteReader reads, into memory that grows as needed. Varints take their shortest form. */
export class ByteWriter {
  #bytes = new Uint8Array(256)
  #view = new DataView(this.#bytes.buffer)
  #length = 0

  get length(): number {
    return this.#length
  }

  int8(value: number): this {
    const at = this.#reserve(1) // first: it may move the memory
    this.#view.setInt8(at, value)
    return this
  }

  int16(value: number): this {
    const at = this.#reserve(2) // first: it may move the memory
    this.#view.setInt16(at, value)
    return this
  }

  int32(value: number): this {
    const at = this.#reserve(4) // first: it may move the memory
    this.#view.setInt32(at, value)
    return this
  }

  int64(value: bigint): this {
    const at = this.#reserve(8) // first: it may move the memory
    this.#view.setBigInt64(at, value)
    return this
  }

  bytes(value: Uint8Array): this {
    const at = this.#reserve(value.length)
    this.#bytes.set(value, at)
    return this
  }

  unsignedVarint(value: number): this {
    let rest = value >>> 0
    while (rest > 0x7f) {
      this.int8((rest & 0x7f) | 0x80)
      rest >>>= 7
    }
    return this.int8(rest)
  }

  varint(value: number): this {
    return this.unsignedVarint((value << 1) ^ (value >> 31))
  }

  varlong(value: bigint): this {
    let rest = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n))
    while (rest > 0x7fn) {
      this.int8(Number(rest & 0x7fn) | 0x80)
      rest >>= 7n
    }
    return this.int8(Number(rest))
  }

  /** A varint length and the bytes; -1 for null. */
  nullableBytes(value: Uint8Array | null): this {
    if (value === null) return this.varint(-1)
    return this.varint(value.length).bytes(value)
  }

  /** What was written, as a copy of its own. */
  finish(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#length)
  }

  #reserve(length: number): number {
    const at = this.#length
    this.#length += length
    if (this.#length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(this.#length, this.#bytes.length * 2))
      grown.set(this.#bytes)
      this.#bytes = grown
      this.#view = new DataView(grown.buffer)
    }
    return at
  }
}
