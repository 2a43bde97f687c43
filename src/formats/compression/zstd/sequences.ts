import { copyLiterals, copyMatch, type Output } from '../output.ts'
import type { BlockBytes } from './bits.ts'
import { buildTable, type FseTable, readTable, type SymbolValues, singleSymbolTable } from './fse.ts'
import type { Literals } from './literals.ts'

/** Literals and matches put together. Source: RFC 8878, sections 3.1.1.3.2 and 3.1.1.4. */

interface SequenceCode {
  values: SymbolValues
  maxLog: number
  /** The table to use when a block says so. */
  predefined: FseTable
}

/** Bases follow from the extra bits: each symbol goes on where the one before it ends. */
function code(
  first: number,
  extraBits: number[],
  maxLog: number,
  log: number,
  probabilities: number[],
): SequenceCode {
  const bases = new Int32Array(extraBits.length)
  let base = first
  extraBits.forEach((bits, symbol) => {
    bases[symbol] = base
    base += 2 ** bits
  })
  const values = { bases, extraBits: Uint8Array.from(extraBits) }
  return { values, maxLog, predefined: buildTable(probabilities, log, values) }
}

const LITERAL_LENGTH = 0
const OFFSET = 1
const MATCH_LENGTH = 2

function sequenceCodes(): [SequenceCode, SequenceCode, SequenceCode] {
  const zeros = (count: number) => new Array<number>(count).fill(0)
  const upTo = (last: number, from: number) => Array.from({ length: last - from + 1 }, (_, i) => from + i)
  return [
    code(
      0,
      [...zeros(16), 1, 1, 1, 1, 2, 2, 3, 3, 4, ...upTo(16, 6)],
      9,
      6,
      [
        4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1,
        -1, -1, -1,
      ],
    ),
    // an offset of 2^31 is beyond all that was produced, so its symbol is left out
    code(
      1,
      upTo(30, 0),
      8,
      5,
      [1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1],
    ),
    code(
      3,
      [...zeros(32), 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, ...upTo(16, 7)],
      9,
      6,
      [
        1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
      ],
    ),
  ]
}

let codes: [SequenceCode, SequenceCode, SequenceCode] | undefined

const PREDEFINED = 0
const SINGLE = 1
const DESCRIBED = 2

/** Reads sequences sections. Tables and repeated offsets live as long as the frame. */
export class SequencesReader {
  readonly #tables: [FseTable | null, FseTable | null, FseTable | null] = [null, null, null]
  readonly #repeated: [number, number, number] = [1, 4, 8]

  /**
   * Appends the block to the output.
   * @param frameStart where the frame's output starts: matches reach back to there
   * @param maxSize of the block
   */
  read(block: BlockBytes, literals: Literals, output: Output, frameStart: number, maxSize: number): void {
    const { bytes, end } = block
    let at = literals.next
    if (at >= end) throw block.malformed('the sequences are missing', at)
    let count = bytes[at++]!
    if (count === 255) {
      count = (bytes[at]! | (bytes[at + 1]! << 8)) + 0x7f00
      at += 2
    } else if (count >= 128) {
      count = ((count - 128) << 8) | bytes[at++]!
    }
    if (at > end) throw block.malformed('the block ends in the number of its sequences', end)
    const last = output.room(maxSize)
    if (count === 0) {
      if (at !== end) throw block.malformed(`${end - at} bytes are left in a block`, at)
      appendLiterals(block, literals, literals.start, output, output.length, last)
      return
    }
    at = this.#readTables(block, at)
    this.#execute(block, at, count, literals, output, frameStart, last)
  }

  #readTables(block: BlockBytes, start: number): number {
    const { bytes, end } = block
    if (start >= end) throw block.malformed('the tables of the sequences are missing', start)
    const modes = bytes[start]!
    if ((modes & 3) !== 0) throw block.malformed('reserved bits of the sequences are set', start)
    let at = start + 1
    codes ??= sequenceCodes()
    for (const index of [LITERAL_LENGTH, OFFSET, MATCH_LENGTH] as const) {
      const { values, maxLog, predefined } = codes[index]
      const mode = (modes >>> (6 - 2 * index)) & 3
      if (mode === PREDEFINED) {
        this.#tables[index] = predefined
      } else if (mode === SINGLE) {
        if (at >= end) throw block.malformed('the symbol of a table is missing', at)
        const symbol = bytes[at++]!
        if (symbol >= values.bases.length) throw block.malformed(`a table's symbol is ${symbol}`, at - 1)
        this.#tables[index] = singleSymbolTable(symbol, values)
      } else if (mode === DESCRIBED) {
        const read = readTable(block, at, end, maxLog, values)
        this.#tables[index] = read.table
        at = read.end
      } else if (this.#tables[index] === null) {
        throw block.malformed('the sequences use an earlier table and there is none', start)
      }
    }
    return at
  }

  #execute(
    block: BlockBytes,
    start: number,
    count: number,
    literals: Literals,
    output: Output,
    frameStart: number,
    last: number,
  ): void {
    const { view } = block
    const { bytes } = output
    const source = literals.bytes
    const lengths = this.#tables[LITERAL_LENGTH]!
    const offsets = this.#tables[OFFSET]!
    const matches = this.#tables[MATCH_LENGTH]!
    let [repeated1, repeated2, repeated3] = this.#repeated
    let from = literals.start
    let to = output.length

    let left = block.bitCount(start, block.end)
    const read = (bits: number) => {
      left -= bits
      return (view.getUint32(start + (left >> 3), true) >>> (left & 7)) & ((1 << bits) - 1)
    }
    let lengthState = read(lengths.log)
    let offsetState = read(offsets.log)
    let matchState = read(matches.log)

    for (let index = 0; index < count; index++) {
      const offsetStep = offsets.steps[offsetState]!
      const matchStep = matches.steps[matchState]!
      const lengthStep = lengths.steps[lengthState]!
      // a word has 25 bits at least, and an offset up to 30 extra ones
      let offset = offsets.values[offsetState]!
      let extra = offsetStep >>> 24
      if (extra > 24) {
        offset += read(extra - 16) * 65536
        extra = 16
      }
      offset += read(extra)
      const matchLength = matches.values[matchState]! + read(matchStep >>> 24)
      const literalLength = lengths.values[lengthState]! + read(lengthStep >>> 24)
      if (index < count - 1) {
        lengthState = (lengthStep & 0xffff) + read((lengthStep >>> 16) & 255)
        matchState = (matchStep & 0xffff) + read((matchStep >>> 16) & 255)
        offsetState = (offsetStep & 0xffff) + read((offsetStep >>> 16) & 255)
      }
      if (left < 0) throw block.malformed('the sequences are cut', start)

      // 1 to 3 mean an earlier offset, shifted by one where there are no literals
      if (offset > 3) {
        offset -= 3
        repeated3 = repeated2
        repeated2 = repeated1
        repeated1 = offset
      } else {
        const which = literalLength === 0 ? offset + 1 : offset
        if (which === 1) {
          offset = repeated1
        } else {
          offset = which === 2 ? repeated2 : which === 3 ? repeated3 : repeated1 - 1
          if (which !== 2) repeated3 = repeated2
          repeated2 = repeated1
          repeated1 = offset
        }
      }
      if (literalLength > literals.end - from) throw block.malformed('there are too few literals', start)
      if (literalLength + matchLength > last - to) {
        throw output.tooMuch(last, 'a block holds more than allowed', blockPosition(block))
      }
      copyLiterals(source, from, bytes, to, literalLength)
      from += literalLength
      to += literalLength
      if (offset === 0 || offset > to - frameStart) {
        throw block.malformed(`a match goes ${offset} bytes back where ${to - frameStart} are`, start)
      }
      copyMatch(bytes, to, offset, matchLength)
      to += matchLength
    }
    if (left !== 0) throw block.malformed(`${left} bits are left behind the sequences`, start)
    this.#repeated[0] = repeated1
    this.#repeated[1] = repeated2
    this.#repeated[2] = repeated3
    appendLiterals(block, literals, from, output, to, last)
  }
}

function blockPosition(block: BlockBytes): number {
  return block.malformed('', block.start).position
}

/** What no sequence took, which ends the block. */
function appendLiterals(
  block: BlockBytes,
  literals: Literals,
  from: number,
  output: Output,
  to: number,
  last: number,
): void {
  const length = literals.end - from
  if (length > last - to) throw output.tooMuch(last, 'a block holds more than allowed', blockPosition(block))
  copyLiterals(literals.bytes, from, output.bytes, to, length)
  output.length = to + length
}
