import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { recordBatches } from '../../src/formats/recordBatches.ts'
import {
  CorruptCheckpointError,
  OffsetOutOfRangeError,
  UnexpectedAppendOffsetError,
} from '../../src/log/partition/logErrors.ts'
import { memoryStorage } from '../../src/log/partition/memoryStorage.ts'
import { PartitionLog } from '../../src/log/partition/partitionLog.ts'
import type { LogStorage } from '../../src/log/partition/storage.ts'
import { openPartitionDirectory } from '../../src/node/partition/partitionDirectory.ts'
import { rewritePaths } from '../../src/node/rewrite/rewritePaths.ts'
import { directoryStorage } from '../../src/node/storage/directoryStorage.ts'
import { ProducerStateManager } from '../../src/producers/producerStateManager.ts'
import { temporaryDirectories } from '../node/support.ts'
import { type BatchOp, encodeOp } from '../producers/logBuilder.ts'
import { random } from '../producers/sequences.ts'
import { storedFiles } from '../support/storedFiles.ts'
import { lastOnly } from './logStates.ts'

const FILE = 'log-start-offset-checkpoint'
const newDirectory = temporaryDirectories()
const text = (storage: LogStorage) => Buffer.from(storage.read(FILE) ?? []).toString()

/** Offsets 0 to 11 in four batches of three, each two in a segment; all replicated. */
function written(storage: LogStorage, kind: BatchOp['kind'] = 'data'): PartitionLog {
  const log = PartitionLog.open(storage)
  for (let batch = 0; batch < 4; batch++) {
    const op: BatchOp = { kind, pid: 5, seq: 3 * batch, count: 3 }
    log.append(encodeOp(op, log.logEndOffset), 'replication')
    if (batch === 1) log.roll()
  }
  log.updateHighWatermark(log.logEndOffset)
  return log
}

describe('the log start offset', () => {
  it.each([
    ['memory', () => memoryStorage()],
    ['a directory', () => directoryStorage(newDirectory())],
  ])('survives a reopen, clean or not, within a batch too: %s', (_, make) => {
    for (const offset of [1n, 3n, 5n, 6n, 7n, 11n, 12n]) {
      for (const isClosed of [true, false]) {
        const storage = make()
        const log = written(storage)
        expect(storage.list()).not.toContain(FILE)
        log.deleteRecordsBefore(offset)
        if (isClosed) log.close()
        const again = PartitionLog.open(storage, { shutdown: isClosed ? 'clean' : 'unclean' })
        expect([again.logStartOffset, again.logEndOffset], `${offset}`).toEqual([offset, 12n])
        expect(text(storage)).toBe(`0\n1\n${offset}\n`)
        const [batch] = recordBatches(again.read(offset).records)
        expect(batch?.baseOffset ?? 12n).toBe((offset / 3n) * 3n)
        expect(() => again.read(offset - 1n)).toThrow(OffsetOutOfRangeError)
        // a snapshot at the log start is not believed
        if (offset < 12n) expect(lastOnly(again.producerState)).toEqual(lastOnly(log.producerState))
      }
    }
  })

  it('is the larger one of its own and that of a checkpoint around it', () => {
    const storage = memoryStorage()
    written(storage).deleteRecordsBefore(7n)
    for (const [given, expected] of [
      [0n, 7n],
      [7n, 7n],
      [9n, 9n],
    ] as const) {
      const copy = memoryStorage(storedFiles(storage))
      expect(PartitionLog.open(copy, { logStartOffset: given }).logStartOffset).toBe(expected)
    }
  })

  it('goes down with a cut below it, and with a log that begins anew', () => {
    const storage = memoryStorage()
    const log = written(storage)
    log.deleteRecordsBefore(8n)
    log.truncateTo(7n)
    expect([log.logStartOffset, log.logEndOffset]).toEqual([7n, 7n])
    expect(PartitionLog.open(memoryStorage(storedFiles(storage))).logStartOffset).toBe(7n)
    for (const offset of [3n, 20n, 6n]) {
      log.truncateFullyAndStartAt(offset)
      const again = PartitionLog.open(memoryStorage(storedFiles(storage)))
      expect([again.logStartOffset, again.logEndOffset]).toEqual([offset, offset])
    }
  })

  it('is not raised above the high watermark, which stays where it is', () => {
    const log = written(memoryStorage())
    const other = PartitionLog.open(memoryStorage())
    other.append(log.read(0n).records, 'replication')
    for (const highWatermark of [0n, 4n]) {
      other.updateHighWatermark(highWatermark)
      for (const offset of [highWatermark + 1n, 6n, 7n]) {
        expect(() => other.deleteRecordsBefore(offset)).toThrow(OffsetOutOfRangeError)
        expect([other.logStartOffset, other.highWatermark]).toEqual([0n, highWatermark])
      }
    }
    other.deleteRecordsBefore(4n)
    expect([other.logStartOffset, other.highWatermark]).toEqual([4n, 4n])
  })

  it.each([
    '',
    '0\n',
    '0\n0\n',
    '1\n1\n7\n',
    '0\n2\n7\n',
    '0\n1\n-7\n',
    '0\n1\n7 8\n',
    '0\n1\nseven\n',
    '0\n1\n9223372036854775808\n',
    '\0\0\0\0\0',
  ])('that cannot be read is refused, never taken for none: %j', (content) => {
    const storage = memoryStorage()
    const log = written(storage)
    log.deleteRecordsBefore(7n)
    log.close()
    storage.write(FILE, Buffer.from(content))
    const before = storedFiles(storage)
    expect(() => PartitionLog.open(storage)).toThrow(CorruptCheckpointError)
    expect(() => PartitionLog.open(storage)).toThrow(FILE)
    expect(storedFiles(storage)).toEqual(before)
  })

  it('is read with the line ends of Windows, as Kafka reads its own', () => {
    const storage = memoryStorage([[FILE, Buffer.from('0\r\n1\r\n7\r\n')]])
    expect(PartitionLog.open(storage).logStartOffset).toBe(7n)
  })

  it('goes with a rewritten copy of the partition', async () => {
    const partition = join(newDirectory(), 'orders-0')
    mkdirSync(partition)
    const log = written(directoryStorage(partition))
    log.deleteRecordsBefore(7n)
    log.close()
    const out = newDirectory()
    await rewritePaths([partition], { outDirectory: out })
    expect(readFileSync(join(out, 'orders-0', FILE), 'utf8')).toBe('0\n1\n7\n')
    expect(openPartitionDirectory(join(out, 'orders-0')).logStartOffset).toBe(7n)
  })
})

interface Stored {
  bytes: Uint8Array
  base: bigint
  next: bigint
}

/** What a log must hold, as plain as can be: batches, and where it starts and ends. */
class Model {
  stored: Stored[] = []
  start = 0n
  end = 0n

  /** Whether a batch may come. */
  takes(base: bigint, next: bigint): boolean {
    if (base >= this.end) return true
    if (next <= this.end) return false
    return this.start === this.end || base >= (this.stored.at(-1)?.next ?? 0n)
  }

  append(batch: Stored): void {
    // an empty log begins with the batch
    if (batch.base < this.end && this.start === this.end) this.stored = []
    this.stored.push(batch)
    this.end = batch.next
  }

  truncate(offset: bigint): void {
    if (offset >= this.end) return
    this.stored = this.stored.filter(({ next }) => next <= offset)
    this.end = offset
    if (offset < this.start) this.start = offset
  }

  /** The bytes do not say where a log ended that was cut within a batch. */
  reopen(end: bigint): void {
    const last = this.stored.at(-1)?.next ?? this.start
    expect(end >= last && end <= this.end).toBe(true)
    this.end = end
    if (this.end < this.start) this.end = this.start
  }

  get visible(): Stored[] {
    return this.stored.filter(({ next }) => next > this.start)
  }
}

describe('a log that begins and goes on in the midst of batches', () => {
  /** The source's batches, of a few records each, in transactions of two producers. */
  function sourceOf(next: () => number) {
    const batches: Stored[] = []
    let offset = BigInt(Math.floor(next() * 5))
    const sequences = [0, 0]
    const open = [false, false]
    while (batches.length < 40) {
      const pid = Math.floor(next() * 2)
      const ends = open[pid] && next() < 0.4
      const count = ends ? 1 : 1 + Math.floor(next() * 6)
      const kind = ends ? (next() < 0.5 ? 'ABORT' : 'COMMIT') : 'txn'
      const bytes = encodeOp({ kind, pid, seq: sequences[pid]!, count }, offset)
      open[pid] = !ends
      if (!ends) sequences[pid]! += count
      batches.push({ bytes, base: offset, next: offset + BigInt(count) })
      offset += BigInt(count)
      // compaction has been at work
      if (next() < 0.1) offset += BigInt(1 + Math.floor(next() * 3))
    }
    return batches
  }

  it.each(['replication', 'mirror'] as const)('as the plain model of it: origin %s', (origin) => {
    let midst = 0
    for (let seed = 0; seed < 80; seed++) {
      const next = random(4000 + seed)
      const below = (n: number) => Math.floor(next() * n)
      const source = sourceOf(next)
      const options = { segmentBytes: 400, indexIntervalBytes: 100 }
      const storage = memoryStorage()
      let log = PartitionLog.open(storage, options)
      const model = new Model()
      for (let step = 0; step < 40; step++) {
        const name = `seed ${seed}, step ${step}`
        const dice = next()
        if (dice < 0.55) {
          // what a leader hands out from there on: the first batch may begin below
          const from = source.findIndex((batch) => batch.next > log.logEndOffset)
          const fetched = from < 0 ? [] : source.slice(from, from + 1 + below(3))
          const bytes = Buffer.concat(fetched.map((batch) => batch.bytes))
          const fits = fetched[0] === undefined || model.takes(fetched[0].base, fetched[0].next)
          if (fits) {
            if (fetched[0] !== undefined && fetched[0].base < model.end) midst++
            log.append(bytes, origin)
            for (const batch of fetched) model.append(batch)
          } else {
            const before = storedFiles(storage)
            expect(() => log.append(bytes, origin), name).toThrow(UnexpectedAppendOffsetError)
            expect(storedFiles(storage), name).toEqual(before)
          }
        } else if (dice < 0.7) {
          const offset = BigInt(Math.max(0, Number(log.logEndOffset) - below(8)))
          log.truncateTo(offset)
          model.truncate(offset)
        } else if (dice < 0.75) {
          const offset = BigInt(below(Number(log.logEndOffset) + 10))
          log.truncateFullyAndStartAt(offset)
          model.stored = []
          model.start = model.end = offset
        } else if (dice < 0.83) {
          log.updateHighWatermark(log.logEndOffset)
          const offset = log.logStartOffset + BigInt(below(Number(log.logEndOffset - log.logStartOffset) + 1))
          log.deleteRecordsBefore(offset)
          model.start = offset
        } else if (dice < 0.88) log.roll()
        else {
          const isClean = next() < 0.5
          if (isClean) log.close()
          log = PartitionLog.open(storage, { ...options, shutdown: isClean ? 'clean' : 'unclean' })
          model.reopen(log.logEndOffset)
        }
        expect([log.logStartOffset, log.logEndOffset], name).toEqual([model.start, model.end])
        expectContent(log, model, name)
      }
      log.close()
      const again = PartitionLog.open(memoryStorage(storedFiles(storage)), options)
      model.reopen(again.logEndOffset)
      expectContent(again, model, `seed ${seed}, the end`)
    }
    expect(midst).toBeGreaterThan(50)
  })

  /** Reads from every offset; the state and the aborted transactions are those of the bytes. */
  function expectContent(log: PartitionLog, { stored, visible, start, end }: Model, name: string): void {
    for (let offset = start; offset < end; offset++) {
      const expected = visible.find((batch) => batch.next > offset)
      const [first] = recordBatches(log.read(offset, { maxBytes: 0 }).records)
      expect(first?.baseOffset, `${name}, offset ${offset}`).toBe(expected?.base)
    }
    // of what lies below the start, it may know more than what is left of the bytes, and less than was written
    const [least, most] = [visible, stored].map((batches) => transactionsOf(stateOf(batches)))
    const known = transactionsOf(log)
    expect(known, name).toEqual(expect.arrayContaining(least!))
    expect(most, name).toEqual(expect.arrayContaining(known))
  }

  function stateOf(batches: readonly Stored[]): ProducerStateManager {
    const state = new ProducerStateManager()
    for (const { bytes } of batches) state.replay(bytes)
    return state
  }

  /** Open and aborted ones, by what ends or goes on in the log. */
  function transactionsOf(of: PartitionLog | ProducerStateManager): string[] {
    const state = of instanceof PartitionLog ? of.producerState : of
    return [
      ...state.ongoingTransactions.map(({ producerId }) => `${producerId} is open`),
      ...of.abortedTransactions.map(({ producerId, lastOffset }) => `${producerId} aborted at ${lastOffset}`),
    ]
  }
})
