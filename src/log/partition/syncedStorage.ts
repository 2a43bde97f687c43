import type { LogStorage, StoredFile } from './storage.ts'

/** A file that knows whether its bytes are on disk. */
class SyncedFile implements StoredFile {
  readonly #below: StoredFile
  #isDirty = false

  constructor(below: StoredFile) {
    this.#below = below
  }

  get size(): number {
    return this.#below.size
  }

  readInto(room: Uint8Array, position: number): number {
    return this.#below.readInto(room, position)
  }

  append(bytes: Uint8Array): void {
    this.#isDirty = true
    this.#below.append(bytes)
  }

  truncate(size: number): void {
    this.#isDirty = true
    this.#below.truncate(size)
  }

  flush(): void {
    if (!this.#isDirty) return
    this.#below.flush()
    this.#isDirty = false
  }
}

/** A storage that knows what of it is not on disk yet, whoever changed it and why: `sync` is for all of that, and only that. */
export class SyncedStorage implements LogStorage {
  readonly #below: LogStorage
  /** That are there, or were once. */
  readonly #names: Set<string>
  readonly #files = new Map<string, SyncedFile>()
  // what a process before this one has created or removed may be in memory alone
  #hasNewNames = true

  constructor(below: LogStorage) {
    this.#below = below
    this.#names = new Set(below.list())
  }

  get isPreview(): boolean {
    return this.#below.isPreview ?? false
  }

  list(): string[] {
    return this.#below.list()
  }

  read(name: string): Uint8Array | null {
    return this.#below.read(name)
  }

  write(name: string, bytes: Uint8Array): void {
    this.#forget(name)
    this.#names.add(name)
    this.#below.write(name, bytes)
  }

  open(name: string): StoredFile {
    const known = this.#files.get(name)
    if (known !== undefined) return known
    if (!this.#names.has(name)) this.#hasNewNames = true
    this.#names.add(name)
    const file = new SyncedFile(this.#below.open(name))
    this.#files.set(name, file)
    return file
  }

  rename(from: string, to: string): void {
    this.#files.get(from)?.flush()
    this.#forget(from)
    this.#forget(to)
    this.#names.add(to)
    this.#below.rename(from, to)
  }

  remove(name: string): void {
    this.#forget(name)
    this.#below.remove(name)
  }

  /** Makes all that was changed last through a crash of the machine: the bytes first, then the names. */
  sync(): void {
    for (const file of this.#files.values()) file.flush()
    if (this.#hasNewNames) this.#below.sync()
    this.#hasNewNames = false
  }

  close(): void {
    this.#below.close()
  }

  /** What is opened under the name from here on is another file. */
  #forget(name: string): void {
    this.#names.delete(name)
    this.#files.delete(name)
    this.#hasNewNames = true
  }
}
