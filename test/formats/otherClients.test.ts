// What is encoded here is read by another client's decoder, and the other way round.
import { createRecordsBatch, NumericMap, Reader, readRecordsBatches } from '@platformatic/kafka'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsCore } from '../../src/core/jsCore.ts'
import { decodeRecords } from '../../src/formats/decodeRecords.ts'
import { encodeRecordBatch } from '../../src/formats/encodeRecordBatch.ts'
import { recordBatches } from '../../src/formats/recordBatches.ts'

const core = jsCore()
const bytes = fc.uint8Array({ minLength: 1, maxLength: 60 }).map((value) => Buffer.from(value))
const records = fc.array(
  fc.record({
    timestamp: fc.bigInt({ min: 0n, max: 2n ** 45n }),
    key: bytes,
    value: bytes,
    headers: fc.array(fc.record({ key: fc.stringMatching(/^[a-z]{1,8}$/), value: bytes }), { maxLength: 2 }),
  }),
  { minLength: 1, maxLength: 8 },
)

describe('@platformatic/kafka', () => {
  it('reads what is encoded here', () => {
    fc.assert(
      fc.property(
        records,
        fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }).filter((id) => id !== -1n),
        fc.boolean(),
        (specs, producerId, isTransactional) => {
          const encoded = encodeRecordBatch({
            baseOffset: 7n,
            partitionLeaderEpoch: 3,
            producerId,
            producerEpoch: 2,
            baseSequence: 9,
            isTransactional,
            records: specs,
          })
          const [batch, ...others] = readRecordsBatches(Reader.from(Buffer.from(encoded)))
          expect(others).toEqual([])
          expect(batch).toMatchObject({
            firstOffset: 7n,
            partitionLeaderEpoch: 3,
            magic: 2,
            attributes: isTransactional ? 0x10 : 0,
            lastOffsetDelta: specs.length - 1,
            firstTimestamp: specs[0]!.timestamp,
            producerId,
            producerEpoch: 2,
            firstSequence: 9,
          })
          const read = batch!.records.map(({ key, value, headers, timestampDelta, offsetDelta }) => ({
            key: key?.toString('hex'),
            value: value?.toString('hex'),
            headers: headers.map(([name, content]) => [name?.toString(), content?.toString('hex')]),
            timestamp: batch!.firstTimestamp + timestampDelta,
            offsetDelta,
          }))
          expect(read).toEqual(
            specs.map((spec, index) => ({
              key: spec.key.toString('hex'),
              value: spec.value.toString('hex'),
              headers: spec.headers.map((header) => [header.key, header.value.toString('hex')]),
              timestamp: spec.timestamp,
              offsetDelta: index,
            })),
          )
        },
      ),
    )
  })

  it.each(['none', 'gzip', 'snappy', 'lz4'] as const)('writes what is read here: %s', async (compression) => {
    const messages = Array.from({ length: 50 }, (_, index) => ({
      topic: 't',
      key: Buffer.from(`key ${index}`),
      value: Buffer.from(`value ${index} `.repeat(20)),
      headers: new Map([[Buffer.from('h'), Buffer.from('x')]]),
      timestamp: 1700000000000n + BigInt(index),
    }))
    const options = { compression, producerId: 5n, producerEpoch: 1, sequences: new NumericMap([['t:0', 0]]) }
    const written = createRecordsBatch(messages, options as Parameters<typeof createRecordsBatch>[1]).buffer
    expect(core.verify(written).corrupt).toEqual([])
    const batch = recordBatches(written).next().value
    if (batch === undefined || !('payload' in batch)) throw new Error('no batch')
    expect(batch).toMatchObject({ compression, recordsCount: 50, producerId: 5n, producerEpoch: 1 })
    const read = await decodeRecords(batch)
    expect(
      read.map(({ key, value, timestamp }) => [String(Buffer.from(key!)), value?.length, timestamp]),
    ).toEqual(messages.map(({ key, value, timestamp }) => [key.toString(), value.length, timestamp]))
    expect(read[0]?.headers).toEqual([{ key: 'h', value: new Uint8Array([0x78]) }])
  })
})
