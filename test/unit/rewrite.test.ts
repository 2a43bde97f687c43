import { describe, expect, it } from 'vitest'
import { CorruptBatchError, type RewriteOptions, UnmappableProducerIdError } from '../../src/index.ts'
import { backends, resultOf } from '../support/backends.ts'
import { batch, hasValidCrc, hex, legacyEntry, pattern } from '../support/batches.ts'

const MAX = 2n ** 63n - 1n
const MIN = -(2n ** 63n)

// kafka-log-format.md 1.13: a data batch and its COMMIT marker, producer id 1000
const data = hex(
  '0000000000000000000000470000000702fd8ec4520010000000010000018bcfe568000000018bcfe5680500000000000003e8000300000000' +
    '000000021c000000046b3104763102026802780c000a02010100',
)
const commit = hex(
  '00000000000000020000004200000007025d7c2a2b0030000000000000018bcfe568090000018bcfe5680900000000000003e80003ffffffff' +
    '000000012000000008000000010c00000000000400',
)

const emptyReport = {
  batches: 0,
  rewritten: 0,
  alreadyMapped: 0,
  withoutProducer: 0,
  control: 0,
  legacy: 0,
  validBytes: 0,
  trailing: { kind: 'none', bytes: 0 },
}

describe.each(backends)('rewrite: $name', (backend) => {
  const { core } = backend
  const rewrite = (bytes: Uint8Array, options?: RewriteOptions) =>
    backend.run(bytes, (records) => core.rewrite(records, options))

  it('is the backend we think', () => {
    expect(core.backend).toBe(backend.name.startsWith('js') ? 'js' : 'wasm')
  })

  it.each([
    [0n, -2n],
    [1n, -3n],
    [5n, -7n],
    [2n ** 32n - 2n, -(2n ** 32n)],
    [2n ** 32n - 1n, -(2n ** 32n) - 1n],
    [MAX - 2n, -MAX],
    [MAX - 1n, MIN],
    [-1n, -1n],
    [-2n, -2n],
    [-7n, -7n],
    [MIN, MIN],
  ])('maps %s to %s, in every CRC mode, and a second rewrite changes nothing', (source, mapped) => {
    const original = batch({ producerId: source, payload: pattern(300) })
    for (const crc of ['patch', 'verify', 'recompute'] as const) {
      const { result, after } = rewrite(original, { crc })
      expect(after.readBigInt64BE(43)).toBe(mapped)
      expect(hasValidCrc(after)).toBe(true)
      const counted = source >= 0n ? 'rewritten' : source === -1n ? 'withoutProducer' : 'alreadyMapped'
      expect(result).toEqual({ ...emptyReport, batches: 1, validBytes: 361, [counted]: 1 })
      expect(rewrite(after, { crc }).after).toEqual(after)
    }
  })

  it.each([
    [-2n, 0n],
    [-7n, 5n],
    [-(2n ** 32n), 2n ** 32n - 2n],
    [-(2n ** 32n) - 1n, 2n ** 32n - 1n],
    [MIN, MAX - 1n],
    [-1n, -1n],
    [0n, 0n],
    [MAX, MAX],
  ])('unmaps %s to %s', (mapped, source) => {
    const original = batch({ producerId: mapped, payload: pattern(300) })
    for (const crc of ['patch', 'verify', 'recompute'] as const) {
      const { result, after } = rewrite(original, { crc, direction: 'unmap' })
      expect(after.readBigInt64BE(43)).toBe(source)
      expect(hasValidCrc(after)).toBe(true)
      const counted = mapped <= -2n ? 'rewritten' : mapped === -1n ? 'withoutProducer' : 'alreadyMapped'
      expect(result).toEqual({ ...emptyReport, batches: 1, validBytes: 361, [counted]: 1 })
      expect(rewrite(after, { crc, direction: 'unmap' }).after).toEqual(after)
    }
  })

  it('refuses 2^63 - 1 before any byte changes, and names the place', () => {
    const records = Buffer.concat([batch({ producerId: 5n }), batch({ producerId: MAX, baseOffset: 7n })])
    for (const crc of ['patch', 'verify', 'recompute'] as const) {
      const { error, after } = rewrite(records, { crc })
      expect(error).toBeInstanceOf(UnmappableProducerIdError)
      expect(error).toMatchObject({ producerId: MAX, position: 61, baseOffset: 7n })
      expect(after).toEqual(records)
    }
  })

  it('changes the id and the CRC of data and marker alike, and nothing else', () => {
    const records = Buffer.concat([data, commit])
    const { result, after } = rewrite(records)
    expect(result).toEqual({ ...emptyReport, batches: 2, rewritten: 2, control: 1, validBytes: 161 })
    for (const start of [0, data.length]) {
      expect(after.readBigInt64BE(start + 43)).toBe(-1002n)
    }
    expect(hasValidCrc(after.subarray(0, data.length))).toBe(true)
    expect(hasValidCrc(after.subarray(data.length))).toBe(true)
    const allowed = new Set<number>()
    for (const start of [0, data.length]) {
      for (let at = 17; at <= 20; at++) allowed.add(start + at)
      for (let at = 43; at <= 50; at++) allowed.add(start + at)
    }
    const changed = [...after.keys()].filter((at) => after[at] !== records[at])
    expect(changed.filter((at) => !allowed.has(at))).toEqual([])
    expect(rewrite(after, { direction: 'unmap' }).after).toEqual(records)
  })

  it('counts every batch once', () => {
    const records = Buffer.concat([
      batch({ producerId: 5n }),
      legacyEntry({ magic: 0 }),
      batch({ producerId: -7n, attributes: 0x20 }),
      batch({ producerId: -1n, attributes: 0x20 }),
      legacyEntry({ magic: 1 }),
      batch({ producerId: 9n, attributes: 0x30 }),
      Buffer.from([1, 2, 3]),
    ])
    expect(rewrite(records, { crc: 'verify' }).result).toEqual({
      batches: 6,
      rewritten: 2,
      alreadyMapped: 1,
      withoutProducer: 1,
      control: 3,
      legacy: 2,
      validBytes: records.length - 3,
      trailing: { kind: 'incomplete', bytes: 3 },
    })
  })

  it('keeps unknown attribute bits', () => {
    const { after } = rewrite(batch({ producerId: 5n, attributes: -128 }), { crc: 'verify' })
    expect(after.readInt16BE(21)).toBe(-128)
    expect(hasValidCrc(after)).toBe(true)
  })

  it('accepts nothing at all', () => {
    expect(rewrite(Buffer.alloc(0)).result).toEqual(emptyReport)
  })

  it('keeps CRCs right at batch sizes around every power of 256', () => {
    for (const size of [61, 62, 51 + 255, 51 + 256, 51 + 257, 51 + 65535, 51 + 65536, 51 + 65537, 1 << 20]) {
      const { after } = rewrite(batch({ producerId: 123456789012n, payload: pattern(size - 61) }))
      expect(hasValidCrc(after)).toBe(true)
    }
  })
})

describe.each(backends)('damage: $name', (backend) => {
  const { core } = backend
  const good = batch({ producerId: 5n, payload: pattern(100) })
  const damaged = batch({ producerId: 6n, payload: pattern(100), baseOffset: 42n })
  damaged.writeUInt8(damaged.readUInt8(90) ^ 1, 90)
  const records = Buffer.concat([good, damaged])

  it('patch leaves a damaged batch damaged', () => {
    const { after } = backend.run(records, (view) => core.rewrite(view))
    expect(hasValidCrc(after.subarray(0, good.length))).toBe(true)
    expect(hasValidCrc(after.subarray(good.length))).toBe(false)
    expect(after.readBigInt64BE(good.length + 43)).toBe(-8n)
    const { corrupt } = resultOf(backend, after, (view) => core.verify(view))
    expect(corrupt).toMatchObject([{ position: good.length, baseOffset: 42n, reason: 'crc' }])
  })

  it('verify throws before the first write, with all the facts', () => {
    const { error, after } = backend.run(records, (view) => core.rewrite(view, { crc: 'verify' }))
    expect(error).toBeInstanceOf(CorruptBatchError)
    const stored = damaged.readUInt32BE(17)
    const computed = resultOf(backend, damaged.subarray(21), (view) => core.crc32c(view))
    expect(error).toMatchObject({
      code: 'CORRUPT_BATCH',
      position: good.length,
      baseOffset: 42n,
      reason: 'crc',
      stored,
      computed,
    })
    expect(error?.message).toContain(`0x${stored.toString(16).padStart(8, '0')}`)
    expect(error?.message).toContain(`0x${computed.toString(16).padStart(8, '0')}`)
    expect(after).toEqual(records)
  })

  it('verify also checks batches that would not be rewritten', () => {
    const other = batch({ producerId: -1n, payload: pattern(10), crc: 1 })
    expect(backend.run(other, (view) => core.rewrite(view, { crc: 'verify' })).error).toMatchObject({
      stored: 1,
    })
    const legacy = legacyEntry({ magic: 1, crc: 2 })
    expect(backend.run(legacy, (view) => core.rewrite(view, { crc: 'verify' })).error).toMatchObject({
      stored: 2,
    })
  })

  it('recompute repairs what it rewrites, and so hides the damage', () => {
    const { after } = backend.run(records, (view) => core.rewrite(view, { crc: 'recompute' }))
    expect(hasValidCrc(after.subarray(good.length))).toBe(true)
    expect(resultOf(backend, after, (view) => core.verify(view)).corrupt).toEqual([])
  })

  it('recompute leaves batches alone that it does not rewrite', () => {
    const other = batch({ producerId: -7n, crc: 1 })
    expect(backend.run(other, (view) => core.rewrite(view, { crc: 'recompute' })).after).toEqual(other)
  })

  it('verify() lists every damaged batch and changes nothing', () => {
    const many = Buffer.concat([damaged, good, damaged, legacyEntry({ magic: 0, crc: 3 }), good])
    const { result, after } = backend.run(many, (view) => core.verify(view))
    expect(result).toMatchObject({ batches: 5, rewritten: 4, legacy: 1, validBytes: many.length })
    expect(result?.corrupt.map((entry) => entry.position)).toEqual([0, 322, 483])
    expect(after).toEqual(many)
  })
})
