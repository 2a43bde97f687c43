import type { UndoLog } from './undoLog.ts'
import { type UnreplicatedTransaction, UnreplicatedTransactions } from './unreplicatedTransactions.ts'

/** An aborted transaction, as a broker's transaction index lists it for readers. */
export interface AbortedTransactionEntry {
  producerId: bigint
  /** Of its first record. */
  firstOffset: bigint
  /** Of its marker, or of the barrier that ended it. */
  lastOffset: bigint
  /** When it was aborted: first offset of another transaction that was still open, else what follows `lastOffset`. */
  lastStableOffset: bigint
}

/** A transaction that has ended; its marker may not be replicated yet. Source: Kafka's CompletedTxn. */
export interface CompletedTransaction {
  producerId: bigint
  firstOffset: bigint
  lastOffset: bigint
  isAborted: boolean
}

interface Ongoing {
  producerId: bigint
  firstOffset: bigint
  previous: Ongoing | null
  next: Ongoing | null
  /** Another one that claims the same first offset, which only a damaged log can hold. */
  twin: Ongoing | null
}

/**
 * The open transactions of a partition in the order of their first offsets, the ended ones above the high watermark, and
 * the aborted ones. Source: Kafka's ProducerStateManager (ongoingTxns, unreplicatedTxns) and TransactionIndex.
 */
export class Transactions {
  aborted: AbortedTransactionEntry[] = []
  readonly #undo: UndoLog
  readonly #unreplicated = new UnreplicatedTransactions()
  readonly #byFirstOffset = new Map<bigint, Ongoing>()
  #first: Ongoing | null = null
  #last: Ongoing | null = null

  constructor(undo: UndoLog) {
    this.#undo = undo
  }

  /** First offset of the earliest open transaction. */
  get firstUndecidedOffset(): bigint | null {
    return this.#first?.firstOffset ?? null
  }

  /** Of the earliest that is open, or has ended at or above the high watermark. */
  get firstUnstableOffset(): bigint | null {
    return least(this.firstUndecidedOffset, this.#unreplicated.leastFirstOffset(null))
  }

  /** What `firstUnstableOffset` would be with this high watermark. */
  firstUnstableOffsetAt(highWatermark: bigint): bigint | null {
    return least(this.firstUndecidedOffset, this.#unreplicated.leastFirstOffset(highWatermark))
  }

  start(producerId: bigint, firstOffset: bigint): void {
    const twin = this.#byFirstOffset.get(firstOffset) ?? null
    // in a log, offsets rise, so this is the last one
    let previous = this.#last
    while (previous !== null && previous.firstOffset > firstOffset) previous = previous.previous
    const next = previous === null ? this.#first : previous.next
    const txn: Ongoing = { producerId, firstOffset, previous, next, twin }
    if (previous === null) this.#first = txn
    else previous.next = txn
    if (next === null) this.#last = txn
    else next.previous = txn
    this.#byFirstOffset.set(firstOffset, txn)
    if (this.#undo.isOn) this.#undo.push(() => this.#remove(txn))
  }

  /** An open transaction goes on under another id. */
  move(firstOffset: bigint, from: bigint, to: bigint): void {
    const txn = this.#find(firstOffset, from)
    if (txn === null) return
    txn.producerId = to
    if (this.#undo.isOn) {
      this.#undo.push(() => {
        txn.producerId = from
      })
    }
  }

  /**
   * Ends a transaction. `alsoUnder` is a second id that its records carry: readers must find it aborted under both.
   */
  complete(completed: CompletedTransaction, alsoUnder: bigint | null): void {
    const { producerId, firstOffset, lastOffset, isAborted } = completed
    const txn = this.#find(firstOffset, producerId)
    const ended = { producerId, firstOffset, lastOffset }
    if (this.#undo.isOn) this.#undoComplete(txn, ended)
    if (isAborted) {
      // A reader of the index stops at the first entry whose last stable offset it does not reach, so the first of two
      // entries must count the second as open: that is what Kafka's rule gives for two transactions that end in turn.
      const lastStableOffset = this.#lastStableOffset(producerId, lastOffset)
      if (alsoUnder !== null) {
        const stillOpen = least(lastStableOffset, firstOffset) ?? firstOffset
        this.aborted.push({ producerId: alsoUnder, firstOffset, lastOffset, lastStableOffset: stillOpen })
      }
      this.aborted.push({ producerId, firstOffset, lastOffset, lastStableOffset })
    }
    if (txn !== null) this.#remove(txn)
    this.addUnreplicated(ended)
  }

  addUnreplicated(txn: UnreplicatedTransaction): void {
    this.#unreplicated.push(txn)
  }

  /** Forgets the ended transactions whose markers lie below `offset`. */
  removeUnreplicated(offset: bigint): void {
    this.#unreplicated.removeBelow(offset)
  }

  /** Forgets the aborted transactions whose markers lie below `offset`. */
  removeAborted(offset: bigint): void {
    this.aborted = this.aborted.filter((txn) => txn.lastOffset >= offset)
  }

  /** The open ones, earliest first. */
  *ongoing(): Generator<{ producerId: bigint; firstOffset: bigint }> {
    for (let txn = this.#first; txn !== null; txn = txn.next) yield txn
  }

  /** The ended ones, in the order of their markers. */
  unreplicated(): readonly UnreplicatedTransaction[] {
    return this.#unreplicated.list()
  }

  /** First offset of the earliest open transaction of another producer, else what follows the ended one. */
  #lastStableOffset(producerId: bigint, lastOffset: bigint): bigint {
    let txn = this.#first
    while (txn !== null && txn.producerId === producerId) txn = txn.next
    return txn?.firstOffset ?? lastOffset + 1n
  }

  #find(firstOffset: bigint, producerId: bigint): Ongoing | null {
    let txn = this.#byFirstOffset.get(firstOffset) ?? null
    while (txn !== null && txn.producerId !== producerId) txn = txn.twin
    return txn
  }

  #remove(txn: Ongoing): void {
    if (txn.previous === null) this.#first = txn.next
    else txn.previous.next = txn.next
    if (txn.next === null) this.#last = txn.previous
    else txn.next.previous = txn.previous
    const head = this.#byFirstOffset.get(txn.firstOffset)!
    if (head !== txn) {
      let before = head
      while (before.twin !== txn) before = before.twin!
      before.twin = txn.twin
    } else if (txn.twin === null) this.#byFirstOffset.delete(txn.firstOffset)
    else this.#byFirstOffset.set(txn.firstOffset, txn.twin)
  }

  /** Called before `complete` changes anything. */
  #undoComplete(txn: Ongoing | null, ended: UnreplicatedTransaction): void {
    const { length } = this.aborted
    const head = txn === null ? null : (this.#byFirstOffset.get(txn.firstOffset) ?? null)
    this.#undo.push(() => {
      this.aborted.length = length
      this.#unreplicated.remove(ended)
      if (txn !== null) this.#putBack(txn, head!)
    })
  }

  /** The inverse of `#remove`: the transaction still knows its neighbours. `head` was that of its twins. */
  #putBack(txn: Ongoing, head: Ongoing): void {
    if (txn.previous === null) this.#first = txn
    else txn.previous.next = txn
    if (txn.next === null) this.#last = txn
    else txn.next.previous = txn
    this.#byFirstOffset.set(txn.firstOffset, head)
    if (head === txn) return
    let before = head
    while (before.twin !== txn.twin) before = before.twin!
    before.twin = txn
  }
}

function least(a: bigint | null, b: bigint | null): bigint | null {
  if (a === null) return b
  return b === null || a < b ? a : b
}
