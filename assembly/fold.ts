// CRC-32C at memory speed with plain 128-bit XOR (the idea: Sam Russell, "Chorba", arXiv 2412.16398).
//
// x^209 + x^144 + x^54 + x^39 + x^14 + 1 is a multiple of P, and stays one when every exponent is multiplied by a power
// of two. So a block may be XORed forward to the blocks 65, 155, 170, 195 and 209 units behind it instead of being
// looked up; a unit is 1, 2, 4, 8 or 16 bytes. Gathered, block by block:
//
//   folded[i] = data[i] ^ folded[i - 65] ^ folded[i - 155] ^ folded[i - 170] ^ folded[i - 195] ^ folded[i - 209]
//
// for all but the last 209 units, which take the same XORs from what stands before them and are what is left: a shorter
// message with the same CRC. It is folded again with a smaller unit, and the last 209 bytes go through the table.

const DISTANCE_1: usize = 65
const DISTANCE_2: usize = 155
const DISTANCE_3: usize = 170
const DISTANCE_4: usize = 195
export const DEGREE: usize = 209

const LARGEST_UNIT: usize = 8
/** What is folded between two moves of the history: with it, small enough for a first-level cache. */
const CHUNK: usize = 8192
const HISTORY: usize = DEGREE * LARGEST_UNIT

/** History, then a chunk, then room for the zeros that stand for what is not folded. */
const FOLDED: usize = memory.data(11536, 16) + HISTORY
const REST_1: usize = memory.data(1680, 16)
const REST_2: usize = memory.data(1680, 16)

/** One vector of the formula; the back pointers stand at the distances before `to`. */
function gather(from: usize, back1: usize, back2: usize, back3: usize, back4: usize, back5: usize): v128 {
  return v128.xor(
    v128.xor(v128.xor(v128.load(from), v128.load(back1)), v128.xor(v128.load(back2), v128.load(back3))),
    v128.xor(v128.load(back4), v128.load(back5)),
  )
}

/** The formula over byteLength bytes of `from`, into `to`; `folded` is where the first of them stands in FOLDED. */
function gatherAll(from: usize, byteLength: usize, folded: usize, to: usize, unit: usize): void {
  let back1 = folded - DISTANCE_1 * unit
  let back2 = folded - DISTANCE_2 * unit
  let back3 = folded - DISTANCE_3 * unit
  let back4 = folded - DISTANCE_4 * unit
  let back5 = folded - DEGREE * unit
  // Four vectors a step by hand: the compiler does not unroll. The shortest distance, 65 bytes at unit 1, reaches behind
  // all four.
  while (byteLength >= 64) {
    v128.store(to, gather(from, back1, back2, back3, back4, back5))
    v128.store(to, gather(from + 16, back1 + 16, back2 + 16, back3 + 16, back4 + 16, back5 + 16), 16)
    v128.store(to, gather(from + 32, back1 + 32, back2 + 32, back3 + 32, back4 + 32, back5 + 32), 32)
    v128.store(to, gather(from + 48, back1 + 48, back2 + 48, back3 + 48, back4 + 48, back5 + 48), 48)
    from += 64
    to += 64
    back1 += 64
    back2 += 64
    back3 += 64
    back4 += 64
    back5 += 64
    byteLength -= 64
  }
  while (byteLength > 0) {
    const folds = load<u8>(back1) ^ load<u8>(back2) ^ load<u8>(back3) ^ load<u8>(back4) ^ load<u8>(back5)
    store<u8>(to, load<u8>(from) ^ folds)
    from++
    to++
    back1++
    back2++
    back3++
    back4++
    back5++
    byteLength--
  }
}

/** Folds byteLength bytes (more than 209 units) to the last 209 units, written to `rest`. */
function fold(from: usize, byteLength: usize, unit: usize, state: u32, rest: usize): void {
  const degree = DEGREE * unit
  memory.fill(FOLDED - degree, 0, degree)
  // this place of the history reaches the first four bytes and nothing else: there the state belongs
  store<u32>(FOLDED - degree, state)
  let left = byteLength - degree
  while (left > CHUNK) {
    gatherAll(from, CHUNK, FOLDED, FOLDED, unit)
    memory.copy(FOLDED - degree, FOLDED + CHUNK - degree, degree)
    from += CHUNK
    left -= CHUNK
  }
  gatherAll(from, left, FOLDED, FOLDED, unit)
  memory.fill(FOLDED + left, 0, degree)
  gatherAll(from + left, degree, FOLDED + left, rest, unit)
}

/** Shorter data is as fast through the table. */
export const FOLD_FROM: usize = 640

/** Where the last 209 bytes are left. */
export const FOLDED_REST: usize = REST_2

/** Folds at least FOLD_FROM bytes, with the raw CRC state before them, to the 209 bytes at FOLDED_REST. */
export function foldToRest(from: usize, byteLength: usize, state: u32): void {
  if (byteLength >= 16384) {
    fold(from, byteLength, 8, state, REST_1)
    fold(REST_1, DEGREE * 8, 2, 0, REST_2)
    fold(REST_2, DEGREE * 2, 1, 0, REST_2)
  } else if (byteLength >= 2048) {
    fold(from, byteLength, 4, state, REST_1)
    fold(REST_1, DEGREE * 4, 1, 0, REST_2)
  } else {
    fold(from, byteLength, 1, state, REST_2)
  }
}
