import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { crc32c } from '@node-rs/crc32'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loadCoreSync, mapProducerId, unmapProducerId } from '../../src/index.ts'
import { rewriteProducerSnapshot, verifyProducerSnapshot } from '../../src/log/producerSnapshot.ts'
import { rewriteTransactionIndex, verifyTransactionIndex } from '../../src/log/transactionIndex.ts'
import { producerIds } from '../support/arbitraries.ts'
import { hex } from '../support/batches.ts'

const MAX = 2n ** 63n - 1n
const core = loadCoreSync()

// One producer, id 1000, and one aborted transaction of it (vectors of Kafka's format).
const SNAPSHOT = hex(
  '0001418d07fe0000000100000000000003e80003000000010000000000000001000000010000018bcfe5680900000004ffffffffffffffff',
)
const INDEX = hex('000000000000000003e8000000000000000000000000000000020000000000000003')

/** A snapshot of producers with these ids; CRC from a native library. */
function snapshot(ids: readonly bigint[], options: { count?: number; after?: Buffer } = {}): Buffer {
  const { count = ids.length, after = Buffer.alloc(0) } = options
  const entries = ids.map((id) => {
    const entry = Buffer.from(SNAPSHOT.subarray(10))
    entry.writeBigInt64BE(id)
    return entry
  })
  const bytes = Buffer.concat([SNAPSHOT.subarray(0, 10), ...entries, after])
  bytes.writeInt32BE(count, 6)
  bytes.writeUInt32BE(crc32c(bytes.subarray(6)), 2)
  return bytes
}

function index(ids: readonly bigint[]): Buffer {
  const entries = ids.map((id) => {
    const entry = Buffer.from(INDEX)
    entry.writeBigInt64BE(id, 2)
    return entry
  })
  return Buffer.concat(entries)
}

const idsOfSnapshot = (bytes: Buffer) =>
  Array.from({ length: bytes.readInt32BE(6) }, (_, entry) => bytes.readBigInt64BE(10 + entry * 46))

/** Real files of a broker. */
const fixtures = fileURLToPath(new URL('../fixtures', import.meta.url))
const filesOf = (suffix: string) =>
  readdirSync(fixtures, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(suffix))
    .map((name): [string, Buffer] => [name, readFileSync(join(fixtures, name))])

describe('a producer snapshot', () => {
  it('is mapped with its CRC, once, and restored to the same bytes', () => {
    const bytes = Buffer.from(SNAPSHOT)
    expect(rewriteProducerSnapshot(core, bytes)).toEqual({ entries: 1, rewritten: 1 })
    expect(idsOfSnapshot(bytes)).toEqual([-1002n])
    expect(bytes.readUInt32BE(2)).toBe(crc32c(bytes.subarray(6)))
    const mapped = Buffer.from(bytes)
    expect(rewriteProducerSnapshot(core, bytes)).toEqual({ entries: 1, rewritten: 0 })
    expect(bytes.equals(mapped)).toBe(true)
    expect(rewriteProducerSnapshot(core, bytes, { direction: 'unmap' }).rewritten).toBe(1)
    expect(bytes.equals(SNAPSHOT)).toBe(true)
  })

  it('changes ids and CRC, nothing else', () => {
    fc.assert(
      fc.property(
        fc.array(producerIds, { maxLength: 20 }),
        fc.constantFrom('map' as const, 'unmap' as const),
        (ids, direction) => {
          const change = direction === 'map' ? mapProducerId : unmapProducerId
          const bytes = snapshot(ids)
          const report = rewriteProducerSnapshot(core, bytes, { direction, force: true })
          expect(report).toEqual({
            entries: ids.length,
            rewritten: ids.filter((id) => change(id) !== id).length,
          })
          expect(bytes.equals(snapshot(ids.map(change)))).toBe(true)
        },
      ),
    )
  })

  it('is refused when cut at any byte or with any bit flipped, and left as it is', () => {
    const bytes = snapshot([1000n, 7n])
    const damaged = [
      ...Array.from({ length: bytes.length }, (_, end) => Buffer.from(bytes.subarray(0, end))),
      ...Array.from({ length: bytes.length * 8 }, (_, bit) => {
        const copy = Buffer.from(bytes)
        copy[bit >> 3]! ^= 1 << (bit & 7)
        return copy
      }),
    ]
    for (const copy of damaged) {
      const before = Buffer.from(copy)
      const call = () => rewriteProducerSnapshot(core, copy, { file: 'x.snapshot' })
      expect(call).toThrow(expect.objectContaining({ code: 'CORRUPT_SNAPSHOT', file: 'x.snapshot' }))
      expect(copy.equals(before)).toBe(true)
    }
  })

  it.each([
    ['more entries than there are', snapshot([5n], { count: 2 }), 6, 'claims 2 entries, has 1'],
    ['a negative count', snapshot([5n], { count: -1 }), 6, 'claims -1 entries'],
    ['a count near 2^31', snapshot([5n], { count: 2147483647 }), 6, 'claims 2147483647 entries'],
    ['another version', Buffer.concat([hex('0002'), SNAPSHOT.subarray(2)]), 0, 'version 2, expected 1'],
    ['a wrong CRC', Buffer.concat([hex('000100000000'), SNAPSHOT.subarray(6)]), 2, 'stored CRC 0x0'],
    ['nothing in it', Buffer.alloc(0), 0, '0 bytes'],
  ])('is refused with %s', (_name, bytes, position, message) => {
    expect(() => verifyProducerSnapshot(core, bytes)).toThrow(
      expect.objectContaining({
        code: 'CORRUPT_SNAPSHOT',
        position,
        message: expect.stringContaining(message),
      }),
    )
  })

  it('keeps bytes behind the last entry when the CRC covers them', () => {
    const bytes = snapshot([5n], { after: hex('aabb') })
    expect(rewriteProducerSnapshot(core, bytes).rewritten).toBe(1)
    expect(bytes.equals(snapshot([-7n], { after: hex('aabb') }))).toBe(true)
  })

  it('is refused whole for an id that has no image', () => {
    const bytes = snapshot([5n, MAX])
    const call = () => rewriteProducerSnapshot(core, bytes)
    expect(call).toThrow(expect.objectContaining({ code: 'UNMAPPABLE_PRODUCER_ID', position: 56 }))
    expect(bytes.equals(snapshot([5n, MAX]))).toBe(true)
    expect(rewriteProducerSnapshot(core, bytes, { direction: 'unmap' }).rewritten).toBe(0)
  })

  it.each(filesOf('.snapshot'))('of a broker comes back as it was: %s', (_name, original) => {
    const bytes = Buffer.from(original)
    const { entries, rewritten } = rewriteProducerSnapshot(core, bytes)
    expect(rewritten).toBe(entries)
    expect(idsOfSnapshot(bytes)).toEqual(idsOfSnapshot(original).map(mapProducerId))
    expect(verifyProducerSnapshot(core, bytes)).toBe(entries)
    rewriteProducerSnapshot(core, bytes, { direction: 'unmap' })
    expect(bytes.equals(original)).toBe(true)
  })
})

describe('a transaction index', () => {
  it('is mapped once, and restored to the same bytes', () => {
    const bytes = Buffer.from(INDEX)
    const none = { kind: 'none', bytes: 0 }
    expect(rewriteTransactionIndex(bytes)).toEqual({ entries: 1, rewritten: 1, trailing: none })
    expect(bytes.readBigInt64BE(2)).toBe(-1002n)
    expect(rewriteTransactionIndex(bytes)).toEqual({ entries: 1, rewritten: 0, trailing: none })
    rewriteTransactionIndex(bytes, { direction: 'unmap' })
    expect(bytes.equals(INDEX)).toBe(true)
  })

  it('changes ids, nothing else; a fragment stays', () => {
    fc.assert(
      fc.property(
        fc.array(producerIds, { maxLength: 20 }),
        fc.nat(33),
        fc.constantFrom('map' as const, 'unmap' as const),
        (ids, length, direction) => {
          const change = direction === 'map' ? mapProducerId : unmapProducerId
          const fragment = index([5n]).subarray(34 - length)
          const bytes = Buffer.concat([index(ids), fragment])
          const { entries, rewritten } = rewriteTransactionIndex(bytes, { direction, force: true })
          expect([entries, rewritten]).toEqual([ids.length, ids.filter((id) => change(id) !== id).length])
          expect(bytes.equals(Buffer.concat([index(ids.map(change)), fragment]))).toBe(true)
        },
      ),
    )
  })

  it.each([1, 33, 34, 35, 4096])('keeps a tail of %d zeros, which is no producer 0', (length) => {
    const bytes = Buffer.concat([index([0n, 5n]), Buffer.alloc(length)])
    const trailing = { kind: 'zeros', bytes: length }
    expect(rewriteTransactionIndex(bytes)).toEqual({ entries: 2, rewritten: 2, trailing })
    expect(bytes.equals(Buffer.concat([index([-2n, -7n]), Buffer.alloc(length)]))).toBe(true)
  })

  it('may be empty', () => {
    const trailing = { kind: 'none', bytes: 0 }
    expect(rewriteTransactionIndex(Buffer.alloc(0))).toEqual({ entries: 0, rewritten: 0, trailing })
  })

  it('is refused with an entry of another version, and left as it is', () => {
    const bytes = index([5n, 6n])
    bytes.writeInt16BE(1, 34)
    const before = Buffer.from(bytes)
    const facts = { code: 'CORRUPT_TRANSACTION_INDEX', position: 34, file: 'x.txnindex' }
    expect(() => rewriteTransactionIndex(bytes, { file: 'x.txnindex' })).toThrow(
      expect.objectContaining({ ...facts, message: expect.stringContaining('version 1, expected 0') }),
    )
    expect(() => verifyTransactionIndex(bytes, 'x.txnindex')).toThrow(expect.objectContaining(facts))
    expect(bytes.equals(before)).toBe(true)
  })

  it('is refused whole for an id that has no image', () => {
    const bytes = index([5n, MAX])
    expect(() => rewriteTransactionIndex(bytes)).toThrow(
      expect.objectContaining({ code: 'UNMAPPABLE_PRODUCER_ID', position: 36, producerId: MAX }),
    )
    expect(bytes.equals(index([5n, MAX]))).toBe(true)
  })

  it.each(filesOf('.txnindex'))('of a broker comes back as it was: %s', (_name, original) => {
    const bytes = Buffer.from(original)
    const { entries, rewritten } = rewriteTransactionIndex(bytes)
    expect([rewritten, entries * 34]).toEqual([entries, original.length])
    rewriteTransactionIndex(bytes, { direction: 'unmap' })
    expect(bytes.equals(original)).toBe(true)
  })
})
