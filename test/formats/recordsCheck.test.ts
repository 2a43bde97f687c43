// What a right CRC says nothing about. The batches are made by hand and by other libraries' compressors.
import { crc32c } from '@node-rs/crc32'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { codecOf, type Decompress } from '../../src/formats/compression/codec.ts'
import { RecordsCheck } from '../../src/formats/recordsCheck.ts'
import { loadNativeCodecs } from '../../src/node/segments/nativeCodecs.ts'
import { batch, hex } from '../support/batches.ts'
import { MIB } from '../support/compression.ts'
import {
  compressedBatch,
  compressions,
  oneRecord,
  recordsFaults,
  twoRecords,
  twoRecordsSpec,
} from '../support/recordsFaults.ts'

const checks: { name: string; check: RecordsCheck }[] = []

beforeAll(async () => {
  await Promise.all([1, 2, 3, 4].map(codecOf))
  checks.push(
    { name: "Node's codecs", check: new RecordsCheck(await loadNativeCodecs(), MIB) },
    { name: "the package's codecs", check: new RecordsCheck((type) => codecOf(type) as Decompress, MIB) },
  )
})

/** What all checks say, which must be the same but for a library's own words. */
function faultOf(bytes: Uint8Array): string | null {
  const [one, other] = checks.map(({ check }) => check.faultOf(bytes))
  expect(other === null).toBe(one === null)
  return one!
}

describe.each(compressions)('records, %s', (compression) => {
  it('are fine', () => {
    expect(faultOf(compressedBatch(compression, twoRecords, twoRecordsSpec))).toBeNull()
  })

  it('may have gaps, where compaction took some away', () => {
    const spec = { recordsCount: 2, lastOffsetDelta: 9 }
    const gap = Buffer.concat([hex('10 00 00 06 01 04 6161 00'), hex('10 00 00 0c 01 04 6262 00')])
    expect(faultOf(compressedBatch(compression, gap, spec))).toBeNull()
  })

  it.each(Object.entries(recordsFaults))('with %s', (_, { records, spec, message }) => {
    expect(faultOf(compressedBatch(compression, records, spec))).toMatch(message)
  })

  it('that are too many for the limit', () => {
    const fault = faultOf(compressedBatch(compression, oneRecord(Buffer.alloc(2 * MIB))))
    if (compression === 'none') {
      expect(fault).toBe(
        'its 2097226 bytes are more than the 1048576 that are taken into memory (maxBatchBytes)',
      )
    } else {
      expect(fault).toBe(`its ${compression} data decompresses to more than 1048576 bytes (maxBatchBytes)`)
    }
  })

  it('meet every change of a byte with a result, and never a trap or an error', () => {
    const good = compressedBatch(compression, twoRecords, twoRecordsSpec)
    let found = 0
    for (let at = 57; at < good.length; at++) {
      for (const bits of [1, 2, 4, 8, 16, 32, 64, 128, 255]) {
        const bytes = Buffer.from(good)
        bytes[at]! ^= bits
        bytes.writeUInt32BE(crc32c(bytes.subarray(21)), 17)
        if (faultOf(bytes) !== null) found++
      }
    }
    expect(found).toBeGreaterThan(30)
  })

  it('meet any bytes with a result', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), fc.integer({ min: -1, max: 5 }), (bytes, count) => {
        faultOf(compressedBatch(compression, bytes, { recordsCount: count, lastOffsetDelta: 4 }))
      }),
      { numRuns: 300 },
    )
  })
})

describe('payloads', () => {
  it.each([1, 2, 3, 4])('that are not compressed as the header says: codec %d', (attributes) => {
    const fault = faultOf(batch({ ...twoRecordsSpec, attributes, payload: twoRecords }))
    expect(fault).toMatch(/^the \w+ data is damaged/)
  })

  it.each([5, 6, 7])('of codec %d, which is none', (attributes) => {
    const fault = faultOf(batch({ ...twoRecordsSpec, attributes, payload: twoRecords }))
    expect(fault).toBe(`the compression codec has number ${attributes}; only 0 to 4 are defined`)
  })

  it('that compaction emptied are fine, of control batches too', () => {
    expect(faultOf(batch({ recordsCount: 0, lastOffsetDelta: 7 }))).toBeNull()
    expect(faultOf(batch({ recordsCount: 0, attributes: 0x30 }))).toBeNull()
  })

  it('larger than what is decompressed into the same memory are read, and small ones after them', () => {
    const records = oneRecord(Buffer.alloc(9 * MIB, 'a longer text, '))
    for (const compression of compressions) {
      const check = new RecordsCheck((type) => codecOf(type) as Decompress, 16 * MIB)
      expect(check.faultOf(compressedBatch(compression, records))).toBeNull()
      expect(check.faultOf(compressedBatch(compression, twoRecords, twoRecordsSpec))).toBeNull()
      expect(check.faultOf(compressedBatch(compression, records.subarray(0, -1)))).toMatch(/^record 0 claims/)
    }
  })
})

it('throws on what no batch can be the cause of', () => {
  const check = new RecordsCheck(() => {
    throw new TypeError('a fault of ours')
  }, MIB)
  expect(() => check.faultOf(compressedBatch('gzip', twoRecords, twoRecordsSpec))).toThrow(TypeError)
})
