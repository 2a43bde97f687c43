import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { bytesOf } from '../../bytes/view.ts'
import { oneOf, requireText } from '../../core/arguments.ts'
import { LogFileError } from '../../errors.ts'
import { isNumberedSegment } from '../../log/fileNames.ts'
import { LEADER_EPOCH_CHECKPOINT } from '../../log/partition/leaderEpochs.ts'
import { LOG_START_FILE } from '../../log/partition/logStartFile.ts'
import type { LogStorage, StoredFile } from '../../log/partition/storage.ts'
import { MIRROR_STATE_FILE } from '../../mirroring/mirrorStateFile.ts'
import { asLogFileError, atFile } from '../files/ioErrors.ts'
import { OpenFiles } from '../files/openFiles.ts'
import { giveLike, type Owner, requireWritable } from '../files/ownership.ts'
import { syncDirectoryNow } from '../files/syncDirectory.ts'
import { isJournalName, isTemporaryName } from '../files/temporaryFiles.ts'
import { readFully, writeFully } from '../files/wholeTransfers.ts'
import { isLockName } from '../locks/directoryLock.ts'

/** A file under this name is of a run that was killed: it is overwritten or removed. */
const TEMPORARY = '.mirrorpid-00000000'

class DirectoryFile implements StoredFile {
  readonly #path: string
  readonly #files: OpenFiles
  #size: number

  constructor(path: string, files: OpenFiles) {
    this.#path = path
    this.#files = files
    this.#size = atFile('read it', path, () => statSync(path).size)
  }

  get size(): number {
    return this.#size
  }

  readInto(room: Uint8Array, position: number): number {
    const length = Math.max(0, Math.min(room.length, this.#size - position))
    return atFile('read it', this.#path, () =>
      readFully(this.#files.descriptor(this.#path), room.subarray(0, length), position),
    )
  }

  append(bytes: Uint8Array): void {
    const descriptor = this.#files.descriptor(this.#path)
    try {
      atFile('write to it', this.#path, () => writeFully(descriptor, bytes, this.#size))
    } catch (error) {
      // what was written of it must not be met by the next append; a failure of this too is for recovery
      try {
        ftruncateSync(descriptor, this.#size)
      } catch {}
      throw error
    }
    this.#size += bytes.length
  }

  truncate(size: number): void {
    if (size >= this.#size) return
    atFile('shorten it', this.#path, () => ftruncateSync(this.#files.descriptor(this.#path), size))
    this.#size = size
  }

  flush(): void {
    atFile('make it last', this.#path, () => fsyncSync(this.#files.descriptor(this.#path)))
  }
}

/** Whether a broker has written a file of this name, or this package keeps it beside those. */
function isOwnFile(name: string): boolean {
  return /^\d{20}\./.test(name) || [LEADER_EPOCH_CHECKPOINT, LOG_START_FILE, MIRROR_STATE_FILE].includes(name)
}

/** A link that leads nowhere is an error: to take its file for absent would be to take the log for shorter. */
function isLinkToFile(path: string): boolean {
  return atFile('read it', path, () => statSync(path).isFile())
}

function linked(path: string): LogFileError {
  return new LogFileError(
    'IO_ERROR',
    `${path}: a symbolic link in a partition directory, whose files are to be changed. Nothing was changed; put the file ` +
      'itself in its place, or work on a copy of the directory.',
    path,
  )
}

/**
 * The files of a partition directory, for `PartitionLog`. Nothing else may work on the directory meanwhile, and this does
 * not lock it, as `openPartitionDirectory` does. Symbolic links are followed, but where files are to be changed they are
 * refused: a link would be replaced, and what it points to may be another partition's.
 *
 * @param access with `read`, calls that change something throw; `overlayStorage` keeps changes in memory
 * @throws LogFileError IO_ERROR; so do all calls
 * @throws InvalidArgumentError
 * @example
 * const files = directoryStorage('/kafka/orders-0', 'read')
 * const log = PartitionLog.open(overlayStorage(files, memoryStorage()))
 */
export function directoryStorage(directory: string, access: 'write' | 'read' = 'write'): LogStorage {
  requireText('directory', directory)
  oneOf('access', access, ['write', 'read'])
  const files = new OpenFiles(access === 'read' ? 'r' : 'r+')
  const opened = new Map<string, DirectoryFile>()
  const at = (name: string) => join(directory, name)
  const forget = (name: string) => {
    opened.delete(name)
    files.close(at(name))
  }
  const isThere = (name: string) =>
    atFile('read it', at(name), () => statSync(at(name), { throwIfNoEntry: false }))
  /** Whoever sees the file under its name can use it. */
  const place = (name: string, model: Owner, bytes: Uint8Array) => {
    const temporary = at(name) + TEMPORARY
    const descriptor = openSync(temporary, 'w')
    try {
      giveLike(model, descriptor, at(name))
      writeFully(descriptor, bytes, 0)
      if (bytes.length > 0) fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    renameSync(temporary, at(name))
  }
  const create = (name: string) => {
    if (isThere(name) === undefined)
      atFile('create it', at(name), () => place(name, owner, new Uint8Array(0)))
  }
  const remove = (name: string) => atFile('remove it', at(name), () => rmSync(at(name), { force: true }))
  const names = () => atFile('list it', directory, () => readdirSync(directory, { withFileTypes: true }))
  const owner = atFile('read it', directory, () => statSync(directory))
  if (access === 'write') {
    const entries = names()
    for (const entry of entries) if (entry.isSymbolicLink()) throw linked(at(entry.name))
    const own = entries.filter((entry) => entry.isFile() && isOwnFile(entry.name)).map(({ name }) => name)
    requireWritable(directory, own.filter((name) => !isTemporaryName(name)).map(at))
    for (const { name } of entries) if (name.endsWith(TEMPORARY)) remove(name)
    // new files go to who owns the directory, as whom its broker runs, and are used as the segments are
    const segment = own.find(isNumberedSegment)
    const model = segment === undefined ? undefined : isThere(segment)
    owner.gid = model?.gid ?? owner.gid
    owner.mode = model?.mode ?? owner.mode & 0o666
  }
  return {
    list: () =>
      names()
        .filter(({ name }) => !isTemporaryName(name) && !isLockName(name) && !isJournalName(name))
        .filter((entry) => entry.isFile() || (entry.isSymbolicLink() && isLinkToFile(at(entry.name))))
        .map(({ name }) => name),
    read(name) {
      try {
        return readFileSync(at(name))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
        throw asLogFileError(error, 'read it', at(name))
      }
    },
    write(name, content) {
      const bytes = bytesOf(content, 'bytes')
      forget(name)
      const mode = isThere(name)?.mode ?? owner.mode
      atFile('write it', at(name), () => place(name, { ...owner, mode }, bytes))
    },
    open(name) {
      const known = opened.get(name)
      if (known !== undefined) return known
      if (access === 'write') create(name)
      const file = new DirectoryFile(at(name), files)
      opened.set(name, file)
      return file
    },
    rename(from, to) {
      forget(from)
      forget(to)
      atFile(`rename it to ${to}`, at(from), () => renameSync(at(from), at(to)))
    },
    remove(name) {
      forget(name)
      remove(name)
    },
    sync: () => syncDirectoryNow(directory),
    close: () => files.closeAll(),
  }
}
