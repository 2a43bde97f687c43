import fc from 'fast-check'
import { batch, legacyEntry } from './batches.ts'

const MAX = 2n ** 63n - 1n
const MIN = -(2n ** 63n)

/** Any int64, with the ends, the 32-bit border and the ids around 0 met often. */
export const producerIds = fc.oneof(
  fc.constantFrom(-2n, -1n, 0n, 1n, 5n, -7n, 2n ** 32n - 2n, 2n ** 32n - 1n, -(2n ** 32n), MAX - 1n, MIN),
  fc.bigInt({ min: MIN, max: MAX - 1n }),
)

/** A whole batch of any kind, right or with a wrong CRC. */
export const wholeBatches = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .record({
        producerId: producerIds,
        baseOffset: fc.bigInt({ min: 0n, max: MAX }),
        attributes: fc.constantFrom(0, 0x10, 0x20, 0x30, 0x04, -1),
        payload: fc.uint8Array({ maxLength: 400 }),
        recordsCount: fc.constantFrom(1, 0, -1, 2147483647),
        isDamaged: fc.boolean(),
      })
      .map(({ isDamaged, ...spec }) => {
        const bytes = batch(spec)
        if (isDamaged) bytes.writeUInt32BE((bytes.readUInt32BE(17) ^ 0x40) >>> 0, 17)
        return bytes
      }),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({ magic: fc.constantFrom(0 as const, 1 as const), value: fc.uint8Array({ maxLength: 100 }) })
      .map((spec) => legacyEntry(spec)),
  },
)

/** What may stand where a batch should. */
export const endings = fc.oneof(
  { weight: 4, arbitrary: fc.constant(Buffer.alloc(0)) },
  fc.nat({ max: 5000 }).map((length) => Buffer.alloc(length)),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc.tuple(wholeBatches, fc.nat({ max: 500 })).map(([bytes, cut]) => bytes.subarray(0, cut)),
  fc
    .tuple(wholeBatches, fc.constantFrom(0, 13, 14, 40, 48, 49, -1, -2147483648, 2147483647))
    .map(([bytes, batchLength]) => {
      const copy = Buffer.from(bytes)
      copy.writeInt32BE(batchLength, 8)
      return copy
    }),
  fc.tuple(wholeBatches, fc.constantFrom(3, 127, -1, -128)).map(([bytes, magic]) => {
    const copy = Buffer.from(bytes)
    copy.writeInt8(magic, 16)
    return copy
  }),
)

/** A record set: whole batches, then possibly something else, then possibly more batches. */
export const recordSets = fc
  .tuple(fc.array(wholeBatches, { maxLength: 6 }), endings, fc.array(wholeBatches, { maxLength: 2 }))
  .map(([before, ending, after]) => Buffer.concat([...before, ending, ...after]))

export const rewriteOptions = fc.record({
  crc: fc.constantFrom('patch' as const, 'verify' as const, 'recompute' as const),
  direction: fc.constantFrom('map' as const, 'unmap' as const),
})
