import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type LogStorage, type PartitionLogOptions, stopLog } from '../../src/index.ts'
import { decodeLeaderEpochs } from '../../src/log/partition/leaderEpochs.ts'
import { encodeOp } from '../producers/logBuilder.ts'
import { copyOf, Died, faultyStorage, filesOf } from './faultyStorage.ts'
import { barriersIn, END, FIRST_OPEN, mirrored, REQUEST, SEGMENTED } from './mirroredLog.ts'

// Opening a log forgets an epoch in which no batch was written. A stop that is killed anywhere must remember it.

const CHECKPOINT = 'leader-epoch-checkpoint'

function withCheckpoint(storage: LogStorage, entries: readonly string[]): LogStorage {
  const text = ['0', entries.length, ...entries, ''].join('\n')
  storage.write(CHECKPOINT, new TextEncoder().encode(text))
  return storage
}

/** The first batch of the epoch was never written to its end. */
function withTornBatch(storage: LogStorage): LogStorage {
  const name = storage
    .list()
    .filter((file) => file.endsWith('.log'))
    .sort()
    .at(-1)!
  const batch = encodeOp({ kind: 'data', pid: -7, seq: 4 }, END)
  storage.open(name).append(batch.subarray(0, batch.length >> 1))
  return storage
}

const withState = (storage: LogStorage, state: object) => {
  const fields = { version: 1, sourceClusterId: 'A', ...state }
  storage.write('mirror-state.json', new TextEncoder().encode(JSON.stringify(fields)))
  return storage
}

/** All files but indexes, which have an entry more or less by where a run has ended. */
const contentIn = (storage: LogStorage) =>
  Object.entries(filesOf(storage, '')).filter(([name]) => !/\.(time)?index$/.test(name))

const entriesIn = (storage: LogStorage) =>
  decodeLeaderEpochs(new TextDecoder().decode(storage.read(CHECKPOINT)!)).map(
    ({ epoch, startOffset }) => `${epoch} ${startOffset}`,
  )

type Mode = 'abort' | 'truncate'
const CUT_AT = { abort: END, truncate: FIRST_OPEN }

const SETUPS: [string, PartitionLogOptions, (storage: LogStorage, mode: Mode) => LogStorage][] = [
  ['one segment, clean', { shutdown: 'clean' }, (storage) => storage],
  ['several segments, killed', SEGMENTED, (storage) => storage],
  ['a torn batch at the end', SEGMENTED, withTornBatch],
  [
    'of another leader, who came after a stop that is under way',
    SEGMENTED,
    (storage, openTransactions) =>
      withState(storage, {
        state: 'STOPPING',
        leaderEpoch: 2,
        openTransactions,
        mirroredEndOffset: `${CUT_AT[openTransactions]}`,
      }),
  ],
]

describe.each(SETUPS)('an epoch without batches at the end: %s', (_, options, change) => {
  describe.each([
    ['abort', 4],
    ['truncate', 5],
  ] as const)('%s', (openTransactions, epoch) => {
    const reference = withCheckpoint(change(mirrored(options), openTransactions), ['0 0', `4 ${END}`])
    const request = { ...REQUEST, openTransactions }
    const { storage: done, calls } = faultyStorage(copyOf(reference), { at: 0 })
    const report = stopLog(done, options, request)
    const expected = contentIn(done)

    const kill = (storage: LogStorage, at: number, isTorn: boolean) => {
      const run = () => stopLog(faultyStorage(storage, { at, isTorn }).storage, options, request)
      try {
        run()
      } catch (error) {
        expect((error as Error).cause ?? error).toBeInstanceOf(Died)
      }
    }

    it('is what a stop writes in, or is below that', () => {
      expect(report.leaderEpoch).toBe(epoch)
      expect(barriersIn(done).map(({ partitionLeaderEpoch }) => partitionLeaderEpoch)).toEqual([epoch])
      expect(entriesIn(done)).toEqual(['0 0', `${epoch} ${CUT_AT[openTransactions]}`])
    })

    it('a rerun leaves what one run does, killed at any call', () => {
      for (const [at, call] of calls.entries()) {
        for (const isTorn of call.startsWith('append') ? [false, true] : [false]) {
          const storage = copyOf(reference)
          kill(storage, at + 1, isTorn)
          stopLog(storage, options, request)
          expect(contentIn(storage), call).toEqual(expected)
        }
      }
    })

    it('and so after several', () => {
      const crash = fc.record({ at: fc.integer({ min: 1, max: calls.length }), isTorn: fc.boolean() })
      fc.assert(
        fc.property(fc.array(crash, { minLength: 2, maxLength: 5 }), (crashes) => {
          const storage = copyOf(reference)
          for (const { at, isTorn } of crashes) kill(storage, at, isTorn)
          stopLog(storage, options, request)
          expect(contentIn(storage)).toEqual(expected)
        }),
        { numRuns: 10 },
      )
    })
  })
})
