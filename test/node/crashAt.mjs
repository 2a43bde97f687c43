// Preloaded into the command: ends it at one of its file-system calls, as a kill or a loss of power would.
//   CRASH_AT    number of the call, from 1
//   CRASH_MODE  kill: what was written stays; power: of what was not synced, a part is lost, sector by sector
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { dirname } from 'node:path'

const at = Number(process.env.CRASH_AT)
const isPower = process.env.CRASH_MODE === 'power'
const SECTOR = 512
const real = { ...fs, promises: { ...fs.promises } }
let steps = 0
let state = at * 2654435761

function chance() {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0
  return state / 2 ** 32
}

/** What can be lost still: { path } of a file with its bytes before, or { directory } with what undoes it. */
let unsynced = []
const paths = new Map() // of open files, by descriptor

/** Zeros where the file has no bytes yet. */
function bytesAt(path, position, length) {
  const bytes = Buffer.alloc(length)
  const file = real.openSync(path, 'r')
  real.readSync(file, bytes, 0, length, position)
  real.closeSync(file)
  return bytes
}

function undo(entry) {
  if (entry.undo !== undefined) return entry.undo()
  const { path, position, before } = entry
  if (!real.existsSync(path)) return
  const file = real.openSync(path, 'r+')
  for (let from = 0; from < before.length; ) {
    const to = Math.min(before.length, from + SECTOR - ((position + from) % SECTOR))
    if (chance() < 0.5) real.writeSync(file, before, from, to - from, position + from)
    from = to
  }
  real.closeSync(file)
}

function crash() {
  paths.clear() // what is undone is written through the functions below, too
  if (isPower)
    for (const entry of unsynced.reverse()) if (entry.undo === undefined || chance() < 0.5) undo(entry)
  process.kill(process.pid, 'SIGKILL')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

function step() {
  return ++steps === at
}

fs.writeSync = (fd, bytes, offset, length, position) => {
  if (!paths.has(fd) || typeof bytes === 'string') return real.writeSync(fd, bytes, offset, length, position)
  const path = paths.get(fd)
  unsynced.push({ path, position, before: bytesAt(path, position, length) })
  if (!step()) return real.writeSync(fd, bytes, offset, length, position)
  real.writeSync(fd, bytes, offset, Math.floor(length * chance()), position)
  return crash()
}

fs.promises.open = async (path, flags, mode) => {
  if (flags === 'wx' && step()) crash()
  const handle = await real.promises.open(path, flags, mode)
  if (flags === 'r') {
    if (fs.statSync(path).isDirectory()) watchSync(handle, (entry) => entry.directory === path)
    return handle
  }
  paths.set(handle.fd, path)
  handle.on('close', () => paths.delete(handle.fd))
  watchSync(handle, (entry) => entry.path === path)
  return handle
}

/** A sync makes everything last that had been done when it began. */
function watchSync(handle, isMeant) {
  for (const name of ['sync', 'datasync']) {
    const sync = handle[name].bind(handle)
    handle[name] = async () => {
      if (step()) crash()
      const meant = new Set(unsynced.filter(isMeant))
      await sync()
      unsynced = unsynced.filter((entry) => !meant.has(entry))
    }
  }
}

fs.promises.rename = async (from, to) => {
  if (step()) crash()
  const replaced = real.existsSync(to) ? real.readFileSync(to) : null
  await real.promises.rename(from, to)
  for (const entry of unsynced) if (entry.path === from) entry.path = to
  const undo = () => {
    if (!real.existsSync(to)) return
    real.renameSync(to, from)
    if (replaced !== null) real.writeFileSync(to, replaced)
  }
  unsynced.push({ directory: dirname(to), undo })
}

fs.promises.rm = async (path, options) => {
  if (!real.existsSync(path)) return
  if (step()) crash()
  const bytes = real.readFileSync(path)
  await real.promises.rm(path, options)
  unsynced.push({ directory: dirname(path), undo: () => real.writeFileSync(path, bytes) })
}

syncBuiltinESMExports()
