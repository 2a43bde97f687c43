import { highOf, lowOf } from './int64.ts'
import { entryOf, type ProducerStateEntry, producerIdOf } from './producerStateEntry.ts'
import type { ProducerTable } from './producerTable.ts'

/** The producers as a map: a live view of the rows, whose entries are copies made when asked for. */
export class ProducersMap implements ReadonlyMap<bigint, ProducerStateEntry> {
  readonly #table: () => ProducerTable

  constructor(table: () => ProducerTable) {
    this.#table = table
  }

  get size(): number {
    return this.#table().size
  }

  has(producerId: bigint): boolean {
    return this.#find(producerId) >= 0
  }

  get(producerId: bigint): ProducerStateEntry | undefined {
    const row = this.#find(producerId)
    const table = this.#table()
    return row < 0 ? undefined : entryOf(table.words(row), table.start(row))
  }

  forEach(
    callback: (value: ProducerStateEntry, key: bigint, map: ReadonlyMap<bigint, ProducerStateEntry>) => void,
  ): void {
    for (const [producerId, entry] of this) callback(entry, producerId, this)
  }

  *keys(): MapIterator<bigint> {
    const table = this.#table()
    for (let row = 0; row < table.size; row++) yield producerIdOf(table.words(row), table.start(row))
  }

  *values(): MapIterator<ProducerStateEntry> {
    const table = this.#table()
    for (let row = 0; row < table.size; row++) yield entryOf(table.words(row), table.start(row))
  }

  *entries(): MapIterator<[bigint, ProducerStateEntry]> {
    for (const entry of this.values()) yield [entry.producerId, entry]
  }

  [Symbol.iterator](): MapIterator<[bigint, ProducerStateEntry]> {
    return this.entries()
  }

  #find(producerId: bigint): number {
    if (typeof producerId !== 'bigint' || BigInt.asIntN(64, producerId) !== producerId) return -1
    return this.#table().find(highOf(producerId), lowOf(producerId))
  }
}
