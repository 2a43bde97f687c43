/** More than this are counted only: each takes 16 bytes. */
const MOST = 1_000_000

export type Int64Pair = readonly [first: bigint, second: bigint]

/** Pairs of int64, in little memory: damaged files can give very many. */
export class Int64Pairs {
  #values = new BigInt64Array(16)
  #count = 0
  #isAscending = true

  get count(): number {
    return this.#count
  }

  /** How many were too many to be kept. */
  get left(): number {
    return Math.max(0, this.#count - MOST)
  }

  add(first: bigint, second: bigint): void {
    const at = this.#count++ * 2
    if (this.#count > MOST) return
    if (at === this.#values.length) {
      const grown = new BigInt64Array(at * 2)
      grown.set(this.#values)
      this.#values = grown
    }
    if (at > 0 && first <= this.#values[at - 2]!) this.#isAscending = false
    this.#values[at] = first
    this.#values[at + 1] = second
  }

  *inOrder(): Generator<Int64Pair> {
    const end = Math.min(this.#count, MOST) * 2
    for (let at = 0; at < end; at += 2) yield [this.#values[at]!, this.#values[at + 1]!]
  }

  /** By the first of each, as in a Java TreeMap: where one comes again, the last holds. */
  *sorted(direction: 'ascending' | 'descending'): Generator<Int64Pair> {
    const values = this.#values
    const order = this.#order(direction)
    for (const [rank, index] of order.entries()) {
      const first = values[index * 2]!
      const following = order[rank + 1]
      if (following !== undefined && values[following * 2] === first) continue
      yield [first, values[index * 2 + 1]!]
    }
  }

  #order(direction: 'ascending' | 'descending'): Uint32Array {
    const values = this.#values
    const order = Uint32Array.from({ length: Math.min(this.#count, MOST) }, (_, index) => index)
    if (this.#isAscending) return direction === 'ascending' ? order : order.reverse()
    const sign = direction === 'ascending' ? 1 : -1
    // stable, so that of equal ones the last stays last
    return order.sort((a, b) => {
      const [first, second] = [values[a * 2]!, values[b * 2]!]
      return first === second ? 0 : first < second ? -sign : sign
    })
  }
}
