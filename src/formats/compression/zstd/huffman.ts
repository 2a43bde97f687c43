import type { BlockBytes } from './bits.ts'
import { readTable, type SymbolValues } from './fse.ts'

/** Huffman-coded literals. Source: RFC 8878, section 4.2. */

const MAX_BITS = 11
const MAX_WEIGHTS = 255
const MAX_WEIGHT_LOG = 6

/** For each value of the next `bits` bits: the symbol, and above it (from bit 8) how many of the bits are its code. */
export interface HuffmanTable {
  bits: number
  entries: Uint16Array
}

/** A weight stands for itself. */
const weightValues: SymbolValues = {
  bases: Int32Array.from({ length: MAX_BITS + 2 }, (_, weight) => weight),
  extraBits: new Uint8Array(MAX_BITS + 2),
}

/** Reads a tree's description at `start`; gives also where it ends. */
export function readHuffmanTable(
  block: BlockBytes,
  start: number,
  end: number,
): { table: HuffmanTable; end: number } {
  if (start >= end) throw block.malformed('a Huffman tree is missing', start)
  const header = block.bytes[start]!
  const from = start + 1
  const weights = new Uint8Array(MAX_WEIGHTS + 1)
  const isPlain = header >= 128
  const count = isPlain ? header - 127 : 0
  const to = from + (isPlain ? (count + 1) >>> 1 : header)
  if (to > end) throw block.malformed('a Huffman tree goes beyond its block', start)
  if (isPlain) {
    for (let index = 0; index < count; index++) {
      const pair = block.bytes[from + (index >>> 1)]!
      weights[index] = index & 1 ? pair & 15 : pair >>> 4
    }
    return { table: buildHuffmanTable(block, start, weights, count), end: to }
  }
  return { table: buildHuffmanTable(block, start, weights, readWeights(block, from, to, weights)), end: to }
}

/** Weights packed by two interleaved states; the stream's end tells how many there are. */
function readWeights(block: BlockBytes, start: number, end: number, weights: Uint8Array): number {
  const { table, end: from } = readTable(block, start, end, MAX_WEIGHT_LOG, weightValues)
  const { view } = block
  let left = block.bitCount(from, end)
  const read = (count: number) => {
    left -= count
    return (view.getUint32(from + (left >> 3), true) >>> (left & 7)) & ((1 << count) - 1)
  }
  let state = read(table.log)
  let other = read(table.log)
  if (left < 0) throw block.malformed('the weights of a Huffman tree are cut', start)
  let count = 0
  for (;;) {
    if (count === MAX_WEIGHTS) throw block.malformed('a Huffman tree has too many weights', start)
    weights[count++] = table.values[state]!
    const step = table.steps[state]!
    const next = (step & 0xffff) + read(step >>> 16)
    if (left < 0) break
    state = other
    other = next
  }
  // the state that still waits holds the last one
  if (count === MAX_WEIGHTS) throw block.malformed('a Huffman tree has too many weights', start)
  weights[count++] = table.values[other]!
  return count
}

/** @param count of the weights; the last symbol's is not among them but follows from the others */
function buildHuffmanTable(
  block: BlockBytes,
  start: number,
  weights: Uint8Array,
  count: number,
): HuffmanTable {
  let sum = 0
  for (let symbol = 0; symbol < count; symbol++) {
    const weight = weights[symbol]!
    if (weight > MAX_BITS) throw block.malformed(`a Huffman code would have ${weight} bits`, start)
    if (weight > 0) sum += 1 << (weight - 1)
  }
  const bits = 32 - Math.clz32(sum)
  const size = 1 << bits
  const rest = size - sum
  if (sum === 0 || bits > MAX_BITS || (rest & (rest - 1)) !== 0) {
    throw block.malformed('the weights of a Huffman tree do not add up', start)
  }
  weights[count] = 32 - Math.clz32(rest)

  // the lowest codes are the longest; symbols of one length follow each other
  const next = new Uint16Array(MAX_BITS + 2)
  for (let symbol = 0; symbol <= count; symbol++) next[weights[symbol]!]!++
  let entry = 0
  for (let weight = 1; weight <= bits; weight++) {
    const symbols = next[weight]!
    next[weight] = entry
    entry += symbols << (weight - 1)
  }
  const entries = new Uint16Array(size)
  for (let symbol = 0; symbol <= count; symbol++) {
    const weight = weights[symbol]!
    if (weight === 0) continue
    const first = next[weight]!
    const last = first + (1 << (weight - 1))
    entries.fill(symbol | ((bits + 1 - weight) << 8), first, last)
    next[weight] = last
  }
  return { bits, entries }
}

/** Decodes one stream to exactly fill `target[to, last)`, with every bit used. */
export function decodeHuffman(
  block: BlockBytes,
  start: number,
  end: number,
  { bits, entries }: HuffmanTable,
  target: Uint8Array,
  to: number,
  last: number,
): void {
  const { view } = block
  const mask = (1 << bits) - 1
  let at = to
  // `left` counts from `bits` bits below the next code; at the very end the codes reach below the stream
  let left = block.bitCount(start, end) - bits
  const floor = -bits
  while (at + 1 < last && left >= floor) {
    // two codes fit in the 25 bits that a word has at least
    const low = left - bits
    const word = view.getUint32(start + (low >> 3), true) >>> (low & 7)
    const first = entries[(word >>> bits) & mask]!
    const firstBits = first >>> 8
    const second = entries[(word >>> (bits - firstBits)) & mask]!
    target[at] = first
    target[at + 1] = second
    at += 2
    left -= firstBits + (second >>> 8)
  }
  if (at < last && left >= floor) {
    const entry = entries[(view.getUint32(start + (left >> 3), true) >>> (left & 7)) & mask]!
    target[at++] = entry
    left -= entry >>> 8
  }
  if (at !== last || left !== floor) throw block.malformed('Huffman-coded literals do not fit', start)
}
