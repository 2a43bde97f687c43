import type { BlockBytes } from './bits.ts'

/** Finite state entropy tables. Source: RFC 8878, section 4.1. */

/**
 * For each state: in `steps` the next state's base, above it (from bit 16) how many bits to add to that, above those
 * (from bit 24) how many extra bits the value has; in `values` the value's base.
 */
export interface FseTable {
  log: number
  steps: Int32Array
  values: Int32Array
}

/** What the symbols of a table stand for: a base and a number of extra bits. */
export interface SymbolValues {
  bases: Int32Array
  extraBits: Uint8Array
}

const MIN_LOG = 5
const LESS_THAN_ONE = -1

/** Reads a table's description at `start`; gives also where it ends. */
export function readTable(
  block: BlockBytes,
  start: number,
  end: number,
  maxLog: number,
  symbols: SymbolValues,
): { table: FseTable; end: number } {
  const { view } = block
  const limit = end * 8
  let at = start * 8
  const read = (count: number) => {
    const value = (view.getUint32(at >>> 3, true) >>> (at & 7)) & ((1 << count) - 1)
    at += count
    // one check after each number is enough: the padding behind the block is longer than a number
    if (at > limit) throw block.malformed('a table goes beyond its block', start)
    return value
  }
  if (start >= end) throw block.malformed('a table is missing', start)
  const log = read(4) + MIN_LOG
  if (log > maxLog) throw block.malformed(`a table has 2^${log} states; 2^${maxLog} are allowed`, start)

  const probabilities = new Int16Array(symbols.bases.length)
  let left = 1 << log
  let symbol = 0
  while (left > 0) {
    if (symbol >= probabilities.length) throw block.malformed('a table has too many symbols', start)
    // values 0 to left + 1 take as few bits as they need: the low ones one bit less
    const bits = 32 - Math.clz32(left + 1)
    const spare = (1 << bits) - 1 - (left + 1)
    let value = read(bits - 1)
    if (value >= spare) {
      value |= read(1) << (bits - 1)
      if (value >= 1 << (bits - 1)) value -= spare
    }
    const probability = value - 1
    left -= Math.abs(probability)
    probabilities[symbol++] = probability
    if (probability !== 0) continue
    let repeat: number
    do {
      repeat = read(2)
      symbol += repeat
    } while (repeat === 3)
  }
  // a run of zeros may end behind the last symbol
  if (symbol > probabilities.length) throw block.malformed('a table has too many symbols', start)
  return { table: buildTable(probabilities, log, symbols), end: (at + 7) >>> 3 }
}

/** @param probabilities that add up to 2^log, -1 ("less than one") counting as 1 */
export function buildTable(probabilities: ArrayLike<number>, log: number, symbols: SymbolValues): FseTable {
  const size = 1 << log
  const mask = size - 1
  const spread = new Uint8Array(size)
  const nextOf = new Uint16Array(probabilities.length)
  let high = size
  for (let symbol = 0; symbol < probabilities.length; symbol++) {
    const probability = probabilities[symbol]!
    nextOf[symbol] = Math.abs(probability)
    if (probability === LESS_THAN_ONE) spread[--high] = symbol
  }
  const step = (size >>> 1) + (size >>> 3) + 3
  let position = 0
  for (let symbol = 0; symbol < probabilities.length; symbol++) {
    for (let count = probabilities[symbol]!; count > 0; count--) {
      spread[position] = symbol
      do position = (position + step) & mask
      while (position >= high)
    }
  }
  const steps = new Int32Array(size)
  const values = new Int32Array(size)
  for (let state = 0; state < size; state++) {
    const symbol = spread[state]!
    const next = nextOf[symbol]!++
    const bits = log - (31 - Math.clz32(next))
    steps[state] = ((next << bits) - size) | (bits << 16) | (symbols.extraBits[symbol]! << 24)
    values[state] = symbols.bases[symbol]!
  }
  return { log, steps, values }
}

/** The table of one symbol, which takes no bits. */
export function singleSymbolTable(symbol: number, symbols: SymbolValues): FseTable {
  return {
    log: 0,
    steps: Int32Array.of(symbols.extraBits[symbol]! << 24),
    values: Int32Array.of(symbols.bases[symbol]!),
  }
}
