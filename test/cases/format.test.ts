// Cases F of the field reports: format, CRC, truncation. Each describes the fault that somebody met.
import { crc32, crc32c } from '@node-rs/crc32'
import { describe, expect, it } from 'vitest'
import { backends, resultOf } from '../support/backends.ts'
import { batch, hasValidCrc, legacyEntry, pattern } from '../support/batches.ts'

const first = batch({ producerId: 5n, payload: pattern(39) })
const second = batch({ producerId: 6n, baseOffset: 1n, payload: pattern(39, 3) })

describe.each(backends)('$name', (backend) => {
  const { core } = backend

  describe('F-1: a broker may cut the last batch of a fetch anywhere', () => {
    it.each([
      ['at its byte 40', 40],
      ['at its byte 55: the whole id is there, the CRC range is not', 55],
    ])('cut %s', (_, cut) => {
      const records = Buffer.concat([first, second.subarray(0, cut)])
      for (const crc of ['patch', 'verify', 'recompute'] as const) {
        const { result, after } = backend.run(records, (view) => core.rewrite(view, { crc }))
        expect(result).toMatchObject({
          batches: 1,
          rewritten: 1,
          validBytes: 100,
          trailing: { kind: 'incomplete', bytes: cut },
        })
        expect(after.readBigInt64BE(43)).toBe(-7n)
        expect(hasValidCrc(after.subarray(0, 100))).toBe(true)
        expect(after.subarray(100)).toEqual(records.subarray(100))
      }
    })

    it('a subarray of a longer buffer: nothing beyond the view is read or written', () => {
      const records = Buffer.concat([first, second.subarray(0, 40)])
      // the guards around the view would look like the rest of the batch
      const { result } = backend.run(records, (view) => core.rewrite(view, { crc: 'verify' }))
      expect(result?.trailing).toEqual({ kind: 'incomplete', bytes: 40 })
    })
  })

  describe('F-2: a preallocated segment ends in zeros', () => {
    it.each([4096, 11, 12, 17, 61])('%i zero bytes behind one batch', (length) => {
      const records = Buffer.concat([first, Buffer.alloc(length)])
      const { result, after } = backend.run(records, (view) => core.rewrite(view, { crc: 'verify' }))
      expect(result).toMatchObject({ rewritten: 1, trailing: { kind: 'zeros', bytes: length } })
      expect(after.subarray(100)).toEqual(Buffer.alloc(length))
      expect(resultOf(backend, records, (view) => core.verify(view))).toMatchObject({
        corrupt: [],
        trailing: { kind: 'zeros', bytes: length },
      })
    })

    it('only zeros', () => {
      expect(resultOf(backend, Buffer.alloc(4096), (view) => core.rewrite(view))).toMatchObject({
        batches: 0,
        validBytes: 0,
        trailing: { kind: 'zeros', bytes: 4096 },
      })
    })

    it('bytes behind the zeros are corruption', () => {
      const records = Buffer.concat([first, Buffer.alloc(64), second])
      const { corrupt } = resultOf(backend, records, (view) => core.verify(view))
      expect(corrupt).toEqual([
        { position: 100, baseOffset: 0n, reason: 'size', stored: null, computed: null },
      ])
      const { error, after } = backend.run(records, (view) => core.rewrite(view))
      expect(error).toMatchObject({ code: 'CORRUPT_BATCH', position: 100, reason: 'size' })
      expect(after).toEqual(records)
    })
  })

  describe('F-4: compaction keeps header-only batches', () => {
    it.each([
      ['data', 0],
      ['control and transactional', 0x30],
    ])('an empty %s batch is rewritten like any other', (_, attributes) => {
      const empty = batch({
        producerId: 7n,
        baseSequence: 10,
        lastOffsetDelta: 4,
        recordsCount: 0,
        attributes,
        baseTimestamp: -1n,
      })
      expect(empty.length).toBe(61)
      const { result, after } = backend.run(empty, (view) => core.rewrite(view, { crc: 'verify' }))
      expect(result).toMatchObject({ batches: 1, rewritten: 1, control: attributes === 0 ? 0 : 1 })
      expect(after.readBigInt64BE(43)).toBe(-9n)
      expect(hasValidCrc(after)).toBe(true)
    })
  })

  describe('F-5: batchLength is outside the CRC and may say anything', () => {
    it.each([0, 13, 40, 48, -1])('%i is corrupt at its position; the batch before is read', (batchLength) => {
      const bad = batch({ producerId: 6n, baseOffset: 9n, batchLength, payload: pattern(20) })
      const records = Buffer.concat([first, bad])
      const report = resultOf(backend, records, (view) => core.verify(view))
      expect(report).toMatchObject({ batches: 1, validBytes: 100 })
      expect(report.corrupt).toMatchObject([{ position: 100, baseOffset: 9n, reason: 'size' }])
      const { error, after } = backend.run(records, (view) => core.rewrite(view))
      expect(error).toMatchObject({ position: 100, baseOffset: 9n, reason: 'size' })
      expect(after).toEqual(records)
    })

    it('40 with a CRC that is right for the shortened range: size comes before CRC', () => {
      const bad = batch({ producerId: 6n, batchLength: 40 }).subarray(0, 52)
      bad.writeUInt32BE(crc32c(bad.subarray(21, 52)), 17)
      const { corrupt } = resultOf(backend, Buffer.concat([first, bad]), (view) => core.verify(view))
      expect(corrupt).toMatchObject([{ position: 100, reason: 'size' }])
    })

    it('2147483647 cannot be told from a cut tail: incomplete, and not passed over', () => {
      const bad = batch({ producerId: 6n, batchLength: 2147483647 })
      const report = resultOf(backend, Buffer.concat([first, bad]), (view) => core.verify(view))
      expect(report).toMatchObject({
        batches: 1,
        corrupt: [],
        trailing: { kind: 'incomplete', bytes: bad.length },
      })
    })
  })

  describe('F-7: the sign, place and range of the CRC', () => {
    const topBit = Array.from({ length: 64 }, (_, seed) =>
      batch({ producerId: BigInt(seed), payload: pattern(10) }),
    ).find((bytes) => bytes.readUInt32BE(17) > 0x7fffffff)

    it('a CRC with the top bit set is checked and shown unsigned', () => {
      const bytes = Buffer.from(topBit!)
      expect(resultOf(backend, bytes, (view) => core.verify(view)).corrupt).toEqual([])
      bytes.writeUInt8(bytes.readUInt8(61) ^ 1, 61)
      const [entry] = resultOf(backend, bytes, (view) => core.verify(view)).corrupt
      expect(entry?.stored).toBe(bytes.readUInt32BE(17))
      expect(entry?.computed).toBe(crc32c(bytes.subarray(21)))
      const { after } = backend.run(topBit!, (view) => core.rewrite(view))
      expect(hasValidCrc(after)).toBe(true)
    })

    it('leader epoch, base offset and magic are not covered', () => {
      const bytes = Buffer.from(first)
      bytes.writeInt32BE(12345, 12)
      bytes.writeBigInt64BE(987654321n, 0)
      expect(resultOf(backend, bytes, (view) => core.verify(view)).corrupt).toEqual([])
    })

    it('CRC-32 is not taken for CRC-32C', () => {
      const bytes = Buffer.from(first)
      bytes.writeUInt32BE(crc32(bytes.subarray(21)), 17)
      expect(resultOf(backend, bytes, (view) => core.verify(view)).corrupt).toHaveLength(1)
    })
  })

  describe('F-8: segments of mixed magic', () => {
    const v1 = legacyEntry({ magic: 1, offset: 0n })
    const long = legacyEntry({ magic: 1, offset: 2n, value: Buffer.alloc(100, 0x11) })
    const v2 = batch({ producerId: 5n, baseOffset: 1n })

    it('magic is read for each entry; old entries stay byte for byte', () => {
      const records = Buffer.concat([v1, v2, long, v2, legacyEntry({ magic: 0, value: Buffer.alloc(90, 1) })])
      const { result, after } = backend.run(records, (view) => core.rewrite(view, { crc: 'verify' }))
      expect(result).toMatchObject({ batches: 5, rewritten: 2, legacy: 3 })
      expect(long.readBigInt64BE(43), 'would pass for an id').toBeGreaterThan(0n)
      expect(after.subarray(0, v1.length)).toEqual(v1)
      const longAt = v1.length + v2.length
      expect(after.subarray(longAt, longAt + long.length)).toEqual(long)
      expect(resultOf(backend, after, (view) => core.verify(view)).corrupt).toEqual([])
    })

    it.each([0, 1] as const)('magic %i is checked by CRC-32', (magic) => {
      const damaged = legacyEntry({ magic })
      damaged.writeUInt8(0x79, damaged.length - 1)
      const report = resultOf(backend, Buffer.concat([v2, damaged]), (view) => core.verify(view))
      expect(report.corrupt).toMatchObject([{ position: v2.length, reason: 'crc' }])
    })

    it('magic 3 is an error', () => {
      const bad = batch({ producerId: 5n, magic: 3 })
      const { error, after } = backend.run(bad, (view) => core.rewrite(view))
      expect(error).toMatchObject({ code: 'CORRUPT_BATCH', reason: 'magic', position: 0 })
      expect(after).toEqual(bad)
    })
  })
})
