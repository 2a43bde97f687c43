/** What a reader meets where the bytes do not have the form they should. Callers add what and where. */
export class MalformedBytes extends Error {
  /** Byte position in the reader's bytes. */
  readonly position: number

  constructor(message: string, position: number) {
    super(message)
    this.position = position
  }
}

/**
 * Reads big-endian numbers and Kafka's variable-length ones from a window of bytes, and never beyond it.
 * Source of the varints: Kafka's ByteUtils. Over-long forms are accepted, as Kafka accepts them.
 */
export class ByteReader {
  readonly bytes: Uint8Array
  readonly end: number
  position: number
  readonly #view: DataView

  constructor(bytes: Uint8Array, position = 0, end = bytes.length) {
    this.bytes = bytes
    this.position = position
    this.end = end
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get remaining(): number {
    return this.end - this.position
  }

  int8(): number {
    return this.#view.getInt8(this.#take(1))
  }

  int16(): number {
    return this.#view.getInt16(this.#take(2))
  }

  uint16(): number {
    return this.#view.getUint16(this.#take(2))
  }

  int32(): number {
    return this.#view.getInt32(this.#take(4))
  }

  int64(): bigint {
    return this.#view.getBigInt64(this.#take(8))
  }

  /** `length` bytes as a view, not a copy. */
  slice(length: number): Uint8Array {
    const start = this.#take(length)
    return this.bytes.subarray(start, start + length)
  }

  /** A varint of at most five bytes, without zigzag, as an unsigned number. */
  unsignedVarint(): number {
    let value = 0
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.#byte()
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value >>> 0
    }
    throw new MalformedBytes('a varint is longer than 5 bytes', this.position)
  }

  /** A zigzag varint of at most five bytes: an int32. */
  varint(): number {
    const value = this.unsignedVarint()
    return (value >>> 1) ^ -(value & 1)
  }

  /** A zigzag varlong of at most ten bytes: an int64. */
  varlong(): bigint {
    // four bytes hold 28 bits: the common case needs no BigInt arithmetic
    let low = 0
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.#byte()
      low |= (byte & 0x7f) << shift
      if (byte < 0x80) return BigInt((low >>> 1) ^ -(low & 1))
    }
    let value = BigInt(low)
    for (let shift = 28n; shift < 70n; shift += 7n) {
      const byte = this.#byte()
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) {
        const unsigned = BigInt.asUintN(64, value)
        return BigInt.asIntN(64, (unsigned >> 1n) ^ -(unsigned & 1n))
      }
    }
    throw new MalformedBytes('a varlong is longer than 10 bytes', this.position)
  }

  #byte(): number {
    if (this.position >= this.end) throw new MalformedBytes('the bytes end inside a number', this.position)
    return this.bytes[this.position++]!
  }

  #take(length: number): number {
    const start = this.position
    if (length < 0 || length > this.end - start) {
      throw new MalformedBytes(`${length} bytes are wanted where ${this.end - start} are left`, start)
    }
    this.position = start + length
    return start
  }
}
