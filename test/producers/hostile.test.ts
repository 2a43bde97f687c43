import { crc32c } from '@node-rs/crc32'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CorruptBatchError, MirrorPidError, type RecordBatch, recordBatches } from '../../src/index.ts'
import type { AppendOrigin } from '../../src/producers/appendOrigin.ts'
import type { ProducerStateManagerOptions } from '../../src/producers/managerOptions.ts'
import { ProducerStateManager } from '../../src/producers/producerStateManager.ts'
import { recordSets } from '../support/arbitraries.ts'
import { batchOf, logOf } from './logBuilder.ts'
import { mirroredLog } from './mirroredLogs.ts'

const options: fc.Arbitrary<ProducerStateManagerOptions> = fc.record({
  producerIdTest: fc.constantFrom('mirror' as const, 'stock' as const),
  barrierPolicy: fc.constantFrom('log-order' as const, 'stop-only' as const, 'ignore' as const),
  barrierScope: fc.constantFrom('mirrored' as const, 'all' as const),
  unknownProducerSequence: fc.constantFrom('any' as const, 'zero' as const),
})
const origins = fc.constantFrom<AppendOrigin>('client', 'coordinator', 'replication', 'mirror')

/** A log with a few of its bytes changed, most of them in headers and control records. */
const damagedLogs = fc
  .record({
    seed: fc.integer(),
    changes: fc.array(fc.tuple(fc.nat(), fc.integer({ min: 12, max: 80 }), fc.nat(255)), { maxLength: 8 }),
  })
  .map(({ seed, changes }) => {
    const { bytes, batches } = logOf(mirroredLog(seed))
    for (const [which, at, value] of changes) {
      const batch = batches[which % batches.length]!
      if (at > 16 && at < batch.sizeInBytes) bytes[batch.position + at] = value // framing stays
    }
    return bytes
  })

function whole(bytes: Uint8Array): RecordBatch[] {
  const batches: RecordBatch[] = []
  try {
    for (const batch of recordBatches(bytes)) batches.push(batch)
  } catch (error) {
    if (!(error instanceof CorruptBatchError)) throw error
  }
  return batches
}

/** Whatever was taken before, the state can be asked, written and read. */
function expectUsable(manager: ProducerStateManager): void {
  const snapshot = manager.takeSnapshot()
  const loaded = ProducerStateManager.fromSnapshot(snapshot)
  expect(loaded.producers.size).toBe(manager.producers.size)
  const copy = ProducerStateManager.fromState(structuredClone(manager.toState()))
  expect(copy.toState()).toEqual(manager.toState())
  copy.expireMirrored(2n ** 62n)
  copy.removeExpired(2n ** 62n)
  copy.onHighWatermark(2n ** 63n - 1n)
  expect(copy.takeSnapshot().length).toBeGreaterThanOrEqual(10)
}

/** Runs it; what it throws is an error of this package, and the state is as it was. */
function expectAllOrNothing(manager: ProducerStateManager, run: () => void): void {
  const before = manager.toState()
  try {
    run()
  } catch (error) {
    expect(MirrorPidError.is(error), String(error)).toBe(true)
    expect(manager.toState()).toEqual(before)
  }
}

describe('any bytes as batches', () => {
  it('one by one: an error of this package, or an append; a refused one changes nothing', () => {
    fc.assert(
      fc.property(
        fc.oneof(recordSets, damagedLogs),
        options,
        fc.array(origins, { minLength: 1 }),
        (bytes, given, from) => {
          const manager = new ProducerStateManager(given)
          for (const [index, batch] of whole(bytes).entries()) {
            expectAllOrNothing(manager, () => manager.append(batch, from[index % from.length]!))
          }
          expectUsable(manager)
        },
      ),
      { numRuns: 400 },
    )
  })

  it('as sets: all or nothing', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(recordSets, damagedLogs), { maxLength: 3 }), options, (sets, given) => {
        const manager = new ProducerStateManager(given)
        for (const set of sets) expectAllOrNothing(manager, () => manager.appendAll(whole(set), 'mirror'))
        expectUsable(manager)
      }),
      { numRuns: 400 },
    )
  })

  it('as a segment: what follows it is said, or what is wrong with it thrown', () => {
    fc.assert(
      fc.property(recordSets, options, (bytes, given) => {
        const manager = new ProducerStateManager(given)
        try {
          expect(manager.replay(bytes).bytes).toBeLessThanOrEqual(bytes.length)
        } catch (error) {
          expect(MirrorPidError.is(error), String(error)).toBe(true)
        }
        expectUsable(manager)
      }),
      { numRuns: 400 },
    )
  })

  it('a marker cut at every byte', () => {
    const marker = batchOf({ kind: 'ABORT', pid: 1 })
    for (let length = 61; length < marker.sizeInBytes; length++) {
      const bytes = Buffer.from(marker.bytes.subarray(0, length))
      bytes.writeInt32BE(length - 12, 8)
      const manager = new ProducerStateManager()
      expect(() => manager.append(whole(bytes)[0]!, 'replication')).toThrow(
        expect.objectContaining({ code: 'INVALID_RECORD' }),
      )
      expect(manager.producers.size).toBe(0)
    }
  })

  it('takes memory that is not its own: odd positions, shared', () => {
    const { bytes } = logOf(mirroredLog(7))
    const expected = new ProducerStateManager()
    expected.replay(bytes)
    for (const buffer of [new ArrayBuffer(bytes.length + 16), new SharedArrayBuffer(bytes.length + 16)]) {
      const window = new Uint8Array(buffer, 3, bytes.length)
      window.set(bytes)
      const manager = new ProducerStateManager()
      for (const batch of recordBatches(window)) manager.append(batch, 'replication')
      expect(manager.toState()).toEqual(expected.toState())
    }
  })
})

describe('any bytes as a snapshot', () => {
  const manager = new ProducerStateManager()
  manager.replay(logOf(mirroredLog(11)).bytes)
  const snapshot = manager.takeSnapshot()
  const corrupt = expect.objectContaining({ code: 'CORRUPT_SNAPSHOT' })

  it('is refused when it is cut at any byte, or grows', () => {
    expect(manager.producers.size).toBeGreaterThan(1)
    for (let length = 0; length < snapshot.length; length++) {
      expect(() => ProducerStateManager.fromSnapshot(snapshot.subarray(0, length))).toThrow(corrupt)
    }
    expect(() => ProducerStateManager.fromSnapshot(Buffer.concat([snapshot, Buffer.alloc(1)]))).toThrow(
      corrupt,
    )
  })

  it('is refused with any bit flipped', () => {
    for (let bit = 0; bit < snapshot.length * 8; bit++) {
      const copy = snapshot.slice()
      copy[bit >> 3]! ^= 1 << (bit & 7)
      expect(() => ProducerStateManager.fromSnapshot(copy)).toThrow(corrupt)
    }
  })

  it('with a right CRC and any entries is a state that can go on', () => {
    const int64 = fc.oneof(
      fc.bigInt({ min: -9n, max: 9n }),
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    )
    const entries = fc.array(
      fc.tuple(int64, fc.integer({ min: -2, max: 3 }), int64, int64, fc.integer(), int64),
      {
        maxLength: 8,
      },
    )
    fc.assert(
      fc.property(entries, fc.integer(), options, (rows, seed, given) => {
        const loaded = ProducerStateManager.fromSnapshot(sealed(rows), given)
        expectUsable(loaded)
        for (const batch of logOf(mirroredLog(seed)).batches) {
          expectAllOrNothing(loaded, () => loaded.append(batch, 'replication'))
        }
        expectUsable(loaded)
      }),
      { numRuns: 300 },
    )
  })

  it('that is no memory is refused', () => {
    expect(() => ProducerStateManager.fromSnapshot([] as unknown as Uint8Array)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
    )
  })
})

function sealed(rows: [bigint, number, bigint, bigint, number, bigint][]): Buffer {
  const bytes = Buffer.alloc(10 + rows.length * 46)
  bytes.writeInt16BE(1, 0)
  bytes.writeInt32BE(rows.length, 6)
  for (const [index, [producerId, epoch, lastOffset, timestamp, delta, firstOffset]] of rows.entries()) {
    const at = 10 + index * 46
    bytes.writeBigInt64BE(producerId, at)
    bytes.writeInt16BE(epoch, at + 8)
    bytes.writeBigInt64BE(lastOffset, at + 14)
    bytes.writeInt32BE(delta, at + 22)
    bytes.writeBigInt64BE(timestamp, at + 26)
    bytes.writeBigInt64BE(firstOffset, at + 38)
  }
  bytes.writeUInt32BE(crc32c(bytes.subarray(6)), 2)
  return bytes
}
