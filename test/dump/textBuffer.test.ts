import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Int64Pairs } from '../../src/dump/int64Pairs.ts'
import { viewed, writeJavaUtf8 } from '../../src/dump/javaUtf8.ts'
import { encoded, TextBuffer } from '../../src/dump/textBuffer.ts'

const textOf = ({ bytes, length }: TextBuffer) => Buffer.from(bytes.subarray(0, length)).toString('utf8')

function written(write: (out: TextBuffer) => void): string {
  const out = new TextBuffer()
  write(out)
  return textOf(out)
}

describe('a text buffer', () => {
  it('writes integers as JavaScript does', () => {
    const edges = [0, 9, 10, 99, 100, 999999999, 1e9, 1e9 + 1, 1e10 - 1, 1e15, 2 ** 31, 2 ** 53 - 1]
    for (const value of edges) {
      expect(written((out) => out.integer(value))).toBe(String(value))
      if (value > 0) expect(written((out) => out.integer(-value))).toBe(String(-value))
    }
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => written((out) => out.integer(value)) === String(value)),
    )
  })

  it('writes int64', () => {
    const same = (value: bigint) => {
      expect(written((out) => out.bigint(value))).toBe(value.toString())
    }
    const edge = 2n ** 53n
    for (const value of [0n, edge, -edge, edge - 1n, 1n - edge, edge + 1n, -edge - 1n]) same(value)
    fc.assert(fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), same))
  })

  it('keeps everything wherever it has to grow', () => {
    for (let lead = 65530; lead <= 65540; lead++) {
      const text = written((out) => {
        out.string('x'.repeat(lead / 3))
        out.reserve(0)
        while (out.length < lead) out.text(encoded('y'))
        out.newline()
        out.integer(-1234567890123)
        out.text(encoded('é'))
        out.boolean(false)
        writeJavaUtf8(out, viewed(encoded('ab漢')), 0, 5)
        out.newline()
      })
      expect(text.slice(lead)).toBe('\n-1234567890123éfalseab漢\n')
    }
  })
})

describe('text as Java reads it', () => {
  it('is what it was where it is valid', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const bytes = encoded(`\ufeff${text}`)
        return written((out) => writeJavaUtf8(out, viewed(bytes), 0, bytes.length)) === `\ufeff${text}`
      }),
    )
  })

  it('agrees with the web’s decoders but for surrogates', () => {
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 12 }), (noise) => {
        const bytes = noise.map((byte) => (byte === 0xed ? 0xee : byte))
        return written((out) => writeJavaUtf8(out, viewed(bytes), 0, bytes.length)) === decoder.decode(bytes)
      }),
      { numRuns: 5000 },
    )
  })

  it('makes one replacement of a surrogate’s three bytes', () => {
    const bytes = new Uint8Array([0x61, 0xed, 0xa0, 0x80, 0xed, 0xbf, 0xbf, 0x62])
    expect(written((out) => writeJavaUtf8(out, viewed(bytes), 0, 8))).toBe('a\ufffd\ufffdb')
    expect(written((out) => writeJavaUtf8(out, viewed(bytes), 1, 3))).toBe('\ufffd')
  })
})

describe('pairs of int64', () => {
  it('are sorted as in a TreeMap', () => {
    const pair = fc.tuple(fc.bigInt({ min: -5n, max: 5n }), fc.bigInt({ min: 0n, max: 99n }))
    fc.assert(
      fc.property(fc.array(pair, { maxLength: 40 }), (entries) => {
        const pairs = new Int64Pairs()
        for (const [first, second] of entries) pairs.add(first, second)
        const map = [...new Map(entries)].sort(([a], [b]) => Number(a - b))
        expect([...pairs.inOrder()]).toEqual(entries)
        expect([...pairs.sorted('ascending')]).toEqual(map)
        expect([...pairs.sorted('descending')]).toEqual(map.reverse())
      }),
    )
  })

  it('are counted beyond what is kept', () => {
    const pairs = new Int64Pairs()
    for (let number = 0n; number < 1_000_007n; number++) pairs.add(number, number)
    expect([pairs.count, pairs.left]).toEqual([1_000_007, 7])
    let count = 0
    for (const _ of pairs.sorted('ascending')) count++
    expect(count).toBe(1_000_000)
  })
})
