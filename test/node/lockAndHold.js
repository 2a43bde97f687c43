// Tries to lock a directory, once it gets a byte on stdin, again and again; while it has the lock, no other process may be in
// the same place. Prints what became of it, or all that it is refused with.
import { closeSync, openSync, readSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { lockDirectory } from '../../dist/node/locks/directoryLock.js'

const TIMES = 20
const [directory, mode] = process.argv.slice(2)

function once() {
  let lock
  try {
    lock = lockDirectory(directory)
  } catch (error) {
    if (mode === 'explain') return JSON.stringify({ code: error.code, message: error.message })
    return error.code ?? `${error}`
  }
  if (mode === 'die') process.kill(process.pid, 'SIGKILL')
  const place = join(directory, 'somebody-is-here')
  try {
    closeSync(openSync(place, 'wx'))
  } catch {
    return 'TWO AT ONCE'
  }
  rmSync(place)
  lock.release()
  return 'held'
}

if (mode === 'explain') {
  console.log(once())
} else {
  // all begin at one time, and each tries often enough to meet the others
  console.log('ready')
  readSync(0, new Uint8Array(1))
  const outcomes = Array.from({ length: mode === 'die' ? 1 : TIMES }, once)
  console.log([...new Set(outcomes)].sort().join())
}
