import type { BlockBytes } from './bits.ts'
import { decodeHuffman, type HuffmanTable, readHuffmanTable } from './huffman.ts'

/** The literals of a block and where its sequences start. Source: RFC 8878, section 3.1.1.3.1. */
export interface Literals {
  bytes: Uint8Array
  start: number
  end: number
  next: number
}

const RAW = 0
const COMPRESSED = 2
const MIN_FOR_FOUR_STREAMS = 6
const JUMP_TABLE_SIZE = 6

/** Reads literals sections. The Huffman tree and the memory live as long as the frame. */
export class LiteralsReader {
  #table: HuffmanTable | null = null
  #bytes = new Uint8Array(0)

  read(block: BlockBytes, maxSize: number): Literals {
    const { start } = block
    const header = block.bytes[start]!
    const type = header & 3
    return type < COMPRESSED
      ? this.#readPlain(block, header, type, maxSize)
      : this.#readCompressed(block, header, type, maxSize)
  }

  #readPlain(block: BlockBytes, header: number, type: number, maxSize: number): Literals {
    const { bytes, view, start, end } = block
    // the size has 5, 12 or 20 bits
    const format = (header >>> 2) & 3
    const headerSize = (format & 1) === 0 ? 1 : format === 1 ? 2 : 3
    const word = view.getUint32(start, true)
    const size = headerSize === 1 ? header >>> 3 : (word >>> 4) & (headerSize === 2 ? 0xfff : 0xfffff)
    const from = start + headerSize
    const next = from + (type === RAW ? size : 1)
    if (size > maxSize || next > end) throw block.malformed('the literals go beyond their block', start)
    if (type === RAW) return { bytes, start: from, end: next, next }
    return { bytes: this.#room(size).fill(bytes[from]!, 0, size), start: 0, end: size, next }
  }

  #readCompressed(block: BlockBytes, header: number, type: number, maxSize: number): Literals {
    const { view, start, end } = block
    // two sizes, each of 10, 10, 14 or 18 bits; only the first format has a single stream
    const format = (header >>> 2) & 3
    const bits = format < 2 ? 10 : format * 4 + 6
    const headerSize = format < 2 ? 3 : format + 2
    const mask = (1 << bits) - 1
    const size = (view.getUint32(start, true) >>> 4) & mask
    const compressedSize = (view.getUint32(start + ((4 + bits) >>> 3), true) >>> ((4 + bits) & 7)) & mask
    let from = start + headerSize
    const next = from + compressedSize
    if (size === 0 || size > maxSize || next > end) {
      throw block.malformed('the literals go beyond their block', start)
    }
    if (type === COMPRESSED) {
      const read = readHuffmanTable(block, from, next)
      this.#table = read.table
      from = read.end
    }
    const table = this.#table
    if (table === null) throw block.malformed('the literals use an earlier tree and there is none', start)
    const bytes = this.#room(size)
    if (format === 0) decodeHuffman(block, from, next, table, bytes, 0, size)
    else decodeFourStreams(block, from, next, table, bytes, size)
    return { bytes, start: 0, end: size, next }
  }

  #room(size: number): Uint8Array<ArrayBuffer> {
    if (this.#bytes.length < size) this.#bytes = new Uint8Array(size)
    return this.#bytes
  }
}

/** Four streams, each but the last for a quarter of the literals, rounded up. */
function decodeFourStreams(
  block: BlockBytes,
  start: number,
  end: number,
  table: HuffmanTable,
  target: Uint8Array,
  size: number,
): void {
  if (size < MIN_FOR_FOUR_STREAMS || end - start < JUMP_TABLE_SIZE) {
    throw block.malformed('there is too little for four streams of literals', start)
  }
  const quarter = (size + 3) >>> 2
  let from = start + JUMP_TABLE_SIZE
  for (let index = 0; index < 4; index++) {
    const to = index === 3 ? end : from + block.view.getUint16(start + 2 * index, true)
    if (to > end) throw block.malformed('a stream of literals goes beyond its block', start)
    const last = index === 3 ? size : (index + 1) * quarter
    decodeHuffman(block, from, to, table, target, index * quarter, last)
    from = to
  }
}
