import { describe, expect, it } from 'vitest'
import { consumerView, encodeMirrorPidReset, recordBatches } from '../../src/index.ts'
import { OffsetOutOfRangeError } from '../../src/log/partition/logErrors.ts'
import type { ReadIsolation } from '../../src/log/partition/logRead.ts'
import { memoryStorage } from '../../src/log/partition/memoryStorage.ts'
import { PartitionLog } from '../../src/log/partition/partitionLog.ts'
import { type BatchOp, encodeOp } from '../producers/logBuilder.ts'
import { mirroredLog } from '../producers/mirroredLogs.ts'

const bases = (records: Uint8Array) => [...recordBatches(records)].map(({ baseOffset }) => Number(baseOffset))

function logWith(ops: readonly BatchOp[], segmentBytes = 10_000): PartitionLog {
  const log = PartitionLog.open(memoryStorage(), { segmentBytes })
  for (const op of ops) log.append(encodeOp({ ...op, offset: Number(log.logEndOffset) }), 'replication')
  return log
}

describe('reading a log', () => {
  const log = logWith([0, 3, 6, 9].map((seq) => ({ kind: 'data', pid: 1, seq, count: 3 })))

  it('begins with the batch that holds the offset', () => {
    for (let offset = 0; offset < 12; offset++) {
      expect(bases(log.read(BigInt(offset), { maxBytes: 0 }).records)).toEqual([3 * Math.floor(offset / 3)])
    }
    expect(log.read(12n)).toMatchObject({
      records: new Uint8Array(0),
      abortedTransactions: null,
      logEndOffset: 12n,
    })
  })

  it('gives whole batches up to maxBytes, at least one', () => {
    const { length } = log.read(0n, { maxBytes: 0 }).records
    expect(
      [1, length, 2 * length - 1, 2 * length, 3 * length].map(
        (maxBytes) => bases(log.read(0n, { maxBytes }).records).length,
      ),
    ).toEqual([1, 1, 1, 2, 3])
  })

  it.each([-1n, 13n])('refuses offset %d', (offset) => {
    if (offset < 0n) expect(() => log.read(offset)).toThrow(/offset/)
    else expect(() => log.read(offset)).toThrow(OffsetOutOfRangeError)
  })

  it.each([{ maxBytes: -1 }, { maxBytes: 1.5 }, { isolation: 'x' as ReadIsolation }])(
    'refuses %j',
    (options) => {
      expect(() => log.read(0n, options)).toThrow(/must be/)
    },
  )

  it('gives a copy', () => {
    log.read(0n).records.fill(0)
    expect(bases(log.read(0n).records)).toEqual([0, 3, 6, 9])
  })

  it('ends at the high watermark, and before what is undecided', () => {
    const open = logWith([
      { kind: 'data', pid: 1, seq: 0 },
      { kind: 'txn', pid: 2, seq: 0 },
      { kind: 'data', pid: 1, seq: 1 },
    ])
    const ends = () =>
      (['log_end', 'high_watermark', 'read_committed'] as const).map(
        (isolation) => bases(open.read(0n, { isolation }).records).length,
      )
    expect(ends()).toEqual([3, 0, 0])
    open.updateHighWatermark(3n)
    expect(ends()).toEqual([3, 3, 1])
    open.append(encodeOp({ kind: 'COMMIT', pid: 2 }), 'coordinator')
    expect(ends()).toEqual([4, 3, 1])
    open.updateHighWatermark(4n)
    expect(ends()).toEqual([4, 4, 4])
  })

  it('goes on in the next segment behind what truncation and deletion have left', () => {
    const rolled = logWith(
      [0, 3, 6, 9, 12].map((seq) => ({ kind: 'data', pid: 1, seq, count: 3 })),
      200,
    )
    expect(rolled.segments.length).toBeGreaterThan(1)
    rolled.truncateTo(7n)
    rolled.roll()
    rolled.append(encodeOp({ kind: 'data', pid: 1, seq: 6 }), 'client')
    expect(bases(rolled.read(6n).records)).toEqual([7])
    rolled.updateHighWatermark(4n)
    rolled.deleteRecordsBefore(4n)
    expect(() => rolled.read(3n)).toThrow(OffsetOutOfRangeError)
    expect(bases(rolled.read(4n, { maxBytes: 0 }).records)).toEqual([3])
  })

  it('tells readers of mirrored logs what was aborted: they see the same records from anywhere, in any pieces', async () => {
    for (let seed = 0; seed < 40; seed++) {
      const mirrored = logWith([...mirroredLog(seed), { kind: 'barrier' }], 500)
      mirrored.updateHighWatermark(mirrored.logEndOffset)
      const seen = async (from: bigint, maxBytes: number) => {
        const offsets: bigint[] = []
        for (let offset = from; offset < mirrored.logEndOffset; ) {
          const { records, abortedTransactions } = mirrored.read(offset, {
            isolation: 'read_committed',
            maxBytes,
          })
          const view = await consumerView(records, {
            isolation: 'read_committed',
            abortedTransactions: abortedTransactions!,
            fromOffset: offset,
          })
          offsets.push(...view.records.map((record) => record.offset))
          offset = view.nextOffset
        }
        return offsets
      }
      const all = await seen(0n, 1_000_000)
      for (let from = 0n; from < mirrored.logEndOffset; from += 3n) {
        for (const maxBytes of [0, 200]) {
          expect(await seen(from, maxBytes), `seed ${seed} from ${from}`).toEqual(
            all.filter((offset) => offset >= from),
          )
        }
      }
    }
  })

  it('of a barrier gives its bytes as they were appended', () => {
    const barrier = encodeMirrorPidReset({
      baseOffset: 0n,
      leaderEpoch: 4,
      timestamp: 5n,
      sourceClusterId: null,
    })
    const empty = PartitionLog.open(memoryStorage())
    empty.append(barrier, 'coordinator', { leaderEpoch: 4 })
    expect(empty.read(0n).records).toEqual(barrier)
  })
})
