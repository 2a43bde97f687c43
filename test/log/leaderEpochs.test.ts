import { describe, expect, it } from 'vitest'
import { decodeLeaderEpochs, encodeLeaderEpochs, LeaderEpochs } from '../../src/log/partition/leaderEpochs.ts'
import { CorruptCheckpointError } from '../../src/log/partition/logErrors.ts'
import { memoryStorage } from '../../src/log/partition/memoryStorage.ts'

const text = (value: string) => new TextEncoder().encode(value)
const NAME = 'leader-epoch-checkpoint'

describe('leader-epoch-checkpoint', () => {
  it('is read as it is written', () => {
    const entries = [
      { epoch: 0, startOffset: 0n },
      { epoch: 2147483647, startOffset: 2n ** 63n - 1n },
    ]
    expect(encodeLeaderEpochs(entries)).toBe('0\n2\n0 0\n2147483647 9223372036854775807\n')
    expect(decodeLeaderEpochs(encodeLeaderEpochs(entries))).toEqual(entries)
  })

  it.each(['0\n0\n', '0\r\n0', '+00\r0\r'])('holds nothing as %j', (content) => {
    expect(decodeLeaderEpochs(content)).toEqual([])
  })

  it.each(['0\r\n1\r\n5 100\r\n', '0\r1\n5\t 100 \r', '-0\n+1\n05 +0100'])('is read as %j', (content) => {
    expect(decodeLeaderEpochs(content)).toEqual([{ epoch: 5, startOffset: 100n }])
  })

  it.each([
    '',
    '0',
    '0\n',
    '\0\0\0\0',
    '\ufeff0\n0\n',
    '0 \n0\n',
    '0\n1\n\n0 0\n',
    '0\n1\n0 0\n\n',
    '0\n1\n0\u00a00\n',
    '0\n1\n\u0660 0\n',
    '1\n0\n',
    '0\n2\n0 0\n',
    '0\n1\n0\n',
    '0\n1\n-1 0\n',
    '0\n1\n0 x\n',
    'x\n1\n0 0\n',
    '0\n1\n0 0 0\n',
    '\0\0\0\n\0\n',
  ])('is damaged as %j', (content) => {
    expect(() => decodeLeaderEpochs(content)).toThrow(CorruptCheckpointError)
    const storage = memoryStorage([
      [NAME, text(content)],
      ['00000000000000000000.log', text('batches')],
    ])
    expect(() => new LeaderEpochs(storage)).toThrow(/leader-epoch-checkpoint, line \d: .*remove it/)
  })
})

describe('LeaderEpochs', () => {
  const of = (...entries: [number, bigint][]) => {
    const storage = memoryStorage()
    const epochs = new LeaderEpochs(storage)
    for (const [epoch, startOffset] of entries) epochs.assign(epoch, startOffset)
    return { epochs, stored: () => decodeLeaderEpochs(storage.read(NAME)!) }
  }
  const plain = (epochs: LeaderEpochs) => epochs.entries.map(({ epoch, startOffset }) => [epoch, startOffset])

  it('writes each change through', () => {
    const { epochs, stored } = of([1, 0n], [1, 5n], [4, 7n])
    expect(stored()).toEqual(epochs.entries)
    expect(plain(epochs)).toEqual([
      [1, 0n],
      [4, 7n],
    ])
    epochs.clear()
    expect(stored()).toEqual([])
    expect(epochs.latestEpoch).toBeNull()
  })

  it('drops what cannot stand beside a new entry', () => {
    expect(plain(of([1, 0n], [2, 5n], [3, 9n], [2, 7n]).epochs)).toEqual([
      [1, 0n],
      [2, 7n],
    ])
    expect(plain(of([1, 0n], [2, 5n], [3, 5n]).epochs)).toEqual([
      [1, 0n],
      [3, 5n],
    ])
  })

  it('knows where epochs end', () => {
    const { epochs } = of([2, 10n], [4, 20n])
    const end = (epoch: number) => epochs.endOffsetFor(epoch, 30n)
    expect([0, 2, 3, 4, 5].map(end)).toEqual([
      { epoch: 0, endOffset: 10n },
      { epoch: 2, endOffset: 20n },
      { epoch: 2, endOffset: 20n },
      { epoch: 4, endOffset: 30n },
      null,
    ])
    expect(of().epochs.endOffsetFor(0, 0n)).toBeNull()
  })

  it('follows both ends of the log', () => {
    const { epochs, stored } = of([1, 0n], [2, 10n], [3, 20n])
    epochs.truncateFromEnd(20n)
    epochs.truncateFromStart(15n)
    expect(plain(epochs)).toEqual([[2, 15n]])
    epochs.truncateFromStart(3n)
    expect(stored()).toEqual(epochs.entries)
    expect(plain(epochs)).toEqual([[2, 15n]])
  })

  it('takes no negative epoch', () => {
    expect(() => of([-1, 0n])).toThrow(/from 0 to/)
  })
})
