// CRC-32C at memory speed with plain 128-bit XOR (the idea: Sam Russell, "Chorba", arXiv 2412.16398).
//
// A multiple of P with few terms, such as x^5275 + x^4508 + x^2751 + 1, lets a block be XORed forward to the blocks 767,
// 2524 and 5275 bytes behind it instead of being looked up. Gathered, block by block:
//
//   folded[i] = data[i] ^ folded[i - 767] ^ folded[i - 2524] ^ folded[i - 5275]
//
// for all but the last 5275 bytes, which take the same XORs from what stands before them and are what is left: a shorter
// message with the same CRC. (The exponents count bits: a multiple stays one when all of them are multiplied by 8.) This is
// the smallest multiple with four terms. What it leaves, and data too short for it, is folded by one with six,
// x^290 + x^136 + x^113 + x^107 + x^32 + 1, and the last 290 bytes go through the table. There is a smaller one, of degree
// 209, whose shortest distance is 65: a step there reads what the step before has just stored, and waits for it.

const LONG_1: usize = 767
const LONG_2: usize = 2524
const LONG_DEGREE: usize = 5275

const SHORT_1: usize = 154
const SHORT_2: usize = 177
const SHORT_3: usize = 183
const SHORT_4: usize = 258
const SHORT_DEGREE: usize = 290

/** Bytes of a step: four vectors, by hand, as the compiler does not unroll. No distance is shorter. */
const STEP: usize = 64

/** What is folded between two moves of the history: with it, small enough for a first-level cache. */
const CHUNK: usize = 16384
/** Shorter data takes less time without the four terms, whose last 5275 bytes are folded twice. */
const LONG_FROM: usize = 20480

/** History, then a chunk or all of the shorter data, then room for the zeros that stand for what is not folded. */
const FOLDED: usize = memory.data(27072, 64) + 5312
const LONG_REST: usize = memory.data(5280, 16)

/** Shorter data is as fast through the table. */
export const FOLD_FROM: usize = 432
/** What foldToRest leaves. */
export const FOLDED_REST_SIZE: usize = SHORT_DEGREE
export const FOLDED_REST: usize = memory.data(304, 16)

/**
 * The formula with six terms over byteLength bytes, STEP at least, from `from` into `to`; `history` is as far before
 * the first of them in FOLDED as the formula reaches. The last step may repeat bytes of the one before, with the same
 * result, so that no byte behind is read.
 */
function gatherShort(from: usize, history: usize, to: usize, byteLength: usize): void {
  const last = byteLength - STEP
  let at: usize = 0
  while (true) {
    const data = from + at
    const back = history + at
    let a = v128.xor(v128.load(data), v128.load(back))
    let b = v128.xor(v128.load(data, 16), v128.load(back, 16))
    let c = v128.xor(v128.load(data, 32), v128.load(back, 32))
    let d = v128.xor(v128.load(data, 48), v128.load(back, 48))
    a = v128.xor(a, v128.load(back, SHORT_DEGREE - SHORT_4))
    b = v128.xor(b, v128.load(back, SHORT_DEGREE - SHORT_4 + 16))
    c = v128.xor(c, v128.load(back, SHORT_DEGREE - SHORT_4 + 32))
    d = v128.xor(d, v128.load(back, SHORT_DEGREE - SHORT_4 + 48))
    a = v128.xor(a, v128.load(back, SHORT_DEGREE - SHORT_3))
    b = v128.xor(b, v128.load(back, SHORT_DEGREE - SHORT_3 + 16))
    c = v128.xor(c, v128.load(back, SHORT_DEGREE - SHORT_3 + 32))
    d = v128.xor(d, v128.load(back, SHORT_DEGREE - SHORT_3 + 48))
    a = v128.xor(a, v128.load(back, SHORT_DEGREE - SHORT_2))
    b = v128.xor(b, v128.load(back, SHORT_DEGREE - SHORT_2 + 16))
    c = v128.xor(c, v128.load(back, SHORT_DEGREE - SHORT_2 + 32))
    d = v128.xor(d, v128.load(back, SHORT_DEGREE - SHORT_2 + 48))
    a = v128.xor(a, v128.load(back, SHORT_DEGREE - SHORT_1))
    b = v128.xor(b, v128.load(back, SHORT_DEGREE - SHORT_1 + 16))
    c = v128.xor(c, v128.load(back, SHORT_DEGREE - SHORT_1 + 32))
    d = v128.xor(d, v128.load(back, SHORT_DEGREE - SHORT_1 + 48))
    v128.store(to + at, a)
    v128.store(to + at, b, 16)
    v128.store(to + at, c, 32)
    v128.store(to + at, d, 48)
    if (at == last) return
    at = min(at + STEP, last)
  }
}

/** The same with four terms. */
function gatherLong(from: usize, history: usize, to: usize, byteLength: usize): void {
  const last = byteLength - STEP
  let at: usize = 0
  while (true) {
    const data = from + at
    const back = history + at
    let a = v128.xor(v128.load(data), v128.load(back))
    let b = v128.xor(v128.load(data, 16), v128.load(back, 16))
    let c = v128.xor(v128.load(data, 32), v128.load(back, 32))
    let d = v128.xor(v128.load(data, 48), v128.load(back, 48))
    a = v128.xor(a, v128.load(back, LONG_DEGREE - LONG_2))
    b = v128.xor(b, v128.load(back, LONG_DEGREE - LONG_2 + 16))
    c = v128.xor(c, v128.load(back, LONG_DEGREE - LONG_2 + 32))
    d = v128.xor(d, v128.load(back, LONG_DEGREE - LONG_2 + 48))
    a = v128.xor(a, v128.load(back, LONG_DEGREE - LONG_1))
    b = v128.xor(b, v128.load(back, LONG_DEGREE - LONG_1 + 16))
    c = v128.xor(c, v128.load(back, LONG_DEGREE - LONG_1 + 32))
    d = v128.xor(d, v128.load(back, LONG_DEGREE - LONG_1 + 48))
    v128.store(to + at, a)
    v128.store(to + at, b, 16)
    v128.store(to + at, c, 32)
    v128.store(to + at, d, 48)
    if (at == last) return
    at = min(at + STEP, last)
  }
}

/** Zeros, a few more at the end; a call of memory.fill takes longer for so few. */
function clear(at: usize, byteLength: usize): void {
  const zeros = v128.splat<u64>(0)
  for (const end = at + byteLength; at < end; at += 16) v128.store(at, zeros)
}

/** Folds LONG_FROM bytes or more, with the raw CRC state before them, to the LONG_DEGREE bytes at LONG_REST. */
function foldLong(from: usize, byteLength: usize, state: u32): void {
  const history = FOLDED - LONG_DEGREE
  clear(history, LONG_DEGREE)
  // this place of the history reaches the first four bytes and nothing else: there the state belongs
  store<u32>(history, state)
  let left = byteLength - LONG_DEGREE
  while (left >= CHUNK + STEP) {
    gatherLong(from, history, FOLDED, CHUNK)
    memory.copy(history, history + CHUNK, LONG_DEGREE)
    from += CHUNK
    left -= CHUNK
  }
  gatherLong(from, history, FOLDED, left)
  clear(FOLDED + left, LONG_DEGREE)
  gatherLong(from + left, history + left, LONG_REST, LONG_DEGREE)
}

/** The same by the six terms, for FOLD_FROM bytes or more: to the FOLDED_REST_SIZE bytes at FOLDED_REST. */
function foldShort(from: usize, byteLength: usize, state: u32): void {
  const history = FOLDED - SHORT_DEGREE
  clear(history, SHORT_DEGREE)
  store<u32>(history, state)
  const left = byteLength - SHORT_DEGREE
  gatherShort(from, history, FOLDED, left)
  clear(FOLDED + left, SHORT_DEGREE)
  gatherShort(from + left, history + left, FOLDED_REST, SHORT_DEGREE)
}

/** Folds at least FOLD_FROM bytes, with the raw CRC state before them, to the FOLDED_REST_SIZE bytes at FOLDED_REST. */
export function foldToRest(from: usize, byteLength: usize, state: u32): void {
  if (byteLength < LONG_FROM) {
    foldShort(from, byteLength, state)
  } else {
    foldLong(from, byteLength, state)
    foldShort(LONG_REST, LONG_DEGREE, 0)
  }
}
