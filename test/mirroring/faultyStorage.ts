import type { LogStorage, StoredFile } from '../../src/index.ts'
import { memoryStorage } from '../../src/index.ts'
import { storedFiles } from '../support/storedFiles.ts'

/** The process has died: whoever catches this and goes on finds that nothing works any more. */
export class Died extends Error {}

export interface Faults {
  /** The changing call at which it dies, from 1 on; 0 for none. */
  at: number
  /** Whether that call, where it appends, still writes half of its bytes. */
  isTorn?: boolean
}

/** Storage under which the process dies at one of the calls that change something. `calls` lists those that were made. */
export function faultyStorage(below: LogStorage, { at, isTorn = false }: Faults) {
  const calls: string[] = []
  let isDead = false
  const change = (call: string, torn: () => void = () => {}): void => {
    if (isDead) throw new Died(call)
    calls.push(call)
    if (calls.length !== at) return
    isDead = true
    if (isTorn) torn()
    throw new Died(call)
  }
  const file = (name: string, inner: StoredFile): StoredFile => ({
    get size() {
      return inner.size
    },
    readInto: (room, position) => inner.readInto(room, position),
    append(bytes) {
      change(`append ${name}`, () => inner.append(bytes.subarray(0, bytes.length >> 1)))
      inner.append(bytes)
    },
    truncate(size) {
      change(`truncate ${name}`)
      inner.truncate(size)
    },
    flush() {
      change(`flush ${name}`)
      inner.flush()
    },
  })
  const storage: LogStorage = {
    list: () => below.list(),
    read: (name) => below.read(name),
    write(name, bytes) {
      change(`write ${name}${stateIn(name, bytes)}`)
      below.write(name, bytes)
    },
    open(name) {
      if (!below.list().includes(name)) change(`create ${name}`)
      return file(name, below.open(name))
    },
    rename(from, to) {
      change(`rename ${from}`)
      below.rename(from, to)
    },
    remove(name) {
      change(`remove ${name}`)
      below.remove(name)
    },
    sync() {
      change('sync')
      below.sync()
    },
    close: () => below.close(),
  }
  return { storage, calls }
}

function stateIn(name: string, bytes: Uint8Array): string {
  if (name !== 'mirror-state.json') return ''
  return ` ${JSON.parse(new TextDecoder().decode(bytes)).state}`
}

/** Another storage with the same files. */
export function copyOf(storage: LogStorage): LogStorage {
  return memoryStorage(storedFiles(storage))
}

/** The bytes of the files whose names end so, in hex. */
export function filesOf(storage: LogStorage, ending: string): Record<string, string> {
  const files = [...storedFiles(storage)].filter(([name]) => name.endsWith(ending))
  return Object.fromEntries(files.map(([name, bytes]) => [name, Buffer.from(bytes).toString('hex')]))
}
