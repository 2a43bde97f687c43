// What stands at a position of a record set: each limit from both sides, as an outcome, not only as agreement.
import { describe, expect, it } from 'vitest'
import { backends, resultOf } from '../support/backends.ts'
import { batch, hasValidCrc, legacyEntry, pattern } from '../support/batches.ts'

/** The first `length` bytes of a batch that claims `batchLength` and has this magic. */
function head(length: number, batchLength: number, magic = 2): Buffer {
  const bytes = Buffer.concat([batch({ producerId: 5n }), pattern(200)])
  bytes.writeInt32BE(batchLength, 8)
  bytes.writeInt8(magic, 16)
  return bytes.subarray(0, length)
}

const incomplete = (bytes: number) => ({ corrupt: [], batches: 0, trailing: { kind: 'incomplete', bytes } })
const corrupt = (reason: string) => ({ corrupt: [{ position: 0, reason }], batches: 0, validBytes: 0 })

const table: [string, Buffer, object][] = [
  ['11 bytes tell nothing', head(11, -1), incomplete(11)],
  ['12 bytes tell a bad size', head(12, 13), corrupt('size')],
  ['a negative size', head(12, -1), corrupt('size')],
  ['12 bytes of a possible size', head(12, 14), incomplete(12)],
  ['16 bytes do not tell the magic', head(16, 100, 3), incomplete(16)],
  ['17 bytes tell a bad magic, though the batch is cut', head(17, 100, 3), corrupt('magic')],
  ['a negative magic', head(17, 100, -1), corrupt('magic')],
  ['17 bytes tell that a header of magic 2 does not fit', head(17, 48), corrupt('size')],
  ['17 bytes of a magic 2 header', head(17, 49), incomplete(17)],
  ['one byte too few', head(60, 49), incomplete(60)],
  ['the same size is possible in magic 1', head(17, 48, 1), incomplete(17)],
]

describe.each(backends)('framing: $name', (backend) => {
  const { core } = backend

  it.each(table)('%s', (_, bytes, expected) => {
    expect(resultOf(backend, bytes, (view) => core.verify(view))).toMatchObject(expected)
    const { error, after } = backend.run(bytes, (view) => core.rewrite(view))
    expect(error === undefined).toBe('trailing' in expected)
    expect(after).toEqual(bytes)
  })

  it('the smallest entry of magic 0 has 14 bytes behind its size', () => {
    const smallest = legacyEntry({ magic: 0, value: new Uint8Array(0) })
    expect(smallest.length).toBe(26)
    expect(resultOf(backend, smallest, (view) => core.verify(view))).toMatchObject({
      batches: 1,
      corrupt: [],
      legacy: 1,
    })
  })

  it('the smallest batch of magic 2 has a header alone', () => {
    const smallest = batch({ producerId: 5n })
    expect(resultOf(backend, smallest, (view) => core.rewrite(view))).toMatchObject({
      batches: 1,
      rewritten: 1,
    })
  })

  it('a large entry of magic 1 is checked over all its bytes', () => {
    const large = legacyEntry({ magic: 1, value: pattern(200_000) })
    expect(resultOf(backend, large, (view) => core.verify(view)).corrupt).toEqual([])
    large.writeUInt8(large.readUInt8(70_000) ^ 1, 70_000)
    expect(resultOf(backend, large, (view) => core.verify(view)).corrupt).toHaveLength(1)
  })

  it('a batch of more than 16 MiB is patched right', () => {
    const large = batch({ producerId: 5n, payload: Buffer.alloc((1 << 24) + 12_345, 7) })
    const records = new Uint8Array(large)
    core.rewrite(records)
    expect(hasValidCrc(Buffer.from(records.buffer))).toBe(true)
  })
})
