import { crc32c as nativeCrc32c } from '@node-rs/crc32'
import { describe, expect, it } from 'vitest'
import { backends, resultOf } from '../support/backends.ts'
import { hex, pattern } from '../support/batches.ts'

const incrementing = Buffer.from(Array.from({ length: 32 }, (_, index) => index))

// "123456789" is the check value of the algorithm; the others are from RFC 3720, appendix B.4
const vectors: [string, Buffer, number][] = [
  ['nothing', Buffer.alloc(0), 0],
  ['123456789', Buffer.from('123456789'), 0xe3069283],
  ['32 zero bytes', Buffer.alloc(32), 0x8a9136aa],
  ['32 bytes 0xff', Buffer.alloc(32, 0xff), 0x62a8ab43],
  ['00..1f', incrementing, 0x46dd794e],
  ['1f..00', Buffer.from(incrementing).reverse(), 0x113fdb5c],
  [
    'an iSCSI read command',
    hex(
      '01c00000 00000000 00000000 00000000 14000000 00000400 00000014 00000018 28000000 00000000 02000000 00000000',
    ),
    0xd9963a56,
  ],
]

/** Bit by bit, from the definition. */
function slowCrc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0)
  }
  return ~crc >>> 0
}

/** By the native library; at [length * 64 + start]. */
const short = pattern(8192 + 64)
const shortCrcs = new Uint32Array(8193 * 64)
for (let at = 0; at < shortCrcs.length; at++) {
  shortCrcs[at] = nativeCrc32c(short.subarray(at % 64, (at % 64) + Math.floor(at / 64)))
}

/** Around the changes of method in assembly/fold.ts, around a chunk of the fold with and without what it leaves, and around the scratch region. */
const LONG_LENGTHS = [
  ...[20_480, 5275 + 16_384, 5275 + 2 * 16_384, 5275 + 16_384 + 64, 65_536, 131_072, 262_144].flatMap(
    (length) => [length - 1, length, length + 1, length + 63, length + 64],
  ),
  200_001,
  400_003,
].sort((a, b) => a - b)

describe.each(backends)('crc32c: $name', (backend) => {
  const { core } = backend
  const crcOf = (bytes: Uint8Array, initial?: number) =>
    resultOf(backend, bytes, (view) => core.crc32c(view, initial))

  it.each(vectors)('%s', (_, bytes, expected) => {
    expect(crcOf(bytes)).toBe(expected)
  })

  it('equals the definition at every length from 0 to 600', () => {
    const bytes = pattern(600)
    for (let length = 0; length <= 600; length++) {
      expect(crcOf(bytes.subarray(0, length))).toBe(slowCrc32c(bytes.subarray(0, length)))
    }
  })

  it('equals the native library at every length from 0 to 8,192 and every start from 0 to 63', () => {
    resultOf(backend, short, (view) => {
      const plain = view as Uint8Array
      for (let length = 0; length <= 8192; length++) {
        for (let start = 0; start < 64; start++) {
          const actual = core.crc32c(plain.subarray(start, start + length))
          if (actual !== shortCrcs[length * 64 + start]) expect.fail(`length ${length}, start ${start}`)
        }
      }
    })
  })

  it('equals the native library on long data, around every change of method and beyond the scratch region', () => {
    const bytes = pattern(LONG_LENGTHS.at(-1)! + 64)
    resultOf(backend, bytes, (view) => {
      for (const length of LONG_LENGTHS) {
        for (const start of [0, 1, 29]) {
          const expected = nativeCrc32c(bytes.subarray(start, start + length))
          const actual = core.crc32c((view as Uint8Array).subarray(start, start + length))
          if (actual !== expected) expect.fail(`length ${length}, start ${start}`)
        }
      }
    })
  })

  it('continues an earlier CRC on long data', () => {
    const bytes = pattern(60_000)
    for (const cut of [100, 431, 432, 20_479, 20_480, 40_000]) {
      expect(crcOf(bytes.subarray(cut), crcOf(bytes.subarray(0, cut)))).toBe(nativeCrc32c(bytes))
    }
  })

  it('continues an earlier CRC at every cut', () => {
    const bytes = pattern(100)
    for (let cut = 0; cut <= 100; cut++) {
      expect(crcOf(bytes.subarray(cut), crcOf(bytes.subarray(0, cut)))).toBe(nativeCrc32c(bytes))
    }
  })

  it('is unsigned', () => {
    expect(crcOf(Buffer.from('123456789'))).toBeGreaterThan(0x7fffffff)
  })

  it.each([-1, 2 ** 32, 0.5, Number.NaN, '1'])('refuses initial %s', (initial) => {
    expect(() => crcOf(Buffer.from('x'), initial as number)).toThrow(/unsigned 32-bit/)
  })
})
