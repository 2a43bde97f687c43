import { describe, expect, it } from 'vitest'
import { logFileName } from '../../src/log/fileNames.ts'
import type { PartitionLogOptions } from '../../src/log/partition/logOptions.ts'
import { memoryStorage } from '../../src/log/partition/memoryStorage.ts'
import { PartitionLog } from '../../src/log/partition/partitionLog.ts'
import { previewStorage } from '../../src/log/partition/previewStorage.ts'
import type { LogStorage } from '../../src/log/partition/storage.ts'
import { ProducerStateManager } from '../../src/producers/producerStateManager.ts'
import { type BatchOp, encodeOp } from '../producers/logBuilder.ts'
import { storedFiles } from '../support/storedFiles.ts'
import { SequenceMaker } from './logSequences.ts'
import { lastOnly, replayed } from './logStates.ts'

const PRODUCERS = 300

/** Segments alone, as after a crash that has taken all else: one batch of each producer, spread evenly. */
function written(segments: number, idOf: (producer: number) => number): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>()
  for (let segment = 0; segment < segments; segment++) {
    const from = Math.floor((segment * PRODUCERS) / segments)
    const to = Math.floor(((segment + 1) * PRODUCERS) / segments)
    const batches = Array.from({ length: to - from }, (_, at) =>
      encodeOp({ kind: 'data', pid: idOf(from + at), seq: 0 }, BigInt(from + at)),
    )
    files.set(logFileName(BigInt(from), '.log'), Buffer.concat(batches))
  }
  return files
}

/** Counts what is read and written, of snapshots and of all files. */
function counting(storage: LogStorage) {
  const counts = { snapshots: 0, bytes: 0 }
  const note = (name: string, length: number) => {
    counts.bytes += length
    if (name.endsWith('.snapshot')) counts.snapshots++
  }
  const counted: LogStorage = {
    ...storage,
    read(name) {
      const bytes = storage.read(name)
      if (bytes !== null) note(name, bytes.length)
      return bytes
    },
    write(name, bytes) {
      note(name, bytes.length)
      storage.write(name, bytes)
    },
    open(name) {
      const file = storage.open(name)
      return {
        get size() {
          return file.size
        },
        readInto(room, position) {
          const length = file.readInto(room, position)
          note(name, length)
          return length
        },
        append(bytes) {
          note(name, bytes.length)
          file.append(bytes)
        },
        truncate: (size) => file.truncate(size),
        flush: () => file.flush(),
      }
    },
  }
  return { counted, counts }
}

const KINDS: [string, (producer: number) => number][] = [
  ['mapped', (producer) => -producer - 2],
  ['local', (producer) => producer],
  ['mixed', (producer) => (producer % 2 === 0 ? producer : -producer - 2)],
]

describe('opening a log of many producers', () => {
  function cost(
    segments: number,
    idOf: (producer: number) => number,
    wrap: (below: LogStorage) => LogStorage,
  ) {
    const { counted, counts } = counting(memoryStorage(written(segments, idOf)))
    const log = PartitionLog.open(wrap(counted))
    expect(log.producerState.producers.size).toBe(PRODUCERS)
    expect(lastOnly(log.producerState)).toEqual(lastOnly(replayed(log)))
    return counts
  }

  it.each(KINDS)('does not read the snapshots that it has written, segment by segment: %s ids', (_, idOf) => {
    const files = memoryStorage(written(60, idOf))
    const { counted } = counting(files)
    let read = 0
    PartitionLog.open({
      ...counted,
      read(name) {
        if (name.endsWith('.snapshot')) read++
        return counted.read(name)
      },
    })
    expect(read).toBeLessThanOrEqual(1)
  })

  it.each(KINDS)('costs what the batches cost, in how many segments they are: preview, %s ids', (_, idOf) => {
    const few = cost(6, idOf, previewStorage)
    const many = cost(60, idOf, previewStorage)
    expect([few.snapshots, many.snapshots]).toEqual([0, 0])
    expect(many.bytes).toBeLessThan(2 * few.bytes)
  })

  it('costs no snapshots of mapped ids', () => {
    expect(
      cost(
        60,
        (producer) => -producer - 2,
        (below) => below,
      ).snapshots,
    ).toBe(0)
  })
})

it('a preview of an unclean start has the state that the start itself comes to', () => {
  for (let seed = 0; seed < 120; seed++) {
    const maker = new SequenceMaker(9000 + seed, { isMirrored: seed % 2 === 0 })
    for (let step = 0; step < 30; step++) maker.step()
    const { settings } = maker
    const { log, storage } = maker.run
    const logStartOffset = log.logStartOffset
    const options: PartitionLogOptions = { ...settings, logStartOffset }
    const files = [...storedFiles(storage)]
    const shown = PartitionLog.open(previewStorage(memoryStorage(files)), options)
    const copy = memoryStorage(files)
    const recovered = PartitionLog.open(copy, options)
    expect(stateOf(shown), `seed ${seed}`).toEqual(stateOf(recovered))
    expect(storedFiles(memoryStorage(files))).toEqual(new Map([...files].sort()))
  }
})

/** Windows too; where the last markers lie a snapshot tells no more exactly than its own offset. */
function stateOf({ producerState, segments, abortedTransactions, leaderEpochs }: PartitionLog) {
  const { producers, ...state } = producerState.toState()
  const sorted = producers.sort((a, b) => (a.producerId < b.producerId ? -1 : 1))
  return { ...state, producers: sorted, segments, abortedTransactions, leaderEpochs }
}

describe('a producer state with mapped ids stands in no file that a broker loads', () => {
  const op = (pid: number, seq: number, kind: BatchOp['kind'] = 'data'): BatchOp => ({ kind, pid, seq })
  const snapshots = (storage: LogStorage) => storage.list().filter((name) => name.endsWith('.snapshot'))
  const follow = (log: PartitionLog, ...ops: BatchOp[]) => {
    for (const each of ops) log.append(encodeOp(each, log.logEndOffset), 'replication')
  }

  it('neither by a roll nor by a clean end; it is replayed, and written again behind a barrier', () => {
    const storage = memoryStorage()
    const log = PartitionLog.open(storage)
    follow(log, op(5, 0))
    log.roll()
    expect(snapshots(storage)).toEqual(['00000000000000000001.snapshot'])
    follow(log, op(-7, 0, 'txn'), op(5, 1))
    log.roll()
    follow(log, op(-7, 1, 'txn'))
    const expected = lastOnly(log.producerState)
    log.close()
    expect(snapshots(storage)).toEqual(['00000000000000000001.snapshot'])
    for (const shutdown of ['clean', 'unclean'] as const) {
      const copy = memoryStorage(storedFiles(storage))
      const again = PartitionLog.open(copy, { shutdown })
      expect(lastOnly(again.producerState)).toEqual(expected)
      expect(again.producerState.holdsMirrored).toBe(true)
      // recovery cannot know that it has begun without them
      expect(snapshots(copy)).toEqual(['00000000000000000001.snapshot'])
      follow(again, { kind: 'barrier' })
      expect(again.producerState.holdsMirrored).toBe(false)
      again.close()
      expect(snapshots(copy)).toEqual(['00000000000000000001.snapshot', '00000000000000000005.snapshot'])
    }
  })

  it('nor where files of earlier versions hold it: they are believed, and removed', () => {
    const storage = memoryStorage()
    const log = PartitionLog.open(storage)
    follow(log, op(5, 0))
    log.roll()
    follow(log, op(-7, 0, 'txn'))
    const dirty = log.producerState.takeSnapshot()
    log.roll()
    follow(log, op(-8, 0))
    log.close()
    storage.write('00000000000000000002.snapshot', dirty)
    storage.write('00000000000000000003.snapshot', log.producerState.takeSnapshot())
    const again = PartitionLog.open(storage, { shutdown: 'clean' })
    expect(lastOnly(again.producerState)).toEqual(lastOnly(log.producerState))
    expect(snapshots(storage)).toEqual(['00000000000000000001.snapshot'])
    again.close()
    expect(snapshots(storage)).toEqual(['00000000000000000001.snapshot'])
    expect(lastOnly(PartitionLog.open(storage, { shutdown: 'clean' }).producerState)).toEqual(
      lastOnly(log.producerState),
    )
  })

  it('in no file of random logs, whatever was done to them', () => {
    let written = 0
    for (let seed = 0; seed < 60; seed++) {
      const { storage } = mirroredRun(seed).run
      for (const name of snapshots(storage)) {
        const state = loaded(storage.read(name)!)
        expect(state?.holdsMirrored ?? false, `seed ${seed}`).toBe(false)
        if (state !== null && state.producers.size > 0) written++
      }
    }
    expect(written).toBeGreaterThan(20)
  })

  /** A damaged one is loaded by nobody. */
  function loaded(bytes: Uint8Array): ProducerStateManager | null {
    try {
      return ProducerStateManager.fromSnapshot(bytes)
    } catch {
      return null
    }
  }

  function mirroredRun(seed: number): SequenceMaker {
    const maker = new SequenceMaker(seed, { isMirrored: true })
    for (let step = 0; step < 40; step++) maker.step()
    maker.run.log.close()
    return maker
  }
})
