import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

// Data flows one way; a room imports itself and what stands before it, and so does a file below all rooms.
const BELOW = ['mirrorPidError.ts', 'errors.ts']
const ROOMS = [
  'bytes',
  'core',
  'wasm',
  'formats',
  'producers',
  'log',
  'mirroring',
  'dump',
  'node',
  'commands',
]
const WITH_NODE = ['node', 'commands']
// The same holds for the rooms in src/node; index.ts there is for those outside.
const NODE_ROOMS = [
  'files', // how one file is read, and written so that it lasts
  'locks', // who may change a directory
  'storage', // a partition's directory as the storage of its log
  'paths', // which logs a path names
  'checkpoints', // what a broker notes beside the segments
  'jobs', // the options and the progress of a call, and what a pass over a segment takes and gives
  'journal', // what makes a rewrite in place safe
  'segments', // passes over one segment or companion
  'threads', // the passes on threads of their own
]
// What is called from outside: these know all rooms above, but not one another.
const NODE_CALLS = ['verify', 'rewrite', 'audit', 'dump', 'partition']

const source = fileURLToPath(new URL('../../src', import.meta.url))
const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.ts'),
)

const roomOf = (file: string) => (file.includes('/') ? file.slice(0, file.indexOf('/')) : '')
const placeOf = (file: string) => [...BELOW, ...ROOMS].indexOf(roomOf(file) || file)

function specifiersOf(file: string): string[] {
  const text = readFileSync(join(source, file), 'utf8')
  return [...text.matchAll(/(?:from|import|import\()\s*'([^']+)'/g)].map(([, specifier]) => specifier!)
}

function targetOf(file: string, specifier: string): string {
  return relative(source, join(source, dirname(file), specifier))
}

describe('the structure of src/', () => {
  it('has the rooms we think', () => {
    expect(ROOMS).toEqual(expect.arrayContaining([...new Set(files.map(roomOf))].filter(Boolean)))
  })

  it.each(files)('%s imports only downhill, and Node only where a room may', (file) => {
    const isEntry = placeOf(file) === -1
    for (const specifier of specifiersOf(file)) {
      if (specifier.startsWith('node:')) {
        expect(WITH_NODE, `${file} imports ${specifier}`).toContain(roomOf(file))
      } else if (specifier.startsWith('.')) {
        const target = targetOf(file, specifier)
        if (isEntry) continue
        expect(placeOf(target), `${file} imports ${target}`).toBeGreaterThanOrEqual(0)
        expect(placeOf(target), `${file} imports ${target}`).toBeLessThanOrEqual(placeOf(file))
      }
    }
  })

  it.each(files.filter((file) => !WITH_NODE.includes(roomOf(file))))('%s needs no global of Node', (file) => {
    const code = readFileSync(join(source, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*|'[^'\n]*'/g, '')
    expect(code).not.toMatch(/\b(Buffer|process|require|__dirname|setImmediate)\b\s*[.(]/)
  })
})

describe('the structure of src/node/', () => {
  const insideNode = (file: string) => file.slice('node/'.length)
  const inNode = files.filter((file) => file.startsWith('node/')).map(insideNode)

  it('has the rooms we think, and nothing beside them but the entry', () => {
    const rooms = [...new Set(inNode.map(roomOf))].filter(Boolean)
    expect(rooms.sort()).toEqual([...NODE_ROOMS, ...NODE_CALLS].sort())
    expect(inNode.filter((file) => !roomOf(file))).toEqual(['index.ts'])
  })

  it.each(inNode.filter(roomOf))('%s imports only downhill', (file) => {
    const room = roomOf(file)
    const below = NODE_CALLS.includes(room) ? NODE_ROOMS : NODE_ROOMS.slice(0, NODE_ROOMS.indexOf(room))
    for (const specifier of specifiersOf(`node/${file}`)) {
      const target = targetOf(`node/${file}`, specifier)
      if (!specifier.startsWith('.') || !target.startsWith('node/')) continue
      expect([...below, room], `${file} imports ${target}`).toContain(roomOf(insideNode(target)))
    }
  })
})
