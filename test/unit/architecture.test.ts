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

const source = fileURLToPath(new URL('../../src', import.meta.url))
const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.ts'),
)

const roomOf = (file: string) => (file.includes('/') ? file.slice(0, file.indexOf('/')) : '')
const placeOf = (file: string) => [...BELOW, ...ROOMS].indexOf(roomOf(file) || file)

describe('the structure of src/', () => {
  it('has the rooms we think', () => {
    expect(ROOMS).toEqual(expect.arrayContaining([...new Set(files.map(roomOf))].filter(Boolean)))
  })

  it.each(files)('%s imports only downhill, and Node only where a room may', (file) => {
    const text = readFileSync(join(source, file), 'utf8')
    const isEntry = placeOf(file) === -1
    for (const [, specifier] of text.matchAll(/(?:from|import|import\()\s*'([^']+)'/g)) {
      if (specifier === undefined) continue
      if (specifier.startsWith('node:')) {
        expect(WITH_NODE, `${file} imports ${specifier}`).toContain(roomOf(file))
      } else if (specifier.startsWith('.')) {
        const target = relative(source, join(source, dirname(file), specifier))
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

  it.each(files)('%s has one subject: at most 300 lines', (file) => {
    expect(readFileSync(join(source, file), 'utf8').split('\n').length).toBeLessThanOrEqual(301)
  })
})
