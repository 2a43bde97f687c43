// Preloaded into the command: fsync of a directory fails with ERRNO, as on a file system that has none.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const code = process.env.ERRNO
const real = { ...fs, promises: { ...fs.promises } }
const failure = () => Object.assign(new Error(`${code}: invalid argument, fsync`), { code, syscall: 'fsync' })

fs.fsyncSync = (descriptor) => {
  if (fs.fstatSync(descriptor).isDirectory()) throw failure()
  real.fsyncSync(descriptor)
}

fs.promises.open = async (...args) => {
  const handle = await real.promises.open(...args)
  if ((await handle.stat()).isDirectory()) {
    handle.sync = async () => {
      throw failure()
    }
  }
  return handle
}

syncBuiltinESMExports()
