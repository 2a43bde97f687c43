import { MalformedBytes } from '../bytes/byteReader.ts'

/**
 * Walks the records of a magic 2 batch without making an object of each: `next` moves on, the fields say where things
 * lie. Checks what Kafka's iterator checks. Source: Kafka's DefaultRecord and DefaultRecordBatch.
 *
 * @example
 * const cursor = new RecordCursor(payload, batch.recordsCount)
 * while (cursor.next()) console.log(cursor.offsetDelta, cursor.valueLength)
 */
export class RecordCursor {
  readonly bytes: Uint8Array
  /** Of `bytes`, to read several at a time. */
  readonly view: DataView
  readonly count: number
  /** Number of records that `next` has given. */
  index = 0
  offsetDelta = 0
  timestampDelta = 0
  /** Instead of `timestampDelta` where a double cannot hold it. */
  wideTimestampDelta: bigint | null = null
  keyAt = 0
  /** Negative for null. */
  keyLength = -1
  valueAt = 0
  /** Negative for null. */
  valueLength = -1
  headersCount = 0
  /** Where the next header's key is read; `nextHeader` moves it. */
  #headersAt = 0
  #headersLeft = 0
  headerKeyAt = 0
  headerKeyLength = 0
  headerValueAt = 0
  /** Negative for null. */
  headerValueLength = -1
  #position = 0
  readonly #end: number

  /**
   * @param payload the records, decompressed
   * @param count as the batch's header says
   * @throws MalformedBytes
   */
  constructor(payload: Uint8Array, count: number) {
    if (count < 0) throw new MalformedBytes(`the batch claims ${count} records`, 0)
    this.bytes = payload
    this.view = new DataView(payload.buffer, payload.byteOffset, payload.length)
    this.count = count
    this.#end = payload.length
  }

  /**
   * Moves to the next record; false behind the last one.
   * @throws MalformedBytes with the position in the payload
   */
  next(): boolean {
    if (this.index === this.count) {
      const left = this.#end - this.#position
      // Kafka does not look behind an empty batch's header
      if (left > 0 && this.count > 0) {
        throw new MalformedBytes(`${left} bytes are left behind the last record`, this.#position)
      }
      return false
    }
    if (this.#position === this.#end) {
      throw new MalformedBytes(`the records end after ${this.index} of ${this.count}`, this.#position)
    }
    const length = this.#varint()
    const start = this.#position
    if (length < 0 || length > this.#end - start) {
      const left = this.#end - start
      throw new MalformedBytes(`record ${this.index} claims ${length} bytes where ${left} are left`, start)
    }
    this.#skip(1) // attributes: unused
    this.#readTimestampDelta()
    this.offsetDelta = this.#varint()
    this.keyLength = this.#varint()
    this.keyAt = this.#skip(this.keyLength)
    this.valueLength = this.#varint()
    this.valueAt = this.#skip(this.valueLength)
    this.#skipHeaders()
    if (this.#position !== start + length) {
      const has = this.#position - start
      throw new MalformedBytes(`record ${this.index} claims ${length} bytes and has ${has}`, start)
    }
    this.index++
    return true
  }

  /** Moves to the next header of the record; false behind the last one. */
  nextHeader(): boolean {
    if (this.#headersLeft === 0) return false
    this.#headersLeft--
    const behind = this.#position
    this.#position = this.#headersAt
    this.#readHeader()
    this.#headersAt = this.#position
    this.#position = behind
    return true
  }

  #skipHeaders(): void {
    const count = this.#varint()
    const left = this.#end - this.#position
    if (count < 0 || count > left) {
      throw new MalformedBytes(`${count} headers are claimed where ${left} bytes are left`, this.#position)
    }
    this.headersCount = count
    this.#headersLeft = count
    this.#headersAt = this.#position
    for (let index = 0; index < count; index++) this.#readHeader()
  }

  #readHeader(): void {
    this.headerKeyLength = this.#varint()
    if (this.headerKeyLength < 0) {
      throw new MalformedBytes('a header key has a negative length', this.#position)
    }
    this.headerKeyAt = this.#skip(this.headerKeyLength)
    this.headerValueLength = this.#varint()
    this.headerValueAt = this.#skip(this.headerValueLength)
  }

  /** Passes over `length` bytes, none for a negative length; returns where they begin. */
  #skip(length: number): number {
    const start = this.#position
    if (length > 0) {
      if (length > this.#end - start) {
        throw new MalformedBytes(`${length} bytes are wanted where ${this.#end - start} are left`, start)
      }
      this.#position = start + length
    }
    return start
  }

  #byte(): number {
    if (this.#position >= this.#end) {
      throw new MalformedBytes('the bytes end inside a number', this.#position)
    }
    return this.bytes[this.#position++]!
  }

  #varint(): number {
    const first = this.#byte()
    if (first < 0x80) return (first >>> 1) ^ -(first & 1)
    let value = first & 0x7f
    for (let shift = 7; shift < 35; shift += 7) {
      const byte = this.#byte()
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) return (value >>> 1) ^ -(value & 1)
    }
    throw new MalformedBytes('a varint is longer than 5 bytes', this.#position)
  }

  #readTimestampDelta(): void {
    this.wideTimestampDelta = null
    let low = 0
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.#byte()
      low |= (byte & 0x7f) << shift
      if (byte < 0x80) {
        this.timestampDelta = (low >>> 1) ^ -(low & 1)
        return
      }
    }
    this.#readWideTimestampDelta(BigInt(low))
  }

  #readWideTimestampDelta(low: bigint): void {
    let value = low
    for (let shift = 28n; shift < 70n; shift += 7n) {
      const byte = this.#byte()
      value |= BigInt(byte & 0x7f) << shift
      if (byte >= 0x80) continue
      const unsigned = BigInt.asUintN(64, value)
      const delta = BigInt.asIntN(64, (unsigned >> 1n) ^ -(unsigned & 1n))
      if (delta >= Number.MIN_SAFE_INTEGER && delta <= Number.MAX_SAFE_INTEGER) {
        this.timestampDelta = Number(delta)
      } else {
        this.wideTimestampDelta = delta
      }
      return
    }
    throw new MalformedBytes('a varlong is longer than 10 bytes', this.#position)
  }
}
