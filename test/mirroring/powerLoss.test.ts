import { describe, expect, it } from 'vitest'
import {
  type LogStorage,
  MirrorPartition,
  type MirrorStateName,
  memoryStorage,
  mirrorStateFile,
  PartitionLog,
  type PartitionLogOptions,
  SoleReplica,
  stopLog,
} from '../../src/index.ts'
import { batchesFrom } from '../../src/mirroring/sharedLog.ts'
import { lastOnly, replayed } from '../log/logStates.ts'
import { type BatchOp, encodeOp } from '../producers/logBuilder.ts'
import { powerLosses } from '../support/forgetfulDisk.ts'
import { type Files, powerCuts } from '../support/forgetfulStorage.ts'
import { storedFiles } from '../support/storedFiles.ts'
import { barriersIn, expectSoundFiles, mirrored, REQUEST, SEGMENTED, stateOf } from './mirroredLog.ts'

// A mirror on a disk that forgets what was not synced; the power fails behind each call in turn. What the state says of the
// log must be true then, and the call, made again, must end as it would have.

const SEED = Number(process.env.MIRRORPID_LOSS_SEED ?? 1)
const RANDOM_LOSSES = Number(process.env.MIRRORPID_LOSSES ?? 6)
/** Others behind each call. */
const losses = (call: number) => powerLosses(RANDOM_LOSSES, SEED * 1000 + call)

const OPTIONS: PartitionLogOptions = { segmentBytes: 300, indexIntervalBytes: 100 }
const FETCHED: BatchOp[] = [
  { kind: 'data', pid: 5, seq: 0, count: 2 },
  { kind: 'data', pid: 5, seq: 2 },
  { kind: 'txn', pid: 6, seq: 0 },
  { kind: 'data', pid: 5, seq: 3, leaderEpoch: 1 },
  { kind: 'txn', pid: 7, seq: 0 },
  { kind: 'COMMIT', pid: 7 },
  { kind: 'data', pid: 5, seq: 4 },
  { kind: 'data', pid: 5, seq: 5 },
]
const END = 9n
const FIRST_OPEN = 3n

function open(storage: LogStorage, more: PartitionLogOptions = {}) {
  const log = PartitionLog.open(storage, { ...OPTIONS, ...more })
  return new MirrorPartition(new SoleReplica(log), mirrorStateFile(storage), { now: () => 5000n })
}

/** A mirror at work, all of it on disk; with a clean end the newest snapshot is that of the log's end. */
function mirroring({ isClosed = true } = {}): Files {
  const storage = memoryStorage()
  const mirror = open(storage)
  mirror.prepare({ sourceClusterId: 'A' })
  mirror.start()
  for (const op of FETCHED) mirror.mirror(encodeOp(op, mirror.log.logEndOffset))
  if (isClosed) mirror.log.close()
  else mirror.log.flush()
  return storedFiles(storage)
}

function stopped(): Files {
  const storage = memoryStorage(mirroring())
  const mirror = open(storage)
  mirror.stop()
  for (let seq = 0; seq < 3; seq++) mirror.append(encodeOp({ kind: 'data', pid: 5, seq }), 'client')
  mirror.log.close()
  return storedFiles(storage)
}

const hexOf = (log: PartitionLog) =>
  [...batchesFrom(log, log.logStartOffset)].map(({ bytes }) => Buffer.from(bytes).toString('hex'))

/** What a mirror is, in short. */
const summaryOf = (mirror: MirrorPartition) => ({
  state: mirror.state,
  source: mirror.sourceClusterId,
  mirroredEndOffset: mirror.mirroredEndOffset,
  lastMirroredOffset: mirror.lastMirroredOffset,
  logStartOffset: mirror.log.logStartOffset,
  logEndOffset: mirror.log.logEndOffset,
  batches: hexOf(mirror.log),
})

/**
 * Runs a call whose power fails everywhere; each time the mirror is opened again, looked at, and the call is made again.
 *
 * @param check is given what was found, before the call is made again
 */
function loseEverywhere(
  files: Files,
  run: (mirror: MirrorPartition) => void,
  check: (mirror: MirrorPartition, where: string) => void,
  again = run,
): string[] {
  const whole = memoryStorage(files)
  const done = open(whole)
  run(done)
  const expected = summaryOf(done)
  let hasReturned = false
  const { left, calls } = powerCuts(
    files,
    losses,
    (storage) => {
      run(open(storage))
      hasReturned = true
    },
    () => hasReturned,
  )
  for (const { files, where, known } of left) {
    const found = open(memoryStorage(files))
    expect(lastOnly(found.log.producerState), where).toEqual(lastOnly(replayed(found.log)))
    if (found.state === 'STOPPED') expectBarrier(found, where)
    else expect(() => found.append(encodeOp({ kind: 'data', pid: 5 }), 'client'), where).toThrow(/refused/)
    // what has returned lasts
    if (known) expect(summaryOf(found), where).toEqual(expected)
    check(found, where)
    again(found)
    expect(summaryOf(found), where).toEqual(expected)
    expect(lastOnly(found.log.producerState), where).toEqual(lastOnly(replayed(found.log)))
  }
  return calls
}

function expectBarrier({ log, lastMirroredOffset, sourceClusterId }: MirrorPartition, where: string): void {
  const barriers = [...batchesFrom(log, 0n)].filter((batch) => batch.isControl && batch.producerId === -1n)
  expect(barriers.at(-1)?.baseOffset, where).toBe(lastMirroredOffset)
  expect(log.highWatermark > lastMirroredOffset!, where).toBe(true)
  expect(sourceClusterId, where).toBe('A')
}

describe('the power fails at every call', () => {
  it('of a preparation and a start: what was dropped is not back once batches are let in', () => {
    const request = { sourceClusterId: 'Z', truncateTo: 4n }
    const states = new Set<MirrorStateName | null>()
    const files = stopped()
    const before = hexOf(open(memoryStorage(files)).log)
    loseEverywhere(
      files,
      (mirror) => {
        if (mirror.state !== 'MIRRORING' && mirror.state !== 'PREPARING') mirror.prepare(request)
        if (mirror.state !== 'MIRRORING') mirror.start()
      },
      (mirror, where) => {
        states.add(mirror.state)
        if (mirror.state === 'STOPPED') expect(hexOf(mirror.log), where).toEqual(before)
        if (mirror.state === 'MIRRORING') expect(mirror.log.logEndOffset <= 4n, where).toBe(true)
      },
    )
    expect([...states].sort()).toEqual(['MIRRORING', 'PREPARING', 'STOPPED'])
  })

  it('of mirroring: what was flushed stays, and what follows goes on without a gap', () => {
    const files = mirroring()
    const more: BatchOp[] = [
      { kind: 'COMMIT', pid: 6 },
      { kind: 'txn', pid: 6, seq: 1, count: 3, leaderEpoch: 2 },
      { kind: 'data', pid: 5, seq: 6, leaderEpoch: 2 },
      { kind: 'data', pid: 5, seq: 7, bytes: 90, leaderEpoch: 2 },
    ]
    const offsets = [END, END + 1n, END + 4n, END + 5n]
    const run = (mirror: MirrorPartition) => {
      for (const [index, op] of more.entries()) {
        if (mirror.log.logEndOffset > offsets[index]!) continue
        expect(mirror.log.logEndOffset).toBe(offsets[index])
        mirror.mirror(encodeOp(op, offsets[index]))
      }
      mirror.log.flush()
    }
    const before = hexOf(open(memoryStorage(files)).log)
    loseEverywhere(files, run, (mirror, where) => {
      expect(hexOf(mirror.log).slice(0, before.length), where).toEqual(before)
    })
  })

  it.each([5n, FIRST_OPEN, 2n, 0n])('of a cut to %i: it lasts once it has returned', (offset) => {
    const files = mirroring()
    const before = hexOf(open(memoryStorage(files)).log)
    loseEverywhere(
      files,
      (mirror) => mirror.truncateTo(offset),
      (mirror, where) => {
        expect(mirror.state).toBe('MIRRORING')
        const found = hexOf(mirror.log)
        expect(found, where).toEqual(before.slice(0, found.length))
      },
    )
  })

  it('of a cut that takes the barrier of an earlier stop: the state is never ahead of the log', () => {
    const storage = memoryStorage(stopped())
    const barrier = open(storage).lastMirroredOffset!
    open(storage).prepare({ sourceClusterId: 'A' })
    open(storage).start()
    loseEverywhere(
      storedFiles(storage),
      (mirror) => mirror.truncateTo(barrier),
      (mirror, where) => {
        if (mirror.lastMirroredOffset !== null) expect(mirror.log.logEndOffset > barrier, where).toBe(true)
      },
    )
  })

  it('of batches behind a cut: nothing of two times stands in one log', () => {
    const files = mirroring({ isClosed: false })
    const before = hexOf(open(memoryStorage(files)).log)
    const fetched: BatchOp[] = [
      { kind: 'ABORT', pid: 6 },
      { kind: 'data', pid: 9, seq: 0, count: 2 },
    ]
    const run = (mirror: MirrorPartition) => {
      mirror.truncateTo(4n)
      for (const op of fetched) mirror.mirror(encodeOp(op, mirror.log.logEndOffset))
      mirror.log.flush()
    }
    const done = open(memoryStorage(files))
    run(done)
    const after = hexOf(done.log)
    loseEverywhere(files, run, (mirror, where) => {
      const found = hexOf(mirror.log)
      const isPart = [before, after].some((whole) => found.every((hex, at) => whole[at] === hex))
      expect(isPart, where).toBe(true)
    })
  })

  it('of a pause and what follows: nothing is lost once it is PAUSED', () => {
    const files = mirroring()
    const run = (mirror: MirrorPartition) => {
      if (mirror.log.logEndOffset === END) mirror.mirror(encodeOp({ kind: 'COMMIT', pid: 6 }, END))
      mirror.pause()
      mirror.resume()
    }
    const again = (mirror: MirrorPartition) => {
      if (mirror.state === 'MIRRORING' && mirror.log.logEndOffset > END) return
      if (mirror.state === 'PAUSED') mirror.resume()
      else if (mirror.state === 'PAUSING' && mirror.log.logEndOffset === END) {
        // the fetcher has it yet to bring
        mirror.pause()
        mirror.resume()
        mirror.mirror(encodeOp({ kind: 'COMMIT', pid: 6 }, END))
      } else {
        if (mirror.state === 'MIRRORING') mirror.mirror(encodeOp({ kind: 'COMMIT', pid: 6 }, END))
        mirror.pause()
        mirror.resume()
      }
    }
    loseEverywhere(
      files,
      run,
      (mirror, where) => {
        const { logEndOffset } = mirror.log
        if (mirror.state === 'PAUSED') expect(logEndOffset, where).toBe(END + 1n)
        else expect(logEndOffset >= END, where).toBe(true)
      },
      again,
    )
  })

  it('of a failure, and the stop that follows it', () => {
    loseEverywhere(
      mirroring(),
      (mirror) => {
        if (mirror.state === 'MIRRORING') mirror.fail('the source is gone')
        mirror.stop()
      },
      () => {},
    )
  })

  it.each(['abort', 'truncate'] as const)(
    'of a stop (%s): no writable partition without its barrier',
    (mode) => {
      for (const isClosed of [true, false]) {
        const calls = loseEverywhere(
          mirroring({ isClosed }),
          (mirror) => void mirror.stop({ openTransactions: mode }),
          (mirror, where) => {
            if (mirror.state === 'MIRRORING') expect(mirror.log.logEndOffset, where).toBe(END)
          },
        )
        expect(calls.filter((call) => call === 'write mirror-state.json').length).toBeGreaterThanOrEqual(4)
      }
    },
  )
})

describe.each([
  ['one segment', {}],
  ['several segments', SEGMENTED],
] as const)('the power fails at every call of the stop of a log: %s', (_, options) => {
  it.each([
    ['abort', 'clean'],
    ['abort', 'unclean'],
    ['truncate', 'clean'],
    ['truncate', 'unclean'],
  ] as const)('%s, after a %s end: the same call does the rest', (openTransactions, shutdown) => {
    const files = storedFiles(mirrored({ ...options, shutdown }))
    const request = { ...REQUEST, openTransactions }
    const whole = memoryStorage(files)
    const { lastMirroredOffset } = stopLog(whole, options, request)
    const segments = (storage: LogStorage) =>
      [...storedFiles(storage)]
        .filter(([name]) => name.endsWith('.log'))
        .map(([name, bytes]) => [name, Buffer.from(bytes)])
    const { left } = powerCuts(
      files,
      losses,
      (storage) => void stopLog(storage, options, request),
      () => null,
    )
    const twice = left
      .filter((_, at) => at % 9 === 0)
      .flatMap(({ files, where }, at) => {
        const again = powerCuts(
          files,
          () => powerLosses(1, at).slice(-1),
          (storage) => void stopLog(storage, options, request),
          () => null,
        )
        return again.left.map((each) => ({ ...each, where: `${where}; then ${each.where}` }))
      })
    for (const { files, where } of [...left, ...twice]) {
      const storage = memoryStorage(files)
      if (stateOf(storage)?.state === 'STOPPED') {
        expect(barriersIn(storage).at(-1)?.baseOffset, where).toBe(lastMirroredOffset)
      }
      // the broker's checkpoints say nothing of what the stop has done
      expect(stopLog(storage, options, request).lastMirroredOffset, where).toBe(lastMirroredOffset)
      expect(
        barriersIn(storage).map(({ baseOffset }) => baseOffset),
        where,
      ).toEqual([lastMirroredOffset])
      expect(segments(storage), where).toEqual(segments(whole))
      expectSoundFiles(storage, options)
    }
  })
})
