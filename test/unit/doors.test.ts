// Every public call: what it is not made for, it refuses with InvalidArgumentError before anything else happens.
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import * as universal from '../../src/index.ts'
import * as js from '../../src/js.ts'
import * as node from '../../src/node/index.ts'
import * as simulation from '../../src/simulate.ts'
import { readTree, temporaryDirectories, writeTree } from '../node/support.ts'
import {
  type Kind,
  nodeDoors,
  type Parameter,
  receivers,
  specialReceivers,
  universalDoors,
  writeChunk,
} from './doors.ts'

const entries: Record<string, unknown> = { ...universal, ...js, ...node, ...simulation }

const root = temporaryDirectories()()
const partition = join(root, 'kafka', 'orders-0')
const NAME = '00000000000000000000.log'
writeTree(partition, {
  [NAME]: universal.encodeRecordBatch({
    partitionLeaderEpoch: 0,
    producerId: 5n,
    producerEpoch: 0,
    baseSequence: 0,
    records: [{ value: new Uint8Array(5) }],
  }),
})
const doors = {
  ...universalDoors,
  ...nodeDoors(partition, join(partition, NAME), join(root, 'out')),
}

type Constructor = { new (...args: unknown[]): object } & Record<string, (...args: unknown[]) => unknown>

const isClass = (value: unknown): value is Constructor =>
  typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value))

/** Errors are made by this package, and say what was wrong elsewhere. */
const isError = (value: unknown) =>
  isClass(value) && (value.prototype instanceof Error || value === (universal.MirrorPidError as unknown))

function methodsOf(object: object, except: readonly string[]): string[] {
  return Object.entries(Object.getOwnPropertyDescriptors(object))
    .filter(([name, { value }]) => typeof value === 'function' && !except.includes(name))
    .map(([name]) => name)
}

/** What all entries export that can be called. */
function* exportedDoors(): Generator<string> {
  for (const [name, value] of Object.entries(entries)) {
    if (typeof value !== 'function' || isError(value)) continue
    if (!isClass(value)) {
      yield name
      continue
    }
    yield `${name}.new`
    for (const method of methodsOf(value, [])) yield `${name}.${method}`
    for (const method of methodsOf(value.prototype, ['constructor'])) yield `${name}#${method}`
  }
  for (const core of ['loadCoreSync()', 'jsCore()']) {
    for (const method of methodsOf(receivers[core]!(), [])) yield `${core}#${method}`
  }
}

async function knock(door: string, args: readonly unknown[]): Promise<unknown> {
  const [, owner, separator, member] = /^([\w()]+?)(?:([.#])(\w+))?$/.exec(door)!
  if (separator === '#') {
    const receiver = (specialReceivers[door] ?? receivers[owner!])!() as Constructor
    return receiver[member!]!(...args)
  }
  const value = entries[owner!] as Constructor & ((...args: unknown[]) => unknown)
  if (separator === undefined) return value(...args)
  return member === 'new' ? new value(...args) : value[member!]!(...args)
}

const NO_OBJECT = ['text', '', 5, 5n, true, null, () => {}]
const NO_NAMES = [[], ['dryRun'], new Map(), new Uint8Array(1)]
const WRONG: Record<Kind, (valid: unknown) => unknown[]> = {
  bytes: () => ['text', '', [1, 2, 3], 5, null, undefined, {}, new ArrayBuffer(61), new Uint16Array(31)],
  options: (valid) => [
    { ...(valid as object), noSuchName: true },
    { toString: 1 },
    ...NO_OBJECT,
    ...NO_NAMES,
  ],
  request: (valid) => [...WRONG.options(valid), undefined],
  thing: () => [...NO_OBJECT, undefined, {}, []],
  things: () => [...NO_OBJECT, {}, ['text'], [5], [null], [{}]],
  paths: () => ['/kafka', '', 5, null, undefined, {}, new Set(['/kafka']), [5], [''], [null], [['/kafka']]],
  text: () => ['', 5, null, undefined, {}, ['/kafka'], new URL('file:///kafka')],
  offset: () => [5, '5', null, undefined, {}, -1n, 2n ** 63n],
  producerId: () => [5, '5', null, undefined, {}],
  choice: () => ['another', '', 5, null, {}],
  module: () => ['text', 5, null, {}, new Uint8Array(8)],
  scenario: () => [5, null, undefined, [], {}, { clusters: ['A'], steps: 'abc' }],
  free: () => [],
}

const codeOf = async (door: string, args: readonly unknown[]) => {
  try {
    await knock(door, args)
    return 'done'
  } catch (error) {
    return universal.MirrorPidError.is(error) ? error.code : error
  }
}

describe('the doors of the API', () => {
  it('are all listed, with what each of their parameters is', () => {
    expect(Object.keys(doors).sort()).toEqual([...new Set(exportedDoors())].sort())
  })

  it('open to what they are made for', async () => {
    for (const [door, parameters] of Object.entries(doors)) {
      const args = parameters().map(([, valid]) => valid)
      expect([door, await codeOf(door, args)]).toEqual([door, 'done'])
    }
  })

  const cases = Object.entries(doors).flatMap(([door, parameters]) =>
    parameters().flatMap(([kind], at) => (kind === 'free' ? [] : [{ door, at, kind, parameters }])),
  )

  it.each(cases)(
    '$door refuses what is no $kind as parameter $at',
    async ({ door, at, kind, parameters }) => {
      const files = readTree(root)
      const expected = kind === 'scenario' ? 'INVALID_SCENARIO' : 'INVALID_ARGUMENT'
      for (const wrong of WRONG[kind](parameters()[at]![1])) {
        const args = parameters().map(([, valid]: Parameter, index) => (index === at ? wrong : valid))
        expect([wrong, await codeOf(door, args)]).toEqual([wrong, expected])
      }
      expect(readTree(root)).toEqual(files)
    },
  )

  it.each(cases.filter(({ kind }) => kind === 'options' || kind === 'request'))(
    '$door names what parameter $at has and does not know, and what it knows',
    async ({ door, at, parameters }) => {
      const args = parameters().map(([, valid]) => valid)
      args[at] = { ...(args[at] as object), dry_run: true }
      const known = Object.keys(parameters()[at]![1] as object)
      const { message } = (await knock(door, args).catch((cause) => cause)) as Error
      expect(message).toContain('"dry_run" is not known; known are ')
      for (const name of known) expect(message.split('known are ')[1]!.split(', ')).toContain(name)
    },
  )

  it.each(WRONG.bytes(null).map((wrong) => [wrong]))('a stream refuses the chunk %j', async (wrong) => {
    await expect(writeChunk(wrong)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })

  it.each(WRONG.bytes(null).map((wrong) => [wrong]))('a storage refuses to write %j', (wrong) => {
    const { memoryStorage, overlayStorage } = universal
    const directory = node.directoryStorage(root, 'write')
    const files = readTree(root)
    for (const storage of [memoryStorage(), overlayStorage(memoryStorage(), memoryStorage()), directory]) {
      const refusal = expect.objectContaining({ code: 'INVALID_ARGUMENT' })
      expect(() => storage.write('a', wrong as Uint8Array)).toThrow(refusal)
    }
    directory.close()
    expect(readTree(root)).toEqual(files)
  })
})
