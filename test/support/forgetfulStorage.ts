import type { LogStorage, StoredFile } from '../../src/log/partition/storage.ts'
import { ForgetfulDirectory, ForgetfulFile, type PowerLoss } from './forgetfulDisk.ts'

/** A partition's files by their names. */
export type Files = ReadonlyMap<string, Uint8Array>

/** What is left when the power fails behind a call. */
export interface Left<Known> {
  files: Files
  /** The last call that was made, and what became of what it had not synced. */
  where: string
  /** What the program knew then. */
  known: Known
}

/**
 * A partition's files on a disk that forgets what was not synced: the content of `write` lasts at once, its name and all
 * others once `sync` was called, what is appended or cut once the file was flushed.
 *
 * @param onCall is told of each call that changes or syncs something, once it is done
 */
export function forgetfulStorage(
  files: Iterable<readonly [string, Uint8Array]>,
  onCall: (call: string) => void,
) {
  const directory = new ForgetfulDirectory(
    Array.from(files, ([name, bytes]) => [name, new ForgetfulFile(bytes)] as const),
  )
  const fileOf = (name: string) => directory.entries.get(name) as ForgetfulFile | undefined
  const opened = (name: string, file: ForgetfulFile): StoredFile => ({
    get size() {
      return file.bytes.length
    },
    readInto(room, position) {
      const part = file.bytes.subarray(position, position + room.length)
      room.set(part)
      return part.length
    },
    append(bytes) {
      file.write(bytes, file.bytes.length)
      onCall(`append ${name}`)
    },
    truncate(size) {
      file.truncate(Math.min(size, file.bytes.length))
      onCall(`truncate ${name}`)
    },
    flush() {
      file.sync()
      onCall(`flush ${name}`)
    },
  })
  const storage: LogStorage = {
    list: () => [...directory.entries.keys()],
    read: (name) => fileOf(name)?.bytes.slice() ?? null,
    write(name, bytes) {
      directory.set([[name, new ForgetfulFile(bytes)]])
      onCall(`write ${name}`)
    },
    open(name) {
      const known = fileOf(name)
      if (known !== undefined) return opened(name, known)
      const file = new ForgetfulFile()
      directory.set([[name, file]])
      onCall(`create ${name}`)
      return opened(name, file)
    },
    rename(from, to) {
      directory.rename(from, to)
      onCall(`rename ${from}`)
    },
    remove(name) {
      if (!directory.entries.has(name)) return
      directory.set([[name, null]])
      onCall(`remove ${name}`)
    },
    sync() {
      directory.sync()
      onCall('sync')
    },
    close: () => {},
  }
  const after = (loss: PowerLoss): Files =>
    new Map([...directory.after(loss)].map(([name, file]) => [name, (file as ForgetfulFile).after(loss)]))
  return { storage, after }
}

/**
 * All that a loss of power can leave of a run, wherever it comes, each once.
 *
 * @param files on the disk before
 * @param losses gives those to try behind a call, by its number
 * @param known is asked behind each call
 */
export function powerCuts<Known>(
  files: Iterable<readonly [string, Uint8Array]>,
  losses: (call: number) => readonly PowerLoss[],
  run: (storage: LogStorage) => void,
  known: () => Known,
): { left: Left<Known>[]; calls: string[] } {
  const left: Left<Known>[] = []
  const calls: string[] = []
  const lose = (where: string) => {
    const seen = new Set<string>()
    for (const loss of losses(calls.length)) {
      const files = after(loss)
      const digest = digestOf(files)
      if (!seen.has(digest)) left.push({ files, where: `${where}, ${loss.name}`, known: known() })
      seen.add(digest)
    }
  }
  const { storage, after } = forgetfulStorage(files, (call) => {
    calls.push(call)
    lose(`power lost behind call ${calls.length} (${call})`)
  })
  run(storage)
  lose('power lost at the end')
  return { left, calls }
}

function digestOf(files: Files): string {
  return [...files]
    .map(([name, bytes]) => `${name} ${Buffer.from(bytes).toString('latin1')}`)
    .sort()
    .join('\n')
}
