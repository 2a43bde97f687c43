import asc from 'assemblyscript/asc'

/** The limit for anything that reads all bytes in wasm: XOR of all of them, four vectors at a time. */
const SOURCE = `
export function scan(from: usize, byteLength: usize): u64 {
  let a = v128.splat<u64>(0)
  let b = a
  let c = a
  let d = a
  for (const end = from + (byteLength & ~63); from < end; from += 64) {
    a = v128.xor(a, v128.load(from))
    b = v128.xor(b, v128.load(from, 16))
    c = v128.xor(c, v128.load(from, 32))
    d = v128.xor(d, v128.load(from, 48))
  }
  const all = v128.xor(v128.xor(a, b), v128.xor(c, d))
  return v128.extract_lane<u64>(all, 0) ^ v128.extract_lane<u64>(all, 1)
}
`

const PAGE = 65536

export interface XorScan {
  /** Scans a part of the bytes that it was made with. */
  scan(start: number, byteLength: number): void
}

/** A scan over a copy of the bytes in its own memory. */
export async function xorScan(bytes: Uint8Array): Promise<XorScan> {
  const { error, binary, stderr } = await asc.compileString(SOURCE, {
    runtime: 'stub',
    optimizeLevel: 3,
    enable: ['simd'],
  })
  if (error !== null || binary === null) throw new Error(`the scan does not compile: ${stderr.toString()}`)
  const { instance } = await WebAssembly.instantiate(new Uint8Array(binary))
  const { memory, scan } = instance.exports as {
    memory: WebAssembly.Memory
    scan(from: number, byteLength: number): bigint
  }
  const base = memory.buffer.byteLength
  memory.grow(Math.ceil(bytes.length / PAGE))
  new Uint8Array(memory.buffer).set(bytes, base)
  requireRight(bytes, scan(base, bytes.length))
  return {
    scan: (start, byteLength) => {
      scan(base + start, byteLength)
    },
  }
}

function requireRight(bytes: Uint8Array, actual: bigint): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let low = 0
  let high = 0
  for (let at = 0; at < (bytes.length & ~63); at += 8) {
    low ^= view.getUint32(at, true)
    high ^= view.getUint32(at + 4, true)
  }
  const expected = (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0)
  if (BigInt.asUintN(64, actual) !== expected) throw new Error('the scan gives a wrong result')
}
