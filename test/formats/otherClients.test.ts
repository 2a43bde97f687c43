// What is encoded here is read by another client's decoder, and the other way round.
import { createRequire } from 'node:module'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsCore } from '../../src/core/jsCore.ts'
import { decodeRecords } from '../../src/formats/decodeRecords.ts'
import { encodeRecordBatch } from '../../src/formats/encodeRecordBatch.ts'
import { recordBatches } from '../../src/formats/recordBatches.ts'

// kafkajs has no public entry for its formats
const require = createRequire(import.meta.url)
const load = (path: string) => require(`kafkajs/src/protocol/${path}`)
const Decoder = load('decoder')
const decodeBatch = load('recordBatch/v0/decoder')
const { RecordBatch } = load('recordBatch/v0')
const encodeRecord = load('recordBatch/record/v0')
const Long = require('kafkajs/src/utils/long')

const core = jsCore()
const bytes = fc.uint8Array({ minLength: 1, maxLength: 60 }).map((value) => Buffer.from(value))
const nullable = fc.oneof(fc.constant(null), bytes)
const specs = fc.array(
  fc.record({
    timestamp: fc.bigInt({ min: 0n, max: 2n ** 45n }),
    key: nullable,
    value: nullable,
    headers: fc.array(fc.record({ key: fc.stringMatching(/^[a-z]{1,8}$/), value: bytes }), { maxLength: 1 }),
  }),
  { minLength: 1, maxLength: 8 },
)

describe('kafkajs', () => {
  it('reads what is encoded here', async () => {
    await fc.assert(
      fc.asyncProperty(
        specs,
        fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }).filter((id) => id !== -1n),
        fc.boolean(),
        async (records, producerId, isTransactional) => {
          const encoded = encodeRecordBatch({
            baseOffset: 7n,
            partitionLeaderEpoch: 3,
            producerId,
            producerEpoch: 2,
            baseSequence: 9,
            isTransactional,
            records,
          })
          const batch = await decodeBatch(new Decoder(Buffer.from(encoded)))
          expect(batch).toMatchObject({
            firstOffset: '7',
            partitionLeaderEpoch: 3,
            inTransaction: isTransactional,
            isControlBatch: false,
            lastOffsetDelta: records.length - 1,
            firstTimestamp: records[0]!.timestamp.toString(),
            producerId: producerId.toString(),
            producerEpoch: 2,
            firstSequence: 9,
          })
          const read = batch.records.map(
            ({ offset, timestamp, key, value, headers }: { [name: string]: unknown }) => ({
              offset,
              timestamp,
              key,
              value,
              headers: Object.entries(headers as object),
            }),
          )
          expect(read).toEqual(
            records.map(({ timestamp, key, value, headers }, index) => ({
              offset: String(7 + index),
              timestamp: timestamp.toString(),
              key,
              value,
              headers: headers.map((header) => [header.key, header.value]),
            })),
          )
        },
      ),
    )
  })

  it.each([
    ['none', 0],
    ['gzip', 1],
  ])('writes what is read here: %s', async (compression, number) => {
    const messages = Array.from({ length: 50 }, (_, index) => ({
      key: Buffer.from(`key ${index}`),
      value: Buffer.from(`value ${index} `.repeat(20)),
    }))
    const encoder = await RecordBatch({
      compression: number,
      firstTimestamp: 1700000000000,
      maxTimestamp: 1700000000049,
      lastOffsetDelta: 49,
      producerId: Long.fromValue(5),
      producerEpoch: 1,
      records: messages.map((message, index) =>
        encodeRecord({ ...message, offsetDelta: index, timestampDelta: index, headers: { h: 'x' } }),
      ),
    })
    const written = Buffer.from(encoder.buffer)
    expect(core.verify(written).corrupt).toEqual([])
    const [batch] = recordBatches(written)
    expect(batch).toMatchObject({ compression, recordsCount: 50, producerId: 5n, producerEpoch: 1 })
    const read = await decodeRecords(batch!)
    expect(
      read.map(({ key, value, timestamp }) => [String(Buffer.from(key!)), value?.length, timestamp]),
    ).toEqual(
      messages.map(({ key, value }, index) => [key.toString(), value.length, 1700000000000n + BigInt(index)]),
    )
    expect(read[0]?.headers).toEqual([{ key: 'h', value: new Uint8Array([0x78]) }])
  })
})
