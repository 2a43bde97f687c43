import { readdirSync, writeFileSync } from 'node:fs'
import type * as Promises from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { removeLeftovers } from '../../src/node/files/temporaryFiles.ts'
import { temporaryDirectories } from './support.ts'

const newDirectory = temporaryDirectories()
const hooks = vi.hoisted(() => ({ beforeRename: (_from: string): void => {} }))

vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof Promises>()
  return {
    ...real,
    rename: (from: string, to: string) => {
      hooks.beforeRename(from)
      return real.rename(from, to)
    },
  }
})

afterEach(() => {
  hooks.beforeRename = () => {}
})

describe('what an interrupted run left', () => {
  const name = '00000000000000000000.log'
  const leftover = `${name}.mirrorpid-0123abcd`

  it('is removed, and nothing else', async () => {
    const directory = newDirectory()
    for (const file of [name, leftover, 'other.log.mirrorpid-0123abcd'])
      writeFileSync(join(directory, file), '')
    await removeLeftovers([join(directory, name)])
    expect(readdirSync(directory).sort()).toEqual([name, 'other.log.mirrorpid-0123abcd'])
  })

  it('may get its final name, or go, just before it is removed', async () => {
    const directory = newDirectory()
    writeFileSync(join(directory, leftover), 'whole')
    const { renameSync } = await import('node:fs')
    hooks.beforeRename = (from) => renameSync(from, join(directory, name))
    await removeLeftovers([join(directory, name)])
    expect(readdirSync(directory)).toEqual([name])
  })

  it('is an error where it cannot be removed', async () => {
    const directory = newDirectory()
    writeFileSync(join(directory, leftover), '')
    hooks.beforeRename = () => {
      throw Object.assign(new Error('no'), { code: 'EACCES', syscall: 'rename' })
    }
    await expect(removeLeftovers([join(directory, name)])).rejects.toThrow(
      expect.objectContaining({ code: 'IO_ERROR', errno: 'EACCES' }),
    )
  })
})
