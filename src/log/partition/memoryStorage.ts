import { bytesOf } from '../../bytes/view.ts'
import { requireList, requireText, shown } from '../../core/arguments.ts'
import { InvalidArgumentError } from '../../errors.ts'
import type { LogStorage, StoredFile } from './storage.ts'

class MemoryFile implements StoredFile {
  size = 0
  #bytes = new Uint8Array(0)

  constructor(bytes: Uint8Array) {
    this.append(bytesOf(bytes, 'bytes'))
  }

  get content(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.size)
  }

  readInto(room: Uint8Array, position: number): number {
    const part = this.#bytes.subarray(position, Math.min(position + room.length, this.size))
    room.set(part)
    return part.length
  }

  append(bytes: Uint8Array): void {
    const size = this.size + bytes.length
    if (size > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(size, 2 * this.#bytes.length))
      grown.set(this.#bytes.subarray(0, this.size))
      this.#bytes = grown
    }
    this.#bytes.set(bytes, this.size)
    this.size = size
  }

  truncate(size: number): void {
    this.size = Math.min(size, this.size)
  }

  flush(): void {}
}

/**
 * A partition's files in memory.
 *
 * @param files what is there from the start, by name; the bytes are copied
 * @throws InvalidArgumentError
 * @example
 * const log = PartitionLog.open(memoryStorage())
 */
export function memoryStorage(files: Iterable<readonly [string, Uint8Array]> = []): LogStorage {
  if (typeof files !== 'object' || typeof files?.[Symbol.iterator] !== 'function') {
    throw new InvalidArgumentError(
      `files must be pairs of a name and bytes, as in a Map; got ${shown(files)}`,
    )
  }
  const held = new Map<string, MemoryFile>()
  for (const file of files) {
    requireList('each of files', file)
    const [name, bytes] = file
    held.set(requireText('the name of a file', name), new MemoryFile(bytes))
  }
  return {
    list: () => [...held.keys()],
    read: (name) => held.get(name)?.content ?? null,
    write: (name, bytes) => void held.set(name, new MemoryFile(bytes)),
    open(name) {
      const file = held.get(name) ?? new MemoryFile(new Uint8Array(0))
      held.set(name, file)
      return file
    },
    rename(from, to) {
      const file = held.get(from)
      if (file === undefined) throw new InvalidArgumentError(`there is no file ${from} to rename`)
      held.delete(from)
      held.set(to, file)
    },
    remove: (name) => void held.delete(name),
    sync: () => {},
    close: () => {},
  }
}
