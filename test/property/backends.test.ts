import { crc32c } from '@node-rs/crc32'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mapProducerId, unmapProducerId } from '../../src/index.ts'
import { recordSets, rewriteOptions } from '../support/arbitraries.ts'
import { backends, comparable } from '../support/backends.ts'

const [reference, ...others] = backends
if (reference === undefined) throw new Error('no backend')

/** Rewrites by the rules of mirroring.md, with BigInt and a native CRC over the whole batch; assumes a sound frame. */
function rewriteBySpecification(bytes: Buffer, validBytes: number, direction: 'map' | 'unmap'): Buffer {
  const copy = Buffer.from(bytes)
  for (let at = 0; at < validBytes; at += 12 + copy.readInt32BE(at + 8)) {
    if (copy.readInt8(at + 16) !== 2) continue
    const end = at + 12 + copy.readInt32BE(at + 8)
    const wasValid = copy.readUInt32BE(at + 17) === crc32c(copy.subarray(at + 21, end))
    const before = copy.readBigInt64BE(at + 43)
    const after = direction === 'map' ? mapProducerId(before) : unmapProducerId(before)
    if (after === before) continue
    copy.writeBigInt64BE(after, at + 43)
    if (wasValid) copy.writeUInt32BE(crc32c(copy.subarray(at + 21, end)), at + 17)
    else copy.writeUInt32BE(0, at + 17) // the caller blanks it: no right value is known for a damaged batch
  }
  return copy
}

describe('every backend', () => {
  it('gives the same report, error and bytes for any record set and any options', () => {
    fc.assert(
      fc.property(recordSets, rewriteOptions, (records, options) => {
        const expected = comparable(reference.run(records, (view) => reference.core.rewrite(view, options)))
        for (const backend of others) {
          const actual = comparable(backend.run(records, (view) => backend.core.rewrite(view, options)))
          expect(actual, backend.name).toEqual(expected)
        }
      }),
      { numRuns: 1500 },
    )
  })

  it('verifies alike', () => {
    fc.assert(
      fc.property(recordSets, (records) => {
        const expected = reference.run(records, (view) => reference.core.verify(view))
        expect(expected.after.equals(records)).toBe(true)
        for (const backend of others) {
          const { result, error, after } = backend.run(records, (view) => backend.core.verify(view))
          expect(error, backend.name).toBeUndefined()
          expect(result, backend.name).toEqual(expected.result)
          expect(after.equals(records), backend.name).toBe(true)
        }
      }),
      { numRuns: 1500 },
    )
  })

  it.each(backends)('rewrites by the specification: $name', (backend) => {
    fc.assert(
      fc.property(recordSets, fc.constantFrom('map' as const, 'unmap' as const), (records, direction) => {
        const { result, error, after } = backend.run(records, (view) =>
          backend.core.rewrite(view, { direction }),
        )
        if (error !== undefined || result === undefined) {
          expect(after).toEqual(records)
          return
        }
        const expected = rewriteBySpecification(records, result.validBytes, direction)
        for (let at = 0; at < result.validBytes; at += 12 + records.readInt32BE(at + 8)) {
          // a CRC that was wrong stays wrong, by the same difference; its exact value is not part of the rule
          if (expected.readUInt32BE(at + 17) === 0 && records.readInt8(at + 16) === 2) {
            const end = at + 12 + records.readInt32BE(at + 8)
            const stillWrong = after.readUInt32BE(at + 17) ^ crc32c(after.subarray(at + 21, end))
            const wasWrong = records.readUInt32BE(at + 17) ^ crc32c(records.subarray(at + 21, end))
            expect(stillWrong).toBe(wasWrong)
            after.writeUInt32BE(0, at + 17)
          }
        }
        expect(after.equals(expected)).toBe(true)
        expect(result.rewritten + result.alreadyMapped + result.withoutProducer + result.legacy).toBe(
          result.batches,
        )
        expect(result.validBytes + result.trailing.bytes).toBe(records.length)
      }),
      { numRuns: 500 },
    )
  })

  it.each(backends)('undoes what it did: $name', (backend) => {
    fc.assert(
      fc.property(recordSets, (records) => {
        const mapped = backend.run(records, (view) => backend.core.rewrite(view))
        if (mapped.error !== undefined || mapped.result?.alreadyMapped !== 0) return
        const back = backend.run(mapped.after, (view) => backend.core.rewrite(view, { direction: 'unmap' }))
        expect(back.after).toEqual(records)
      }),
      { numRuns: 300 },
    )
  })
})
