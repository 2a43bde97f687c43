/**
 * A disk that forgets what was not synced. What a file holds lasts once the file is synced; the names in a directory last
 * once the directory is. Until then a loss of power keeps or undoes each change by itself, whatever came before or after it.
 */

/** What a loss of power does to the changes that were not synced. */
export interface PowerLoss {
  name: string
  /** Whether a change of a directory stays: a new name, a rename, a removal. */
  keepsName(): boolean
  /** Of a piece that was written; `zeros`: the file has grown, and the bytes never came. */
  keepsBytes(): 'kept' | 'lost' | 'zeros'
  /** Whether a cut stays. */
  keepsCut(): boolean
}

/** What is written at once, of a file. */
const SECTOR = 64

type Change = { at: number; bytes: Uint8Array } | { size: number }

export class ForgetfulFile {
  #bytes: Uint8Array
  #lasting: Uint8Array
  #unsynced: Change[] = []

  /** @param lasting what is on the disk already */
  constructor(lasting: Uint8Array = new Uint8Array(0)) {
    this.#bytes = lasting.slice()
    this.#lasting = this.#bytes
  }

  get bytes(): Uint8Array {
    return this.#bytes
  }

  write(bytes: Uint8Array, at: number): void {
    this.#apply({ at, bytes: bytes.slice() })
  }

  truncate(size: number): void {
    this.#apply({ size })
  }

  sync(): void {
    this.#lasting = this.#bytes
    this.#unsynced = []
  }

  after(loss: PowerLoss): Uint8Array {
    let bytes = this.#lasting
    for (const change of this.#unsynced) {
      if ('size' in change) {
        if (loss.keepsCut()) bytes = changed(bytes, change)
        continue
      }
      for (let from = 0; from < change.bytes.length; from += SECTOR) {
        const piece = change.bytes.subarray(from, from + SECTOR)
        const at = change.at + from
        const fate = loss.keepsBytes()
        if (fate === 'kept') bytes = changed(bytes, { at, bytes: piece })
        if (fate === 'zeros' && at + piece.length > bytes.length) {
          const grown = new Uint8Array(at + piece.length)
          grown.set(bytes)
          bytes = grown
        }
      }
    }
    return bytes
  }

  #apply(change: Change): void {
    this.#bytes = changed(this.#bytes, change)
    this.#unsynced.push(change)
  }
}

function changed(before: Uint8Array, change: Change): Uint8Array {
  if ('size' in change) return before.slice(0, change.size)
  const { at, bytes } = change
  const after = new Uint8Array(Math.max(before.length, at + bytes.length))
  after.set(before)
  after.set(bytes, at)
  return after
}

export type Entry = ForgetfulFile | ForgetfulDirectory

export class ForgetfulDirectory {
  readonly entries: Map<string, Entry>
  #lasting: Map<string, Entry>
  /** Each of names at once; null is for no longer. */
  #unsynced: ReadonlyMap<string, Entry | null>[] = []

  constructor(lasting: Iterable<readonly [string, Entry]> = []) {
    this.entries = new Map(lasting)
    this.#lasting = new Map(this.entries)
  }

  set(changes: Iterable<readonly [string, Entry | null]>): void {
    const change = new Map(changes)
    apply(this.entries, change)
    this.#unsynced.push(change)
  }

  rename(from: string, to: string): void {
    const entry = this.entries.get(from)
    if (entry === undefined) throw new Error(`there is no ${from}`)
    this.set([
      [from, null],
      [to, entry],
    ])
  }

  sync(): void {
    this.#lasting = new Map(this.entries)
    this.#unsynced = []
  }

  after(loss: PowerLoss): Map<string, Entry> {
    const entries = new Map(this.#lasting)
    for (const change of this.#unsynced) if (loss.keepsName()) apply(entries, change)
    return entries
  }
}

function apply(entries: Map<string, Entry>, change: ReadonlyMap<string, Entry | null>): void {
  for (const [name, entry] of change) {
    if (entry === null) entries.delete(name)
    else entries.set(name, entry)
  }
}

const always = (name: string, keepsNames: boolean, bytes: 'kept' | 'lost' | 'zeros'): PowerLoss => ({
  name,
  keepsName: () => keepsNames,
  keepsBytes: () => bytes,
  keepsCut: () => keepsNames,
})

/** The extremes, and others by their seeds, the same each time. */
export function powerLosses(random: number, seed = 1): PowerLoss[] {
  return [
    always('nothing is kept', false, 'lost'),
    always('all is kept', true, 'kept'),
    always('names and sizes alone', true, 'zeros'),
    always('bytes alone', false, 'kept'),
    ...Array.from({ length: random }, (_, index) => randomLoss(seed * 1000 + index)),
  ]
}

function randomLoss(seed: number): PowerLoss {
  let state = Math.imul(seed + 1, 2654435761) >>> 0
  const chance = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
  // few losses among many changes find other faults than many
  const [names, bytes] = [0.2 + 0.7 * chance(), 0.2 + 0.7 * chance()]
  return {
    name: `random ${seed}`,
    keepsName: () => chance() < names,
    keepsBytes: () => (chance() < bytes ? 'kept' : chance() < 0.5 ? 'lost' : 'zeros'),
    keepsCut: () => chance() < 0.5,
  }
}
