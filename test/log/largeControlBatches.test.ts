import { describe, expect, it } from 'vitest'
import { encodeRecordBatch } from '../../src/formats/encodeRecordBatch.ts'
import { encodeMirrorPidReset } from '../../src/formats/mirrorPidReset.ts'
import { memoryStorage } from '../../src/log/partition/memoryStorage.ts'
import { PartitionLog } from '../../src/log/partition/partitionLog.ts'
import type { LogStorage } from '../../src/log/partition/storage.ts'
import { stopLog } from '../../src/mirroring/stopLog.ts'
import { encodeOp } from '../producers/logBuilder.ts'
import { storedFiles } from '../support/storedFiles.ts'
import { abortedLines, lastOnly, replayed } from './logStates.ts'

// What a control batch does is in its record, and the record may be larger than what is read of a segment at a time.

/** Bytes of the record's value, or about that: below the window of a scan (262144), around it, and above. */
const sizes = [6, 262_000, 262_144 - 61, 262_144, 300_000, 1_500_000]

function marker(type: number, producerId: bigint, size: number, count = 1): Uint8Array {
  const value = Buffer.alloc(Math.max(6, size)).fill(7, 6)
  value.writeInt32BE(4, 2)
  return encodeRecordBatch({
    baseOffset: 3n,
    partitionLeaderEpoch: 0,
    producerId,
    producerEpoch: producerId === -1n ? -1 : 1,
    isTransactional: producerId !== -1n,
    isControl: true,
    records: Array.from({ length: count }, () => ({
      timestamp: 2000n,
      key: Uint8Array.of(0, 0, 0, type),
      value,
    })),
  })
}

function barrier(sourceClusterId: string | null, size: number): Uint8Array {
  const taggedFields = [{ tag: 9, value: new Uint8Array(size) }]
  return encodeMirrorPidReset({
    baseOffset: 3n,
    leaderEpoch: 0,
    timestamp: 2000n,
    sourceClusterId,
    taggedFields,
  })
}

const kinds: [string, (size: number) => Uint8Array][] = [
  ['an ABORT', (size) => marker(0, 5n, size)],
  ['an ABORT of a mirrored producer', (size) => marker(0, -7n, size)],
  ['a COMMIT', (size) => marker(1, 5n, size)],
  ['a COMMIT before other records', (size) => marker(1, 5n, size, 3)],
  ['a barrier', (size) => barrier('A', size)],
  ["a barrier in the later draft's shape", (size) => barrier(null, size)],
  ['a barrier with a value that cannot be read', (size) => marker(7, -1n, size)],
  ['a barrier with a producer', (size) => marker(7, 5n, size)],
  ['a leader change', (size) => marker(2, -1n, size)],
  ['an unknown type with a producer', (size) => marker(99, 5n, size)],
]

const without = (storage: LogStorage, suffix: RegExp) =>
  memoryStorage([...storedFiles(storage)].filter(([name]) => !suffix.test(name)))

describe.each(kinds)('%s of any size', (_name, encode) => {
  it.each(sizes)('does the same live and replayed, whatever replays it (%d)', (size) => {
    const storage = memoryStorage()
    const log = PartitionLog.open(storage)
    log.append(encodeOp({ kind: 'txn', pid: 5 }, 0n), 'replication')
    log.append(encodeOp({ kind: 'txn', pid: -7 }, 1n), 'mirror')
    log.append(encodeOp({ kind: 'data', pid: -9 }, 2n), 'mirror')
    const snapshotless = () => without(storage, /snapshot$/)
    log.append(encode(size), 'replication')
    const { barriers } = log.producerState
    const end = log.logEndOffset
    const live = { state: lastOnly(log.producerState), aborted: abortedLines(log) }
    expect(lastOnly(replayed(log))).toEqual(live.state)

    const expectLive = (again: PartitionLog, hasBarriers: boolean) => {
      expect({ state: lastOnly(again.producerState), aborted: abortedLines(again) }).toEqual(live)
      again.updateHighWatermark(end)
      log.updateHighWatermark(end)
      expect(again.lastStableOffset).toBe(log.lastStableOffset)
      if (hasBarriers) expect(again.producerState.barriers).toEqual(barriers)
    }
    // recovered batch by batch, with or without the indexes; then as it is
    expectLive(PartitionLog.open(snapshotless()), false)
    expectLive(PartitionLog.open(without(storage, /snapshot$|index$/)), false)
    expectLive(PartitionLog.open(snapshotless(), { shutdown: 'clean' }), true)
    const checked: unknown[] = []
    PartitionLog.open(snapshotless(), { onChecked: (segment) => checked.push(...segment.barriers) })
    expect(checked).toEqual(barriers)
    // a cut behind it
    log.append(encodeOp({ kind: 'data' }, end), 'replication')
    log.truncateTo(end)
    expectLive(log, true)
  })
})

it('a transaction that a large ABORT has ended is not settled again by a stop', () => {
  const storage = memoryStorage()
  const log = PartitionLog.open(storage)
  log.append(encodeOp({ kind: 'txn', pid: -7 }, 0n), 'mirror')
  log.append(encodeOp({ kind: 'data', pid: -9 }, 1n), 'mirror')
  log.append(encodeOp({ kind: 'data', pid: -9, seq: 1 }, 2n), 'mirror')
  log.append(marker(0, -7n, 300_000), 'mirror')
  log.close()
  const report = stopLog(storage, {}, { clusterId: 'B', sourceClusterId: 'A', unmarked: true })
  expect(report).toMatchObject({ settled: [], lastMirroredOffset: 4n, expiredProducers: 2 })
})
