import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Transactions } from '../../src/producers/transactions.ts'
import { UndoLog } from '../../src/producers/undoLog.ts'

interface Txn {
  producerId: bigint
  firstOffset: bigint
  lastOffset: bigint
}

/** The rule as kafka-log-format.md 4.7 has it, asked of every transaction. */
class Plain {
  txns: Txn[] = []
  leastFrom(highWatermark: bigint): bigint | null {
    const firsts = this.txns.filter((t) => t.lastOffset >= highWatermark).map((t) => t.firstOffset)
    return firsts.reduce<bigint | null>((a, b) => (a === null || b < a ? b : a), null)
  }
}

const offset = fc.bigInt({ min: 0n, max: 30n })
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ end: offset, length: fc.bigInt({ min: 0n, max: 30n }) }) },
  { weight: 2, arbitrary: fc.record({ ask: offset }) },
  { weight: 1, arbitrary: fc.record({ highWatermark: offset }) },
)

describe('transactions that have ended above the high watermark', () => {
  it.each([
    ['in log order', true],
    ['in any order', false],
  ])('%s: the least first offset for any watermark, also one that moves back', (_, isOrdered) => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const transactions = new Transactions(new UndoLog())
        const plain = new Plain()
        let end = 0n
        for (const [at, one] of steps.entries()) {
          if ('end' in one) {
            end = isOrdered ? end + one.end / 8n : one.end
            const firstOffset = end < one.length ? 0n : end - one.length
            const txn = { producerId: BigInt(at), firstOffset, lastOffset: end }
            transactions.addUnreplicated({ ...txn })
            plain.txns.push(txn)
          } else if ('highWatermark' in one) {
            transactions.removeUnreplicated(one.highWatermark)
            plain.txns = plain.txns.filter((t) => t.lastOffset >= one.highWatermark)
          } else {
            expect(transactions.firstUnstableOffsetAt(one.ask)).toBe(plain.leastFrom(one.ask))
          }
        }
        const watermarks = Array.from({ length: 40 }, (_, at) => BigInt(4 * at - 1))
        const answers = watermarks.map((at) => transactions.firstUnstableOffsetAt(at))
        expect(answers).toEqual(watermarks.map((at) => plain.leastFrom(at)))
        expect(transactions.firstUnstableOffset).toBe(plain.leastFrom(-1n))
        const inOrder = plain.txns.toSorted((a, b) => Number(a.lastOffset - b.lastOffset))
        expect(transactions.unreplicated()).toEqual(inOrder)
      }),
      { numRuns: 1000 },
    )
  })

  /** How often the offsets of `count` ended transactions are looked at, while the watermark follows far behind. */
  function looksAt(count: number): number {
    let looks = 0
    const transactions = new Transactions(new UndoLog())
    for (let at = 0n; at < count; at++) {
      const counted = (value: bigint) => ({
        enumerable: true,
        get: () => {
          looks++
          return value
        },
      })
      const txn = { producerId: at, firstOffset: 2n * at, lastOffset: 2n * at + 1n }
      Object.defineProperties(txn, {
        firstOffset: counted(txn.firstOffset),
        lastOffset: counted(txn.lastOffset),
      })
      transactions.addUnreplicated(txn)
      const highWatermark = at - 20n
      if (highWatermark > 0n) transactions.removeUnreplicated(highWatermark)
      transactions.firstUnstableOffsetAt(highWatermark)
      transactions.firstUnstableOffsetAt(1n)
    }
    return looks
  }

  it('twice as many of them are twice the work, not four times', () => {
    expect(looksAt(2000)).toBeLessThan(looksAt(1000) * 2.5)
  })
})
