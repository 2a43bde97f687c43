import { MalformedBytes } from '../../../bytes/byteReader.ts'
import type { Decompress } from '../codec.ts'
import { LittleEndianReader } from '../littleEndianReader.ts'
import { copyLiterals, Output } from '../output.ts'
import { BlockBytes } from './bits.ts'
import { LiteralsReader } from './literals.ts'
import { SequencesReader } from './sequences.ts'
import { xxHash64Low } from './xxHash64.ts'

/**
 * Zstandard frames, one after another, with skippable ones between them. No dictionaries. Source: RFC 8878.
 *
 * They are decoded here for want of a library that stands bad input: fzstd can run for a minute on a changed frame of a
 * few hundred bytes and takes many damaged ones for sound (it does not check how far matches go back); wrappers of the
 * original in wasm size memory by what a frame claims, or ignore its errors. What is read here is what the original
 * reads, checksums included; its window is not needed, because matches copy from the output itself.
 *
 * A frame without a checksum may be changed in ways that cannot be noticed here.
 */

const MAGIC = 0xfd2fb528
const SKIPPABLE_MAGIC = 0x184d2a50
const MAX_BLOCK_SIZE = 1 << 17

const DICTIONARY_ID_SIZES = [0, 1, 2, 4]

const RAW = 0
const RLE = 1
const COMPRESSED = 2
/** Smaller than this is no compressed block: one byte for its literals, one for its sequences. */
const MIN_COMPRESSED_SIZE = 2

interface FrameHeader {
  contentSize: number | null
  maxBlockSize: number
  hasChecksum: boolean
}

export const decompressZstd: Decompress = (compressed, limits) => {
  const reader = new LittleEndianReader(compressed)
  const output = new Output('zstd', limits, 0)
  const block = new BlockBytes()
  do {
    const position = reader.position
    const magic = reader.uint32()
    if ((magic & ~15) === SKIPPABLE_MAGIC) reader.skip(reader.uint32())
    else if (magic === MAGIC) readFrame(reader, output, block)
    else throw new MalformedBytes(`the magic is 0x${magic.toString(16)}`, position)
  } while (reader.remaining > 0)
  return output.finish()
}

function readHeader(reader: LittleEndianReader): FrameHeader {
  const { position } = reader
  const flags = reader.uint8()
  if ((flags & 0x08) !== 0) throw new MalformedBytes('a reserved flag of the frame is set', position)
  const isSingleSegment = (flags & 0x20) !== 0
  let windowSize = 0
  if (!isSingleSegment) {
    const descriptor = reader.uint8()
    const base = 2 ** (10 + (descriptor >>> 3))
    windowSize = base + (base / 8) * (descriptor & 7)
  }
  const dictionaryId = readNumber(reader, DICTIONARY_ID_SIZES[flags & 3]!)
  if (dictionaryId !== 0) throw new MalformedBytes(`the frame wants dictionary ${dictionaryId}`, position)
  const code = flags >>> 6
  const hasContentSize = code > 0 || isSingleSegment
  const contentSize = hasContentSize ? readNumber(reader, 1 << code) + (code === 1 ? 256 : 0) : null
  if (isSingleSegment) windowSize = contentSize!
  return {
    contentSize,
    maxBlockSize: Math.min(windowSize, MAX_BLOCK_SIZE),
    hasChecksum: (flags & 0x04) !== 0,
  }
}

function readNumber(reader: LittleEndianReader, size: number): number {
  switch (size) {
    case 0:
      return 0
    case 1:
      return reader.uint8()
    case 2:
      return reader.uint16()
    case 4:
      return reader.uint32()
    default:
      return reader.uint64()
  }
}

function readFrame(reader: LittleEndianReader, output: Output, block: BlockBytes): void {
  const { position } = reader
  const { contentSize, maxBlockSize, hasChecksum } = readHeader(reader)
  const first = output.length
  const literals = new LiteralsReader()
  const sequences = new SequencesReader()
  const { bytes } = reader
  let isLast = false
  while (!isLast) {
    const at = reader.position
    const header = reader.uint24()
    isLast = (header & 1) !== 0
    const type = (header >>> 1) & 3
    const size = header >>> 3
    if (size > maxBlockSize)
      throw new MalformedBytes(`a block claims ${size} bytes of ${maxBlockSize} allowed`, at)
    if (type === RAW) {
      const start = reader.skip(size)
      const to = reserve(output, size)
      copyLiterals(bytes, start, output.bytes, to, size)
      output.length = to + size
    } else if (type === RLE) {
      const start = reader.skip(1)
      const to = reserve(output, size)
      output.bytes.fill(bytes[start]!, to, to + size)
      output.length = to + size
    } else if (type === COMPRESSED) {
      const start = reader.skip(size)
      if (size < MIN_COMPRESSED_SIZE) throw new MalformedBytes(`a compressed block has ${size} bytes`, start)
      block.load(bytes, start, size)
      sequences.read(block, literals.read(block, maxBlockSize), output, first, maxBlockSize)
    } else {
      throw new MalformedBytes('a block is of the reserved type', at)
    }
  }
  if (contentSize !== null && output.length - first !== contentSize) {
    throw new MalformedBytes(`a frame claims ${contentSize} bytes and has ${output.length - first}`, position)
  }
  if (hasChecksum && reader.uint32() !== xxHash64Low(output.bytes, first, output.length)) {
    throw new MalformedBytes("a frame's checksum is wrong", reader.position - 4)
  }
}

/** Room for `size` bytes, all of them; gives where they go. */
function reserve(output: Output, size: number): number {
  if (output.room(size) - output.length < size) throw output.overLimit()
  return output.length
}
