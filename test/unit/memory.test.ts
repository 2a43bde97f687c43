import { describe, expect, it } from 'vitest'
import { loadCore, loadCoreSync } from '../../src/index.ts'
import { jsCore } from '../../src/js.ts'
import { batch, hasValidCrc, pattern } from '../support/batches.ts'

const core = loadCoreSync()
const records = Buffer.concat([
  batch({ producerId: 5n, payload: pattern(1000) }),
  batch({ producerId: 6n, payload: pattern(70_000) }),
])
const memorySize = () => {
  const region = core.allocate(0)
  const size = region.bytes.buffer.byteLength
  region.free()
  return size
}

describe('the memory of the core', () => {
  it('is that of one instance, however it is loaded', async () => {
    expect(await loadCore()).toBe(core)
    expect(loadCoreSync()).toBe(core)
  })

  it('keeps regions and results across growth', () => {
    const early = core.allocate(records.length)
    early.bytes.set(records)
    const held = early.bytes
    const before = held.buffer.byteLength
    const late = core.allocate(before + 65536)
    expect(held.length, 'growth has detached the view taken before').toBe(0)
    expect(Buffer.from(early.bytes)).toEqual(records)
    expect(() => core.rewrite(held)).toThrow(expect.objectContaining({ code: 'DETACHED_BUFFER' }))
    expect(core.rewrite(early.bytes, { crc: 'verify' }).rewritten).toBe(2)
    expect(hasValidCrc(Buffer.from(early.bytes).subarray(0, 1061))).toBe(true)
    late.bytes.set(records, late.bytes.length - records.length)
    expect(core.rewrite(late.bytes.subarray(late.bytes.length - records.length)).rewritten).toBe(2)
    expect(core.rewrite(Buffer.from(records), { crc: 'verify' }).rewritten).toBe(2)
    early.free()
    late.free()
  })

  it('does not grow over 10,000 calls of each kind', () => {
    const warm = core.allocate(200_000)
    warm.free()
    const before = memorySize()
    const outside = Buffer.from(records)
    for (let call = 0; call < 10_000; call++) {
      const region = core.allocate(((call * 7919) % 100_000) + 200)
      region.bytes.fill(0) // its first contents are unspecified
      region.bytes.set(records.subarray(0, 100))
      core.rewrite(region.bytes)
      core.verify(region.bytes.subarray(0, 80))
      region.free()
      core.rewrite(outside, { direction: call % 2 === 0 ? 'map' : 'unmap' })
      if (call % 10 === 0) core.verify(outside)
      try {
        core.rewrite(Buffer.alloc(100, 1))
      } catch {
        // a refused call must not leak either
      }
    }
    expect(memorySize()).toBe(before)
  })

  it('gives regions that do not overlap', () => {
    const regions = Array.from({ length: 50 }, (_, index) => core.allocate(index * 37))
    for (const [index, region] of regions.entries()) region.bytes.fill(index)
    for (const [index, region] of regions.entries()) {
      expect(region.bytes.every((byte) => byte === index)).toBe(true)
    }
    for (const region of regions) region.free()
  })

  it.each([core, jsCore()])(
    'refuses a region after free, and a second free does no harm ($backend)',
    (either) => {
      const region = either.allocate(100)
      region.free()
      region.free()
      expect(() => region.bytes).toThrow(expect.objectContaining({ code: 'BUFFER_FREED' }))
      const [one, two] = [either.allocate(100), either.allocate(100)]
      one.bytes.fill(1)
      two.bytes.fill(2)
      expect(one.bytes[0]).toBe(1)
      one.free()
      two.free()
    },
  )

  it('says so when no more memory can be had, and goes on', () => {
    const regions: { free(): void }[] = []
    try {
      expect(() => {
        for (;;) regions.push(core.allocate(1_073_741_804))
      }).toThrow(expect.objectContaining({ code: 'OUT_OF_MEMORY' }))
      expect(core.rewrite(Buffer.from(records), { crc: 'verify' }).rewritten).toBe(2)
    } finally {
      for (const region of regions) region.free()
    }
    expect(regions.length).toBeGreaterThan(0)
    const small = core.allocate(1000)
    small.bytes.set(records.subarray(0, 1000))
    small.free()
  })
})
