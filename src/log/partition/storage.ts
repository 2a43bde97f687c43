import { requireThing } from '../../core/arguments.ts'

/** The files of one partition, as a log needs them: a directory, or memory. All calls are done when they return. */
export interface LogStorage {
  /** Whether nobody reads what is written, as in `previewStorage`: producer snapshots are not made then. Default false. */
  readonly isPreview?: boolean
  /** Names of the files, in any order. */
  list(): string[]
  /** A whole small file; null where there is none. */
  read(name: string): Uint8Array | null
  /** Writes a whole small file, under another name first, so that it is the old or the new one whenever the process dies. */
  write(name: string, bytes: Uint8Array): void
  /** A file to append to, made empty where there is none. */
  open(name: string): StoredFile
  /** Gives a file another name, in place of the one that has it. */
  rename(from: string, to: string): void
  /** Removes a file; nothing happens where there is none. */
  remove(name: string): void
  /** Makes names last through a crash of the machine. */
  sync(): void
  /** Gives up what is held open. */
  close(): void
}

/** A file that only grows at its end, or is cut there. Positions and sizes in bytes. */
export interface StoredFile {
  readonly size: number
  /** Fills the room from a position on, as far as the file goes; returns how many bytes that were. */
  readInto(room: Uint8Array, position: number): number
  /** Adds all of the bytes, or throws and leaves the size as it was. */
  append(bytes: Uint8Array): void
  /** Cuts the file to a size from 0 to its own. */
  truncate(size: number): void
  /** Makes the bytes last through a crash of the machine. */
  flush(): void
}

/** @throws InvalidArgumentError */
export function requireStorage(name: string, storage: LogStorage): LogStorage {
  return requireThing(name, requireThing(name, storage, 'open', A_STORAGE), 'list', A_STORAGE)
}

const A_STORAGE = 'a LogStorage, such as memoryStorage()'
const PIECE = 65_536

/** Whether nothing but zeros follows a position, as at the end of a preallocated file. */
export function isZeroFrom(file: StoredFile, position: number): boolean {
  const piece = new Uint8Array(Math.min(PIECE, Math.max(0, file.size - position)))
  for (let at = position; at < file.size; ) {
    const length = file.readInto(piece, at)
    if (length === 0 || piece.subarray(0, length).some((byte) => byte !== 0)) return false
    at += length
  }
  return true
}

/** The bytes of a part of a file; fewer than asked for where the file ends before. */
export function readPart(file: StoredFile, position: number, length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(Math.max(0, Math.min(length, file.size - position)))
  return bytes.subarray(0, file.readInto(bytes, position))
}
