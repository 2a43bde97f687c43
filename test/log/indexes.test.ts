import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InvalidRecordError } from '../../src/errors.ts'
import { InvalidIndexOffset } from '../../src/log/partition/invalidIndexOffset.ts'
import { memoryStorage } from '../../src/log/partition/memoryStorage.ts'
import { SegmentOffsetIndex } from '../../src/log/partition/segmentOffsetIndex.ts'
import { SegmentTimeIndex } from '../../src/log/partition/segmentTimeIndex.ts'
import { SegmentTransactionIndex } from '../../src/log/partition/segmentTransactionIndex.ts'

const BASE = 1000n
const NAME = '00000000000000001000'

describe('the offset index', () => {
  it('finds the greatest entry up to an offset, also when read again, behind zeros or a fragment', () => {
    const entries = fc
      .uniqueArray(fc.nat(500), { maxLength: 30 })
      .map((offsets) => offsets.sort((a, b) => a - b))
    const tails = fc.constantFrom(new Uint8Array(0), new Uint8Array(80), new Uint8Array(5))
    fc.assert(
      fc.property(entries, tails, fc.nat(600), (offsets, tail, cut) => {
        const storage = memoryStorage()
        const written = new SegmentOffsetIndex(storage, BASE, 4096)
        for (const [at, offset] of offsets.entries()) written.append(BASE + BigInt(offset), (at + 1) * 10)
        storage.open(`${NAME}.index`).append(tail)
        const read = new SegmentOffsetIndex(storage, BASE, 4096)
        for (let offset = 0; offset < 510; offset += 7) {
          // an entry of the base offset itself, at a zero-filled end, is told from zeros by its position alone
          const expected = 10 * offsets.filter((known) => known <= offset).length
          expect(read.lookup(BASE + BigInt(offset))).toBe(expected)
        }
        read.truncateTo(BASE + BigInt(cut))
        const kept = offsets.filter((offset) => offset < cut)
        expect(read.lastOffset).toBe(BASE + BigInt(kept.at(-1) ?? 0))
        read.append(BASE + 700n, 9999)
        expect(storage.open(`${NAME}.index`).size).toBe(8 * (kept.length + 1))
        expect(new SegmentOffsetIndex(storage, BASE, 4096).lookup(BASE + 900n)).toBe(9999)
      }),
    )
  })

  it('takes no offset that goes back', () => {
    const index = new SegmentOffsetIndex(memoryStorage(), BASE, 4096)
    index.append(1005n, 100)
    expect(() => index.append(1005n, 200)).toThrow(InvalidIndexOffset)
    expect(index.isFull).toBe(false)
    expect(new SegmentOffsetIndex(memoryStorage(), BASE, 7).isFull).toBe(true)
  })
})

describe('what an int32 cannot hold', () => {
  const most = 2n ** 31n - 1n

  it.each([most + 1n, 2n ** 32n, 3_000_000_000n, -1n])(
    'is refused, not wrapped: the relative offset %s',
    (relative) => {
      const storage = memoryStorage()
      const offset = BASE + relative
      expect(() => new SegmentOffsetIndex(storage, BASE, 4096).append(offset, 1)).toThrow(InvalidRecordError)
      const times = new SegmentTimeIndex(storage, BASE, 4096)
      expect(() => times.maybeAppend({ timestamp: 5n, offset })).toThrow(InvalidRecordError)
      for (const suffix of ['.index', '.timeindex']) expect(storage.open(NAME + suffix).size).toBe(0)
    },
  )

  it.each([2 ** 31, 2 ** 32 + 1])('is refused, not wrapped: the position %s', (position) => {
    const storage = memoryStorage()
    expect(() => new SegmentOffsetIndex(storage, BASE, 4096).append(BASE, position)).toThrow(
      InvalidRecordError,
    )
    expect(storage.open(`${NAME}.index`).size).toBe(0)
  })

  it('comes behind the last that it can', () => {
    const storage = memoryStorage()
    new SegmentOffsetIndex(storage, BASE, 4096).append(BASE + most, 2 ** 31 - 1)
    new SegmentTimeIndex(storage, BASE, 4096).maybeAppend({ timestamp: 5n, offset: BASE + most })
    const again = new SegmentOffsetIndex(storage, BASE, 4096)
    expect([again.lastOffset, again.lookup(BASE + most)]).toEqual([BASE + most, 2 ** 31 - 1])
    expect(new SegmentTimeIndex(storage, BASE, 4096).last).toEqual({ timestamp: 5n, offset: BASE + most })
  })
})

describe('the time index', () => {
  it('takes what is later, and nothing whose offset goes back', () => {
    const storage = memoryStorage()
    const index = new SegmentTimeIndex(storage, BASE, 4096)
    expect(index.last).toEqual({ timestamp: -1n, offset: BASE })
    index.maybeAppend({ timestamp: 5n, offset: 1003n })
    index.maybeAppend({ timestamp: 5n, offset: 1004n })
    index.maybeAppend({ timestamp: 4n, offset: 1005n })
    index.maybeAppend({ timestamp: 2n ** 60n, offset: 1003n })
    expect(() => index.maybeAppend({ timestamp: 2n ** 61n, offset: 1002n })).toThrow(InvalidIndexOffset)
    expect(storage.open(`${NAME}.timeindex`).size).toBe(24)
    const again = new SegmentTimeIndex(storage, BASE, 4096)
    expect(again.last).toEqual({ timestamp: 2n ** 60n, offset: 1003n })
    again.truncateTo(1003n)
    expect(again.last.timestamp).toBe(-1n)
  })

  it('keeps one entry free', () => {
    const index = new SegmentTimeIndex(memoryStorage(), BASE, 36)
    index.maybeAppend({ timestamp: 1n, offset: 1001n })
    expect(index.isFull).toBe(false)
    index.maybeAppend({ timestamp: 2n, offset: 1002n })
    expect(index.isFull).toBe(true)
  })
})

describe('the transaction index', () => {
  const entry = (lastOffset: bigint) => ({
    producerId: -7n,
    firstOffset: 5n,
    lastOffset,
    lastStableOffset: 3n,
  })

  it('has no file before its first entry, and cuts a fragment before the next', () => {
    const storage = memoryStorage()
    const index = new SegmentTransactionIndex(storage, BASE)
    expect(index.entries).toEqual([])
    index.truncateTo(0n)
    index.reset()
    expect(storage.list()).toEqual([])
    index.append(entry(1001n))
    storage.open(`${NAME}.txnindex`).append(new Uint8Array([0, 0, 9]))
    const again = new SegmentTransactionIndex(storage, BASE)
    again.append(entry(1002n))
    again.append(entry(1003n))
    again.truncateTo(1003n)
    expect(new SegmentTransactionIndex(storage, BASE).entries).toEqual([entry(1001n), entry(1002n)])
    expect(() => again.sanityCheck()).not.toThrow()
  })

  it('is damaged by an entry below its segment', () => {
    const index = new SegmentTransactionIndex(memoryStorage(), BASE)
    index.append(entry(999n))
    expect(() => index.sanityCheck()).toThrow(/below the segment's base offset 1000/)
  })
})
