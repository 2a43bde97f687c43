import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CorruptBatchError } from '../../src/index.ts'
import { backends, comparable, resultOf } from '../support/backends.ts'
import { batch, legacyEntry, pattern } from '../support/batches.ts'

const [reference, ...others] = backends
if (reference === undefined) throw new Error('no backend')

const good = batch({ producerId: 5n, payload: pattern(40) })
const second = batch({ producerId: 6n, baseOffset: 1n, payload: pattern(30, 7) })
const control = Buffer.concat([good, second])

function withField(bytes: Buffer, write: (copy: Buffer) => void): Buffer {
  const copy = Buffer.from(bytes)
  write(copy)
  return copy
}

/** Every backend must agree on the input, in every mode, and be as good as new afterwards. */
function expectAgreement(records: Buffer): void {
  for (const crc of ['patch', 'verify', 'recompute'] as const) {
    const expected = comparable(reference!.run(records, (view) => reference!.core.rewrite(view, { crc })))
    for (const backend of others) {
      const actual = comparable(backend.run(records, (view) => backend.core.rewrite(view, { crc })))
      expect(actual, `${backend.name}, ${crc}`).toEqual(expected)
      const next = backend.run(control, (view) => backend.core.rewrite(view, { crc: 'verify' }))
      expect(next.result?.rewritten, `${backend.name}: the call after`).toBe(2)
    }
  }
  const verified = reference!.run(records, (view) => reference!.core.verify(view))
  for (const backend of others) {
    expect(
      backend.run(records, (view) => backend.core.verify(view)),
      backend.name,
    ).toEqual(verified)
  }
}

describe('hostile record sets', () => {
  it('cut at every byte', () => {
    const records = Buffer.concat([good, legacyEntry({ magic: 1 }), second])
    for (let cut = 0; cut <= records.length; cut++) expectAgreement(records.subarray(0, cut))
  })

  it.each([0, 1, 13, 14, 40, 48, -1, -2147483648, 2147483647, 2147483635, 2147483636])(
    'batchLength %i',
    (length) => {
      const bad = withField(second, (copy) => copy.writeInt32BE(length, 8))
      expectAgreement(Buffer.concat([good, bad]))
      expectAgreement(Buffer.concat([good, bad, second]))
      expectAgreement(Buffer.concat([bad, good]))
    },
  )

  it.each([-128, -1, 0, 1, 3, 4, 127])('magic %i', (magic) => {
    const bad = withField(second, (copy) => copy.writeInt8(magic, 16))
    expectAgreement(Buffer.concat([good, bad, second]))
  })

  it.each([-1, 0, 2147483647, -2147483648])('recordsCount %i', (count) => {
    expectAgreement(
      Buffer.concat([good, batch({ producerId: 7n, recordsCount: count, lastOffsetDelta: count })]),
    )
  })

  it.each([1, 7, 8, 11, 12, 16, 17, 60, 61, 4096])('%i zero bytes behind the last batch', (length) => {
    const records = Buffer.concat([good, Buffer.alloc(length)])
    expectAgreement(records)
    expect(resultOf(reference, records, (view) => reference.core.verify(view))).toMatchObject({
      corrupt: [],
      trailing: { kind: 'zeros', bytes: length },
    })
    expectAgreement(withField(records, (copy) => copy.writeUInt8(1, copy.length - 1)))
  })

  it('any byte of a batch changed to any of its bits', () => {
    const records = Buffer.concat([good, second])
    for (let at = 0; at < records.length; at++) {
      expectAgreement(withField(records, (copy) => copy.writeUInt8(copy.readUInt8(at) ^ (1 << (at % 8)), at)))
    }
  })

  it('random bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => expectAgreement(Buffer.from(bytes))),
      { numRuns: 300 },
    )
  })

  it.each(backends)('a bad frame throws with its place and changes nothing: $name', ({ core, run }) => {
    for (const [reason, bad] of [
      ['size', withField(second, (copy) => copy.writeInt32BE(48, 8))],
      ['magic', withField(second, (copy) => copy.writeInt8(3, 16))],
    ] as const) {
      const records = Buffer.concat([good, bad])
      for (const crc of ['patch', 'verify', 'recompute'] as const) {
        const { error, after } = run(records, (view) => core.rewrite(view, { crc }))
        expect(error).toBeInstanceOf(CorruptBatchError)
        expect(error).toMatchObject({
          position: good.length,
          baseOffset: 1n,
          reason,
          stored: null,
          computed: null,
        })
        expect(after).toEqual(records)
      }
      const { corrupt, validBytes, batches } = resultOf({ name: '', core, run }, records, (view) =>
        core.verify(view),
      )
      expect(corrupt).toEqual([
        { position: good.length, baseOffset: 1n, reason, stored: null, computed: null },
      ])
      expect({ validBytes, batches }).toEqual({ validBytes: good.length, batches: 1 })
    }
  })
})

describe.each(backends)('hostile arguments: $name', ({ core }) => {
  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a string', 'records'],
    ['a number', 61],
    ['an array', [1, 2, 3]],
    ['an ArrayBuffer', new ArrayBuffer(61)],
    ['a SharedArrayBuffer', new SharedArrayBuffer(61)],
    ['a Uint16Array', new Uint16Array(61)],
    ['an Int8Array', new Int8Array(61)],
    ['a BigInt64Array', new BigInt64Array(8)],
    ['a lookalike', { buffer: new ArrayBuffer(61), byteOffset: 0, byteLength: 61 }],
  ])('refuses %s', (_, value) => {
    for (const call of [core.rewrite, core.verify, core.crc32c]) {
      expect(() => call(value as Uint8Array)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
    }
  })

  it('refuses a wide view of its own memory', () => {
    const region = core.allocate(64)
    const wide = new Uint16Array(region.bytes.buffer, region.bytes.byteOffset, 8) as unknown as Uint8Array
    for (const call of [core.rewrite, core.verify, core.crc32c])
      expect(() => call(wide)).toThrow(/Uint16Array/)
    region.free()
  })

  it.each([{ crc: 'fast' }, { crc: 1 }, { crc: '' }, { direction: 'up' }, { crc: 'toString' }])(
    'refuses options %j and names the choices',
    (options) => {
      const call = () => core.rewrite(Buffer.from(good), options as object)
      expect(call).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
      expect(call).toThrow(/must be one of "/)
      const region = core.allocate(good.length)
      expect(() => core.rewrite(region.bytes, options as object)).toThrow(/must be one of "/)
      region.free()
    },
  )

  it('refuses options that JSON cannot show', () => {
    const circle: object[] = []
    circle.push(circle)
    for (const crc of [5n, circle, Symbol('x'), () => {}])
      expect(() => core.rewrite(Buffer.from(good), { crc } as object)).toThrow(/must be one of "/)
  })

  it.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, 1_073_741_805, '5'])(
    'refuses to allocate %s bytes',
    (byteLength) => {
      const call = () => core.allocate(byteLength as number)
      expect(call).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
    },
  )

  it('tells a detached view from an empty one', () => {
    const bytes = new Uint8Array(100)
    structuredClone(bytes.buffer, { transfer: [bytes.buffer] })
    for (const call of [core.rewrite, core.verify, core.crc32c]) {
      expect(() => call(bytes)).toThrow(expect.objectContaining({ code: 'DETACHED_BUFFER' }))
    }
    expect(core.rewrite(new Uint8Array(0)).batches).toBe(0)
  })

  it('tells a view of a buffer that has shrunk from an empty one', () => {
    const Resizable = ArrayBuffer as unknown as new (
      length: number,
      options: { maxByteLength: number },
    ) => ArrayBuffer & { resize(length: number): void }
    const buffer = new Resizable(200, { maxByteLength: 200 })
    const views = [new Uint8Array(buffer, 0, 100), Buffer.from(buffer, 0, 100), new DataView(buffer, 0, 100)]
    buffer.resize(50)
    for (const call of [core.rewrite, core.verify, core.crc32c]) {
      for (const view of views) {
        expect(() => call(view)).toThrow(expect.objectContaining({ code: 'DETACHED_BUFFER' }))
      }
      expect(() => call(new Uint8Array(buffer, 50))).not.toThrow()
    }
  })
})
