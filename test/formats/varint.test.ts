import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ByteReader, MalformedBytes } from '../../src/bytes/byteReader.ts'
import { ByteWriter } from '../../src/bytes/byteWriter.ts'
import { decrementSequence, incrementSequence } from '../../src/formats/sequence.ts'
import { hex } from '../support/batches.ts'

const MAX = 2147483647

describe('varints', () => {
  it.each([
    [0, '00'],
    [-1, '01'],
    [1, '02'],
    [-2, '03'],
    [63, '7e'],
    [-64, '7f'],
    [64, '8001'],
    [MAX, 'feffffff0f'],
    [-MAX - 1, 'ffffffff0f'],
  ])('%i is %s', (value, bytes) => {
    expect(Buffer.from(new ByteWriter().varint(value).finish()).toString('hex')).toBe(bytes)
    expect(new ByteReader(hex(bytes)).varint()).toBe(value)
  })

  it.each([
    [2n ** 63n - 1n, 'feffffffffffffffff01'],
    [-(2n ** 63n), 'ffffffffffffffffff01'],
    [0n, '00'],
    [-1n, '01'],
    [2n ** 27n - 1n, 'feffff7f'],
    [2n ** 27n, '8080808001'],
    [-(2n ** 27n) - 1n, '8180808001'],
  ])('the long %s is %s', (value, bytes) => {
    expect(Buffer.from(new ByteWriter().varlong(value).finish()).toString('hex')).toBe(bytes)
    expect(new ByteReader(hex(bytes)).varlong()).toBe(value)
  })

  it('come back as they were', () => {
    fc.assert(
      fc.property(fc.integer(), (n) => new ByteReader(new ByteWriter().varint(n).finish()).varint() === n),
    )
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
        (n) => new ByteReader(new ByteWriter().varlong(n).finish()).varlong() === n,
      ),
    )
    fc.assert(
      fc.property(
        fc.nat(0xffffffff),
        (n) => new ByteReader(new ByteWriter().unsignedVarint(n).finish()).unsignedVarint() === n,
      ),
    )
  })

  it('over-long forms are accepted, as Kafka accepts them', () => {
    expect(new ByteReader(hex('8000')).varint()).toBe(0)
    expect(new ByteReader(hex('80808000')).varlong()).toBe(0n)
  })

  it.each(['80', '8080808080', 'ffffffffff01', ''])('%s is refused as a varint', (bytes) => {
    expect(() => new ByteReader(hex(bytes)).varint()).toThrow(MalformedBytes)
  })

  it.each(['80', 'ffffffffffffffffffff', 'ffffffffffffffffffff01'])('%s is refused as a varlong', (bytes) => {
    expect(() => new ByteReader(hex(bytes)).varlong()).toThrow(MalformedBytes)
  })

  it('nothing is read beyond the given end', () => {
    const bytes = hex('0102030405060708')
    for (const read of ['int16', 'int32', 'int64', 'varint', 'uint16'] as const) {
      expect(() => new ByteReader(bytes, 8)[read]()).toThrow(MalformedBytes)
    }
    expect(() => new ByteReader(bytes, 0, 3).int32()).toThrow(/4 bytes are wanted where 3 are left/)
    expect(() => new ByteReader(bytes, 0, 3).slice(-1)).toThrow(MalformedBytes)
    expect(() => new ByteReader(bytes, 0, 3).slice(4)).toThrow(MalformedBytes)
  })
})

describe('sequences', () => {
  it.each([
    [5, 5, 10],
    [MAX, 1, 0],
    [MAX - 5, 10, 4],
    [0, MAX, MAX],
    [MAX, MAX, MAX - 1],
  ])('%i and %i more is %i, and back', (sequence, increment, sum) => {
    expect(incrementSequence(sequence, increment)).toBe(sum)
    expect(decrementSequence(sum, increment)).toBe(sequence)
  })
})
