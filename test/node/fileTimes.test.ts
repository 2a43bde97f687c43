import { statSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { setFileTimes } from '../../src/node/files/fileTimes.ts'
import { temporaryDirectories } from './support.ts'

const newDirectory = temporaryDirectories()

/** Gives a file times and takes them back, in microseconds. */
async function keep(times: { atimeMs: number; mtimeMs: number }): Promise<{ atime: bigint; mtime: bigint }> {
  const path = join(newDirectory(), 'a')
  writeFileSync(path, '')
  const handle = await open(path, 'r+')
  await setFileTimes(handle, times)
  await handle.close()
  const { atimeNs, mtimeNs } = statSync(path, { bigint: true })
  return { atime: atimeNs / 1000n, mtime: mtimeNs / 1000n }
}

describe('the times of a file', () => {
  it('are kept to the microsecond', async () => {
    const times = fc.integer({ min: 0, max: 4_000_000_000_000_000 })
    await fc.assert(
      fc.asyncProperty(times, times, async (atime, mtime) => {
        const kept = await keep({ atimeMs: atime / 1000, mtimeMs: mtime / 1000 })
        expect(kept).toEqual({ atime: BigInt(atime), mtime: BigInt(mtime) })
      }),
      { numRuns: 300 },
    )
  })

  it('may be of before 1970', async () => {
    const old = -86_400_000 * 200
    expect(await keep({ atimeMs: old, mtimeMs: old })).toEqual({
      atime: BigInt(old) * 1000n,
      mtime: BigInt(old) * 1000n,
    })
  })
})
