import { describe, expect, it } from 'vitest'
import {
  type OptionKinds,
  requireList,
  requireOptions,
  requirePaths,
  requireText,
  requireThing,
} from '../../src/core/arguments.ts'
import { InvalidArgumentError, loadCoreSync, type RewriteOptions } from '../../src/index.ts'
import { jsCore } from '../../src/js.ts'
import { batch } from '../support/batches.ts'

interface Options {
  dryRun?: boolean
  now?: () => bigint
  sources?: readonly string[]
  core?: object
  name?: string
  limit?: number
}

const KINDS: OptionKinds<Options> = {
  dryRun: 'boolean',
  now: 'function',
  sources: 'list',
  core: 'object',
  name: 'string',
  limit: 'any',
}

const check = (options: unknown) => requireOptions('options of mend', options as Options, KINDS)

const refusal = (message: string | RegExp) =>
  expect.objectContaining({
    name: 'InvalidArgumentError',
    code: 'INVALID_ARGUMENT',
    message: typeof message === 'string' ? message : expect.stringMatching(message),
  })

const full = { dryRun: true, now: () => 0n, sources: [], core: {}, name: '', limit: 5 }

describe('options', () => {
  it.each([
    ['none', {}],
    ['all', full],
    [
      'undefined, which is the default',
      Object.fromEntries(Object.keys(full).map((name) => [name, undefined])),
    ],
    ['those of an object without a prototype', Object.assign(Object.create(null), full)],
    ['those of an object of a class', Object.assign(new (class Config {})(), full)],
  ])('may be %s', (_, options) => {
    expect(check(options)).toBe(options)
  })

  it.each([
    ['of another spelling', { dry_run: true }],
    ['that is undefined', { dryrun: undefined }],
    ['that every object has', { toString: true }],
    ['that is the prototype', JSON.parse('{ "__proto__": 1 }')],
    ['beside known ones', { ...full, force: true }],
  ])('with a name %s are refused, with the name and all that are known', (_, options) => {
    expect(() => check(options)).toThrow(
      refusal(/^options of mend: "\w+" is not known; known are dryRun, now, sources, core, name, limit$/),
    )
  })

  it.each([
    ['"verify"', 'verify'],
    ['""', ''],
    ['5', 5],
    ['true', true],
    ['null', null],
    ['undefined', undefined],
    ['Array', ['dryRun']],
    ['Map', new Map([['dryRun', true]])],
    ['Uint8Array', new Uint8Array(0)],
    ['Object', Object.create(full)],
    ['a function', () => {}],
  ])('must be an object, not %s', (shown, options) => {
    expect(() => check(options)).toThrow(
      refusal(
        `options of mend must be a plain object with some of dryRun, now, sources, core, name, limit; got ${shown}`,
      ),
    )
  })

  it.each([
    ['dryRun must be a boolean; got "no"', { dryRun: 'no' }],
    ['dryRun must be a boolean; got 0', { dryRun: 0 }],
    ['dryRun must be a boolean; got null', { dryRun: null }],
    ['now must be a function; got 5', { now: 5n }],
    ['sources must be a list; got "A=/kafka"', { sources: 'A=/kafka' }],
    ['sources must be a list; got Set', { sources: new Set() }],
    ['core must be an object; got null', { core: null }],
    ['name must be a string; got 7', { name: 7 }],
  ])('have values of their kinds: %s', (message, options) => {
    expect(() => check(options)).toThrow(refusal(`options of mend: ${message}`))
  })
})

describe('lists, texts and things', () => {
  it.each(['/kafka', '', null, undefined, 5, {}, new Set(['/kafka'])])('%j is no list of paths', (paths) => {
    expect(() => requirePaths(paths as string[])).toThrow(InvalidArgumentError)
    expect(() => requireList('batches', paths as string[])).toThrow(InvalidArgumentError)
  })

  it.each([[['/kafka', 5]], [['']], [[null]], [[['/kafka']]]])('%j has what is no path', (paths) => {
    expect(() => requirePaths(paths as string[])).toThrow(refusal(/^paths\[\d\] must be a string/))
  })

  it('gives back what is fine', () => {
    expect(requirePaths(['a', 'b'])).toEqual(['a', 'b'])
    expect(requireText('file', 'a')).toBe('a')
    const thing = { list: () => [] }
    expect(requireThing('storage', thing, 'list', 'a LogStorage')).toBe(thing)
  })

  it.each([null, undefined, 'list', 5, {}, []])('%j is no storage', (value) => {
    expect(() => requireThing('storage', value as { list(): [] }, 'list', 'a LogStorage')).toThrow(
      refusal(/^storage must be a LogStorage; got /),
    )
  })

  it('long texts are shown short', () => {
    expect(() => check('x'.repeat(1e6))).toThrow(refusal(/; got "x{37}\.\.\."$/))
  })
})

describe.each([
  ['wasm', loadCoreSync()],
  ['js', jsCore()],
])('the %s core', (_, core) => {
  it.each([
    ['another name', { unmap: true }],
    ['a mode alone', 'verify'],
    ['null', null],
    ['a list', ['verify']],
  ])('refuses %s where its options are due, and changes nothing', (_, options) => {
    const region = core.allocate(61)
    region.bytes.set(batch({ producerId: 5n }))
    for (const records of [batch({ producerId: 5n }), region.bytes]) {
      const before = records.slice()
      expect(() => core.rewrite(records, options as RewriteOptions)).toThrow(refusal(/crc, direction/))
      expect(records).toEqual(before)
    }
    region.free()
  })
})
