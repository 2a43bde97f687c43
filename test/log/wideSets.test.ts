import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { partsOf } from '../../src/log/partition/appendParts.ts'
import { memoryStorage } from '../../src/log/partition/memoryStorage.ts'
import { PartitionLog } from '../../src/log/partition/partitionLog.ts'
import type { LogStorage } from '../../src/log/partition/storage.ts'
import type { ProducerWarning } from '../../src/producers/managerOptions.ts'
import { type BatchOp, encodeOp, viewOf } from '../producers/logBuilder.ts'
import { storedFiles } from '../support/storedFiles.ts'
import { filesOf } from './logRun.ts'
import { abortedLines, allRecords, lastOnly, replayed } from './logStates.ts'

// A segment's indexes hold offsets of up to 2^31 - 1 above its base offset. A source that was compacted may hand out a set
// that spans more.

const MOST = 2n ** 31n - 1n
const MIRROR = { kind: 'txn', pid: -7 } as const

/** Batches with so much between the end of one and the begin of the next. */
function setOf(gaps: readonly bigint[], opOf: (at: number) => BatchOp, from = 0n): Uint8Array[] {
  let offset = from
  return gaps.map((gap, at) => {
    const bytes = encodeOp(opOf(at), offset + gap)
    offset = viewOf(bytes).nextOffset
    return bytes
  })
}

/** Each entry as (relative offset, position or timestamp); they must rise. */
function expectSoundIndexes(storage: LogStorage): void {
  for (const [name, bytes] of storedFiles(storage)) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    const size = { index: 8, timeindex: 12 }[name.split('.')[1]!]
    let last = -1
    for (let at = 0; size !== undefined && at < bytes.length; at += size) {
      const relative = view.getInt32(size === 8 ? at : at + 8)
      expect(relative, name).toBeGreaterThanOrEqual(size === 8 ? last + 1 : last)
      last = relative
    }
  }
}

const copyOf = (storage: LogStorage) => memoryStorage(storedFiles(storage))

describe('a set that spans more offsets than a segment can', () => {
  const gaps = fc.array(
    fc.oneof(
      { weight: 2, arbitrary: fc.constantFrom(0n, 1n, 9n) },
      fc.constantFrom(MOST - 3n, MOST - 2n, MOST - 1n, MOST, MOST + 1n, 3_000_000_000n, 2n ** 32n, 2n ** 40n),
    ),
    { minLength: 1, maxLength: 8 },
  )
  const op = (at: number): BatchOp => {
    const kind = (['txn', 'data', 'txn', 'ABORT', 'barrier', 'txn'] as const)[at % 6]!
    return { kind, pid: kind === 'data' ? 3 : -7, seq: at, count: 1 + (at % 3), bytes: 20 + 40 * (at % 4) }
  }

  it.each(['replication', 'mirror'] as const)(
    'is appended in parts that a log can be opened with again (%s)',
    (origin) => {
      fc.assert(
        fc.property(gaps, fc.constantFrom(0, 100, 4096), fc.nat(3), (between, indexIntervalBytes, before) => {
          const storage = memoryStorage()
          const options = { indexIntervalBytes, segmentBytes: 2000 }
          const log = PartitionLog.open(storage, options)
          for (let at = 0; at < before; at++) log.append(encodeOp({ kind: 'data' }), 'client')
          const written = Buffer.from(allRecords(log))
          const set = setOf(between, op, log.logEndOffset)
          const last = viewOf(set.at(-1)!)
          expect(log.append(Buffer.concat(set), origin)).toEqual({
            firstOffset: viewOf(set[0]!).baseOffset,
            lastOffset: last.lastOffset,
            batches: set.length,
            bytes: Buffer.concat(set).length,
            duplicate: null,
          })
          expect(log.logEndOffset).toBe(last.nextOffset)
          const records = Buffer.concat([written, ...set])
          expect(allRecords(log).equals(records)).toBe(true)
          expect(lastOnly(log.producerState)).toEqual(lastOnly(replayed(log)))
          expect(abortedLines(log)).toEqual(abortedLines(replayed(log)))
          const copies = [copyOf(storage)]
          log.close()
          copies.push(copyOf(storage))
          for (const copy of copies) {
            for (const shutdown of ['clean', 'unclean'] as const) {
              const again = PartitionLog.open(copyOf(copy), { ...options, shutdown })
              expect(again.logEndOffset).toBe(last.nextOffset)
              expect(allRecords(again).equals(records)).toBe(true)
              expect(lastOnly(again.producerState)).toEqual(lastOnly(log.producerState))
            }
            expectSoundIndexes(copy)
          }
        }),
        { numRuns: 150 },
      )
    },
  )

  it('gives the same files as its parts in turn, and is not parted without need', () => {
    const set = setOf([0n, 5n, MOST, 0n, MOST - 1n, 2n ** 40n], () => ({ ...MIRROR, bytes: 30 }))
    const together = memoryStorage()
    const one = PartitionLog.open(together)
    one.append(Buffer.concat(set), 'mirror')
    const apart = memoryStorage()
    const other = PartitionLog.open(apart)
    for (const part of [set.slice(0, 2), set.slice(2, 4), set.slice(4, 5), set.slice(5)]) {
      other.append(Buffer.concat(part), 'mirror')
    }
    one.close()
    other.close()
    expect(filesOf(together)).toEqual(filesOf(apart))
    expect(one.segments.map(({ baseOffset }) => baseOffset)).toEqual(
      [0, 2, 4, 5].map((at) => (at === 0 ? 0n : viewOf(set[at]!).baseOffset)),
    )
  })

  const plain: BatchOp = { kind: 'data', pid: -7, seq: 9 }
  const refused: [string, BatchOp[]][] = [
    ['first', [plain, MIRROR]],
    ['in the first part', [MIRROR, plain, MIRROR]],
    ['in the last', [MIRROR, { kind: 'barrier' }, MIRROR, plain]],
    ['as the last part', [MIRROR, { kind: 'data', pid: 8 }, plain]],
  ]

  it.each(refused)('is refused as a whole where one batch is refused: %s', (_name, ops) => {
    const storage = memoryStorage()
    const log = PartitionLog.open(storage, { segmentBytes: 400 })
    log.append(encodeOp({ ...MIRROR, bytes: 200 }), 'mirror')
    log.append(encodeOp({ kind: 'data', pid: 3 }, 1n), 'mirror')
    const { producerState } = log
    const before = [storedFiles(storage), producerState.toState(), log.logEndOffset, log.segments]
    // a gap before each batch, so that each is a part of its own; then one before the last alone
    for (const gap of [2n ** 31n, 0n]) {
      const gaps = ops.map((_, at) => (at === ops.length - 1 ? 2n ** 31n : gap))
      const set = Buffer.concat(setOf(gaps, (at) => ops[at]!, log.logEndOffset))
      for (const origin of ['mirror', 'replication'] as const) {
        expect(() => log.append(set, origin)).toThrow(expect.objectContaining({ code: 'INVALID_TXN_STATE' }))
        expect([storedFiles(storage), log.producerState.toState(), log.logEndOffset, log.segments]).toEqual(
          before,
        )
        expect(log.producerState).toBe(producerState)
      }
    }
    log.append(encodeOp(MIRROR, 2n), 'mirror')
    expect(log.logEndOffset).toBe(3n)
  })

  it('warns once of each batch', () => {
    const warnings: ProducerWarning[] = []
    const log = PartitionLog.open(memoryStorage(), { onWarning: (warning) => warnings.push(warning) })
    log.append(encodeOp({ ...MIRROR, epoch: 5 }), 'mirror')
    log.append(Buffer.concat(setOf([0n, MOST], () => ({ ...MIRROR, epoch: 4 }), 1n)), 'mirror')
    // the first takes the entry's epoch down
    expect(warnings).toMatchObject([{ kind: 'producer-epoch', offset: 1n, found: 4, current: 5 }])
  })

  it('is parted by its bytes too, before positions in a file pass an int32', () => {
    const batches = [2 ** 30, 2 ** 30, 10, 2 ** 31, 5].map((sizeInBytes, at) => ({
      baseOffset: BigInt(at),
      lastOffset: BigInt(at),
      sizeInBytes,
    }))
    // 4 GiB, but for the memory
    const length = batches.reduce((sum, { sizeInBytes }) => sum + sizeInBytes, 0)
    const bytes = { length, subarray: () => new Uint8Array(0) }
    const parts = partsOf({ bytes: bytes as never, batches: batches as never })
    expect(parts.map((part) => part.batches.map(({ sizeInBytes }) => sizeInBytes))).toEqual([
      [2 ** 30],
      [2 ** 30, 10],
      [2 ** 31],
      [5],
    ])
  })
})
