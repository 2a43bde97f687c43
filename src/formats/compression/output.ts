import { MalformedBytes } from '../../bytes/byteReader.ts'
import { DecompressionLimitError, MirrorPidError } from '../../errors.ts'
import type { DecompressLimits } from './codec.ts'

/**
 * What a codec has produced so far, in memory that grows with it and never beyond the limit. Codecs write to `bytes`
 * between `length` and the end that `room` gave, and then set `length`.
 */
export class Output {
  bytes: Uint8Array<ArrayBuffer>
  length = 0
  readonly #codec: string
  readonly #limit: number
  readonly #room: Uint8Array | null

  /** @param expected a first guess at the size, which may come from the data: it is capped by the limit */
  constructor(codec: string, { maxBytes, room }: DecompressLimits, expected: number) {
    this.#codec = codec
    this.#limit = maxBytes
    this.bytes = room?.subarray(0, maxBytes) ?? allocate(Math.min(maxBytes, expected))
    this.#room = room === undefined ? null : this.bytes
  }

  /** Makes room for `count` more bytes, or for as many as the limit leaves. Gives the position where that room ends. */
  room(count: number): number {
    const end = Math.min(this.length + count, this.#limit)
    if (end > this.bytes.length) {
      const grown = allocate(Math.min(Math.max(end, this.bytes.length * 2), this.#limit))
      grown.set(this.bytes.subarray(0, this.length))
      this.bytes = grown
    }
    return end
  }

  /** The error for data that goes beyond what `room` gave: too much for the limit, or else for its own format. */
  tooMuch(end: number, fault: string, position: number): Error {
    return end >= this.#limit ? this.overLimit() : new MalformedBytes(fault, position)
  }

  overLimit(): DecompressionLimitError {
    return new DecompressionLimitError(this.#codec, this.#limit)
  }

  /** The bytes: a view where most of the memory is used, or is the caller's, else a copy that lets the rest go. */
  finish(): Uint8Array<ArrayBuffer> {
    const { bytes, length } = this
    const isView = length * 2 >= bytes.length || bytes === this.#room
    return isView ? bytes.subarray(0, length) : bytes.slice(0, length)
  }
}

function allocate(length: number): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(length)
  } catch (cause) {
    throw new MirrorPidError('OUT_OF_MEMORY', `no memory for ${length} decompressed bytes`, { cause })
  }
}

/** Up to this length a loop is faster than a call of the engine's copy. */
const SHORT = 32

/** Copies `length` bytes of `source`; the caller has checked both ends. */
export function copyLiterals(
  source: Uint8Array,
  from: number,
  target: Uint8Array,
  to: number,
  length: number,
): void {
  if (length > SHORT) {
    target.set(source.subarray(from, from + length), to)
    return
  }
  for (let index = 0; index < length; index++) target[to + index] = source[from + index]!
}

/**
 * Repeats `length` bytes from `offset` before `to`, as all LZ77 codecs mean it: where the two overlap, what was just
 * written is read again. The caller has checked both ends.
 */
export function copyMatch(bytes: Uint8Array, to: number, offset: number, length: number): void {
  const from = to - offset
  const end = to + length
  if (length <= SHORT) {
    for (let read = from, write = to; write < end; ) bytes[write++] = bytes[read++]!
    return
  }
  // what may be copied at once doubles with each round
  for (let write = to; write < end; ) {
    const count = Math.min(write - from, end - write)
    bytes.copyWithin(write, from, from + count)
    write += count
  }
}
