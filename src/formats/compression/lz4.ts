import { MalformedBytes } from '../../bytes/byteReader.ts'
import type { Decompress } from './codec.ts'
import { LittleEndianReader } from './littleEndianReader.ts'
import { copyLiterals, copyMatch, Output } from './output.ts'
import { xxHash32 } from './xxHash32.ts'

/**
 * An LZ4 frame as Kafka reads it. Source: Kafka's Lz4BlockInputStream and the LZ4 frame format 1.5.1. Kafka does not
 * look at the content size and the content checksum, nor at what follows the end mark.
 *
 * The blocks are decoded here, because the known JavaScript decoders (lz4js, hyparquet-compressors) do not notice
 * literals and matches that leave their block or the output.
 *
 * Without block checksums, a changed literal cannot be noticed here.
 */

const MAGIC = 0x184d2204
const VERSION = 1
const UNCOMPRESSED_FLAG = 0x80000000
const MIN_MATCH = 4
/** A byte of a match's length makes at most this. */
const MAX_RATIO = 255

interface Descriptor {
  maxBlockSize: number
  hasBlockChecksums: boolean
  hasContentChecksum: boolean
}

export const decompressLz4: Decompress = (compressed, limits) => {
  const reader = new LittleEndianReader(compressed)
  const { maxBlockSize, hasBlockChecksums, hasContentChecksum } = readDescriptor(reader, limits.magic === 0)
  const output = new Output('lz4', limits, 0)
  for (;;) {
    const position = reader.position
    const word = reader.uint32()
    const size = word & ~UNCOMPRESSED_FLAG
    if (size === 0) break
    if (size > maxBlockSize) {
      throw new MalformedBytes(`a block claims ${size} bytes; the frame allows ${maxBlockSize}`, position)
    }
    const start = reader.skip(size)
    const end = start + size
    if (hasBlockChecksums && reader.uint32() !== xxHash32(compressed, start, end)) {
      throw new MalformedBytes("a block's checksum is wrong", position)
    }
    if (word >= UNCOMPRESSED_FLAG) copyBlock(compressed, start, end, output)
    else decodeBlock(compressed, start, end, maxBlockSize, output)
  }
  if (hasContentChecksum) reader.skip(4)
  return output.finish()
}

/** @param isOldest magic 0, whose writers hashed the wrong bytes: Kafka does not check the hash there */
function readDescriptor(reader: LittleEndianReader, isOldest: boolean): Descriptor {
  const magic = reader.uint32()
  if (magic !== MAGIC) throw new MalformedBytes(`the magic is 0x${magic.toString(16)}`, 0)
  const start = reader.position
  const flags = reader.uint8()
  if (flags >>> 6 !== VERSION) throw new MalformedBytes(`the frame's version is ${flags >>> 6}`, start)
  if ((flags & 0x20) === 0) throw new MalformedBytes('the blocks depend on each other', start)
  if ((flags & 0x03) !== 0)
    throw new MalformedBytes('reserved flags are set, or a dictionary is wanted', start)
  const block = reader.uint8()
  const code = block >>> 4
  if ((block & 0x0f) !== 0 || code < 4 || code > 7) {
    throw new MalformedBytes(`the block size descriptor is 0x${block.toString(16)}`, start + 1)
  }
  if ((flags & 0x08) !== 0) reader.skip(8)
  const end = reader.position
  const stored = reader.uint8()
  if (!isOldest && stored !== ((xxHash32(reader.bytes, start, end) >>> 8) & 255)) {
    throw new MalformedBytes("the header's checksum is wrong", end)
  }
  return {
    maxBlockSize: 1 << (2 * code + 8),
    hasBlockChecksums: (flags & 0x10) !== 0,
    hasContentChecksum: (flags & 0x04) !== 0,
  }
}

function copyBlock(source: Uint8Array, start: number, end: number, output: Output): void {
  const to = output.length
  const last = output.room(end - start)
  if (last - to < end - start) throw output.overLimit()
  copyLiterals(source, start, output.bytes, to, end - start)
  output.length = last
}

/** Sequences of literals and a match; the last one has literals only. */
function decodeBlock(source: Uint8Array, start: number, end: number, maxSize: number, output: Output): void {
  const first = output.length
  const last = output.room(Math.min(maxSize, (end - start) * MAX_RATIO))
  const { bytes } = output
  let from = start
  let to = first
  for (;;) {
    const sequence = from
    if (from === end) throw new MalformedBytes('a block ends without its last literals', sequence)
    const token = source[from++]!

    let literals = token >>> 4
    if (literals === 15) {
      let byte: number
      do {
        if (from === end) throw new MalformedBytes('a block ends in a length', sequence)
        byte = source[from++]!
        literals += byte
      } while (byte === 255)
    }
    if (literals > end - from) throw new MalformedBytes('literals go beyond their block', sequence)
    if (literals > last - to) throw output.tooMuch(last, 'a block holds more than allowed', sequence)
    copyLiterals(source, from, bytes, to, literals)
    from += literals
    to += literals
    if (from === end) break

    if (end - from < 2) throw new MalformedBytes('a block ends in an offset', sequence)
    const offset = source[from]! | (source[from + 1]! << 8)
    from += 2
    if (offset === 0 || offset > to - first) {
      throw new MalformedBytes(`a match goes ${offset} bytes back where ${to - first} are`, sequence)
    }
    let length = (token & 15) + MIN_MATCH
    if (length === 15 + MIN_MATCH) {
      let byte: number
      do {
        if (from === end) throw new MalformedBytes('a block ends in a length', sequence)
        byte = source[from++]!
        length += byte
      } while (byte === 255)
    }
    if (length > last - to) throw output.tooMuch(last, 'a block holds more than allowed', sequence)
    copyMatch(bytes, to, offset, length)
    to += length
  }
  output.length = to
}
