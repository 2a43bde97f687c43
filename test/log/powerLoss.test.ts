import { describe, expect, it } from 'vitest'
import { recordBatches } from '../../src/formats/recordBatches.ts'
import { memoryStorage } from '../../src/log/partition/memoryStorage.ts'
import { maxOffset } from '../../src/log/partition/offsets.ts'
import { PartitionLog } from '../../src/log/partition/partitionLog.ts'
import type { LogStorage } from '../../src/log/partition/storage.ts'
import { encodeOp } from '../producers/logBuilder.ts'
import { powerLosses } from '../support/forgetfulDisk.ts'
import { type Left, powerCuts } from '../support/forgetfulStorage.ts'
import { storedFiles } from '../support/storedFiles.ts'
import type { LogStep } from './logRun.ts'
import { SequenceMaker } from './logSequences.ts'
import { allRecords, lastOnly, replayed } from './logStates.ts'

// A log on a disk that forgets what was not synced, and the power fails behind each call in turn. What was flushed is there
// then, what was cut and flushed is not, and the log is one that it has been since: never with a hole, never of two times.
// More, and again:
//   MIRRORPID_LOSSES=200 MIRRORPID_LOSS_SEED=1 npx vitest run --project unit test/log/powerLoss.test.ts

const RUNS = Number(process.env.MIRRORPID_LOSSES ?? 12)
const SEED = Number(process.env.MIRRORPID_LOSS_SEED ?? 1)
const STEPS = 25

interface Batch {
  baseOffset: bigint
  lastOffset: bigint
  hex: string
}

/** What a log was at some moment. */
interface Content {
  start: bigint
  end: bigint
  batches: Batch[]
}

/** At a moment: how many steps were done, and up to which all was flushed. */
interface Known {
  done: number
  flushed: number
}

function contentOf(log: PartitionLog): Content {
  const batches = [...recordBatches(allRecords(log))].map(({ baseOffset, lastOffset, bytes }) => ({
    baseOffset,
    lastOffset,
    hex: Buffer.from(bytes).toString('hex'),
  }))
  return { start: log.logStartOffset, end: log.logEndOffset, batches }
}

const from = (start: bigint, { batches }: Content) =>
  batches.filter(({ lastOffset }) => lastOffset >= start).map(({ hex }) => hex)
const isPrefix = (found: readonly string[], whole: readonly string[]) =>
  found.every((hex, at) => hex === whole[at])

/** How many batches all of them begin with. */
function shared(contents: readonly string[][]): number {
  const least = Math.min(...contents.map(({ length }) => length))
  for (let at = 0; at < least; at++) if (contents.some((hex) => hex[at] !== contents[0]![at])) return at
  return least
}

function check({ files, known, where }: Left<Known>, contents: readonly Content[], options: object): void {
  const storage = memoryStorage(files)
  let log: PartitionLog
  try {
    log = PartitionLog.open(storage, options)
  } catch (error) {
    throw new Error(`${where}: the log cannot be opened again`, { cause: error })
  }
  const found = contentOf(log)
  const possible = contents.slice(known.flushed, known.done + 2)
  expect(
    possible.map(({ start }) => start),
    `${where}: log start`,
  ).toContain(found.start)
  // a new log start may be lost, and what was appended since be kept
  const isExplained = possible.some((content) => {
    const start = maxOffset(found.start, content.start)
    return content.start <= found.end && isPrefix(from(start, found), from(start, content))
  })
  expect(
    isExplained,
    `${where}: ${describeOf(found)} is no part of what the log was:\n${possible.map(describeOf).join('\n')}`,
  ).toBe(true)
  const start = [found, ...possible].map((content) => content.start).reduce(maxOffset)
  const least = shared(possible.map((content) => from(start, content)))
  expect(from(start, found).length, `${where}: flushed records are lost`).toBeGreaterThanOrEqual(least)
  if (found.start === 0n) {
    expect(lastOnly(log.producerState), `${where}: producer state`).toEqual(lastOnly(replayed(log)))
  }
  // it goes on, and ends cleanly
  log.append(encodeOp({ kind: 'data', pid: 99, seq: 0 }, log.logEndOffset), 'replication')
  const grown = contentOf(log)
  log.close()
  expect(contentOf(PartitionLog.open(storage, { ...options, shutdown: 'clean' })), where).toEqual(grown)
}

const describeOf = ({ start, end, batches }: Content) =>
  `from ${start} to ${end}: ${batches.map(({ baseOffset, lastOffset, hex }) => `${baseOffset}..${lastOffset} (${hex.slice(34, 42)})`).join(', ')}`

function next(maker: SequenceMaker): LogStep {
  const dice = maker.below(100)
  if (dice < 35) return maker.lead()
  if (dice < 55) return maker.follow()
  if (dice < 62) return { op: 'roll' }
  if (dice < 74) return { op: 'truncate', offset: maker.truncation() }
  if (dice < 90) return { op: 'flush' }
  if (dice < 93) return { op: 'highWatermark', offset: maker.end }
  return { op: 'close', damage: [], logStartOffset: maker.start, recoveryPoint: 0, clean: maker.chance(0.5) }
}

/** Runs a random sequence of steps; at each call the power may fail. */
function sequence(seed: number) {
  const contents: Content[] = []
  const known: Known = { done: 0, flushed: 0 }
  let maker: SequenceMaker | null = null
  const run = (storage: LogStorage) => {
    contents.push({ start: 0n, end: 0n, batches: [] })
    maker = new SequenceMaker(seed, { isMirrored: true }, storage)
    for (let step = 0; step < STEPS; step++) {
      const todo = next(maker)
      maker.take(todo)
      contents.push(contentOf(maker.run.log))
      known.done++
      if (todo.op === 'flush' || todo.op === 'close') known.flushed = known.done
    }
  }
  const { left, calls } = powerCuts(
    [],
    () => powerLosses(4, seed),
    run,
    () => ({ ...known }),
  )
  const { segmentBytes, indexIntervalBytes, maxIndexBytes, segmentMs } = maker!.settings
  return { left, calls, contents, options: { segmentBytes, indexIntervalBytes, maxIndexBytes, segmentMs } }
}

describe('a log whose disk forgets', () => {
  it.each(Array.from({ length: RUNS }, (_, index) => SEED * 1000 + index))('sequence %i', (seed) => {
    const { left, contents, options } = sequence(seed)
    expect(left.length).toBeGreaterThan(STEPS)
    for (const each of left) check(each, contents, options)
  })
})

describe('leader epochs on such a disk, where the recovery point says that nothing is to be recovered', () => {
  const options = { segmentBytes: 200, recoveryPoint: 10n }
  const epochsOf = (entries: Iterable<{ partitionLeaderEpoch: number }>) => [
    ...new Set(Array.from(entries, ({ partitionLeaderEpoch }) => partitionLeaderEpoch)),
  ]

  it.each<[string, (log: PartitionLog) => void]>([
    ['a cut', (log) => log.truncateTo(3n)],
    ['a cut of all', (log) => log.truncateFullyAndStartAt(0n)],
    ['a new beginning above', (log) => log.truncateFullyAndStartAt(20n)],
    ['records that are deleted', (log) => log.deleteRecordsBefore(7n)],
  ])('%s: the log knows those of all its batches', (_, change) => {
    const storage = memoryStorage()
    const whole = PartitionLog.open(storage, options)
    for (let offset = 0n; offset < 10n; offset++) {
      const batch = encodeOp({ kind: 'data', pid: 7, seq: Number(offset) }, offset)
      whole.append(batch, 'mirror', { leaderEpoch: Number(offset) })
    }
    expect(whole.segments.length).toBeGreaterThan(3)
    whole.close()
    const { left } = powerCuts(
      storedFiles(storage),
      (call) => powerLosses(8, SEED * 1000 + call),
      (disk) => {
        const log = PartitionLog.open(disk, options)
        log.updateHighWatermark(10n)
        change(log)
        log.flush()
      },
      () => null,
    )
    for (const { files, where } of left) {
      const log = PartitionLog.open(memoryStorage(files), options)
      const held = epochsOf(recordBatches(allRecords(log)))
      expect(
        log.leaderEpochs.map(({ epoch }) => epoch),
        where,
      ).toEqual(expect.arrayContaining(held))
    }
  })
})

describe('an opening that has something to do, on such a disk', () => {
  const options = { segmentBytes: 200, indexIntervalBytes: 50 }
  const name = (offset: bigint, suffix: string) => `${`${offset}`.padStart(20, '0')}${suffix}`
  const batches = (...offsets: bigint[]) =>
    Buffer.concat(offsets.map((offset) => encodeOp({ kind: 'data', pid: 7, seq: Number(offset) }, offset)))
  /** Segments at 0, 2, 4 ... of two batches each. */
  const whole = () => {
    const storage = memoryStorage()
    const log = PartitionLog.open(storage, options)
    for (let offset = 0n; offset < 10n; offset++) log.append(batches(offset), 'replication')
    log.close()
    return storedFiles(storage)
  }
  const flipped = (bytes: Uint8Array) => bytes.map((byte, at) => (at === bytes.length - 1 ? byte ^ 1 : byte))

  it.each<[string, (files: Map<string, Uint8Array>) => unknown, bigint[]]>([
    [
      'damage, with segments behind it',
      (files) => void files.set(name(4n, '.log'), flipped(files.get(name(4n, '.log'))!)),
      [0n, 1n, 2n, 3n, 4n],
    ],
    [
      'offsets that go back, with segments behind them',
      (files) => void files.set(name(4n, '.log'), batches(4n, 5n, 4n)),
      [0n, 1n, 2n, 3n],
    ],
    [
      'lost indexes',
      (files) => void files.delete(name(4n, '.index')),
      [0n, 1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n, 9n],
    ],
    ['a log start above the end', () => ({ logStartOffset: 20n }), []],
    [
      'segments that were compacted into one',
      (files) => void files.set(name(2n, '.log.swap'), batches(2n, 5n, 7n)),
      [0n, 1n, 2n, 5n, 7n, 8n, 9n],
    ],
    [
      'a segment that was being split',
      (files) => {
        files.set(name(2n, '.log'), batches(2n, 3n, 4n, 5n))
        for (const suffix of ['.log', '.index', '.timeindex']) files.delete(name(4n, suffix))
        files.set(name(4n, '.log.swap'), batches(4n))
        files.set(name(2n, '.log.cleaned'), batches(2n))
      },
      [0n, 1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n, 9n],
    ],
  ])('%s: opened again, it ends as it would have', (_, change, offsets) => {
    const files = whole()
    const more = { ...options, ...(change(files) as object | undefined) }
    const done = PartitionLog.open(memoryStorage(files), more)
    const contents = [contentOf(done)]
    expect(contents[0]!.batches.map(({ baseOffset }) => baseOffset)).toEqual(offsets)
    const { left } = powerCuts(
      files,
      (call) => powerLosses(8, SEED * 1000 + call),
      (storage) => void PartitionLog.open(storage, more),
      () => ({ done: 0, flushed: 0 }),
    )
    for (const each of left) {
      const again = PartitionLog.open(memoryStorage(each.files), more)
      expect([again.segments, contentOf(again)], each.where).toEqual([done.segments, contents[0]])
      check(each, contents, more)
    }
  })
})
