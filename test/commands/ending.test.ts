// A process that has done its work ends, whatever Node's compilers still do.
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { encodeRecordBatch } from '../../src/index.ts'
import { main } from '../dump/cli.ts'
import { quickOrLong } from '../support/counts.ts'
import { clusterMetadataMessages } from '../support/messages.ts'

// Held back by 5 ms each, compilers are at work at the end of most runs; without the collection, every fifth hung.
const SLOW_COMPILERS = '--concurrent-recompilation-delay=5'
const RUNS = quickOrLong(8, 30)

it('ends', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'mirrorpid-ending-'))
  try {
    const log = join(directory, '00000000000000000000.log')
    const records = clusterMetadataMessages(60, 5).map((message, index) => ({
      ...message,
      timestamp: BigInt(index),
    }))
    await writeFile(log, encodeRecordBatch({ records }))
    for (let run = 0; run < RUNS; run++) {
      const args = [SLOW_COMPILERS, main, 'dump', '--cluster-metadata-decoder', log]
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: 30_000 })
      child.stdout.resume()
      child.stderr.resume()
      const ended = await new Promise((resolve) => child.on('close', (...how) => resolve(how)))
      expect(ended).toEqual([0, null])
    }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}, 900_000)
