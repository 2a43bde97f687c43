import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { LogFileError } from '../../src/errors.ts'
import { directoryStorage } from '../../src/node/storage/directoryStorage.ts'
import { temporaryDirectories } from './support.ts'

const newDirectory = temporaryDirectories()

describe('errors of the system are ours', () => {
  it('where a directory has the name of a file', () => {
    const directory = newDirectory()
    mkdirSync(join(directory, 'checkpoint'))
    const storage = directoryStorage(directory)
    for (const call of [() => storage.read('checkpoint'), () => storage.remove('checkpoint')]) {
      expect(call).toThrow(LogFileError)
      expect(call).toThrow(join(directory, 'checkpoint'))
    }
    storage.close?.()
  })

  it('where a directory has the name of a file that a killed run left', () => {
    const directory = newDirectory()
    mkdirSync(join(directory, 'checkpoint.mirrorpid-00000000'))
    expect(() => directoryStorage(directory)).toThrow(LogFileError)
  })

  it('where the directory is a file, or is not there', () => {
    expect(() => directoryStorage(join(newDirectory(), 'missing'))).toThrow(LogFileError)
  })
})
