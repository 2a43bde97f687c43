// What is encoded here, judged by Kafka: its record classes and its dump tool.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { encodeRecordBatch } from '../../src/formats/encodeRecordBatch.ts'
import { encodeEndTransactionMarker } from '../../src/formats/endTransactionMarker.ts'
import { encodeMirrorPidReset } from '../../src/formats/mirrorPidReset.ts'
import { type JudgedLog, judge, kafkaDump } from './judge.js'

const text = (value: string) => new TextEncoder().encode(value)
const timestamp = 1700000000000n
const name = '00000000000000000000.log'

const batches = [
  encodeRecordBatch({
    partitionLeaderEpoch: 3,
    records: [
      { timestamp, key: text('k'), value: text('plain'), headers: [{ key: 'h', value: null }] },
      { timestamp: timestamp + 5n, key: null, value: null },
    ],
  }),
  encodeRecordBatch({
    baseOffset: 2n,
    partitionLeaderEpoch: 3,
    producerId: 5n,
    producerEpoch: 1,
    baseSequence: 2147483647,
    isTransactional: true,
    records: [
      { timestamp, value: text('wraps') },
      { timestamp, value: text('around') },
    ],
  }),
  encodeEndTransactionMarker({
    baseOffset: 4n,
    leaderEpoch: 3,
    timestamp,
    producerId: 5n,
    producerEpoch: 1,
    coordinatorEpoch: 7,
    type: 'ABORT',
  }),
  encodeMirrorPidReset({
    baseOffset: 5n,
    leaderEpoch: 3,
    timestamp,
    sourceClusterId: 'YkX3tQ2mSGa0b1c2d3e4fA',
  }),
  encodeRecordBatch({
    baseOffset: 6n,
    partitionLeaderEpoch: 3,
    lastOffsetDelta: 9,
    records: [{ offset: 8n, timestamp, key: text('kept'), value: text('by compaction') }],
  }),
  encodeRecordBatch({
    baseOffset: 16n,
    partitionLeaderEpoch: 3,
    producerId: 6n,
    producerEpoch: 0,
    baseSequence: 4,
    lastOffsetDelta: 2,
    maxTimestamp: timestamp,
    records: [],
  }),
]

let directory: string
let log: JudgedLog

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mirrorpid-encoded-'))
  await writeFile(join(directory, name), Buffer.concat(batches))
  log = (await judge([join(directory, name)]))[0] as JudgedLog
})

afterAll(() => rm(directory, { recursive: true, force: true }))

describe('batches encoded here', () => {
  it('are valid and whole for Kafka', () => {
    expect(log.error).toBeUndefined()
    expect(log.batches.map(({ isValid, recordsError, error }) => ({ isValid, recordsError, error }))).toEqual(
      batches.map(() => ({ isValid: true, recordsError: undefined, error: undefined })),
    )
    expect(log.batches.map((batch) => batch.records)).toEqual([2, 2, 1, 1, 1, 0])
    expect(log.facts.validBytes).toBe(log.bytes)
  })

  it('have the fields that were asked for', () => {
    expect(log.batches).toMatchObject([
      { baseOffset: '0', lastOffset: '1', producerId: '-1', count: 2, maxTimestamp: '1700000000005' },
      { baseOffset: '2', producerId: '5', producerEpoch: 1, lastSequence: 0, isTransactional: true },
      { isControl: true, isTransactional: true, producerId: '5', controlTypes: ['ABORT'], baseSequence: -1 },
      { isControl: true, isTransactional: false, producerId: '-1', controlTypes: ['UNKNOWN'] },
      { baseOffset: '6', lastOffset: '15', count: 1 },
      { baseOffset: '16', lastOffset: '18', count: 0, lastSequence: 6 },
    ])
  })

  it('are printed by Kafka’s dump tool, the barrier as a type it does not know', async () => {
    const { stdout, status } = await kafkaDump(['--files', name, '--print-data-log'], { cwd: directory })
    expect(status).toBe(0)
    const lines = stdout.split('\n').filter((line) => line.startsWith('| '))
    expect(lines).toEqual([
      '| offset: 0 CreateTime: 1700000000000 keySize: 1 valueSize: 5 sequence: -1 headerKeys: [h] key: k payload: plain',
      '| offset: 1 CreateTime: 1700000000005 keySize: -1 valueSize: -1 sequence: -1 headerKeys: []',
      '| offset: 2 CreateTime: 1700000000000 keySize: -1 valueSize: 5 sequence: 2147483647 headerKeys: [] payload: wraps',
      '| offset: 3 CreateTime: 1700000000000 keySize: -1 valueSize: 6 sequence: 0 headerKeys: [] payload: around',
      '| offset: 4 CreateTime: 1700000000000 keySize: 4 valueSize: 6 sequence: -1 headerKeys: [] endTxnMarker: ABORT coordinatorEpoch: 7',
      '| offset: 5 CreateTime: 1700000000000 keySize: 4 valueSize: 26 sequence: -1 headerKeys: [] controlType: UNKNOWN(7)',
      '| offset: 8 CreateTime: 1700000000000 keySize: 4 valueSize: 13 sequence: -1 headerKeys: [] key: kept payload: by compaction',
    ])
  })
})
