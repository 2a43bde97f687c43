import { describe, expect, it } from 'vitest'
import { type LogStorage, memoryStorage, PartitionLog, stopLog } from '../../src/index.ts'
import { type BatchOp, encodeOp } from '../producers/logBuilder.ts'
import { copyOf, Died, faultyStorage, filesOf } from './faultyStorage.ts'
import { barriersIn, END, expectSoundFiles, mirrored, REQUEST, stateOf } from './mirroredLog.ts'

const BARRIER = END + 2n

/** A mirror that was stopped, and what something else has appended since. */
function stopped(...since: BatchOp[]): LogStorage {
  const storage = mirrored({})
  stopLog(storage, {}, REQUEST)
  append(storage, since)
  return storage
}

function append(storage: LogStorage, ops: readonly BatchOp[]): void {
  if (ops.length === 0) return
  const log = PartitionLog.open(storage)
  for (const op of ops) log.append(encodeOp(op, log.logEndOffset), 'replication')
  log.close()
}

const LOCAL: BatchOp[] = [
  { kind: 'data', pid: 3, seq: 1 },
  { kind: 'txn', pid: 4, seq: 1 },
]

/** What a second stop says; no file may have changed. */
function second(storage: LogStorage, request = {}) {
  const before = filesOf(storage, '')
  try {
    return stopLog(storage, {}, { ...REQUEST, ...request })
  } catch (error) {
    return error as object
  } finally {
    expect(filesOf(storage, '')).toEqual(before)
  }
}

describe('a second stop', () => {
  it('is none while only local producers have written since, whatever else is asked', () => {
    for (const again of [false, true]) {
      for (const since of [[], LOCAL]) {
        expect(second(stopped(...since), { again })).toMatchObject({
          alreadyStopped: true,
          lastMirroredOffset: BARRIER,
        })
      }
    }
  })

  it.each<[string, BatchOp[]]>([
    ['data', [{ kind: 'data', pid: -7, seq: 0 }]],
    ['an open transaction', [...LOCAL, { kind: 'txn', pid: -8, seq: 0 }]],
    [
      'a transaction that has ended',
      [
        { kind: 'txn', pid: -8, seq: 0 },
        { kind: 'COMMIT', pid: -8 },
      ],
    ],
    [
      'data behind another barrier',
      [
        { kind: 'barrier', source: 'Z' },
        { kind: 'data', pid: -7, seq: 0 },
      ],
    ],
    [
      'data before another barrier',
      [
        { kind: 'data', pid: -7, seq: 0 },
        { kind: 'barrier', source: 'Z' },
      ],
    ],
  ])('is refused where the log was mirrored again: %s', (_, since) => {
    expect(second(stopped(...since))).toMatchObject({
      code: 'STOP_REFUSED',
      reason: 'mirrored-again',
      message: expect.stringMatching(
        /stopped at offset 14, and batches under mapped ids follow from offset \d+ on.*--again/,
      ),
    })
  })

  it('is made where it is asked for: another barrier, also from another source', () => {
    for (const sourceClusterId of ['A', 'Z']) {
      const storage = stopped({ kind: 'txn', pid: -8, seq: 0 }, ...LOCAL)
      const report = stopLog(storage, {}, { ...REQUEST, sourceClusterId, again: true })
      expect(report.settled.map(({ producerId }) => producerId)).toEqual([-8n, 4n])
      expect(barriersIn(storage).map(({ baseOffset }) => baseOffset)).toEqual([
        BARRIER,
        report.lastMirroredOffset,
      ])
      expect(stateOf(storage)).toMatchObject({ state: 'STOPPED', sourceClusterId, mirroredEndOffset: 18n })
      expectSoundFiles(storage, {})
      expect(second(storage, { sourceClusterId })).toMatchObject({ alreadyStopped: true })
    }
  })

  it('killed at every call, a rerun does the rest', () => {
    const reference = stopped({ kind: 'txn', pid: -8, seq: 0 }, ...LOCAL)
    for (const openTransactions of ['abort', 'truncate'] as const) {
      const request = { ...REQUEST, openTransactions, again: true }
      const { storage: done, calls } = faultyStorage(copyOf(reference), { at: 0 })
      stopLog(done, {}, request)
      for (let at = 1; at <= calls.length; at++) {
        const storage = copyOf(reference)
        const faulty = faultyStorage(storage, { at, isTorn: at % 2 === 0 })
        expect(() => stopLog(faulty.storage, {}, request)).toThrow(Died)
        stopLog(storage, {}, request)
        expect(filesOf(storage, '.log')).toEqual(filesOf(done, '.log'))
        expectSoundFiles(storage, {})
      }
    }
  })

  it('of a log that lacks the barrier is refused: the state is that of another', () => {
    const state = stopped().read('mirror-state.json')!
    const other = [...Array(20)].map((_, seq): BatchOp => ({ kind: 'data', pid: 3, seq }))
    for (const storage of [
      mirrored({}),
      memoryStorage(),
      mirrored({}, other),
      mirrored({}, [...other.slice(0, 14), { kind: 'barrier', source: 'Z' }]),
    ]) {
      storage.write('mirror-state.json', state)
      for (const again of [false, true]) {
        expect(second(storage, { again })).toMatchObject({ code: 'STOP_REFUSED', reason: 'no-barrier' })
      }
    }
  })

  it('holds where all up to the barrier was deleted since', () => {
    const storage = stopped(...LOCAL)
    const log = PartitionLog.open(storage)
    log.roll()
    log.updateHighWatermark(log.logEndOffset)
    log.deleteRecordsBefore(log.logEndOffset)
    log.close()
    expect(second(storage)).toMatchObject({ alreadyStopped: true })
    append(storage, [{ kind: 'data', pid: -7, seq: 0 }])
    expect(second(storage)).toMatchObject({ reason: 'mirrored-again' })
  })
})

describe("this cluster's id", () => {
  it('is noted, and another one is refused, in every state', () => {
    const storage = stopped()
    expect(stateOf(storage)?.clusterId).toBe('B')
    expect(second(storage, { clusterId: 'C' })).toMatchObject({
      code: 'STOP_REFUSED',
      reason: 'cluster',
      message: expect.stringMatching(/the mirror of the cluster "B", not of "C"/),
    })
    const { storage: faulty } = faultyStorage(storage, { at: 0 })
    expect(stopLog(faulty, {}, REQUEST).alreadyStopped).toBe(true)
    for (let at = 1, isNoted = false; !isNoted; at++) {
      const killed = mirrored({})
      expect(() => stopLog(faultyStorage(killed, { at }).storage, {}, REQUEST)).toThrow(Died)
      isNoted = stateOf(killed)?.state === 'STOPPING'
      if (stateOf(killed) !== null) {
        expect(second(killed, { clusterId: 'C' })).toMatchObject({ reason: 'cluster' })
      }
    }
  })
})

describe('a log without mapped producers', () => {
  const local: BatchOp[] = [{ kind: 'data', pid: 3, seq: 0 }]

  it('may be the source, so it must be said that it is the mirror', () => {
    const storage = mirrored({}, local)
    expect(second(storage)).toMatchObject({ code: 'STOP_REFUSED', reason: 'unmarked' })
    expect(stopLog(storage, {}, { ...REQUEST, unmarked: true })).toMatchObject({
      lastMirroredOffset: 1n,
      warnings: [],
    })
  })

  it('is one too where its mapped producers were expired, and the state is gone', () => {
    const storage = stopped(...LOCAL)
    storage.remove('mirror-state.json')
    expect(second(storage)).toMatchObject({ reason: 'unmarked' })
  })

  it('is taken where it has no producer, or a mirror’s state', () => {
    expect(stopLog(mirrored({}, []), {}, REQUEST).lastMirroredOffset).toBe(0n)
    const noted = mirrored({}, local)
    noted.write(
      'mirror-state.json',
      new TextEncoder().encode('{"version":1,"state":"MIRRORING","sourceClusterId":"A"}'),
    )
    expect(stopLog(noted, {}, REQUEST).lastMirroredOffset).toBe(1n)
  })
})

describe('the leader epoch of a cut', () => {
  const epochs = (text: string) => {
    const storage = mirrored({})
    storage.write('leader-epoch-checkpoint', new TextEncoder().encode(text))
    return storage
  }

  it('is above all of the log, also where it is given', () => {
    const truncate = { ...REQUEST, openTransactions: 'truncate' as const }
    for (const leaderEpoch of [6, 7]) {
      expect(second(epochs('0\n2\n0 0\n7 12\n'), { ...truncate, leaderEpoch })).toMatchObject({
        code: 'INVALID_ARGUMENT',
        message: expect.stringMatching(
          /from 8 on, so that replicas learn of the cut: the latest of this log is 7/,
        ),
      })
    }
    expect(stopLog(epochs('0\n2\n0 0\n7 12\n'), {}, { ...truncate, leaderEpoch: 8 }).leaderEpoch).toBe(8)
    expect(stopLog(epochs('0\n2\n0 0\n7 12\n'), {}, { ...REQUEST, leaderEpoch: 7 }).leaderEpoch).toBe(7)
  })

  it('stays that of a run that was killed, and is never one of the log before it', () => {
    for (const leaderEpoch of [undefined, 11]) {
      const request = {
        ...REQUEST,
        openTransactions: 'truncate' as const,
        ...(leaderEpoch && { leaderEpoch }),
      }
      // epoch 3 begins behind the cut, with records that other replicas have
      const reference = epochs('0\n2\n0 0\n3 8\n')
      const { storage: done, calls } = faultyStorage(copyOf(reference), { at: 0 })
      expect(stopLog(done, {}, request).leaderEpoch).toBe(leaderEpoch ?? 4)
      for (let at = 1; at <= calls.length; at++) {
        const storage = copyOf(reference)
        expect(() => stopLog(faultyStorage(storage, { at }).storage, {}, request)).toThrow(Died)
        stopLog(storage, {}, request)
        const [barrier] = barriersIn(storage)
        expect([at, barrier?.partitionLeaderEpoch]).toEqual([at, leaderEpoch ?? 4])
      }
    }
  })
})
