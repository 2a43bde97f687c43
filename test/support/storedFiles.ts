import type { LogStorage } from '../../src/log/partition/storage.ts'

/** All files of a storage, by name, in the order of their names. */
export function storedFiles(storage: LogStorage): Map<string, Uint8Array> {
  return new Map(
    storage
      .list()
      .sort()
      .map((name) => [name, storage.read(name) ?? new Uint8Array(0)]),
  )
}
