import { describe, expect, it } from 'vitest'
import {
  AppendRefusedError,
  InvalidTransitionError,
  MirrorPartition,
  type MirrorStateName,
  memoryStateStore,
  memoryStorage,
  PartitionLog,
  SoleReplica,
} from '../../src/index.ts'
import { encodeOp } from '../producers/logBuilder.ts'

const MIRRORED = encodeOp({ kind: 'data', pid: 5, seq: 0 }, 0n)

/** A partition in a state, with one mirrored batch in its log. */
function partitionIn(state: MirrorStateName | null) {
  const log = PartitionLog.open(memoryStorage())
  log.append(encodeOp({ kind: 'data', pid: -7, seq: 0 }), 'mirror')
  const store = memoryStateStore()
  if (state !== null) {
    store.save({
      state,
      sourceClusterId: 'A',
      prepareOffset: state === 'PREPARING' ? 1n : null,
      openTransactions: null,
      plannedBarrierOffset: null,
      mirroredEndOffset: state === 'STOPPED' ? 0n : null,
      lastMirroredOffset: state === 'STOPPED' ? 0n : null,
      failure: state === 'FAILED' ? 'the source is gone' : null,
    })
  }
  return { log, store, mirror: new MirrorPartition(new SoleReplica(log), store) }
}

type Mirror = MirrorPartition

/** What may be asked of a mirror: the first state that it goes to, and the one that it ends in. */
const CALLS = {
  prepare: ['PREPARING', 'PREPARING', (mirror: Mirror) => mirror.prepare({ sourceClusterId: 'B' })],
  start: ['MIRRORING', 'MIRRORING', (mirror: Mirror) => mirror.start()],
  resume: ['MIRRORING', 'MIRRORING', (mirror: Mirror) => mirror.resume()],
  pause: ['PAUSING', 'PAUSED', (mirror: Mirror) => mirror.pause()],
  fail: ['FAILED', 'FAILED', (mirror: Mirror) => mirror.fail('the disk is full')],
  stop: ['STOPPING', 'STOPPED', (mirror: Mirror) => void mirror.stop()],
} as const

const ALLOWED: Record<MirrorStateName | 'none', readonly (keyof typeof CALLS)[]> = {
  none: ['prepare'],
  PREPARING: ['prepare', 'start', 'resume', 'fail'],
  MIRRORING: ['pause', 'stop', 'fail'],
  PAUSING: ['pause', 'stop', 'fail'],
  PAUSED: ['start', 'resume', 'stop', 'fail'],
  STOPPING: ['stop', 'fail'],
  // a stop at STOPPED is no transition
  STOPPED: ['prepare', 'stop'],
  FAILED: ['prepare', 'stop'],
}
const STATES = Object.keys(ALLOWED) as (keyof typeof ALLOWED)[]
const CASES = STATES.flatMap((from) =>
  (Object.keys(CALLS) as (keyof typeof CALLS)[]).map((call) => [from, call] as const),
)

describe('every call in every state', () => {
  it.each(CASES)('%s: %s', (from, call) => {
    const state = from === 'none' ? null : from
    const { mirror, log, store } = partitionIn(state)
    const [to, end, run] = CALLS[call]
    if (ALLOWED[from].includes(call)) {
      run(mirror)
      expect(mirror.state).toBe(end)
      expect(store.load()?.state).toBe(end)
      return
    }
    const saved = store.load()
    const error = (() => {
      try {
        run(mirror)
        return null
      } catch (thrown) {
        return thrown
      }
    })()
    expect(error).toBeInstanceOf(InvalidTransitionError)
    expect(error).toMatchObject({ code: 'INVALID_TRANSITION', from: state, to })
    expect((error as Error).message).toContain(state ?? 'not set up')
    expect((error as Error).message).toContain(`cannot become ${to}`)
    expect(mirror.state).toBe(state)
    expect(store.load()).toEqual(saved)
    expect(log.logEndOffset).toBe(1n)
  })
})

describe('who may append', () => {
  it.each(STATES)('%s', (from) => {
    const state = from === 'none' ? null : from
    const isWritable = state === null || state === 'STOPPED'
    for (const origin of ['client', 'coordinator'] as const) {
      const { mirror, log } = partitionIn(state)
      const batch = encodeOp({ kind: origin === 'client' ? 'data' : 'COMMIT', pid: 5, seq: 0 })
      if (isWritable) {
        expect(mirror.append(batch, origin).firstOffset).toBe(1n)
        continue
      }
      expect(() => mirror.append(batch, origin)).toThrow(AppendRefusedError)
      expect(() => mirror.append(batch, origin)).toThrow(`refused while the mirror is ${state}`)
      expect(log.logEndOffset).toBe(1n)
    }
    const { mirror, log } = partitionIn(state)
    const fetched = encodeOp({ kind: 'data', pid: 5, seq: 1 }, 1n)
    if (state === 'MIRRORING') {
      expect(mirror.mirror(fetched).firstOffset).toBe(1n)
      expect(log.producerState.producers.get(-7n)?.lastSequence).toBe(1)
    } else {
      expect(() => mirror.mirror(fetched)).toThrow(AppendRefusedError)
      expect(log.logEndOffset).toBe(1n)
    }
  })

  it.each(STATES)('%s: a cut and a new log start are for a mirror at work', (from) => {
    const state = from === 'none' ? null : from
    const changes = [
      ['a cut', (mirror: Mirror) => mirror.truncateTo(0n)],
      ['a change of the log start offset', (mirror: Mirror) => void mirror.followLogStart(1n)],
    ] as const
    for (const [what, change] of changes) {
      const { mirror, log, store } = partitionIn(state)
      const saved = store.load()
      if (state === 'MIRRORING') {
        change(mirror)
        expect(log.logEndOffset - log.logStartOffset).toBe(0n)
      } else {
        expect(() => change(mirror)).toThrow(AppendRefusedError)
        expect(() => change(mirror)).toThrow(
          `${what} is refused while the mirror is ${state ?? 'not set up'}`,
        )
        expect([log.logStartOffset, log.logEndOffset]).toEqual([0n, 1n])
        expect(store.load()).toEqual(saved)
      }
      expect(mirror.state).toBe(state)
    }
  })

  it('a mirror append leaves what was fetched as it is', () => {
    const { mirror } = partitionIn('MIRRORING')
    const fetched = encodeOp({ kind: 'data', pid: 5, seq: 1 }, 1n)
    const before = fetched.slice()
    mirror.mirror(fetched)
    expect(fetched).toEqual(before)
    expect(() => mirror.mirror(MIRRORED)).toThrow(/cannot follow/)
  })
})

describe('what a mirror knows', () => {
  it('keeps its source, its offsets and its failure, and drops the failure when prepared anew', () => {
    const { mirror, store } = partitionIn('MIRRORING')
    mirror.fail('the source is gone')
    expect(new MirrorPartition(new SoleReplica(mirror.log), store).failure).toBe('the source is gone')
    mirror.prepare({ sourceClusterId: 'Z', truncateTo: 0n })
    expect([mirror.failure, mirror.sourceClusterId, mirror.log.logEndOffset]).toEqual([null, 'Z', 0n])
  })

  it('asks for sound arguments', () => {
    const { mirror, log } = partitionIn(null)
    expect(() => mirror.prepare({ sourceClusterId: '' })).toThrow(/sourceClusterId/)
    expect(() => mirror.prepare({ sourceClusterId: 'A', truncateTo: -1n })).toThrow(/truncateTo/)
    expect(() => partitionIn('MIRRORING').mirror.truncateTo(-1n)).toThrow(/offset/)
    expect(() => partitionIn('MIRRORING').mirror.followLogStart(1 as unknown as bigint)).toThrow(/offset/)
    expect(() => mirror.stop({ openTransactions: 'ask' as 'abort' })).toThrow(
      /"abort", "truncate"; got "ask"/,
    )
    const options = { producerIds: 'unmap' as 'map' }
    expect(() => new MirrorPartition(new SoleReplica(log), memoryStateStore(), options)).toThrow(
      /"map", "none"/,
    )
    expect(mirror.state).toBeNull()
  })

  it('a stop that names another source is refused in any state', () => {
    for (const state of STATES) {
      if (state === 'none') continue
      const { mirror } = partitionIn(state)
      expect(() => mirror.stop({ sourceClusterId: 'X' })).toThrow(
        /mirrored from the cluster "A", not from "X"/,
      )
      expect(mirror.state).toBe(state)
    }
  })
})
