import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type LogStorage,
  MirrorPartition,
  mirrorStateFile,
  PartitionLog,
  type PartitionLogOptions,
  SoleReplica,
  stopLog,
} from '../../src/index.ts'
import { copyOf, Died, faultyStorage, filesOf } from './faultyStorage.ts'
import {
  barriersIn,
  END,
  expectSoundFiles,
  FIRST_OPEN,
  mirrored,
  REQUEST,
  SEGMENTED,
  stateOf,
} from './mirroredLog.ts'

const SETUPS = [
  ['one segment, clean', { shutdown: 'clean' }],
  ['one segment, killed', {}],
  ['several segments, clean', { ...SEGMENTED, shutdown: 'clean' }],
  ['several segments, killed', SEGMENTED],
] as const satisfies readonly (readonly [string, PartitionLogOptions])[]

describe.each(SETUPS)('%s', (_, options) => {
  it('abort: every open transaction gets its marker, then the barrier follows; no committed record is lost', () => {
    const storage = mirrored(options)
    const report = stopLog(storage, options, REQUEST)
    expect(report).toEqual({
      alreadyStopped: false,
      sourceClusterId: 'A',
      openTransactions: 'abort',
      settled: [
        { producerId: -8n, sourceProducerId: 6n, producerEpoch: 0, firstOffset: 5n },
        { producerId: 4n, sourceProducerId: null, producerEpoch: 0, firstOffset: 8n },
      ],
      truncatedOffsets: 0n,
      mirroredEndOffset: END,
      lastMirroredOffset: END + 2n,
      logEndOffset: END + 3n,
      leaderEpoch: 0,
      expiredProducers: 3,
      cut: [],
      removedSegments: [],
      leftovers: [],
      foreignFiles: [],
      warnings: [],
    })
    expect(stateOf(storage)).toMatchObject({
      state: 'STOPPED',
      sourceClusterId: 'A',
      lastMirroredOffset: END + 2n,
    })
    const log = PartitionLog.open(copyOf(storage), options)
    expect([...log.producerState.producers.keys()]).toEqual([3n, 4n])
    expect(log.producerState.ongoingTransactions).toEqual([])
    expect(log.abortedTransactions.map(({ producerId, firstOffset }) => [producerId, firstOffset])).toEqual([
      [-9n, 2n],
      [-8n, FIRST_OPEN],
      [4n, 8n],
    ])
    expectSoundFiles(storage, options)
  })

  it('truncate: the log is cut at the first open transaction; a new leader epoch tells the followers', () => {
    const storage = mirrored(options)
    const report = stopLog(storage, options, { ...REQUEST, openTransactions: 'truncate' })
    expect(report).toMatchObject({
      truncatedOffsets: END - FIRST_OPEN,
      mirroredEndOffset: FIRST_OPEN,
      lastMirroredOffset: FIRST_OPEN,
      logEndOffset: FIRST_OPEN + 1n,
      leaderEpoch: 1,
      expiredProducers: 2,
    })
    expect(
      barriersIn(storage).map(({ baseOffset, partitionLeaderEpoch }) => [baseOffset, partitionLeaderEpoch]),
    ).toEqual([[FIRST_OPEN, 1]])
    expectSoundFiles(storage, options)
  })

  it('a second call changes nothing, in either mode', () => {
    const storage = mirrored(options)
    const { lastMirroredOffset } = stopLog(storage, options, REQUEST)
    const before = filesOf(storage, '')
    for (const openTransactions of ['abort', 'truncate'] as const) {
      const { storage: faulty, calls } = faultyStorage(storage, { at: 0 })
      const report = stopLog(faulty, options, { ...REQUEST, openTransactions })
      expect(report).toMatchObject({ alreadyStopped: true, lastMirroredOffset })
      expect(calls).toEqual([])
    }
    expect(filesOf(storage, '')).toEqual(before)
  })

  describe.each(['abort', 'truncate'] as const)('%s, killed at every call', (openTransactions) => {
    const request = { ...REQUEST, openTransactions }
    const reference = mirrored(options)
    const { storage: counted, calls } = faultyStorage(copyOf(reference), { at: 0 })
    const { lastMirroredOffset } = stopLog(counted, options, request)
    const done = copyOf(counted)

    const expectDone = (storage: LogStorage) => {
      expect(stateOf(storage)).toMatchObject({ state: 'STOPPED', lastMirroredOffset })
      expect(barriersIn(storage).map(({ baseOffset }) => baseOffset)).toEqual([lastMirroredOffset])
      expect(filesOf(storage, '.log')).toEqual(filesOf(done, '.log'))
      expectSoundFiles(storage, options)
    }
    const kill = (storage: LogStorage, at: number, isTorn: boolean) => {
      const faulty = faultyStorage(storage, { at, isTorn })
      try {
        stopLog(faulty.storage, options, request)
        return false
      } catch (error) {
        expect((error as Error).cause ?? error).toBeInstanceOf(Died)
      }
      // a writable partition has its barrier
      if (stateOf(storage)?.state === 'STOPPED') expectDone(storage)
      return true
    }

    it.each([false, true])('a rerun does the rest; half of the last write was made: %s', (isTorn) => {
      for (let at = 1; at <= calls.length; at++) {
        const storage = copyOf(reference)
        expect(kill(storage, at, isTorn), calls[at - 1]).toBe(true)
        stopLog(storage, options, request)
        expectDone(storage)
      }
      expect(
        calls.filter((call) => call.startsWith('write mirror-state.json')).length,
      ).toBeGreaterThanOrEqual(5)
    })

    it('and so again and again', () => {
      const crash = fc.record({ at: fc.integer({ min: 1, max: calls.length + 5 }), isTorn: fc.boolean() })
      fc.assert(
        fc.property(fc.array(crash, { minLength: 2, maxLength: 5 }), (crashes) => {
          const storage = copyOf(reference)
          for (const { at, isTorn } of crashes) kill(storage, at, isTorn)
          stopLog(storage, options, request)
          expectDone(storage)
        }),
        { numRuns: 15 },
      )
    })
  })
})

describe('what is refused, with no file changed', () => {
  const withState = (storage: LogStorage, state: object) => {
    const fields = { version: 1, sourceClusterId: 'A', ...state }
    storage.write('mirror-state.json', new TextEncoder().encode(JSON.stringify(fields)))
    return storage
  }

  it.each([
    [
      { state: 'MIRRORING', sourceClusterId: 'X' },
      {},
      'SOURCE_CLUSTER_MISMATCH',
      /mirrored from the cluster "X", not from "A"/,
    ],
    [
      { state: 'STOPPED', sourceClusterId: 'X', lastMirroredOffset: '3' },
      {},
      'SOURCE_CLUSTER_MISMATCH',
      /"X"/,
    ],
    // its preparation has not cut the log yet
    [
      { state: 'FAILED', failure: 'gone', prepareOffset: '3' },
      {},
      'INVALID_TRANSITION',
      /FAILED cannot become STOPPING; from there it can become PREPARING\./,
    ],
    [
      { state: 'PREPARING', prepareOffset: '3' },
      {},
      'INVALID_TRANSITION',
      /PREPARING cannot become STOPPING/,
    ],
    [{ state: 'SLEEPING' }, {}, 'CORRUPT_MIRROR_STATE', /SLEEPING/],
    [{ state: 'MIRRORING', version: 2 }, {}, 'CORRUPT_MIRROR_STATE', /version is 2, expected 1/],
    [{ state: 'MIRRORING' }, { clusterId: 'A' }, 'INVALID_ARGUMENT', /does not mirror itself/],
    [
      { state: 'MIRRORING' },
      { leaderEpoch: -1 },
      'INVALID_ARGUMENT',
      /leader epoch must be a whole number from 0 on/,
    ],
    [
      { state: 'MIRRORING' },
      { openTransactions: 'ask' as 'abort' },
      'INVALID_ARGUMENT',
      /"abort", "truncate"; got "ask"/,
    ],
  ])('%j with %j', (state, request, code, message) => {
    const storage = withState(mirrored({}), state)
    const before = filesOf(storage, '')
    const run = () => stopLog(storage, {}, { ...REQUEST, ...request })
    expect(run).toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) }))
    expect(filesOf(storage, '')).toEqual(before)
  })

  it('a log that has epochs is not written to in an older one', () => {
    const storage = mirrored({})
    storage.write('leader-epoch-checkpoint', new TextEncoder().encode('0\n2\n0 0\n7 12\n'))
    expect(() => stopLog(storage, {}, { ...REQUEST, leaderEpoch: 6 })).toThrow(/from 7 on/)
    // opening forgets an epoch without batches; the stop does not
    expect(stopLog(storage, {}, REQUEST).leaderEpoch).toBe(7)
  })
})

describe('from each state', () => {
  it.each([
    { state: 'MIRRORING' },
    { state: 'PAUSING' },
    { state: 'PAUSED' },
    { state: 'STOPPING' },
    { state: 'FAILED', failure: 'the source is gone' },
    { state: 'FAILED', failure: 'the source is gone', prepareOffset: `${END}` },
  ])('%j: it stops', (fields) => {
    const storage = mirrored({})
    const text = JSON.stringify({ version: 1, sourceClusterId: 'A', ...fields })
    storage.write('mirror-state.json', new TextEncoder().encode(text))
    expect(stopLog(storage, {}, REQUEST).lastMirroredOffset).toBe(END + 2n)
    expect(stateOf(storage)).toMatchObject({ state: 'STOPPED', failure: null, prepareOffset: null })
    expectSoundFiles(storage, {})
  })

  it.each(['abort', 'truncate'] as const)(
    'FAILED in the midst of a stop (%s): it goes on as it began, wherever that was',
    (openTransactions) => {
      const request = { ...REQUEST, openTransactions }
      const other = openTransactions === 'abort' ? 'truncate' : 'abort'
      const done = mirrored({})
      const { storage: counted, calls } = faultyStorage(done, { at: 0 })
      const report = stopLog(counted, {}, request)
      let failures = 0
      for (let at = 1; at <= calls.length; at++) {
        const storage = mirrored({})
        expect(() => stopLog(faultyStorage(storage, { at }).storage, {}, request)).toThrow()
        if (stateOf(storage)?.state !== 'STOPPING') continue
        failures++
        const leader = new SoleReplica(PartitionLog.open(storage))
        new MirrorPartition(leader, mirrorStateFile(storage)).fail('the disk is full')
        const { openTransactions, mirroredEndOffset, lastMirroredOffset, leaderEpoch } = report
        expect(stopLog(storage, {}, { ...REQUEST, openTransactions: other })).toMatchObject({
          openTransactions,
          mirroredEndOffset,
          lastMirroredOffset,
          leaderEpoch,
        })
        expect(barriersIn(storage).length).toBe(1)
        expect(filesOf(storage, '.log')).toEqual(filesOf(done, '.log'))
      }
      expect(failures).toBeGreaterThan(5)
    },
  )

  it('a stop that is under way keeps its mode', () => {
    const storage = mirrored({})
    const { storage: faulty, calls } = faultyStorage(storage, { at: 6 })
    expect(() => stopLog(faulty, {}, { ...REQUEST, openTransactions: 'truncate' })).toThrow()
    for (let at = 7; stateOf(storage)?.state !== 'STOPPING'; at++) {
      const again = faultyStorage(storage, { at })
      expect(() => stopLog(again.storage, {}, { ...REQUEST, openTransactions: 'truncate' })).toThrow()
    }
    expect(calls.length).toBe(6)
    expect(stopLog(copyOf(storage), {}, { ...REQUEST, openTransactions: 'truncate' }).warnings).toEqual([])
    expect(stopLog(copyOf(storage), {}, REQUEST).warnings).toEqual([])
    expect(stopLog(storage, {}, { ...REQUEST, openTransactions: 'abort' })).toMatchObject({
      openTransactions: 'truncate',
      lastMirroredOffset: FIRST_OPEN,
      warnings: [expect.stringMatching(/began with "truncate" and goes on so, not with "abort"/)],
    })
  })
})
