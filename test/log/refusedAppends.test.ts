import { describe, expect, it } from 'vitest'
import { encodeRecordBatch } from '../../src/formats/encodeRecordBatch.ts'
import { memoryStorage } from '../../src/log/partition/memoryStorage.ts'
import { PartitionLog } from '../../src/log/partition/partitionLog.ts'
import type { AppendOrigin } from '../../src/producers/appendOrigin.ts'
import { type BatchOp, encodeOp } from '../producers/logBuilder.ts'
import { storedFiles } from '../support/storedFiles.ts'
import { LogRun } from './logRun.ts'
import { SequenceMaker } from './logSequences.ts'
import { lastOnly, replayed } from './logStates.ts'

/** All that can be seen of a log. */
function seen(log: PartitionLog, storage: ReturnType<typeof memoryStorage>) {
  const { logStartOffset, logEndOffset, highWatermark, lastStableOffset, recoveryPoint } = log
  return {
    offsets: [logStartOffset, logEndOffset, highWatermark, lastStableOffset, recoveryPoint],
    segments: log.segments,
    epochs: log.leaderEpochs,
    aborted: log.abortedTransactions,
    state: log.producerState.toState(),
    files: storedFiles(storage),
  }
}

/** Why a new segment would begin before the refused batch is written. */
const rolls: [string, object, Partial<BatchOp>][] = [
  ['no roll', {}, {}],
  ['a full segment', { segmentBytes: 500 }, { bytes: 300 }],
  ['an old segment', { segmentMs: 50 }, { timestamp: 9000 }],
  ['a full index', { maxIndexBytes: 24, indexIntervalBytes: 0 }, {}],
]

/** Each follows a transactional batch of -7 and of 5 (epoch 2, sequence 3), a plain one of 6, a marker of 8 (coordinator 4). */
const refusals: [string, AppendOrigin, BatchOp, string][] = [
  ['no batch of the transaction', 'mirror', { kind: 'data', pid: -7, seq: 1 }, 'INVALID_TXN_STATE'],
  ['no batch of the transaction', 'replication', { kind: 'data', pid: 5, epoch: 2 }, 'INVALID_TXN_STATE'],
  ['no batch of the transaction', 'client', { kind: 'data', pid: 5, epoch: 2, seq: 4 }, 'INVALID_TXN_STATE'],
  ['a gap', 'client', { kind: 'data', pid: 6, seq: 7 }, 'OUT_OF_ORDER_SEQUENCE'],
  ['an old epoch', 'client', { kind: 'txn', pid: 5, epoch: 1, seq: 0 }, 'INVALID_PRODUCER_EPOCH'],
  ['an old epoch', 'coordinator', { kind: 'ABORT', pid: 5, epoch: 1 }, 'INVALID_PRODUCER_EPOCH'],
  [
    'a replaced coordinator',
    'coordinator',
    { kind: 'ABORT', pid: 8, coordinatorEpoch: 3 },
    'TRANSACTION_COORDINATOR_FENCED',
  ],
  ['a control batch', 'client', { kind: 'barrier' }, 'INVALID_RECORD'],
]

function written(options: object) {
  const storage = memoryStorage()
  const log = PartitionLog.open(storage, options)
  const ops: BatchOp[] = [
    { kind: 'txn', pid: -7 },
    { kind: 'txn', pid: 5, epoch: 2, seq: 3 },
    { kind: 'data', pid: 6 },
    { kind: 'COMMIT', pid: 8, coordinatorEpoch: 4 },
  ]
  for (const op of ops) log.append(encodeOp(op, log.logEndOffset), 'replication')
  return { storage, log }
}

describe.each(rolls)('an append that is refused, with %s before it', (_name, options, more) => {
  it.each(refusals)('for %s (%s, %o)', (_why, origin, op, code) => {
    const { storage, log } = written(options)
    const isLeader = origin === 'client' || origin === 'coordinator'
    const before = seen(log, storage)
    for (const offset of isLeader ? [4n] : [4n, 10n, 2n ** 31n + 9n]) {
      const batch = encodeOp({ ...op, ...more, leaderEpoch: 7 }, offset)
      expect(() => log.append(batch, origin, { leaderEpoch: 7 })).toThrow(expect.objectContaining({ code }))
      expect(seen(log, storage)).toEqual(before)
    }
    // what a gap would have passed over can still come
    expect(log.append(encodeOp({ kind: 'txn', pid: -7, seq: 1 }, 5n), 'mirror').firstOffset).toBe(5n)
    expect(lastOnly(log.producerState)).toEqual(lastOnly(replayed(log)))
    expect(lastOnly(PartitionLog.open(storage).producerState)).toEqual(lastOnly(log.producerState))
  })

  it('for a marker that cannot be read', () => {
    const { storage, log } = written(options)
    const before = seen(log, storage)
    const key = Uint8Array.of(0, 0, 0, 0)
    const batch = encodeRecordBatch({
      baseOffset: 10n,
      partitionLeaderEpoch: 7,
      producerId: 5n,
      producerEpoch: 2,
      isTransactional: true,
      isControl: true,
      records: [{ key, timestamp: 9000n, value: new Uint8Array(3) }, { value: new Uint8Array(400) }],
    })
    expect(() => log.append(batch, 'replication')).toThrow(
      expect.objectContaining({ code: 'INVALID_RECORD' }),
    )
    expect(seen(log, storage)).toEqual(before)
  })

  it('for being a duplicate, which is no error', () => {
    const { storage, log } = written(options)
    const before = seen(log, storage)
    const again = encodeOp({ kind: 'data', pid: 6, ...more }, 0n)
    expect(log.append(again, 'client', { leaderEpoch: 7 }).duplicate).toMatchObject({ firstOffset: 2n })
    expect(seen(log, storage)).toEqual(before)
  })
})

describe('a log that has refused appends', () => {
  it('has the files of one that never met them: 60 random sequences', () => {
    let refused = 0
    let rolled = 0
    for (let seed = 0; seed < 60; seed++) {
      const maker = new SequenceMaker(seed, { isMirrored: true })
      for (let step = 0; step < 60; step++) {
        const dice = maker.below(20)
        if (dice < 13) maker.take(maker.lead())
        else if (dice < 18) maker.take(maker.follow())
        else maker.take(dice < 19 ? { op: 'truncate', offset: maker.truncation() } : maker.reopen())
        if (!maker.run.isOpen) break
      }
      const { steps, results, settings, files } = maker.finish('')
      const without = new LogRun(settings)
      const isTaken = (at: number) => steps[at]!.op !== 'append' || results[at]![0] === 'ok'
      const answers = steps.filter((_, at) => isTaken(at)).map((step) => without.run(step))
      expect(answers, `seed ${seed}`).toEqual(results.filter((_, at) => isTaken(at)))
      refused += steps.length - answers.length
      rolled += without.log.segments.length - 1
      expect(without.finish(), `seed ${seed}`).toEqual(files)
    }
    expect(refused).toBeGreaterThan(100)
    expect(rolled).toBeGreaterThan(100)
  })
})
