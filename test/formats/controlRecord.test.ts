import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeControlRecord, decodeControlRecords } from '../../src/formats/controlRecord.ts'
import { ControlRecordType } from '../../src/formats/controlRecordType.ts'
import { encodeRecordBatch } from '../../src/formats/encodeRecordBatch.ts'
import { encodeEndTransactionMarker } from '../../src/formats/endTransactionMarker.ts'
import { decodeMirrorPidReset, encodeMirrorPidReset } from '../../src/formats/mirrorPidReset.ts'
import type { RecordBatch } from '../../src/formats/recordBatch.ts'
import { recordBatches } from '../../src/formats/recordBatches.ts'
import { hex } from '../support/batches.ts'

const only = (bytes: Uint8Array): RecordBatch => recordBatches(bytes).next().value as RecordBatch

function control(...records: [key: string, value: string | null][]): RecordBatch {
  return only(
    encodeRecordBatch({
      isControl: true,
      records: records.map(([key, value]) => ({ key: hex(key), value: value === null ? null : hex(value) })),
    }),
  )
}

// mirroring.md section 2
const golden = hex(`
  000000000000002a0000005600000007028726dc140020000000000000018bcfe568000000018bcfe56800ffffffffffffffff
  ffffffffffff0000000148000000080000000734000017596b58337451326d53476130623163326433653466410000`)

describe('end-transaction markers', () => {
  it('equal the vector of the specification', () => {
    const marker = encodeEndTransactionMarker({
      baseOffset: 2n,
      leaderEpoch: 7,
      timestamp: 1700000000009n,
      producerId: 1000n,
      producerEpoch: 3,
      coordinatorEpoch: 4,
      type: 'COMMIT',
    })
    expect(Buffer.from(marker).toString('hex')).toBe(
      '00000000000000020000004200000007025d7c2a2b0030000000000000018bcfe568090000018bcfe5680900000000000003e80003ffffffff' +
        '000000012000000008000000010c00000000000400',
    )
  })

  it('are read back', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('ABORT' as const, 'COMMIT' as const),
        fc.bigInt({ min: 0n, max: 2n ** 62n }),
        fc.nat(32767),
        fc.integer({ min: -1 }),
        (type, producerId, producerEpoch, coordinatorEpoch) => {
          const spec = { baseOffset: 9n, timestamp: 5n, producerId, producerEpoch, coordinatorEpoch, type }
          const batch = only(encodeEndTransactionMarker(spec))
          expect(batch).toMatchObject({ isControl: true, isTransactional: true, producerId, producerEpoch })
          expect(decodeControlRecord(batch)).toMatchObject({
            type: ControlRecordType[type],
            name: type,
            coordinatorEpoch,
          })
        },
      ),
    )
  })

  it.each(['COMMIT ', 'MIRROR_PID_RESET', 1])('of type %j are refused', (type) => {
    const spec = {
      baseOffset: 0n,
      timestamp: 0n,
      producerId: 1n,
      producerEpoch: 0,
      coordinatorEpoch: 0,
      type,
    }
    expect(() => encodeEndTransactionMarker(spec as never)).toThrow(/"ABORT", "COMMIT"/)
  })
})

describe('the barrier', () => {
  const spec = {
    baseOffset: 42n,
    leaderEpoch: 7,
    timestamp: 1700000000000n,
    sourceClusterId: 'YkX3tQ2mSGa0b1c2d3e4fA',
  }

  it('equals the golden bytes', () => {
    expect(Buffer.from(encodeMirrorPidReset(spec))).toEqual(golden)
    expect(golden.length).toBe(98)
  })

  it('is a control batch that belongs to no producer and no transaction', () => {
    const batch = only(golden)
    expect(batch).toMatchObject({
      isControl: true,
      isTransactional: false,
      attributes: 0x20,
      producerId: -1n,
      producerEpoch: -1,
      baseSequence: -1,
      partitionLeaderEpoch: 7,
      compression: 'none',
      timestampType: 'CreateTime',
      recordsCount: 1,
    })
    expect(decodeControlRecord(batch)).toMatchObject({
      type: 7,
      name: 'MIRROR_PID_RESET',
      version: 0,
      sourceClusterId: 'YkX3tQ2mSGa0b1c2d3e4fA',
      taggedFields: [],
    })
  })

  it('has a later shape without an id', () => {
    const batch = only(encodeMirrorPidReset({ ...spec, sourceClusterId: null }))
    expect(decodeControlRecord(batch)).toMatchObject({ name: 'MIRROR_PID_RESET', sourceClusterId: null })
    expect(decodeControlRecord(batch)?.record.value).toEqual(new Uint8Array([0, 0, 0]))
  })

  it('is read back, unknown tagged fields included', () => {
    const tags = fc.array(fc.record({ tag: fc.nat(0xffffffff), value: fc.uint8Array({ maxLength: 20 }) }), {
      maxLength: 3,
    })
    const ids = fc.oneof(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }),
      fc.constant('x'.repeat(32767)),
      fc.constant('\uFEFFid'),
    )
    fc.assert(
      fc.property(ids, tags, (sourceClusterId, taggedFields) => {
        const batch = only(encodeMirrorPidReset({ ...spec, sourceClusterId, taggedFields }))
        const { record } = decodeControlRecord(batch)!
        expect(decodeMirrorPidReset(record.value!)).toEqual({ version: 0, sourceClusterId, taggedFields })
      }),
    )
    const lone = [{ tag: 300, value: new Uint8Array([1, 2]) }]
    const batch = only(encodeMirrorPidReset({ ...spec, sourceClusterId: null, taggedFields: lone }))
    expect(decodeControlRecord(batch)).toMatchObject({ sourceClusterId: null, taggedFields: lone })
  })

  it.each([
    ['an empty id', ''],
    ['an id over 32,767 bytes', 'x'.repeat(32768)],
    ['an id over 32,767 bytes of UTF-8', 'é'.repeat(16384)],
    ['half a surrogate pair', 'a\ud800'],
    ['a number', 5],
    ['nothing', undefined],
  ])('refuses to write %s', (_, sourceClusterId) => {
    expect(() => encodeMirrorPidReset({ ...spec, sourceClusterId: sourceClusterId as string })).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
    )
  })

  it.each<[string, unknown]>([
    ['a value that is a string', [{ tag: 1, value: 'abc' }]],
    ['a negative tag', [{ tag: -1, value: new Uint8Array(1) }]],
    ['a tag that is a string', [{ tag: '1', value: new Uint8Array(1) }]],
    ['an unknown name', [{ tag: 1, value: new Uint8Array(1), name: 'a' }]],
    ['no list', { tag: 1, value: new Uint8Array(1) }],
  ])('tagged fields are refused: %s', (_, taggedFields) => {
    const given = { ...spec, sourceClusterId: 'A', taggedFields } as Parameters<
      typeof encodeMirrorPidReset
    >[0]
    expect(() => encodeMirrorPidReset(given)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
  })

  it('without an id is never written with fields that would be read as one', () => {
    // a count of 2 is also the length of an id of 1 byte, and so on
    const field = fc.record({ tag: fc.nat(4), value: fc.uint8Array({ maxLength: 3, max: 4 }) })
    let refused = 0
    fc.assert(
      fc.property(fc.array(field, { maxLength: 4 }), (taggedFields) => {
        let bytes: Uint8Array
        try {
          bytes = encodeMirrorPidReset({ ...spec, sourceClusterId: null, taggedFields })
        } catch (error) {
          expect(error).toMatchObject({ code: 'INVALID_ARGUMENT' })
          refused++
          return
        }
        expect(decodeControlRecord(only(bytes))).toMatchObject({ sourceClusterId: null, taggedFields })
      }),
      { numRuns: 2000 },
    )
    expect(refused).toBeGreaterThan(0)
    const taggedFields = [
      { tag: 0, value: new Uint8Array([9]) },
      { tag: 1, value: new Uint8Array(0) },
    ]
    expect(() => encodeMirrorPidReset({ ...spec, sourceClusterId: null, taggedFields })).toThrow(
      /read as one/,
    )
  })

  it.each([
    ['nothing', ''],
    ['half a version', '00'],
    ['a version alone', '0000'],
    ['version 1', '00010000'],
    ['version -1', 'ffff0000'],
    ['an empty id', '00000100'],
    ['a truncated varint', '0000ff'],
    ['a varint without end', '0000ffffffffffffff'],
    ['an id cut short', '000017596b'],
    ['an id longer than Kafka allows', `0000${'81808002'}${'61'.repeat(10)}`],
    ['an id that is not UTF-8', '000002ff00'],
    ['no tagged-field section', '0000024100'.slice(0, 8)],
    ['a tagged field cut short', '00000241010005aa'],
    ['bytes behind its end', '0000024100ff'],
    ['more tagged fields than bytes', '00000241ffffffff0f'],
  ])('refuses to read %s', (_, value) => {
    expect(() => decodeMirrorPidReset(hex(value))).toThrow(
      expect.objectContaining({
        code: 'INVALID_RECORD',
        message: expect.stringContaining('MIRROR_PID_RESET'),
      }),
    )
  })

  it('reads or refuses any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        try {
          decodeMirrorPidReset(bytes)
        } catch (error) {
          expect(error).toMatchObject({ code: 'INVALID_RECORD' })
        }
      }),
    )
  })
})

describe('KRaft’s control records', () => {
  it.each([
    [
      2,
      '0000 00000001 02 00000001 00 02 00000001 00 00',
      { name: 'LEADER_CHANGE', leaderId: 1, voters: [{ voterId: 1 }], grantingVoters: [{ voterId: 1 }] },
    ],
    [3, '0000 0000018bcfe56800 00', { name: 'SNAPSHOT_HEADER', lastContainedLogTimestamp: 1700000000000n }],
    [4, '0000 00', { name: 'SNAPSHOT_FOOTER', version: 0 }],
    [5, '0000 0001 00', { name: 'KRAFT_VERSION', kRaftVersion: 1 }],
    [
      6,
      '0000 02 00000001 000102030405060708090a0b0c0d0eff 02 02 43 02 68 2384 00 0000 0001 00 00 00',
      {
        name: 'KRAFT_VOTERS',
        voters: [
          {
            voterId: 1,
            voterDirectoryId: 'AAECAwQFBgcICQoLDA0O_w',
            endpoints: [{ name: 'C', host: 'h', port: 9092 }],
            kRaftVersionFeature: { minSupportedVersion: 0, maxSupportedVersion: 1 },
          },
        ],
      },
    ],
  ])('type %i', (type, value, expected) => {
    expect(decodeControlRecord(control([`0000000${type}`, value]))).toMatchObject({ ...expected, type })
  })

  it('a false count is refused, not allocated', () => {
    const batch = control(['00000002', '0000 00000001 ffffffff0f'])
    expect(() => decodeControlRecord(batch)).toThrow(expect.objectContaining({ code: 'INVALID_RECORD' }))
  })
})

describe('D-23: control records that nobody expects', () => {
  it('a type without a name keeps its number and bytes', () => {
    const decoded = decodeControlRecord(control(['00000009', 'cafe']))
    expect(decoded).toMatchObject({ name: 'UNKNOWN', type: 9 })
    expect(decoded?.record.value).toEqual(new Uint8Array([0xca, 0xfe]))
    expect(decodeControlRecord(control(['0000ffff', null]))).toMatchObject({ name: 'UNKNOWN', type: -1 })
  })

  it('a key of version 1 is read as version 0', () => {
    expect(decodeControlRecord(control(['00010000', '000000000004']))).toMatchObject({ name: 'ABORT' })
    expect(decodeControlRecord(control(['000100070000', '000000']))).toMatchObject({
      name: 'MIRROR_PID_RESET',
    })
  })

  it('a marker value of 10 bytes is read, one that is too short is refused', () => {
    expect(decodeControlRecord(control(['00000000', '00000000000400000000']))).toMatchObject({
      name: 'ABORT',
      coordinatorEpoch: 4,
    })
    for (const value of [null, '', '0000000000']) {
      expect(() => decodeControlRecord(control(['00000000', value]))).toThrow(
        /control batch at base offset 0/,
      )
    }
  })

  it.each(['', '0000', '000000'])('a key of bytes "%s" is refused', (key) => {
    expect(() => decodeControlRecord(control([key, null]))).toThrow(/it needs 4/)
  })

  it('a batch of three records gives three', () => {
    const batch = control(['00000005', '0000000100'], ['00000004', '000000'], ['00000063', null])
    expect(decodeControlRecords(batch).map((record) => record.name)).toEqual([
      'KRAFT_VERSION',
      'SNAPSHOT_FOOTER',
      'UNKNOWN',
    ])
    expect(decodeControlRecord(batch)?.name).toBe('KRAFT_VERSION')
  })

  it('a batch that compaction emptied means nothing', () => {
    expect(
      decodeControlRecord(only(encodeRecordBatch({ isControl: true, records: [], lastOffsetDelta: 0 }))),
    ).toBeNull()
  })

  it('a data batch is refused', () => {
    expect(() => decodeControlRecord(only(encodeRecordBatch({ records: [{}] })))).toThrow(/no control batch/)
  })
})
