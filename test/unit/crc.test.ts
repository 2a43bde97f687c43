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

  it('equals the native library at every length to 4,200 and every start from 0 to 63', () => {
    const bytes = pattern(4300)
    resultOf(backend, bytes, (view) => {
      const plain = view as Uint8Array
      for (let length = 0; length <= 4200; length += length < 300 ? 1 : 13) {
        for (let start = 0; start < 64; start += length < 300 ? 1 : 7) {
          const window = plain.subarray(start, start + length)
          const expected = nativeCrc32c(bytes.subarray(start, start + length))
          if (core.crc32c(window) !== expected) expect.fail(`length ${length}, start ${start}`)
        }
      }
    })
  })

  it('handles bytes around and beyond the scratch region', () => {
    for (const length of [65535, 65536, 65537, 131072, 200_001]) {
      expect(crcOf(pattern(length))).toBe(nativeCrc32c(pattern(length)))
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
