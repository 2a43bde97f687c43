// Every example in the public doc comments runs, against the installed tarball, and gives what it says it gives. All that
// can be called has one.
import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { type PublicItem, publicItems, toBody } from './examples.ts'
import { fixture, placeIn, runNode } from './support.ts'

const items = publicItems(inject('project'))

/** An item that several entries export is one. */
const examples = new Map<string, string>()
for (const { name, examples: texts } of items) {
  for (const [index, text] of texts.entries())
    examples.set(index === 0 ? name : `${name} (${index + 1})`, text)
}

const NAMES = [
  'records',
  'segment',
  'bytes',
  'fetched',
  'damaged',
  'batch',
  'compressed',
  'value',
  'snapshot',
  'index',
]
const MORE = [
  'core',
  'abortedTransactions',
  'response',
  'log',
  'storage',
  'source',
  'mirror',
  'a',
  'b',
  'console',
]
const TOOLS = ['gunzipSync', 'zstdDecompressSync', 'path', 'same', 'throws']

/** A module of functions. What the package exports is there by its name; an example may hide what it is given. */
function moduleOf(callables: string[]): string {
  const parameters = [...NAMES, ...MORE, ...TOOLS].join(', ')
  const functions = [...examples.values()].map(
    (text) => `async ({ ${parameters} }) => {{\n${toBody(text)}\n}},`,
  )
  return `import * as mirrorpid from 'mirrorpid'
import * as js from 'mirrorpid/js'
import * as node from 'mirrorpid/node'
import * as simulation from 'mirrorpid/simulate'
const { ${callables.join(', ')} } = { ...mirrorpid, ...js, ...node, ...simulation }
export const examples = [\n${functions.join('\n')}\n]`
}

describe('the doc comments', () => {
  let outcomes: (string | null)[]

  beforeAll(async () => {
    const values = new Set(items.filter(({ isValue }) => isValue).map(({ name }) => name))
    const place = await placeIn(inject('project'), {
      'examples.js': moduleOf([...values]),
      'run.js': await readFile(new URL('exampleRunner.js', import.meta.url), 'utf8'),
    })
    const { stdout, stderr } = await runNode(place, 'run.js', fixture('.'))
    expect(stderr).toBe('')
    outcomes = JSON.parse(stdout)
  })

  it.each([...examples.keys()].map((name, index) => [name, index] as const))('%s', (_, index) => {
    expect(outcomes[index]).toBeNull()
  })

  it('have an example for all that can be called', () => {
    const without = items.filter((item: PublicItem) => item.isCallable && item.examples.length === 0)
    expect(without.map(({ entry, name }) => `${entry}: ${name}`)).toEqual([])
    expect(examples.size).toBeGreaterThan(80)
  })
})
