// Case M-22: the arithmetic of the mapping at its edges, where BigInt wraps silently on the wasm border.
import { describe, expect, it } from 'vitest'
import { mapProducerId } from '../../src/index.ts'
import { backends } from '../support/backends.ts'
import { batch, hasValidCrc } from '../support/batches.ts'

const MAX = 2n ** 63n - 1n
const MIN = -(2n ** 63n)

describe.each(backends)('M-22: $name', ({ core, run }) => {
  it.each([
    [0n, -2n],
    [1n, -3n],
    [MAX - 2n, -MAX],
    [MAX - 1n, MIN],
    [-1n, -1n],
    [-2n, -2n],
    [MIN, MIN],
  ])('%s becomes %s, twice', (source, mapped) => {
    const once = run(batch({ producerId: source }), (view) => core.rewrite(view))
    expect(once.after.readBigInt64BE(43)).toBe(mapped)
    expect(mapProducerId(source)).toBe(mapped)
    expect(hasValidCrc(once.after)).toBe(true)
    const twice = run(once.after, (view) => core.rewrite(view))
    expect(twice.after).toEqual(once.after)
    expect(twice.result?.rewritten).toBe(0)
  })

  it('the largest id would come out as itself: refused before any byte changes', () => {
    const records = Buffer.concat([batch({ producerId: 1n }), batch({ producerId: MAX })])
    const { error, after } = run(records, (view) => core.rewrite(view))
    expect(error).toMatchObject({ code: 'UNMAPPABLE_PRODUCER_ID', producerId: MAX, position: 61 })
    expect(after).toEqual(records)
  })
})
