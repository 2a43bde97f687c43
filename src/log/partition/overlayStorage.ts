import { bytesOf } from '../../bytes/view.ts'
import { type LogStorage, requireStorage, type StoredFile } from './storage.ts'

/** A file whose changes stay in memory: the first `#kept` bytes are those of the file below, the rest is added here. */
class OverlayFile implements StoredFile {
  readonly #below: StoredFile | null
  #kept: number
  #added: StoredFile | null = null
  readonly #newFile: () => StoredFile

  constructor(below: StoredFile | null, newFile: () => StoredFile) {
    this.#below = below
    this.#kept = below?.size ?? 0
    this.#newFile = newFile
  }

  get size(): number {
    return this.#kept + (this.#added?.size ?? 0)
  }

  readInto(room: Uint8Array, position: number): number {
    const fromBelow = Math.max(0, Math.min(room.length, this.#kept - position))
    const first = fromBelow === 0 ? 0 : this.#below!.readInto(room.subarray(0, fromBelow), position)
    if (first < fromBelow || this.#added === null) return first
    return first + this.#added.readInto(room.subarray(first), position + first - this.#kept)
  }

  append(bytes: Uint8Array): void {
    this.#added ??= this.#newFile()
    this.#added.append(bytes)
  }

  truncate(size: number): void {
    this.#added?.truncate(Math.max(0, size - this.#kept))
    this.#kept = Math.min(this.#kept, size)
  }

  flush(): void {}
}

/**
 * A storage that shows what is in `below` and never changes it: all changes stay in `above`. A log opened on it tells
 * what opening would do.
 *
 * @param above empty storage in memory
 * @throws InvalidArgumentError
 * @example
 * const log = PartitionLog.open(overlayStorage(storage, memoryStorage()))
 * log.truncateTo(0n) // the storage stays as it is
 */
export function overlayStorage(below: LogStorage, above: LogStorage): LogStorage {
  requireStorage('below', below)
  requireStorage('above', above)
  /** Files of `below` that are still to be seen under their names there, and those that were opened. */
  const visible = new Map(below.list().map((name) => [name, name]))
  const opened = new Map<string, OverlayFile>()
  let parts = 0
  const newFile = () => above.open(`added ${parts++}`)
  const open = (name: string): OverlayFile => {
    const known = opened.get(name)
    if (known !== undefined) return known
    const origin = visible.get(name)
    const file = new OverlayFile(origin === undefined ? null : below.open(origin), newFile)
    visible.delete(name)
    opened.set(name, file)
    return file
  }
  const remove = (name: string): void => {
    visible.delete(name)
    opened.delete(name)
  }
  return {
    list: () => [...visible.keys(), ...opened.keys()],
    read(name) {
      if (!visible.has(name) && !opened.has(name)) return null
      const file = open(name)
      const bytes = new Uint8Array(file.size)
      return bytes.subarray(0, file.readInto(bytes, 0))
    },
    write(name, content) {
      const bytes = bytesOf(content, 'bytes')
      remove(name)
      open(name).append(bytes)
    },
    open,
    rename(from, to) {
      const file = open(from)
      remove(from)
      remove(to)
      opened.set(to, file)
    },
    remove,
    sync: () => {},
    close: () => below.close(),
  }
}
