import { describe, expect, it } from 'vitest'
import { SourceProducers, type SourceRange, sourceOverlaps } from '../../../src/index.ts'
import { type BatchOp, data, logOf } from '../../producers/logBuilder.ts'
import { abort, barrier, commit, txn } from './support.ts'

function source(name: string, ops: readonly BatchOp[]): SourceProducers {
  const producers = new SourceProducers(name)
  for (const { bytes, magic } of logOf(ops).batches) {
    producers.framed(
      new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength),
      0,
      bytes.byteLength,
      magic,
    )
  }
  return producers
}

const overlaps = (logs: Record<string, readonly BatchOp[]>, maxFindings = 100) =>
  sourceOverlaps(
    Object.entries(logs).map(([name, ops]) => source(name, ops)),
    { partition: 'orders-0', maxFindings },
  )

const sides = (ranges: SourceRange[] | undefined) =>
  ranges?.map(({ source, producerId }) => `${source} ${producerId}`)

describe('producers of several sources that meet in one log', () => {
  it('two that have the same id; where the second begins among the batches of the first', () => {
    const A = [data(5, 0, { timestamp: 10 }), data(9, 0), data(5, 1, { timestamp: 30 })]
    const B = [data(7, 0), data(5, 0, { timestamp: 20, epoch: 1 }), data(5, 1, { timestamp: 90, epoch: 3 })]
    const { findings, count } = overlaps({ A, B })
    expect(count).toBe(1)
    expect(findings[0]).toMatchObject({
      kind: 'overlap',
      partition: 'orders-0',
      producerId: -7n,
      sourceProducerId: 5n,
      epoch: 1,
      offset: 1n,
      previousOffset: 0n,
    })
    expect(findings[0]?.message).toBe(
      'producer 5 of A (offsets 0 to 2, epoch 0) and producer 5 of B (offsets 1 to 2, epochs 1 to 3) become one -7 in a ' +
        'mirror of both, where by their timestamps the batch at offset 1 of B would fall among those of A: a broker fences ' +
        'the one of the lower epoch',
    )
    expect(findings[0]?.sources).toEqual([
      {
        source: 'A',
        producerId: 5n,
        firstEpoch: 0,
        lowestEpoch: 0,
        highestEpoch: 0,
        firstOffset: 0n,
        lastOffset: 2n,
        firstTimestamp: 10n,
        lastTimestamp: 30n,
        batches: 2,
      },
      expect.objectContaining({ source: 'B', lowestEpoch: 1, highestEpoch: 3, batches: 2 }),
    ])
  })

  it('one that is mapped already: A’s 5 and B’s -7; the earlier one comes first', () => {
    const { findings } = overlaps({ A: [data(5, 0, { timestamp: 50 })], B: [data(-7, 0, { timestamp: 20 })] })
    expect(sides(findings[0]?.sources)).toEqual(['B -7', 'A 5'])
    expect(findings[0]).toMatchObject({ producerId: -7n, offset: 0n, previousOffset: 0n })
    expect(findings[0]?.message).toContain('would follow those of B')
    expect(findings[0]?.message).toContain('acknowledges and drops them')
  })

  it('two that are mapped already', () => {
    expect(overlaps({ A: [data(-7, 0)], B: [data(-7, 0)] }).count).toBe(1)
  })

  it('each pair of three', () => {
    const { findings } = overlaps({ A: [data(1, 0)], B: [data(1, 0)], C: [data(1, 0), data(2, 0)] })
    expect(findings.map(({ sources }) => sides(sources)?.join())).toEqual(['A 1,B 1', 'A 1,C 1', 'B 1,C 1'])
  })

  it('none: other ids, no ids, and the one that no mirror takes', () => {
    const { bytes } = logOf([data(1, 0)])
    bytes.writeBigInt64BE(2n ** 63n - 1n, 43)
    const largest = source('A', [])
    largest.framed(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, bytes.length, 2)
    const options = { partition: null, maxFindings: 9 }
    expect(sourceOverlaps([largest, largest], options).count).toBe(0)
    expect(overlaps({ A: [data(5, 0), { kind: 'data' }], B: [data(7, 0), { kind: 'data' }] }).count).toBe(0)
  })

  it('keeps so many and counts the others', () => {
    const ops = [1, 2, 3].map((pid) => data(pid, 0))
    const { findings, count } = overlaps({ A: ops, B: ops }, 2)
    expect([findings.length, count]).toEqual([2, 3])
  })
})

describe('producers of one source that meet in its mirror (M-19)', () => {
  it('a local one behind a mapped one, with no barrier between', () => {
    const { findings } = overlaps({ B: [data(-7, 0), data(-7, 1), data(5, 0, { epoch: 2 })] })
    expect(findings).toMatchObject([
      { kind: 'overlap', producerId: -7n, sourceProducerId: 5n, epoch: 2, offset: 2n, previousOffset: 1n },
    ])
    expect(sides(findings[0]?.sources)).toEqual(['B -7', 'B 5'])
    expect(findings[0]?.message).toContain('at offset 2 no barrier stands between them')
  })

  it('not with the barrier, nor where a transaction came home', () => {
    expect(overlaps({ B: [data(-7, 0), barrier, data(5, 0)] }).count).toBe(0)
    expect(overlaps({ A: [txn(6, 0), txn(-8, 1), txn(-8, 2), commit(-8, 1)] }).count).toBe(0)
    expect(overlaps({ A: [txn(6, 0), abort(-8)] }).count).toBe(0)
    expect(overlaps({ A: [txn(6, 0), txn(-8, 1), data(6, 0)] }).count).toBe(1)
  })
})
