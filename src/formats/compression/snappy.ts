import { MalformedBytes } from '../../bytes/byteReader.ts'
import type { Decompress } from './codec.ts'
import { copyLiterals, copyMatch, Output } from './output.ts'

/**
 * Snappy as snappy-java's streams write it, which is what Kafka's Java client writes: a header and blocks, each with its
 * length before it. A bare block is taken too, as snappy-java takes it and as some other clients write.
 *
 * The blocks are decoded here, because the known JavaScript decoder (snappyjs) loops forever on some input and does not
 * notice output that is too short, and the wasm one (hysnappy) asks for more of a page's Content-Security-Policy.
 *
 * The format has no checksum and no end mark: a changed literal, or a cut between two blocks, cannot be noticed here.
 */

const MAGIC = Uint8Array.of(0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0)
/** The magic's first four bytes, where a block's length may stand: streams may follow each other. */
const MAGIC_AS_LENGTH = 0x82534e41
const HEADER_SIZE = 16
const MIN_VERSION = 1
/** A copy of three bytes makes 64: no element makes more of its bytes. */
const MAX_RATIO = 64 / 3

export const decompressSnappy: Decompress = (compressed, limits) => {
  const output = new Output('snappy', limits, 0)
  if (!hasMagic(compressed, 0)) {
    decodeBlock(compressed, 0, compressed.length, output)
    return output.finish()
  }
  const view = new DataView(compressed.buffer, compressed.byteOffset, compressed.byteLength)
  const { length } = compressed
  let position = passHeader(view, compressed, 0)
  while (position < length) {
    if (length - position < 4) throw new MalformedBytes('the data ends in the length of a block', position)
    const size = view.getUint32(position)
    if (size === MAGIC_AS_LENGTH) {
      position = passHeader(view, compressed, position)
      continue
    }
    const start = position + 4
    if (size > length - start) {
      throw new MalformedBytes(`a block claims ${size} bytes where ${length - start} are left`, position)
    }
    decodeBlock(compressed, start, start + size, output)
    position = start + size
  }
  return output.finish()
}

/** No bare block begins like this: its first element would copy from before the start. */
function hasMagic(bytes: Uint8Array, at: number): boolean {
  return MAGIC.every((byte, index) => bytes[at + index] === byte)
}

function passHeader(view: DataView, bytes: Uint8Array, position: number): number {
  if (bytes.length - position < HEADER_SIZE)
    throw new MalformedBytes('the data ends in the header', bytes.length)
  if (!hasMagic(bytes, position)) throw new MalformedBytes("the header's magic is wrong", position)
  const version = view.getInt32(position + 8)
  if (version < MIN_VERSION)
    throw new MalformedBytes(`the header's version is ${version}; 1 is the first`, position)
  return position + HEADER_SIZE
}

/** One raw block: the length of its output as a varint, then literals and copies. */
function decodeBlock(source: Uint8Array, start: number, end: number, output: Output): void {
  let from = start
  let claimed = 0
  for (let shift = 0; ; shift += 7) {
    if (from === end) throw new MalformedBytes('the block ends in the length of its output', from)
    const byte = source[from++]!
    claimed += (byte & 0x7f) * 2 ** shift
    if (byte < 0x80) break
    if (shift === 28) throw new MalformedBytes('the length of the output is longer than 5 bytes', start)
  }
  if (claimed > (end - from) * MAX_RATIO) {
    throw new MalformedBytes(`${end - from} bytes claim to hold ${claimed}`, start)
  }
  const first = output.length
  const last = output.room(claimed)
  if (last - first < claimed) throw output.overLimit()
  const { bytes } = output
  let to = first
  while (from < end) {
    const element = from
    const tag = source[from++]!
    const kind = tag & 3
    let length = (tag >>> 2) + 1
    if (kind === 0) {
      if (length > 60) {
        const extra = length - 60
        if (extra > end - from) throw new MalformedBytes('the block ends in the length of a literal', element)
        length = 1
        for (let index = 0; index < extra; index++) length += source[from++]! * 2 ** (8 * index)
      }
      if (length > end - from) throw new MalformedBytes('a literal goes beyond its block', element)
      if (length > last - to) throw new MalformedBytes('the block holds more than it claims', element)
      copyLiterals(source, from, bytes, to, length)
      from += length
    } else {
      const width = kind === 3 ? 4 : kind
      if (width > end - from) throw new MalformedBytes('the block ends in a copy', element)
      let offset = source[from]!
      if (kind === 1) {
        length = ((tag >>> 2) & 7) + 4
        offset |= (tag >>> 5) << 8
      } else {
        offset |= source[from + 1]! << 8
        if (kind === 3) offset = (offset | (source[from + 2]! << 16) | (source[from + 3]! << 24)) >>> 0
      }
      from += width
      if (offset === 0 || offset > to - first) {
        throw new MalformedBytes(`a copy goes ${offset} bytes back where ${to - first} are`, element)
      }
      if (length > last - to) throw new MalformedBytes('the block holds more than it claims', element)
      copyMatch(bytes, to, offset, length)
    }
    to += length
  }
  if (to < last) throw new MalformedBytes(`the block claims ${claimed} bytes and holds ${to - first}`, start)
  output.length = to
}
