/** A transaction whose marker is not below the high watermark yet. */
export interface UnreplicatedTransaction {
  producerId: bigint
  firstOffset: bigint
  lastOffset: bigint
}

/**
 * The ended transactions whose markers are not replicated, by these markers' offsets, which is the order in which they
 * end; and of the first offsets, for any high watermark, the least. Source: Kafka's unreplicatedTxns.
 */
export class UnreplicatedTransactions {
  #txns: UnreplicatedTransaction[] = []
  /** Those before it are forgotten. */
  #start = 0
  /** A barrier that is applied late ends transactions below markers that are known. */
  #isSorted = true
  /** Of the transactions before `#seen`, those with no lower first offset behind them: both offsets rise. */
  #leasts: UnreplicatedTransaction[] = []
  #leastsStart = 0
  #seen = 0

  push(txn: UnreplicatedTransaction): void {
    const last = this.#txns.at(-1)
    if (last !== undefined && txn.lastOffset < last.lastOffset) this.#isSorted = false
    this.#txns.push(txn)
  }

  /** Takes the newest back. */
  remove(txn: UnreplicatedTransaction): void {
    const at = this.#txns.lastIndexOf(txn)
    if (at < this.#start) return
    this.#txns.splice(at, 1)
    // somebody asked meanwhile: what they were told of may have displaced others
    if (at < this.#seen) this.#forgetLeasts()
  }

  /** Forgets those whose markers lie below `offset`. */
  removeBelow(offset: bigint): void {
    this.#sort()
    const { length } = this.#txns
    while (this.#start < length && this.#txns[this.#start]!.lastOffset < offset) this.#start++
    while (this.#leastsStart < this.#leasts.length && this.#leasts[this.#leastsStart]!.lastOffset < offset) {
      this.#leastsStart++
    }
    if (this.#start * 2 > length) {
      this.#txns = this.#txns.slice(this.#start)
      this.#seen = Math.max(0, this.#seen - this.#start)
      this.#start = 0
    }
    if (this.#leastsStart * 2 > this.#leasts.length) {
      this.#leasts = this.#leasts.slice(this.#leastsStart)
      this.#leastsStart = 0
    }
  }

  /** The least first offset of those whose markers do not lie below `offset`, or of all. */
  leastFirstOffset(offset: bigint | null): bigint | null {
    this.#sort()
    const leasts = this.#leasts
    for (let at = Math.max(this.#seen, this.#start); at < this.#txns.length; at++) {
      const txn = this.#txns[at]!
      while (leasts.length > this.#leastsStart && leasts.at(-1)!.firstOffset >= txn.firstOffset) leasts.pop()
      leasts.push(txn)
    }
    this.#seen = this.#txns.length
    let low = this.#leastsStart
    let high = offset === null ? low : leasts.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (leasts[middle]!.lastOffset < offset!) low = middle + 1
      else high = middle
    }
    return leasts[low]?.firstOffset ?? null
  }

  list(): readonly UnreplicatedTransaction[] {
    this.#sort()
    return this.#txns.slice(this.#start)
  }

  #sort(): void {
    if (this.#isSorted) return
    const txns = this.#txns.slice(this.#start)
    this.#txns = txns.sort((a, b) => (a.lastOffset < b.lastOffset ? -1 : a.lastOffset > b.lastOffset ? 1 : 0))
    this.#start = 0
    this.#isSorted = true
    this.#forgetLeasts()
  }

  #forgetLeasts(): void {
    this.#leasts = []
    this.#leastsStart = 0
    this.#seen = 0
  }
}
