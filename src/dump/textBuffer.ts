const ZERO = 48
const MINUS = 45
const NEWLINE = 10
const BILLION = 1e9
const START_CAPACITY = 64 * 1024

const encoder = new TextEncoder()

/** A text that is written often, encoded once. */
export function encoded(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text)
}

/** Text as UTF-8 in memory that grows as needed: a line of output costs no string. */
export class TextBuffer {
  bytes: Uint8Array<ArrayBuffer> = new Uint8Array(START_CAPACITY)
  /** Of `bytes`: writes several at a time. */
  view = new DataView(this.bytes.buffer)
  length = 0

  /** Gives the memory with the text away, and goes on at the start of another. */
  swap(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    const filled = this.bytes
    this.bytes = bytes
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    this.length = 0
    return filled
  }

  /** A short text that `encoded` gave. */
  text(text: Uint8Array): void {
    const { length } = text
    const at = this.reserve(length)
    const { bytes } = this
    // shorter than what a call of `set` costs
    for (let index = 0; index < length; index++) bytes[at + index] = text[index]!
  }

  string(text: string): void {
    // UTF-8 takes at most three bytes for a unit of UTF-16
    const at = this.reserve(text.length * 3)
    this.length = at + encoder.encodeInto(text, this.bytes.subarray(at)).written
  }

  newline(): void {
    const at = this.reserve(1) // first: it may move the memory
    this.bytes[at] = NEWLINE
  }

  boolean(value: boolean): void {
    this.text(value ? TRUE : FALSE)
  }

  /** A safe integer. */
  integer(value: number): void {
    const at = this.reserve(17)
    let end = at
    let rest = value
    if (rest < 0) {
      this.bytes[end++] = MINUS
      rest = -rest
    }
    if (rest < BILLION) {
      end = this.#digits(rest, end, digitsOf(rest))
    } else {
      const upper = Math.floor(rest / BILLION)
      end = this.#digits(upper, end, digitsOf(upper))
      end = this.#digits(rest - upper * BILLION, end, 9)
    }
    this.length = end
  }

  bigint(value: bigint): void {
    if (value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER) this.integer(Number(value))
    else this.string(value.toString())
  }

  /** Makes room for `count` more bytes and takes them; returns where they begin. */
  reserve(count: number): number {
    const at = this.length
    const length = at + count
    if (length > this.bytes.length) {
      const grown = new Uint8Array(Math.max(length, this.bytes.length * 2))
      grown.set(this.bytes.subarray(0, at))
      this.swap(grown)
    }
    this.length = length
    return at
  }

  /** Writes `count` digits of a number below 10^9; returns the end. */
  #digits(value: number, at: number, count: number): number {
    const { bytes } = this
    let rest = value | 0
    for (let index = at + count - 1; index >= at; index--) {
      const tenth = (rest / 10) | 0
      bytes[index] = ZERO + rest - tenth * 10
      rest = tenth
    }
    return at + count
  }
}

const TRUE = encoded('true')
const FALSE = encoded('false')

/** Of a number below 10^9. */
function digitsOf(value: number): number {
  if (value < 10) return 1
  if (value < 100) return 2
  if (value < 1000) return 3
  if (value < 10000) return 4
  let digits = 5
  for (let limit = 100000; limit <= value; limit *= 10) digits++
  return digits
}
