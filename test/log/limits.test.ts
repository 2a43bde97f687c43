import { describe, expect, it } from 'vitest'
import {
  encodeRecordBatch,
  InvalidArgumentError,
  memoryStorage,
  PartitionLog,
  recordBatches,
} from '../../src/index.ts'
import { decodeLeaderEpochs, LeaderEpochs } from '../../src/log/partition/leaderEpochs.ts'
import { CorruptCheckpointError } from '../../src/log/partition/logErrors.ts'
import { storedFiles } from '../support/storedFiles.ts'

const MAX = 2n ** 63n - 1n
const of = (count: number, baseOffset = 0n) =>
  encodeRecordBatch({
    baseOffset,
    partitionLeaderEpoch: 0,
    records: Array.from({ length: count }, () => ({ value: null })),
  })

describe('leader epochs', () => {
  const wrong = [Number.NaN, undefined, null, 1.5, 5n, -1, 2 ** 31, Number.POSITIVE_INFINITY, '3', {}]

  it.each(wrong.map((epoch) => [epoch]))(
    '%s is refused wherever one is given, and nothing changes',
    (epoch) => {
      const storage = memoryStorage()
      const log = PartitionLog.open(storage)
      const before = storedFiles(storage)
      const given = epoch as number
      expect(() => log.beginLeaderEpoch(given)).toThrow(InvalidArgumentError)
      expect(() => new LeaderEpochs(storage).assign(given, 0n)).toThrow(InvalidArgumentError)
      if (epoch !== undefined) {
        for (const origin of ['client', 'replication', 'mirror'] as const) {
          expect(() => log.append(of(1), origin, { leaderEpoch: given })).toThrow(InvalidArgumentError)
        }
      }
      expect(storedFiles(storage)).toEqual(before)
      expect(log.append(of(1), 'client').firstOffset).toBe(0n)
    },
  )

  it.each([0, 1, 2 ** 31 - 1])('%s is taken', (epoch) => {
    const log = PartitionLog.open(memoryStorage())
    log.beginLeaderEpoch(epoch)
    log.append(of(1), 'client')
    expect(log.leaderEpochs).toEqual([{ epoch, startOffset: 0n }])
  })

  it.each(['2147483648 0', '4294967296 0', '9999999999 0', `0 ${MAX + 1n}`, '0 9999999999999999999'])(
    'a checkpoint with "%s" is damaged',
    (line) => {
      expect(() => decodeLeaderEpochs(`0\n1\n${line}\n`)).toThrow(CorruptCheckpointError)
      const storage = memoryStorage([
        ['leader-epoch-checkpoint', new TextEncoder().encode(`0\n1\n${line}\n`)],
      ])
      expect(() => PartitionLog.open(storage)).toThrow(CorruptCheckpointError)
    },
  )

  it.each([
    ['0 0', '1 5', '2 5'],
    ['0 0', '1 5', '2 3'],
    ['5 0', '4 10'],
    ['3 7', '3 9'],
    ['3 7', '3 5'],
  ])('of lines that contradict each other, the later counts, as in a broker: %s, %s', (...lines) => {
    const decoded = decodeLeaderEpochs(`0\n${lines.length}\n${lines.join('\n')}\n`)
    const known = new LeaderEpochs(memoryStorage())
    for (const line of lines) known.assign(Number(line.split(' ')[0]), BigInt(line.split(' ')[1]!))
    expect(decoded).toEqual(known.entries)
    for (const [at, { epoch, startOffset }] of decoded.slice(1).entries()) {
      expect(epoch > decoded[at]!.epoch && startOffset > decoded[at]!.startOffset).toBe(true)
    }
  })
})

describe('the last offsets that there are', () => {
  const logAt = (offset: bigint) => {
    const storage = memoryStorage()
    const log = PartitionLog.open(storage)
    log.truncateFullyAndStartAt(offset)
    return { log, storage }
  }

  it.each(['client', 'coordinator', 'replication', 'mirror'] as const)(
    'are filled, never passed (%s)',
    (origin) => {
      const { log, storage } = logAt(MAX - 2n)
      const before = storedFiles(storage)
      const base = () => log.logEndOffset
      const batch = (count: number) =>
        of(count, origin === 'client' || origin === 'coordinator' ? 0n : base())
      expect(() => log.append(batch(3), origin)).toThrow(expect.objectContaining({ code: 'INVALID_RECORD' }))
      expect(storedFiles(storage)).toEqual(before)
      log.append(batch(2), origin)
      expect(log.logEndOffset).toBe(MAX)
      expect(() => log.append(batch(1), origin)).toThrow(expect.objectContaining({ code: 'INVALID_RECORD' }))
      log.close()
      const again = PartitionLog.open(storage)
      expect([again.logStartOffset, again.logEndOffset]).toEqual([MAX - 2n, MAX])
      expect([...recordBatches(again.read(MAX - 2n).records)]).toHaveLength(1)
    },
  )

  it('a log may begin and end at the last of all, and holds nothing', () => {
    const { log, storage } = logAt(MAX)
    expect(() => log.append(of(1), 'client')).toThrow(expect.objectContaining({ code: 'INVALID_RECORD' }))
    log.roll()
    log.close()
    expect(PartitionLog.open(storage).logEndOffset).toBe(MAX)
    expect(() => log.truncateFullyAndStartAt(MAX + 1n)).toThrow()
  })

  it.each([MAX + 1n, -1n, 5, Number.NaN, undefined])('%s is no offset', (offset) => {
    const { log } = logAt(0n)
    expect(() => log.truncateFullyAndStartAt(offset as bigint)).toThrow(InvalidArgumentError)
    expect(() => log.truncateTo(offset as bigint)).toThrow(InvalidArgumentError)
    expect(() => log.read(offset as bigint)).toThrow(InvalidArgumentError)
  })

  it('a batch on disk that goes beyond them is refused, not cut', () => {
    // the base offset is not covered by the CRC
    const batch = of(3)
    new DataView(batch.buffer, batch.byteOffset).setBigInt64(0, MAX - 1n)
    const storage = memoryStorage([[`0${MAX - 1n}.log`, batch]])
    const before = storedFiles(storage).get(`0${MAX - 1n}.log`)
    expect(() => PartitionLog.open(storage)).toThrow(expect.objectContaining({ code: 'INVALID_RECORD' }))
    expect(storedFiles(storage).get(`0${MAX - 1n}.log`)).toEqual(before)
  })
})

describe('opening', () => {
  it.each([
    [undefined, {}],
    [null, {}],
    [{}, {}],
    ['/kafka/orders-0', {}],
    [memoryStorage(), null],
    [memoryStorage(), 'clean'],
    [memoryStorage(), { shutdown: 'weird' }],
    [memoryStorage(), { shutdown: 1 }],
    [memoryStorage(), { recoveryPoint: 5 }],
  ])('refuses a wrong argument with a typed error (%#)', (storage, options) => {
    expect(() => PartitionLog.open(storage as never, options as never)).toThrow(InvalidArgumentError)
  })
})
