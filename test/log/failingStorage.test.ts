import { describe, expect, it } from 'vitest'
import { LogFileError } from '../../src/errors.ts'
import { LogClosedError } from '../../src/log/partition/logErrors.ts'
import { memoryStorage } from '../../src/log/partition/memoryStorage.ts'
import { PartitionLog } from '../../src/log/partition/partitionLog.ts'
import type { LogStorage, StoredFile } from '../../src/log/partition/storage.ts'
import { type BatchOp, encodeOp } from '../producers/logBuilder.ts'
import { allRecords, lastOnly, replayed } from './logStates.ts'

/** A storage whose n-th change fails, and leaves part of an append behind or not. */
function failing(storage: LogStorage, at: number, tears: boolean) {
  let calls = 0
  const fail = (before: () => void) => {
    calls++
    if (calls !== at) return
    before()
    throw new LogFileError('IO_ERROR', 'the disk is full', 'x')
  }
  const wrap = (file: StoredFile): StoredFile => ({
    get size() {
      return file.size
    },
    readInto: (room, position) => file.readInto(room, position),
    append(bytes) {
      fail(() => tears && file.append(bytes.subarray(0, bytes.length >> 1)))
      file.append(bytes)
    },
    truncate(size) {
      fail(() => {})
      file.truncate(size)
    },
    flush: () => fail(() => {}),
  })
  const wrapped: LogStorage = {
    list: () => storage.list(),
    read: (name) => storage.read(name),
    close: () => storage.close(),
    open: (name) => wrap(storage.open(name)),
    write(name, bytes) {
      fail(() => {})
      storage.write(name, bytes)
    },
    rename(from, to) {
      fail(() => {})
      storage.rename(from, to)
    },
    remove(name) {
      fail(() => {})
      storage.remove(name)
    },
    sync: () => fail(() => {}),
  }
  return { wrapped, calls: () => calls }
}

const ops: BatchOp[] = [
  { kind: 'txn', pid: 1, seq: 0 },
  { kind: 'data', pid: 2, seq: 0, leaderEpoch: 1 },
  { kind: 'txn', pid: -7, seq: 0, leaderEpoch: 2 },
  { kind: 'ABORT', pid: 1, leaderEpoch: 2 },
  { kind: 'data', pid: 2, seq: 1, leaderEpoch: 3 },
  { kind: 'barrier', leaderEpoch: 3 },
  { kind: 'data', pid: 2, seq: 2, leaderEpoch: 3 },
]

/** What a program does with a log; each step says what is in the log for good when it has returned. */
const steps: ((log: PartitionLog) => void)[] = [
  ...ops.map((op) => (log: PartitionLog) => {
    log.append(encodeOp(op, log.logEndOffset), 'replication')
  }),
  (log) => log.flush(),
  (log) => void log.truncateTo(4n),
  (log) => log.roll(),
  (log) => log.updateHighWatermark(4n),
  (log) => log.deleteRecordsBefore(2n),
  (log) => log.truncateFullyAndStartAt(9n),
  (log) => void log.append(encodeOp({ kind: 'data', pid: 2, seq: 9 }, 9n), 'replication'),
  // a set for two segments, a gap before each
  (log) => {
    const set = [10n, 2n ** 33n].map((offset, at) => encodeOp({ kind: 'txn', pid: 4, seq: at }, offset))
    log.append(Buffer.concat(set), 'mirror')
  },
  (log) => log.close(),
]

function run(storage: LogStorage): {
  log: PartitionLog | null
  error: unknown
  done: number
  before: Buffer
} {
  let log: PartitionLog | null = null
  let done = 0
  let before: Buffer = Buffer.alloc(0)
  try {
    log = PartitionLog.open(storage, { segmentBytes: 150, indexIntervalBytes: 50 })
    for (const step of steps) {
      before = allRecords(log)
      step(log)
      done++
    }
    return { log, error: null, done, before }
  } catch (error) {
    return { log, error, done, before }
  }
}

describe('a storage whose n-th change fails', () => {
  const all = failing(memoryStorage(), 0, false)
  run(all.wrapped)
  const count = all.calls()

  it.each([
    ['and leaves nothing', false],
    ['and leaves half', true],
  ])('%s: the log is of no use after it, and opened anew it is recovered', (_name, tears) => {
    expect(count).toBeGreaterThan(60)
    for (let at = 1; at <= count; at++) {
      const storage = memoryStorage()
      const { log, error, done, before } = run(failing(storage, at, tears).wrapped)
      expect(error, `change ${at}`).toBeInstanceOf(LogFileError)
      if (log !== null) {
        expect(() => log.append(encodeOp(ops[0]!), 'client'), `change ${at}`).toThrow(LogClosedError)
        expect(() => log.read(0n)).toThrow(LogClosedError)
        log.close()
      }
      const again = PartitionLog.open(storage)
      const records = allRecords(again)
      // a snapshot knows producers of segments that were deleted, the bytes do not
      if (again.logStartOffset === 0n) {
        expect(lastOnly(again.producerState), `change ${at}`).toEqual(lastOnly(replayed(again)))
      }
      // appends keep what was there before them
      if (done > 0 && done < ops.length)
        expect(records.subarray(0, before.length).equals(before), `change ${at}`).toBe(true)
      again.append(encodeOp({ kind: 'data', pid: 3, seq: 0 }, again.logEndOffset), 'client')
    }
  })
})
