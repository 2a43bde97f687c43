// Case K-29: the installed tarball in an empty project, on each Node that it is for: imported, required, in a worker
// thread, without WebAssembly, and as a command.
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { fixture, placeIn, runIn, segmentsModule, tourSource } from './support.ts'
import { TOUR } from './tourOutput.ts'
import { NODE_VERSIONS } from './versions.ts'

const LOAD_WASM = 'await mirrorpid.loadCore()'
const LOAD_JS = '(await import("mirrorpid/js")).jsCore()'

const imported = (load: string) => `
import * as mirrorpid from 'mirrorpid'
import { tour } from './tour.js'
import { segments } from './segments.js'
console.log(await tour({ mirrorpid }, ${load}, segments()))`

const REQUIRED = `
const mirrorpid = require('mirrorpid')
const js = require('mirrorpid/js')
const node = require('mirrorpid/node')
const { tour } = require('./tour.js')
const { segments } = require('./segments.js')
console.log(typeof node.rewritePaths, js.MirrorPidError === mirrorpid.MirrorPidError)
tour({ mirrorpid }, mirrorpid.loadCoreSync(), segments()).then(console.log)`

/** Each thread has a core of its own: compiled there, or from a module that it was given. */
const THREADS = `
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { once } from 'node:events'
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads'
import * as mirrorpid from 'mirrorpid'
import { tour } from './tour.js'
import { segments } from './segments.js'
if (isMainThread) {
  const file = fileURLToPath(import.meta.resolve('mirrorpid/core.wasm'))
  const module = await WebAssembly.compile(await readFile(file))
  const workers = [undefined, module].map((workerData) => new Worker(new URL(import.meta.url), { workerData }))
  for (const [text] of await Promise.all(workers.map((worker) => once(worker, 'message')))) console.log(text)
} else {
  parentPort.postMessage(await tour({ mirrorpid }, await mirrorpid.loadCore(workerData), segments()))
}`

const REFUSED = `
import { loadCore, loadCoreSync, WasmUnavailableError } from 'mirrorpid'
console.log(typeof WebAssembly)
for (const load of [async () => loadCoreSync(), loadCore]) {
  await load().catch((error) => {
    console.log(error.code, error instanceof WasmUnavailableError, error.message.includes('"mirrorpid/js"'))
  })
}`

/** A batch at an odd offset of a pool: tells which bytes each kind of view changes, and what is refused. */
const POOLED = `
import { jsCore } from 'mirrorpid/js'
import { loadCoreSync } from 'mirrorpid'
const fill = (bytes, core) => {
  bytes.fill(0xaa)
  const view = new DataView(bytes.buffer, bytes.byteOffset + 3, 61)
  for (let at = 0; at < 61; at++) view.setUint8(at, 0)
  view.setInt32(8, 49)
  view.setInt8(16, 2)
  view.setBigInt64(43, 5n)
  view.setUint32(17, core.crc32c(new Uint8Array(view.buffer, view.byteOffset + 21, 40)))
}
const pooled = () => Buffer.from(new Uint8Array(200))
const kinds = {
  Buffer: [pooled(), (bytes) => bytes.subarray(3, 64)],
  Uint8Array: [new Uint8Array(1024), (bytes) => new Uint8Array(bytes.buffer, 3, 61)],
  DataView: [pooled(), (bytes) => new DataView(bytes.buffer, bytes.byteOffset + 3, 61)],
  shared: [new Uint8Array(new SharedArrayBuffer(1024)), (bytes) => bytes.subarray(3, 64)],
}
console.log('pooled', kinds.Buffer[0].byteOffset > 0)
for (const core of [loadCoreSync(), jsCore()]) {
  for (const [kind, [bytes, viewOf]] of Object.entries(kinds)) {
    fill(bytes, core)
    const before = Uint8Array.from(bytes)
    const { rewritten } = core.rewrite(viewOf(bytes), { crc: 'verify' })
    const changed = [...before.keys()].filter((at) => before[at] !== bytes[at]).map((at) => at - 3)
    const isInside = changed.every((at) => (at >= 17 && at <= 20) || (at >= 43 && at <= 50))
    console.log(core.backend, kind, rewritten, isInside, changed.length > 8, core.verify(viewOf(bytes)).corrupt.length)
  }
  console.log(core.rewrite(new Uint8Array(0)).batches)
  for (const other of [new ArrayBuffer(61), new Uint16Array(61), [1], 'bytes', null]) {
    try {
      core.rewrite(other)
    } catch (error) {
      console.log(error.code)
    }
  }
}`

const POOLED_OUTPUT = [
  'pooled true',
  ...['wasm', 'js'].flatMap((backend) => [
    ...['Buffer', 'Uint8Array', 'DataView', 'shared'].map((kind) => `${backend} ${kind} 1 true true 0`),
    '0',
    ...Array<string>(5).fill('INVALID_ARGUMENT'),
  ]),
].join('\n')

const COMMANDS = ['rewrite', 'verify', 'dump', 'audit', 'stop', 'recover', 'simulate']

describe.each(NODE_VERSIONS)('K-29: on Node %s', (version) => {
  const node = inject('nodes')[version]!
  let place: string

  beforeAll(async () => {
    place = await placeIn(inject('project'), {
      'tour.js': await tourSource(),
      'segments.js': await segmentsModule(),
      'imported.js': imported(LOAD_WASM),
      'plain.js': imported(LOAD_JS),
      'required.cjs': REQUIRED,
      'threads.js': THREADS,
      'pooled.js': POOLED,
      'refused.js': REFUSED,
    })
  })

  const run = (...args: string[]) => runIn(place, node, args)
  const command = (...args: string[]) => run(join('..', 'node_modules', '.bin', 'mirrorpid'), ...args)
  const fine = (stdout: string) => ({ stdout: `${stdout}\n`, stderr: '', status: 0 })

  it('is that version', async () => {
    expect(await run('--version')).toEqual(fine(`v${version}`))
  })

  it('is imported', async () => {
    expect(await run('imported.js')).toEqual(fine(TOUR.wasm))
  })

  it('is required, with the state of the import', async () => {
    // Node 22.12 still warns of it
    const required = await run('--disable-warning=ExperimentalWarning', 'required.cjs')
    expect(required).toEqual(fine(`function true\n${TOUR.wasm}`))
  })

  it('works in threads', async () => {
    expect(await run('threads.js')).toEqual(fine(`${TOUR.wasm}\n${TOUR.wasm}`))
  })

  it('K-28: changes the bytes that it is given where they are, and none beside them', async () => {
    expect(await run('pooled.js')).toEqual(fine(POOLED_OUTPUT))
  })

  it('refuses by a typed error where there is no WebAssembly, and the rest works', async () => {
    const refusal = 'WASM_UNAVAILABLE true true'
    const refused = await run('--jitless', 'refused.js')
    expect(refused).toMatchObject({ stdout: `undefined\n${refusal}\n${refusal}\n`, status: 0 })
    expect(await run('--jitless', 'plain.js')).toMatchObject({
      stdout: `${TOUR['without wasm']}\n`,
      status: 0,
    })
  })

  it('starts as a command, and each of its commands', async () => {
    const [start, ...helps] = await Promise.all([
      command('--version'),
      ...COMMANDS.map((name) => command(name, '--help')),
    ])
    expect(start).toEqual(fine('0.1.0'))
    for (const [index, help] of helps.entries()) {
      expect(help).toMatchObject({ stderr: '', status: 0 })
      expect(help.stdout).toContain(`Usage: mirrorpid ${COMMANDS[index]}`)
    }
  })

  it('does the work of its commands', async () => {
    const partition = fixture('transactions-0')
    const out = `out-${version}`
    const runs = [
      // as many threads as there are segments, up to two
      ['rewrite', fixture('segments-0'), partition, '--out', out, '--crc', 'verify', '--jobs', '2'],
      ['verify', out, '--jobs', '2'],
      ['dump', join(out, 'transactions-0'), '--explain'],
      ['audit', partition],
      ['recover', join(out, 'transactions-0'), '--cluster-id', 'B'],
      ['stop', join(out, 'transactions-0'), '--cluster-id', 'B', '--source-cluster-id', 'A', '--dry-run'],
      ['simulate', 'chain', '--policy', 'default'],
    ]
    for (const args of runs) expect(await command(...args), args.join(' ')).toMatchObject({ status: 0 })
  })
})
