// Runs a stop on a partition directory, and dies by SIGKILL at one of the calls that change a file. Prints the names of the
// calls if it gets through.
import { writeSync } from 'node:fs'
import { stopLog } from '../../dist/mirroring/stopLog.js'
import { checkpointOptions } from '../../dist/node/partition/partitionDirectory.js'
import { directoryStorage } from '../../dist/node/storage/directoryStorage.js'

const [directory, openTransactions, at, when] = process.argv.slice(2)
const files = directoryStorage(directory)
const calls = []

function change(name, half, whole) {
  calls.push(name)
  if (calls.length !== Number(at)) return whole()
  if (when === 'half') half()
  if (when === 'after') whole()
  process.kill(process.pid, 'SIGKILL')
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000)
}

const nothing = () => {}
const on = (target, name, describe, half = () => nothing) => {
  const call = target[name].bind(target)
  target[name] = (...args) => change(describe(...args), half(call, ...args), () => call(...args))
}

const open = files.open.bind(files)
const opened = new Set()
files.open = (name) => {
  const file = open(name)
  if (opened.has(file)) return file
  opened.add(file)
  on(
    file,
    'append',
    () => `append ${name}`,
    (call, bytes) => () => call(bytes.subarray(0, bytes.length >> 1)),
  )
  on(file, 'truncate', () => `truncate ${name}`)
  on(file, 'flush', () => `flush ${name}`)
  return file
}
on(files, 'write', (name, bytes) => {
  const state = name === 'mirror-state.json' ? ` ${JSON.parse(new TextDecoder().decode(bytes)).state}` : ''
  return `write ${name}${state}`
})
on(files, 'rename', (from) => `rename ${from}`)
on(files, 'remove', (name) => `remove ${name}`)
on(files, 'sync', () => 'sync')

stopLog(files, checkpointOptions(directory), {
  clusterId: 'B',
  sourceClusterId: 'A',
  openTransactions,
  now: () => 5000n,
})
writeSync(1, JSON.stringify(calls))
