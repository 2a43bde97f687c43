import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { partitions } from './expectations.js'
import { type JudgedFile, type JudgedSnapshotEntry, judge, type Replayed, replay } from './judge.js'
import { committed, readManifest } from './manifest.js'

const manifest = await readManifest(committed)
const directories = partitions.map((partition) => join(committed, partition))

describe("the fixtures, loaded by Kafka's own log", () => {
  let judged: JudgedFile[]
  let clean: Replayed[]
  let crashed: Replayed[]
  beforeAll(async () => {
    judged = await judge(directories)
    clean = await replay(directories, { after: 'clean' })
    crashed = await replay(directories, { after: 'crash' })
  })

  it.each(partitions.map((partition, i) => [partition, i] as const))(
    '%s loads whole, both ways',
    (partition, i) => {
      const files = Object.entries(manifest.partitions[partition]?.files ?? {})
      const bytes = files.reduce((sum, [name, { size }]) => sum + (name.endsWith('.log') ? size : 0), 0)
      for (const state of [clean[i], crashed[i]])
        expect(state).toMatchObject({ bytes, producers: expect.any(Array) })
    },
  )

  it.each(partitions.map((partition, i) => [partition, i] as const))(
    '%s: its snapshots are true',
    (partition, i) => {
      const state = clean[i]
      const end = `${state?.logEndOffset.padStart(20, '0')}.snapshot`
      const path = join(committed, partition, end)
      const last = judged.find((file) => file.path === path)
      // A crash leaves none for the end of the log.
      if (partition === 'crashed-0') expect(last).toBeUndefined()
      else expect(state?.producers).toEqual(sorted(last))
      // Compaction removes what recovery would need: a producer's last epoch goes with its last marker.
      if (!partition.startsWith('compacted'))
        expect(lastBatchesOnly(crashed[i])).toEqual(lastBatchesOnly(state))
    },
  )

  it.each(['transactions-0', 'transactions-v1-0'])(
    '%s: the open transaction holds the last stable offset',
    (name) => {
      const state = crashed[partitions.indexOf(name)]
      const open = state?.producers.filter((producer) => producer.currentTxnFirstOffset !== null)
      expect(open?.map((producer) => producer.currentTxnFirstOffset)).toEqual([state?.lastStableOffset])
      expect(state?.abortedTransactions).toHaveLength(4)
    },
  )
})

function sorted(file: JudgedFile | undefined): JudgedSnapshotEntry[] {
  if (file?.kind !== 'snapshot') throw new Error('no snapshot at the end of the log')
  return file.entries.toSorted((a, b) => Number(a.producerId) - Number(b.producerId))
}

/** Recovery remembers up to five batches of a producer, a snapshot one. */
function lastBatchesOnly(state: Replayed | undefined): JudgedSnapshotEntry[] | undefined {
  return state?.producers.map((producer) => ({ ...producer, batches: producer.batches.slice(-1) }))
}
