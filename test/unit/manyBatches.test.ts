import { describe, expect, it } from 'vitest'
import { backends, resultOf } from '../support/backends.ts'
import { batch, hasValidCrc } from '../support/batches.ts'

/** assembly/rewrite.ts notes where so many batches are to change, and looks for the rest of them anew. */
const NOTED = 16_384
const SIZE = 61

/** Of every three batches, one has no producer and two change. */
function records(count: number): Buffer {
  const kinds = [batch({ producerId: 5n }), batch(), batch({ producerId: 2n ** 40n })]
  return Buffer.concat(Array.from({ length: count }, (_, index) => kinds[index % 3]!))
}

describe.each(backends)('many batches: $name', (backend) => {
  const { core } = backend

  it.each([
    ['one fewer than are noted', (NOTED * 3) / 2 - 2],
    ['as many', (NOTED * 3) / 2],
    ['one more', (NOTED * 3) / 2 + 1],
    ['twice as many', NOTED * 3],
  ])('rewrites %s, there and back', (_, count) => {
    const original = records(count)
    for (const crc of ['patch', 'recompute'] as const) {
      const mapped = backend.run(original, (view) => core.rewrite(view, { crc }))
      expect(mapped.error).toBeUndefined()
      expect(mapped.result?.rewritten).toBe(count - Math.floor((count + 1) / 3))
      for (let index = 0; index < count; index++) {
        const one = mapped.after.subarray(index * SIZE, (index + 1) * SIZE)
        const expected = [-7n, -1n, -(2n ** 40n) - 2n][index % 3]
        if (one.readBigInt64BE(43) !== expected || !hasValidCrc(one)) expect.fail(`batch ${index}`)
      }
      const back = backend.run(mapped.after, (view) => core.rewrite(view, { crc, direction: 'unmap' }))
      expect(back.after.equals(original)).toBe(true)
    }
  })

  it('changes none of them when the last is refused', () => {
    const original = Buffer.concat([records(NOTED * 3), batch({ producerId: 2n ** 63n - 1n })])
    const { error, after } = backend.run(original, (view) => core.rewrite(view))
    expect(error?.code).toBe('UNMAPPABLE_PRODUCER_ID')
    expect(after.equals(original)).toBe(true)
    // and a call after that notes places of its own
    const few = records(3)
    expect(resultOf(backend, few, (view) => core.rewrite(view)).rewritten).toBe(2)
  })
})
