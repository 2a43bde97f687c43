// What tools for Kafka's log get wrong, as far as a whole partition goes: its files, its ends, its epochs.
import { describe, expect, it } from 'vitest'
import { recordBatches } from '../../src/formats/recordBatches.ts'
import { logFileName } from '../../src/log/fileNames.ts'
import type { PartitionLogOptions, RecoveryEvent } from '../../src/log/partition/logOptions.ts'
import { memoryStorage } from '../../src/log/partition/memoryStorage.ts'
import { PartitionLog } from '../../src/log/partition/partitionLog.ts'
import { allRecords } from '../log/logStates.ts'
import { type BatchOp, encodeOp } from '../producers/logBuilder.ts'
import { storedFiles } from '../support/storedFiles.ts'

const segment = (base: number) => logFileName(BigInt(base), '.log')
const data = (offset: number, more: Partial<BatchOp> = {}) =>
  encodeOp({ kind: 'data', pid: 1, seq: offset, offset, ...more })

function opened(files: Record<string, Uint8Array>, options: PartitionLogOptions = {}) {
  const events: RecoveryEvent[] = []
  const storage = memoryStorage(Object.entries(files))
  const log = PartitionLog.open(storage, { ...options, onRecovery: (event) => events.push(event) })
  const offsets = [...recordBatches(allRecords(log))].map(({ baseOffset }) => Number(baseOffset))
  return { log, storage, events, offsets }
}

describe('the end of a segment', () => {
  const two = Buffer.concat([data(0), data(1)])

  it('cut inside a batch is cut at the batch, and says how much', () => {
    for (const cut of [1, 17, 50, data(1).length - 1]) {
      const { events, offsets } = opened({ [segment(0)]: two.subarray(0, two.length - cut) })
      expect(offsets).toEqual([0])
      expect(events).toMatchObject([
        { kind: 'cut', segment: 0n, position: data(0).length, bytes: data(1).length - cut },
      ])
    }
  })

  it('of preallocated zeros is the end of the log; the next batch goes where the zeros were', () => {
    const { log, offsets } = opened({ [segment(0)]: Buffer.concat([two, Buffer.alloc(4096)]) })
    expect(offsets).toEqual([0, 1])
    log.append(data(2), 'replication')
    expect(log.segments).toEqual([{ baseOffset: 0n, size: two.length + data(2).length }])
  })

  it('is trusted after a clean shutdown, but nothing is read out of it', () => {
    const { log, offsets } = opened(
      {
        [segment(0)]: Buffer.concat([two, Buffer.alloc(40)]),
        [logFileName(0n, '.index')]: new Uint8Array(0),
      },
      { shutdown: 'clean' },
    )
    expect([offsets, log.logEndOffset]).toEqual([[0, 1], 2n])
  })
})

describe('index files', () => {
  it('of a running broker end in zeros, which are no entries', () => {
    const storage = memoryStorage()
    const log = PartitionLog.open(storage, { indexIntervalBytes: 1 })
    for (let seq = 0; seq < 5; seq++) log.append(data(seq), 'replication')
    log.close()
    const files = Object.fromEntries(storedFiles(storage))
    for (const suffix of ['.index', '.timeindex']) {
      const name = logFileName(0n, suffix)
      files[name] = Buffer.concat([files[name]!, Buffer.alloc(4800)])
    }
    const again = opened(files, { shutdown: 'clean' })
    expect(again.offsets).toEqual([0, 1, 2, 3, 4])
    again.log.append(data(5), 'replication')
    again.log.close()
    const { size } = again.storage.open(logFileName(0n, '.index'))
    expect(size).toBe(8 * 4)
  })
})

describe('leftovers of a crash', () => {
  const files = {
    [segment(0)]: Buffer.concat([data(0), data(1)]),
    [segment(2)]: data(2),
    [segment(3)]: data(3),
  }

  it('.deleted and .cleaned are nobody’s data', () => {
    const { storage, events, offsets } = opened({
      ...files,
      [`${segment(0)}.cleaned`]: data(0),
      [`${logFileName(0n, '.index')}.cleaned`]: new Uint8Array(8),
      [`${segment(7)}.deleted`]: data(7),
    })
    expect(offsets).toEqual([0, 1, 2, 3])
    expect(events.map(({ kind }) => kind)).toEqual(['leftover', 'leftover', 'leftover'])
    expect(storage.list().filter((name) => /cleaned|deleted/.test(name))).toEqual([])
  })

  it('a .swap is the true copy of all that it covers', () => {
    const { storage, offsets } = opened({
      ...files,
      [`${segment(0)}.swap`]: Buffer.concat([data(1), data(2)]),
    })
    expect(offsets).toEqual([1, 2, 3])
    expect(
      storage
        .list()
        .filter((name) => name.endsWith('.log'))
        .sort(),
    ).toEqual([segment(0), segment(3)])
  })

  it('a .swap at or behind a .cleaned is of a split that was not finished, and goes', () => {
    const { offsets } = opened({
      ...files,
      [`${segment(2)}.swap`]: data(2, { count: 0 }),
      [`${segment(2)}.cleaned`]: data(2),
    })
    expect(offsets).toEqual([0, 1, 2, 3])
  })

  it('an empty checkpoint is that of a new log, and of no other', () => {
    const empty = { 'leader-epoch-checkpoint': new Uint8Array(0) }
    expect(opened({ ...empty, [segment(0)]: new Uint8Array(0) }).log.leaderEpochs).toEqual([])
    expect(() => opened({ ...files, ...empty })).toThrow(/leader-epoch-checkpoint, line 1: it is empty/)
    expect(() => opened({ ...empty, [segment(7)]: new Uint8Array(0) })).toThrow(/it is empty/)
  })
})

describe('leader epochs', () => {
  it('of batches that a follower fetched from a leader newer than it asked are left for the next fetch', () => {
    const { log } = opened({})
    const set = Buffer.concat([
      data(0, { leaderEpoch: 4 }),
      data(1, { leaderEpoch: 5 }),
      data(2, { leaderEpoch: 4 }),
    ])
    expect(log.append(set, 'replication', { leaderEpoch: 4 })).toMatchObject({ lastOffset: 0n, batches: 1 })
    expect(log.append(set.subarray(data(0).length), 'replication', { leaderEpoch: 4 })).toMatchObject({
      firstOffset: null,
    })
  })

  it('of another cluster are not taken over', () => {
    const { log } = opened({})
    const foreign = data(0, { leaderEpoch: 900 })
    log.append(foreign, 'mirror', { leaderEpoch: 3 })
    expect(log.leaderEpochs).toEqual([{ epoch: 3, startOffset: 0n }])
    const [stored] = recordBatches(allRecords(log))
    expect([stored?.partitionLeaderEpoch, stored?.crc]).toEqual([3, [...recordBatches(foreign)][0]?.crc])
  })

  it('below 0 are refused of a leader whose batches are copied', () => {
    const { log } = opened({})
    expect(() => log.append(data(0, { leaderEpoch: -1 }), 'replication')).toThrow(/leader epoch -1/)
    expect(log.logEndOffset).toBe(0n)
  })
})

describe('offsets', () => {
  it('follow from lastOffsetDelta, also where records are missing', () => {
    const { log } = opened({})
    log.append(data(0, { count: 1, delta: 9 }), 'replication')
    expect(log.logEndOffset).toBe(10n)
    expect(log.producerState.producers.get(1n)?.lastSequence).toBe(9)
  })

  it('of a segment go to its base plus 2147483647', () => {
    const { log } = opened({})
    const last = 2147483647
    log.append(data(0, { seq: 0 }), 'replication')
    log.append(data(last, { seq: 1 }), 'replication')
    expect(log.segments).toHaveLength(1)
    log.append(data(last + 1, { seq: 2 }), 'replication')
    expect(log.segments.map(({ baseOffset }) => baseOffset)).toEqual([0n, BigInt(last) + 1n])
    expect(() => opened({ [segment(0)]: data(last + 1, { seq: 0 }) })).toThrow(/more than 2147483647 above/)
  })
})
