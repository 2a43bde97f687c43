import { describe, expect, it } from 'vitest'
import {
  type LogStorage,
  MirrorPartition,
  memoryStorage,
  mirrorStateFile,
  PartitionLog,
  type PartitionLogOptions,
  SoleReplica,
} from '../../src/index.ts'
import { batchesFrom } from '../../src/mirroring/sharedLog.ts'
import { type BatchOp, encodeOp } from '../producers/logBuilder.ts'
import { copyOf, Died, type Faults, faultyStorage, filesOf } from './faultyStorage.ts'

// A partition on its files, whose process dies at each of the calls that change one.

const OPTIONS: PartitionLogOptions = { segmentBytes: 300 }
const FETCHED: BatchOp[] = [
  { kind: 'data', pid: 5, seq: 0, count: 2 },
  { kind: 'txn', pid: 6, seq: 0 },
  { kind: 'data', pid: 5, seq: 2 },
  { kind: 'txn', pid: 7, seq: 0 },
  { kind: 'COMMIT', pid: 7 },
]
const END = 6n

function open(storage: LogStorage) {
  const leader = new SoleReplica(PartitionLog.open(storage, OPTIONS))
  return new MirrorPartition(leader, mirrorStateFile(storage), { now: () => 5000n })
}

function mirroring(): LogStorage {
  const storage = memoryStorage()
  const mirror = open(storage)
  mirror.prepare({ sourceClusterId: 'A' })
  mirror.start()
  for (const op of FETCHED) mirror.mirror(encodeOp(op, mirror.log.logEndOffset))
  mirror.log.flush()
  return storage
}

/** Runs on a copy; returns the copy and whether the process has died. */
function attempt(source: LogStorage, faults: Faults, run: (mirror: MirrorPartition) => void) {
  const storage = copyOf(source)
  const { storage: faulty, calls } = faultyStorage(storage, faults)
  try {
    run(open(faulty))
    return { storage, calls, isDead: false }
  } catch (error) {
    expect((error as Error).cause ?? error).toBeInstanceOf(Died)
    return { storage, calls, isDead: true }
  }
}

/** Dies at each call of `run`; hands what is left, opened again, to `check`. */
function killEverywhere(
  source: LogStorage,
  run: (mirror: MirrorPartition) => void,
  check: (mirror: MirrorPartition, storage: LogStorage) => void,
): string[] {
  const { calls } = attempt(source, { at: 0 }, run)
  for (const isTorn of [false, true]) {
    for (let at = 1; at <= calls.length; at++) {
      const { storage, isDead } = attempt(source, { at, isTorn }, run)
      expect(isDead, calls[at - 1]).toBe(true)
      check(open(storage), storage)
    }
  }
  return calls
}

const barriersIn = (log: PartitionLog) =>
  [...batchesFrom(log, 0n)].filter((batch) => batch.isControl && batch.producerId === -1n)

describe('killed at every call', () => {
  it.each(['abort', 'truncate'] as const)(
    'of a stop (%s): one barrier, and no writable partition without it',
    (mode) => {
      const source = mirroring()
      const reference = attempt(
        source,
        { at: 0 },
        (mirror) => void mirror.stop({ openTransactions: mode }),
      ).storage
      const calls = killEverywhere(
        source,
        (mirror) => void mirror.stop({ openTransactions: mode }),
        (mirror, storage) => {
          if (mirror.state === 'STOPPED') expect(barriersIn(mirror.log).length).toBe(1)
          else expect(() => mirror.append(encodeOp({ kind: 'data', pid: 5 }), 'client')).toThrow(/refused/)
          // the second call may be made with another mode: the first one's holds
          const started = mirror.state === 'MIRRORING'
          expect(mirror.stop({ openTransactions: started ? mode : 'abort' })).toBe('STOPPED')
          expect(barriersIn(mirror.log).map(({ baseOffset }) => baseOffset)).toEqual([
            mirror.lastMirroredOffset,
          ])
          expect(mirror.mirroredEndOffset).toBe(mode === 'abort' ? END : 2n)
          expect(filesOf(storage, '.log')).toEqual(filesOf(reference, '.log'))
          expect(mirror.append(encodeOp({ kind: 'data', pid: 5, seq: 0 }), 'client').duplicate).toBeNull()
        },
      )
      expect(
        calls.filter((call) => call.startsWith('write mirror-state.json')).length,
      ).toBeGreaterThanOrEqual(3)
    },
  )

  it('of a preparation: it is done again, or its cut is made by the start', () => {
    const source = mirroring()
    open(source).stop()
    for (const next of ['prepare', 'start'] as const) {
      killEverywhere(
        source,
        (mirror) => mirror.prepare({ sourceClusterId: 'Z', truncateTo: 3n }),
        (mirror) => {
          if (mirror.state === 'STOPPED' || next === 'prepare') {
            mirror.prepare({ sourceClusterId: 'Z', truncateTo: 3n })
          }
          mirror.start()
          expect([mirror.state, mirror.sourceClusterId, mirror.log.logEndOffset]).toEqual([
            'MIRRORING',
            'Z',
            3n,
          ])
          expect(barriersIn(mirror.log)).toEqual([])
          mirror.mirror(encodeOp({ kind: 'data', pid: 1, seq: 0 }, 3n))
        },
      )
    }
  })

  it('of a pause: nothing is lost, and it is paused or mirrors on', () => {
    killEverywhere(
      mirroring(),
      (mirror) => mirror.pause(),
      (mirror) => {
        if (mirror.state !== 'PAUSED') mirror.pause()
        expect([mirror.state, mirror.log.logEndOffset]).toEqual(['PAUSED', END])
        mirror.resume()
        mirror.mirror(encodeOp({ kind: 'data', pid: 5, seq: 3 }, END))
      },
    )
  })

  it('of a mirror append: what is there goes on without a gap', () => {
    killEverywhere(
      mirroring(),
      (mirror) => void mirror.mirror(encodeOp({ kind: 'COMMIT', pid: 6 }, END)),
      (mirror) => {
        const { logEndOffset } = mirror.log
        expect([END, END + 1n]).toContain(logEndOffset)
        if (logEndOffset === END) mirror.mirror(encodeOp({ kind: 'COMMIT', pid: 6 }, END))
        expect(mirror.log.producerState.ongoingTransactions).toEqual([])
        expect(mirror.stop()).toBe('STOPPED')
        expect(mirror.lastMirroredOffset).toBe(END + 1n)
      },
    )
  })
})

describe('a restart', () => {
  it('finds the mirror as it was, in every state', () => {
    const storage = mirroring()
    const restarted = () => open(copyOf(storage))
    expect(restarted().state).toBe('MIRRORING')
    open(storage).pause()
    expect(() => restarted().mirror(encodeOp({ kind: 'data', pid: 5, seq: 3 }, END))).toThrow(
      /while the mirror is PAUSED/,
    )
    open(storage).resume()
    open(storage).fail('the source is gone')
    expect([restarted().state, restarted().failure]).toEqual(['FAILED', 'the source is gone'])
    open(storage).prepare({ sourceClusterId: 'A' })
    expect([restarted().state, restarted().failure]).toEqual(['PREPARING', null])
    open(storage).start()
    open(storage).stop()
    const stopped = restarted()
    expect([stopped.state, stopped.mirroredEndOffset, stopped.lastMirroredOffset]).toEqual([
      'STOPPED',
      END,
      END + 1n,
    ])
    expect(stopped.stop()).toBe('STOPPED')
    expect(stopped.log.logEndOffset).toBe(END + 2n)
  })

  it('with a damaged state file nothing can be done to the partition', () => {
    const storage = mirroring()
    storage.write('mirror-state.json', new TextEncoder().encode('{'))
    expect(() => open(storage)).toThrow(
      /mirror-state\.json: it is not JSON\. The state of the mirror is not known/,
    )
  })
})
