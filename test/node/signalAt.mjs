// Preloaded into the command: sends it a signal right before one of its calls to the file system, in whichever of its
// threads that is, and has the thread go on only when the command knows of the signal.
//   signalAt.mjs?signal=SIGINT&calls=reads&at=7              at the 7th call of all threads
//   signalAt.mjs?signal=SIGINT&calls=changes&at=1&name=.log  of those on files whose path ends so
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads'

const CALLS = {
  reads: { sync: ['readSync'], promises: [] },
  // calls that may change something; opening does so where it is not for reading
  changes: {
    sync: ['writeSync', 'ftruncateSync', 'fsyncSync', 'renameSync', 'linkSync', 'rmSync', 'mkdirSync'],
    promises: ['rename', 'rm', 'mkdir', 'copyFile', 'chmod'],
  },
}

const { searchParams } = new URL(import.meta.url)
const [signal, calls, at, name] = ['signal', 'calls', 'at', 'name'].map((key) => searchParams.get(key))
const { sync, promises } = CALLS[calls]

/** Of all threads: how many calls there were, and whether the signal has come. */
if (isMainThread) setEnvironmentData('signalAt', new Int32Array(new SharedArrayBuffer(8)))
const shared = getEnvironmentData('signalAt')
if (isMainThread && signal !== 'SIGKILL') {
  process.once(signal, () => {
    Atomics.store(shared, 1, 1)
    Atomics.notify(shared, 1)
  })
}

const paths = new Map() // of open files, by descriptor

function step(file) {
  const path = typeof file === 'number' ? paths.get(file) : file
  if (name !== null && !`${path}`.endsWith(name)) return
  if (Atomics.add(shared, 0, 1) + 1 !== Number(at)) return
  process.kill(process.pid, signal)
  if (!isMainThread || signal === 'SIGKILL') Atomics.wait(shared, 1, 0)
}

for (const [functions, names] of [
  [fs, sync],
  [fs.promises, promises],
]) {
  for (const name of names) {
    const call = functions[name]
    functions[name] = (...args) => {
      step(args[0])
      return call(...args)
    }
  }
}

const { openSync } = fs
fs.openSync = (path, flags = 'r', mode = undefined) => {
  if (calls === 'changes' && flags !== 'r') step(path)
  const descriptor = openSync(path, flags, mode)
  paths.set(descriptor, path)
  return descriptor
}

const { open } = fs.promises
fs.promises.open = async (path, flags = 'r', mode = undefined) => {
  if (calls === 'changes' && flags !== 'r') step(path)
  const handle = await open(path, flags, mode)
  paths.set(handle.fd, path)
  return handle
}

syncBuiltinESMExports()
