import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadCoreSync } from '../../src/index.ts'
import { journalPathOf } from '../../src/node/files/temporaryFiles.ts'
import { rewritePaths } from '../../src/node/index.ts'
import { Job } from '../../src/node/jobs/job.ts'
import { applyJournal } from '../../src/node/journal/journalApply.ts'
import { checkSegment } from '../../src/node/segments/segmentPasses.ts'
import { compileEmbedded } from '../../src/wasm/load.ts'
import { batch, pattern } from '../support/batches.ts'
import { readTree, runCommand, temporaryDirectories, writeTree } from './support.ts'

// What a journal's reader holds in the core's memory, which moves when somebody else allocates.

const newDirectory = temporaryDirectories()
const SEGMENT = '00000000000000000000.log'
const PARTITIONS = 8
const bytes = Buffer.concat(
  Array.from({ length: 600 }, (_, at) =>
    batch({ baseOffset: BigInt(at), producerId: BigInt(at), payload: pattern(9000) }),
  ),
)
const mapped = Buffer.from(bytes)
loadCoreSync().rewrite(mapped)

/** Partitions, in each of which a run was killed right before its first header. */
async function interrupted(): Promise<{ root: string; paths: string[] }> {
  const root = newDirectory()
  const paths = Array.from({ length: PARTITIONS }, (_, at) => join(root, `orders-${at}`))
  for (const path of paths) {
    const segment = join(writeTree(path, { [SEGMENT]: bytes }), SEGMENT)
    await checkSegment(segment, journalPathOf(segment), Job.start({}), {
      crc: 'patch',
      direction: 'map',
      scope: 'partition',
    })
  }
  return { root, paths }
}

function expectAllMapped(root: string): void {
  const found = Object.entries(readTree(root))
  expect(found.map(([name, hex]) => [name, hex === mapped.toString('hex')])).toEqual(
    Array.from({ length: PARTITIONS }, (_, at) => [join(`orders-${at}`, SEGMENT), true]),
  )
}

describe('journals of several partitions are finished', () => {
  it('at the same time by several calls, while the memory of their core grows', async () => {
    const { root, paths } = await interrupted()
    // fresh, so that each call that comes on makes it grow
    const core = loadCoreSync(compileEmbedded())
    const results = await Promise.all(
      paths.map((path) => rewritePaths([path], { inPlace: true, resume: true, core })),
    )
    expect(results.map(({ errors, resumed }) => [errors, resumed.length])).toEqual(paths.map(() => [[], 1]))
    expectAllMapped(root)
  })

  it('by a command with several jobs', async () => {
    for (let run = 0; run < 3; run++) {
      const { root, paths } = await interrupted()
      const args = ['rewrite', ...paths, '--in-place', '--resume', '--quiet', '--jobs', '2']
      const { status, stdout, stderr } = runCommand(args)
      expect([status, stdout]).toEqual([0, ''])
      expect(stderr).toBe('')
      expectAllMapped(root)
    }
  })
})

describe('a segment whose journal is applied', () => {
  it('is closed again when it cannot be looked at', async () => {
    const { paths } = await interrupted()
    const segment = join(paths[0]!, SEGMENT)
    const { open } = fs.promises
    let descriptor: () => number = () => 0
    fs.promises.open = async (path, flags, mode) => {
      const handle = await open(path, flags, mode)
      if (flags !== 'r+') return handle
      descriptor = () => handle.fd
      const broken = Object.assign(new Error('broken'), { code: 'EIO' })
      handle.stat = () => Promise.reject<never>(broken)
      return handle
    }
    syncBuiltinESMExports()
    try {
      const call = applyJournal(segment, journalPathOf(segment), Job.start({}))
      await expect(call).rejects.toMatchObject({ code: 'IO_ERROR', errno: 'EIO', file: segment })
    } finally {
      fs.promises.open = open
      syncBuiltinESMExports()
    }
    expect(descriptor()).toBe(-1)
  })
})
