import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openPartitionDirectory } from '../../src/node/partition/partitionDirectory.ts'
import { recoverPartition } from '../../src/node/partition/recoverPartition.ts'
import { stopPartition } from '../../src/node/partition/stopPartition.ts'
import { encodeOp } from '../producers/logBuilder.ts'
import { runCommand, temporaryDirectories } from './support.ts'

const newDirectory = temporaryDirectories()
const CLUSTERS = { clusterId: 'B', sourceClusterId: 'A' }
const EPOCHS = '0\n3\n0 0\n1 500\n2 900\n'

/** One local segment from offset 1000 on; what lies below it is elsewhere, or gone. */
function partition(logStartOffset: number | null): string {
  const root = newDirectory()
  const directory = join(root, 'orders-0')
  mkdirSync(directory)
  const batch = encodeOp({ kind: 'data', pid: -7, seq: 0, leaderEpoch: 2 }, 1000n)
  writeFileSync(join(directory, '00000000000000001000.log'), batch)
  writeFileSync(join(directory, 'leader-epoch-checkpoint'), EPOCHS)
  if (logStartOffset !== null) {
    writeFileSync(join(root, 'log-start-offset-checkpoint'), `0\n1\norders 0 ${logStartOffset}\n`)
  }
  return directory
}

const epochsOf = (directory: string) => readFileSync(join(directory, 'leader-epoch-checkpoint'), 'utf8')

const RUNS: [string, (directory: string) => unknown][] = [
  ['stop', (directory) => stopPartition(directory, CLUSTERS)],
  ['recover --write', (directory) => recoverPartition(directory, { write: true })],
  ['opening it, after a crash', (directory) => openPartitionDirectory(directory, { write: true }).close()],
  [
    'opening it, after a clean end',
    (directory) => openPartitionDirectory(directory, { write: true, shutdown: 'clean' }).close(),
  ],
]

it.each(RUNS)(
  '%s: leader epochs are cut at the noted log start alone, never at the first segment',
  async (_, run) => {
    for (const [logStartOffset, expected] of [
      [0, EPOCHS],
      // nothing is noted
      [null, EPOCHS],
      [600, '0\n2\n1 600\n2 900\n'],
      [1000, '0\n1\n2 1000\n'],
    ] as const) {
      const directory = partition(logStartOffset)
      await run(directory)
      expect(epochsOf(directory), `${logStartOffset}`).toBe(expected)
    }
  },
)

it('that records lie below the first segment is told by stop and by recover', async () => {
  const told = /the log start offset 0, of a checkpoint, lies below the first segment, 1000/
  const { warnings } = await stopPartition(partition(0), CLUSTERS)
  expect(warnings).toEqual([expect.stringMatching(told)])
  expect((await recoverPartition(partition(0))).tiered).toEqual({ logStartOffset: 0n, firstOffset: 1000n })
  expect(runCommand(['recover', partition(0)]).stderr).toMatch(told)
  expect(runCommand(['stop', partition(0), '--cluster-id', 'B', '--source-cluster-id', 'A'])).toMatchObject({
    status: 0,
    stderr: expect.stringMatching(told),
  })
  for (const offset of [null, 1000]) {
    const directory = partition(offset)
    expect((await recoverPartition(directory)).tiered).toBeUndefined()
    expect((await stopPartition(directory, CLUSTERS)).warnings).toEqual([])
  }
})
