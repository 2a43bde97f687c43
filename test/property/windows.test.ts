import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rewriteOptions } from '../support/arbitraries.ts'
import { backends, comparable } from '../support/backends.ts'
import { batch, legacyEntry, pattern } from '../support/batches.ts'

/**
 * Bytes outside the core's memory are copied in by windows of 128 KiB, and a batch above a quarter of that by itself.
 * So record sets here are longer than a window, with batches of all sizes, damage anywhere, and any end.
 */
const [reference, ...others] = backends
if (reference === undefined) throw new Error('no backend')

const WINDOW = 131_072
const filler = pattern(3 * WINDOW)

const sizes = fc.oneof(
  { weight: 5, arbitrary: fc.nat({ max: 2000 }) },
  { weight: 4, arbitrary: fc.integer({ min: 8000, max: 32_000 }) },
  { weight: 2, arbitrary: fc.integer({ min: WINDOW / 4 - 80, max: WINDOW / 4 + 20 }) },
  { weight: 1, arbitrary: fc.integer({ min: WINDOW / 4, max: 2 * WINDOW }) },
)

const batches = fc
  .record({
    size: sizes,
    producerId: fc.constantFrom(-1n, -7n, 0n, 5n, 2n ** 63n - 1n, 2n ** 40n),
    kind: fc.constantFrom(
      'right',
      'right',
      'right',
      'right',
      'right',
      'right',
      'damaged',
      'legacy',
      'control',
    ),
  })
  .map(({ size, producerId, kind }) => {
    const payload = filler.subarray(0, size)
    if (kind === 'legacy') return legacyEntry({ magic: 1, value: payload })
    // most sets are to get through a rewrite
    const id = producerId === 2n ** 63n - 1n && size % 8 !== 0 ? 9n : producerId
    const bytes = batch({ producerId: id, payload, attributes: kind === 'control' ? 0x30 : 0 })
    if (kind === 'damaged') bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1)
    return bytes
  })

const endings = fc.oneof(
  fc.constant(Buffer.alloc(0)),
  fc.nat({ max: 2 * WINDOW }).map((length) => Buffer.alloc(length)),
  // zeros for longer than a window, and then something
  fc.nat({ max: 2 * WINDOW }).map((length) => Buffer.concat([Buffer.alloc(length), Buffer.from([1])])),
  fc.tuple(batches, fc.nat({ max: WINDOW })).map(([bytes, cut]) => bytes.subarray(0, cut)),
  batches.map((bytes) => {
    const copy = Buffer.from(bytes)
    copy.writeInt8(7, 16)
    return copy
  }),
)

/** Mostly sound ones, since `crc: 'verify'` ends at the first damaged batch. */
const recordSets = fc
  .tuple(fc.array(batches, { minLength: 1, maxLength: 24 }), endings, fc.boolean())
  .map(([parts, ending, isRepeated]) => Buffer.concat([...parts, ...(isRepeated ? parts : []), ending]))

describe('windows over bytes outside', () => {
  it('verify as the reference does', () => {
    fc.assert(
      fc.property(recordSets, (records) => {
        const expected = reference.core.verify(Buffer.from(records))
        for (const backend of others) {
          const { result, error, after } = backend.run(records, (view) => backend.core.verify(view))
          expect(error, backend.name).toBeUndefined()
          expect(result, backend.name).toEqual(expected)
          expect(after.equals(records), backend.name).toBe(true)
        }
      }),
      { numRuns: 150 },
    )
  })

  it('rewrite as the reference does, or change nothing', () => {
    fc.assert(
      fc.property(recordSets, rewriteOptions, (records, options) => {
        const expected = reference.run(records, (view) => reference.core.rewrite(view, options))
        if (expected.error !== undefined) expect(expected.after.equals(records)).toBe(true)
        for (const backend of others) {
          const actual = backend.run(records, (view) => backend.core.rewrite(view, options))
          expect(actual.after.equals(expected.after), backend.name).toBe(true)
          const [ours, theirs] = [actual, expected].map((outcome) =>
            comparable({ ...outcome, after: Buffer.alloc(0) }),
          )
          expect(ours, backend.name).toEqual(theirs)
        }
      }),
      { numRuns: 150 },
    )
  })
})
