// Tries to lock a directory; while it has the lock, no other process may be in the same place. Prints what became of it, or
// all that it is refused with.
import { closeSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { lockDirectory } from '../../dist/node/locks/directoryLock.js'

const [directory, mode] = process.argv.slice(2)

async function once() {
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
  await setTimeout(30)
  rmSync(place)
  lock.release()
  return 'held'
}

console.log(await once())
