import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  isMirroredProducerId,
  legacyMapProducerId,
  MirrorPidError,
  mapProducerId,
  NO_PRODUCER_ID,
  UnmappableProducerIdError,
  unmapProducerId,
} from '../../src/index.ts'

const MAX = 2n ** 63n - 1n
const MIN = -(2n ** 63n)

describe('the table of producer ids', () => {
  it.each([
    [0n, -2n],
    [1n, -3n],
    [5n, -7n],
    [2n ** 31n - 1n, -(2n ** 31n) - 1n],
    [2n ** 32n - 2n, -(2n ** 32n)],
    [2n ** 32n - 1n, -(2n ** 32n) - 1n],
    [2n ** 53n + 1n, -(2n ** 53n) - 3n],
    [MAX - 2n, -MAX],
    [MAX - 1n, MIN],
  ])('maps %s to %s and back', (source, mapped) => {
    expect(mapProducerId(source)).toBe(mapped)
    expect(mapProducerId(mapped)).toBe(mapped)
    expect(unmapProducerId(mapped)).toBe(source)
    expect(unmapProducerId(source)).toBe(source)
    expect(isMirroredProducerId(mapped)).toBe(true)
    expect(isMirroredProducerId(source)).toBe(false)
    expect(legacyMapProducerId(source)).toBe(mapped)
    expect(legacyMapProducerId(mapped)).toBe(source)
  })

  it('leaves -1 alone', () => {
    expect(NO_PRODUCER_ID).toBe(-1n)
    expect(mapProducerId(-1n)).toBe(-1n)
    expect(unmapProducerId(-1n)).toBe(-1n)
    expect(legacyMapProducerId(-1n)).toBe(-1n)
    expect(isMirroredProducerId(-1n)).toBe(false)
  })

  it('refuses 2^63 - 1, which has no image', () => {
    for (const map of [mapProducerId, legacyMapProducerId]) {
      expect(() => map(MAX)).toThrow(UnmappableProducerIdError)
      expect(() => map(MAX)).toThrow('9223372036854775807')
    }
    expect(unmapProducerId(MAX)).toBe(MAX)
  })

  it.each([mapProducerId, unmapProducerId, legacyMapProducerId, isMirroredProducerId])(
    '%o refuses what is no int64',
    (call) => {
      expect(() => call(MAX + 1n)).toThrow(UnmappableProducerIdError)
      expect(() => call(MIN - 1n)).toThrow(UnmappableProducerIdError)
      expect(() => call(5 as unknown as bigint)).toThrow(/bigint.*5n/)
    },
  )

  it('is idempotent, invertible, and never meets -1 or an id >= 0', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: MAX - 1n }), (source) => {
        const mapped = mapProducerId(source)
        expect(mapped).toBeLessThanOrEqual(-2n)
        expect(mapProducerId(mapped)).toBe(mapped)
        expect(unmapProducerId(mapped)).toBe(source)
      }),
    )
  })

  it('carries its facts, every digit of them', () => {
    try {
      mapProducerId(MAX)
      expect.unreachable()
    } catch (error) {
      expect(MirrorPidError.is(error)).toBe(true)
      expect(error).toMatchObject({ code: 'UNMAPPABLE_PRODUCER_ID', producerId: MAX })
      expect(JSON.parse(JSON.stringify(error)).producerId).toBe('9223372036854775807')
    }
  })
})
