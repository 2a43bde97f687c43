import { CorruptCompanionError } from '../../errors.ts'
import type { AbortedTransactionEntry } from '../../producers/transactions.ts'
import { logFileName } from '../fileNames.ts'
import {
  encodeTransactionIndexEntry,
  readTransactionIndex,
  TRANSACTION_INDEX_ENTRY_SIZE,
} from '../transactionIndex.ts'
import type { LogStorage, StoredFile } from './storage.ts'

/**
 * The `.txnindex` of a segment that is written to: the transactions whose ABORT marker, or the barrier that ended them, is
 * in the segment. The file comes with the first entry. Last offsets never go down; those of one barrier are equal.
 * Source: Kafka's TransactionIndex.
 */
export class SegmentTransactionIndex {
  readonly #storage: LogStorage
  readonly #name: string
  readonly #baseOffset: bigint
  #entries: AbortedTransactionEntry[] | null = null
  #file: StoredFile | null = null

  constructor(storage: LogStorage, baseOffset: bigint) {
    this.#storage = storage
    this.#name = logFileName(baseOffset, '.txnindex')
    this.#baseOffset = baseOffset
  }

  /** @throws CorruptCompanionError CORRUPT_TRANSACTION_INDEX */
  get entries(): readonly AbortedTransactionEntry[] {
    return this.#load()
  }

  /**
   * What a broker asks of the file when it starts.
   * @throws CorruptCompanionError CORRUPT_TRANSACTION_INDEX
   */
  sanityCheck(): void {
    for (const [index, { lastOffset }] of this.#load().entries()) {
      if (lastOffset >= this.#baseOffset) continue
      const fault = `last offset ${lastOffset} is below the segment's base offset ${this.#baseOffset}`
      throw new CorruptCompanionError(
        'CORRUPT_TRANSACTION_INDEX',
        fault,
        index * TRANSACTION_INDEX_ENTRY_SIZE,
        this.#name,
      )
    }
  }

  append(entry: AbortedTransactionEntry): void {
    const entries = this.#load()
    this.#file ??= this.#storage.open(this.#name)
    // a fragment of an entry may stand at the end
    this.#cutTo(this.#file, entries.length)
    this.#file.append(encodeTransactionIndexEntry(entry))
    entries.push(entry)
  }

  /** Drops the entries whose last offset is at or above an offset. */
  truncateTo(offset: bigint): void {
    const entries = this.#load()
    const from = entries.findIndex(({ lastOffset }) => lastOffset >= offset)
    if (from >= 0) this.#truncate(from)
  }

  /** Drops all, whatever the file holds. */
  reset(): void {
    this.#entries = []
    if (this.#storage.read(this.#name) !== null) this.#truncate(0)
  }

  #truncate(count: number): void {
    this.#load().length = count
    this.#file ??= this.#storage.open(this.#name)
    this.#cutTo(this.#file, count)
  }

  #cutTo(file: StoredFile, count: number): void {
    const size = count * TRANSACTION_INDEX_ENTRY_SIZE
    if (file.size > size) file.truncate(size)
  }

  #load(): AbortedTransactionEntry[] {
    if (this.#entries === null) {
      const bytes = this.#storage.read(this.#name)
      const entries = bytes === null ? [] : [...readTransactionIndex(bytes, this.#name)]
      this.#entries = entries.map(({ producerId, firstOffset, lastOffset, lastStableOffset }) => ({
        producerId,
        firstOffset,
        lastOffset,
        lastStableOffset,
      }))
    }
    return this.#entries
  }
}
