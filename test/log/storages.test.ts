import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memoryStorage } from '../../src/log/partition/memoryStorage.ts'
import { overlayStorage } from '../../src/log/partition/overlayStorage.ts'
import type { LogStorage } from '../../src/log/partition/storage.ts'
import { directoryStorage } from '../../src/node/storage/directoryStorage.ts'
import { temporaryDirectories } from '../node/support.ts'
import { storedFiles } from '../support/storedFiles.ts'
import { filesOf } from './logRun.ts'
import { SequenceMaker } from './logSequences.ts'

const newDirectory = temporaryDirectories()

type Op =
  | { op: 'append' | 'write'; name: string; bytes: Uint8Array }
  | { op: 'truncate' | 'read'; name: string; at: number }
  | { op: 'remove' | 'open' | 'flush'; name: string }
  | { op: 'rename'; name: string; to: string }

const name = fc.constantFrom('a', 'b', 'c')
const bytes = fc.uint8Array({ maxLength: 20 })
const op: fc.Arbitrary<Op> = fc.oneof(
  fc.record({ op: fc.constantFrom('append' as const, 'write' as const), name, bytes }),
  fc.record({ op: fc.constantFrom('truncate' as const, 'read' as const), name, at: fc.nat(50) }),
  fc.record({ op: fc.constantFrom('remove' as const, 'open' as const, 'flush' as const), name }),
  fc.record({ op: fc.constant('rename' as const), name, to: name }),
)

function apply(storage: LogStorage, step: Op): unknown {
  switch (step.op) {
    case 'append':
      return storage.open(step.name).append(step.bytes)
    case 'write':
      return storage.write(step.name, step.bytes)
    case 'truncate':
      return storage.open(step.name).truncate(Math.min(step.at, storage.open(step.name).size))
    case 'read': {
      const room = new Uint8Array(7)
      const length = storage.open(step.name).readInto(room, step.at)
      return [...room.subarray(0, length)]
    }
    case 'remove':
      return storage.remove(step.name)
    case 'open':
      return storage.open(step.name).size
    case 'flush':
      return storage.open(step.name).flush()
    case 'rename':
      return storage.list().includes(step.name) ? storage.rename(step.name, step.to) : null
  }
}

describe('all storages do the same', () => {
  const initial = fc.dictionary(name, bytes).map((files) => Object.entries(files))

  it('an overlay as memory, and nothing of what it lies on changes', () => {
    fc.assert(
      fc.property(initial, fc.array(op, { maxLength: 25 }), (files, steps) => {
        const below = memoryStorage(files)
        const memory = memoryStorage(files)
        const overlay = overlayStorage(below, memoryStorage())
        for (const step of steps) {
          expect(apply(overlay, step)).toEqual(apply(memory, step))
          expect(storedFiles(overlay)).toEqual(storedFiles(memory))
        }
        expect(filesOf(below)).toEqual(filesOf(memoryStorage(files)))
      }),
      { numRuns: 300 },
    )
  })

  it('a directory as memory, also when it is opened anew', () => {
    fc.assert(
      fc.property(initial, fc.array(op, { maxLength: 25 }), (files, steps) => {
        const path = newDirectory()
        for (const [file, content] of files) writeFileSync(join(path, file), content)
        const memory = memoryStorage(files)
        const directory = directoryStorage(path)
        for (const step of steps) expect(apply(directory, step)).toEqual(apply(memory, step))
        expect(filesOf(directory)).toEqual(filesOf(memory))
        directory.sync()
        directory.close()
        expect(filesOf(directoryStorage(path, 'read'))).toEqual(filesOf(memory))
        expect(readdirSync(path).sort()).toEqual(memory.list().sort())
      }),
      { numRuns: 60 },
    )
  })

  it('under a log too: memory, a directory, and an overlay of either end with the same files', () => {
    for (let seed = 0; seed < 12; seed++) {
      const isMirrored = seed % 2 === 0
      const path = newDirectory()
      const below = memoryStorage()
      const storages = [
        memoryStorage(),
        directoryStorage(path),
        overlayStorage(below, memoryStorage()),
        overlayStorage(directoryStorage(newDirectory(), 'read'), memoryStorage()),
      ]
      const ends = storages.map((storage) => {
        const maker = new SequenceMaker(seed, { isMirrored }, storage)
        for (let step = 0; step < 20; step++) maker.step()
        return maker.finish('')
      })
      for (const { results, files } of ends.slice(1)) {
        expect(results, `seed ${seed}`).toEqual(ends[0]!.results)
        expect(files, `seed ${seed}`).toEqual(ends[0]!.files)
      }
      expect(below.list()).toEqual([])
    }
  })
})

describe('directoryStorage', () => {
  it('removes what a killed write has left, and does not list it', () => {
    const path = newDirectory()
    writeFileSync(join(path, 'a.mirrorpid-00000000'), 'x')
    expect(directoryStorage(path, 'read').list()).toEqual([])
    expect(readdirSync(path)).toHaveLength(1)
    expect(directoryStorage(path).list()).toEqual([])
    expect(readdirSync(path)).toEqual([])
  })

  it('read only, refuses every change and makes none', () => {
    const path = newDirectory()
    writeFileSync(join(path, 'a'), 'abc')
    const storage = directoryStorage(path, 'read')
    expect(storage.read('b')).toBeNull()
    const changes: ((storage: LogStorage) => void)[] = [
      ({ open }) => open('a').append(new Uint8Array(1)),
      ({ open }) => open('a').truncate(1),
      ({ open }) => open('b'),
    ]
    for (const change of changes)
      expect(() => change(storage)).toThrow(expect.objectContaining({ code: 'IO_ERROR' }))
    expect(readdirSync(path)).toEqual(['a'])
    expect(readFileSync(join(path, 'a'), 'utf8')).toBe('abc')
  })

  it('names the path of what it cannot do', () => {
    const path = join(newDirectory(), 'gone')
    expect(() => directoryStorage(path)).toThrow(/gone/)
    expect(() => directoryStorage(path, 'read').list()).toThrow(/gone/)
  })

  it('keeps few files open however many there are', () => {
    const path = newDirectory()
    const storage = directoryStorage(path)
    for (let file = 0; file < 200; file++) storage.open(`f${file}`).append(Buffer.from(`${file}`))
    for (let file = 0; file < 200; file++) {
      storage.open(`f${file}`).append(Buffer.from('!'))
      expect(Buffer.from(storage.read(`f${file}`)!).toString()).toBe(`${file}!`)
    }
    if (existsSync('/proc/self/fd')) expect(readdirSync('/proc/self/fd').length).toBeLessThan(150)
    storage.close()
  })
})
