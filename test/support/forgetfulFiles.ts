import fs, { type Dirent, type PathLike } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { type Entry, ForgetfulDirectory, ForgetfulFile, type PowerLoss } from './forgetfulDisk.ts'

// The real file system, of which is known what was synced: what node:fs is told to do below a directory is done, and noted.

/** Files by their paths below the directory; directories by paths with a slash at the end. */
export type Tree = ReadonlyMap<string, Uint8Array | null>

const real = { ...fs, promises: { ...fs.promises } }

/**
 * Runs something that changes files below a directory on this thread, and hands over all that a loss of power can leave.
 *
 * @param lost is given each, behind each call that changes or syncs something
 * @param lost `isOver`: the run had returned
 * @returns the calls
 */
export async function powerCutsIn(
  root: string,
  losses: (call: number) => readonly PowerLoss[],
  run: () => unknown,
  lost: (tree: Tree, where: string, isOver: boolean) => void,
): Promise<string[]> {
  const disk = read(root)
  const files = new Map<number, Entry>()
  const calls: string[] = []
  const lose = (isOver: boolean) => {
    const when = isOver ? 'at the end' : `behind call ${calls.length} (${calls.at(-1)})`
    for (const loss of losses(calls.length))
      lost(treeOf(disk, loss), `power lost ${when}, ${loss.name}`, isOver)
  }
  const called = (what: string, path: string) => {
    calls.push(`${what} ${relative(root, path)}`)
    lose(false)
  }
  const isOurs = (path: unknown): path is string =>
    typeof path === 'string' && !relative(root, resolve(path)).startsWith('..')
  const directoryOf = (path: string) => find(disk, root, dirname(path)) as ForgetfulDirectory
  const names = new Map<Entry, string>()
  const note = (fd: number, path: string, before: boolean) => {
    let entry = find(disk, root, path)
    if (entry === null) {
      entry = new ForgetfulFile()
      directoryOf(path).set([[basename(path), entry]])
    } else if (before && entry instanceof ForgetfulFile && real.fstatSync(fd).size < entry.bytes.length) {
      entry.truncate(0)
    }
    files.set(fd, entry)
    names.set(entry, path)
    return entry
  }
  const opened = (fd: number, path: string) => {
    if (!isOurs(path)) return
    const isNew = find(disk, root, path) === null
    note(fd, resolve(path), true)
    if (isNew) called('create', path)
  }
  const synced = (entry: Entry | undefined) => {
    if (entry === undefined) return
    entry.sync()
    called('sync', names.get(entry)!)
  }
  const renamed = (from: string, to: string) => {
    if (!isOurs(from) || !isOurs(to)) return
    if (dirname(from) !== dirname(to)) throw new Error('no rename between directories is made')
    directoryOf(from).rename(basename(from), basename(to))
    called('rename', from)
  }
  const removed = (path: string) => {
    if (!isOurs(path) || find(disk, root, path) === null) return
    directoryOf(path).set([[basename(path), null]])
    called('remove', path)
  }
  const made = (path: string) => {
    if (!isOurs(path) || find(disk, root, path) !== null) return
    directoryOf(path).set([[basename(path), new ForgetfulDirectory()]])
    called('make', path)
  }
  const patch: Record<string, unknown> = {
    openSync(path: PathLike, flags?: string, mode?: number) {
      const fd = real.openSync(path, flags ?? 'r', mode)
      opened(fd, String(path))
      return fd
    },
    closeSync(fd: number) {
      files.delete(fd)
      real.closeSync(fd)
    },
    writeSync(fd: number, bytes: Uint8Array | string, offset: number, length: number, position: number) {
      const entry = files.get(fd)
      if (entry === undefined) return real.writeSync(fd, bytes as Uint8Array, offset, length, position)
      const written = real.writeSync(fd, bytes as Uint8Array, offset, length, position)
      ;(entry as ForgetfulFile).write((bytes as Uint8Array).subarray(offset, offset + written), position)
      called('write', names.get(entry)!)
      return written
    },
    ftruncateSync(fd: number, size: number) {
      real.ftruncateSync(fd, size)
      const entry = files.get(fd) as ForgetfulFile | undefined
      entry?.truncate(size)
      if (entry !== undefined) called('cut', names.get(entry)!)
    },
    fsyncSync(fd: number) {
      real.fsyncSync(fd)
      synced(files.get(fd))
    },
    renameSync(from: string, to: string) {
      real.renameSync(from, to)
      renamed(from, to)
    },
    rmSync(path: string, options: object) {
      real.rmSync(path, options)
      removed(path)
    },
    mkdirSync(path: string, options: object) {
      real.mkdirSync(path, options)
      made(path)
    },
    linkSync(from: string, to: string) {
      real.linkSync(from, to)
      if (isOurs(to)) directoryOf(to).set([[basename(to), find(disk, root, from)!]])
    },
    writeFileSync(path: string | number, ...rest: [string]) {
      real.writeFileSync(path, ...rest)
      if (typeof path === 'number' && files.has(path)) {
        ;(files.get(path) as ForgetfulFile).write(Buffer.from(rest[0]), 0)
      } else if (isOurs(path)) throw new Error(`${path}: written by its name, which is not noted here`)
    },
  }
  const promises: Record<string, unknown> = {
    async open(path: string, flags?: string, mode?: number) {
      const handle = await real.promises.open(path, flags, mode)
      const { fd } = handle
      opened(fd, path)
      const entry = files.get(fd)
      const close = handle.close.bind(handle)
      handle.close = async () => {
        files.delete(fd)
        await close()
      }
      for (const name of ['sync', 'datasync'] as const) {
        const sync = handle[name].bind(handle)
        handle[name] = async () => {
          await sync()
          synced(entry)
        }
      }
      return handle
    },
    async rename(from: string, to: string) {
      await real.promises.rename(from, to)
      renamed(from, to)
    },
    async rm(path: string, options: object) {
      await real.promises.rm(path, options)
      removed(path)
    },
    async mkdir(path: string, options: object) {
      const result = await real.promises.mkdir(path, options as { recursive: true })
      made(path)
      return result
    },
    async copyFile(from: string, to: string, mode: number) {
      await real.promises.copyFile(from, to, mode)
      if (!isOurs(to)) return
      const copy = new ForgetfulFile()
      directoryOf(to).set([[basename(to), copy]])
      copy.write(real.readFileSync(from), 0)
      called('copy', to)
    },
  }
  Object.assign(fs, patch)
  Object.assign(fs.promises, promises)
  syncBuiltinESMExports()
  try {
    await run()
    lose(true)
  } finally {
    for (const name of Object.keys(patch)) Object.assign(fs, { [name]: real[name as keyof typeof fs] })
    for (const name of Object.keys(promises)) {
      Object.assign(fs.promises, { [name]: real.promises[name as keyof typeof fs.promises] })
    }
    syncBuiltinESMExports()
  }
  return calls
}

/** Makes a directory that holds what is left, after the machine has booted: so who held a lock is gone. */
export function writeTree(tree: Tree, root: string): void {
  real.rmSync(root, { recursive: true, force: true })
  real.mkdirSync(root, { recursive: true })
  for (const [path, bytes] of tree) {
    real.mkdirSync(join(root, bytes === null ? path : dirname(path)), { recursive: true })
    if (bytes !== null) real.writeFileSync(join(root, path), isLock(path) ? booted(bytes) : bytes)
  }
}

const isLock = (path: string) => basename(path).startsWith('.mirrorpid-lock')
const booted = (bytes: Uint8Array) =>
  Buffer.from(bytes)
    .toString()
    .replace(/"boot":"[^"]*"/, '"boot":"before"')

function read(directory: string): ForgetfulDirectory {
  const entries: Dirent[] = real.readdirSync(directory, { withFileTypes: true })
  return new ForgetfulDirectory(
    entries.map((entry): [string, Entry] => {
      const path = join(directory, entry.name)
      return [entry.name, entry.isDirectory() ? read(path) : new ForgetfulFile(real.readFileSync(path))]
    }),
  )
}

function find(disk: ForgetfulDirectory, root: string, path: string): Entry | null {
  let entry: Entry | undefined = disk
  for (const name of relative(root, resolve(path)).split('/')) {
    if (name === '') continue
    if (!(entry instanceof ForgetfulDirectory)) return null
    entry = entry.entries.get(name)
  }
  return entry ?? null
}

/** Above what is in it. */
function treeOf(directory: ForgetfulDirectory, loss: PowerLoss, prefix = ''): Map<string, Uint8Array | null> {
  const tree = new Map<string, Uint8Array | null>()
  for (const [name, entry] of directory.after(loss)) {
    if (entry instanceof ForgetfulFile) {
      tree.set(prefix + name, entry.after(loss))
      continue
    }
    tree.set(`${prefix}${name}/`, null)
    for (const [path, bytes] of treeOf(entry, loss, `${prefix}${name}/`)) tree.set(path, bytes)
  }
  return tree
}
