// What the installed package must do on each runtime: programs that print what they found.

export const imported = (load: string) => `
import * as mirrorpid from 'mirrorpid'
import { tour } from './tour.js'
import { segments } from './segments.js'
console.log(await tour({ mirrorpid }, ${load}, segments()))`

export const REQUIRED = `
const mirrorpid = require('mirrorpid')
const js = require('mirrorpid/js')
const node = require('mirrorpid/node')
const { tour } = require('./tour.js')
const { segments } = require('./segments.js')
console.log(typeof node.rewritePaths, js.MirrorPidError === mirrorpid.MirrorPidError)
tour({ mirrorpid }, mirrorpid.loadCoreSync(), segments()).then(console.log)`

/** Each thread has a core of its own: compiled there, or from a module that it was given. */
export const THREADS = `
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

/** A batch at an odd offset of a pool: tells which bytes each kind of view changes, and what is refused. */
export const POOLED = `
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

export const POOLED_OUTPUT = [
  'pooled true',
  ...['wasm', 'js'].flatMap((backend) => [
    ...['Buffer', 'Uint8Array', 'DataView', 'shared'].map((kind) => `${backend} ${kind} 1 true true 0`),
    '0',
    ...Array<string>(5).fill('INVALID_ARGUMENT'),
  ]),
].join('\n')
