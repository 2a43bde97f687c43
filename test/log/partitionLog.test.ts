import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { recordBatches } from '../../src/index.ts'
import { memoryStorage } from '../../src/log/partition/memoryStorage.ts'
import { PartitionLog } from '../../src/log/partition/partitionLog.ts'
import { directoryStorage } from '../../src/node/storage/directoryStorage.ts'
import { encodeOp } from '../producers/logBuilder.ts'
import { storedFiles } from '../support/storedFiles.ts'

const fixtures = new URL('../fixtures/kafka-4.3.1/', import.meta.url).pathname

describe('PartitionLog', () => {
  it('appends, rolls, reads, truncates and reopens', () => {
    const storage = memoryStorage()
    const log = PartitionLog.open(storage, { segmentBytes: 300 })
    for (let seq = 0; seq < 10; seq++) {
      const { firstOffset } = log.append(encodeOp({ kind: 'data', pid: 5, seq }), 'client')
      expect(firstOffset).toBe(BigInt(seq))
    }
    expect(log.append(encodeOp({ kind: 'data', pid: 5, seq: 8 }), 'client').duplicate?.firstOffset).toBe(8n)
    expect(log.segments.length).toBeGreaterThan(2)
    expect([...recordBatches(log.read(0n).records)].length).toBeGreaterThan(0)
    log.truncateTo(4n)
    expect(log.logEndOffset).toBe(4n)
    expect(log.producerState.producers.get(5n)?.lastSequence).toBe(3)
    log.close()
    const again = PartitionLog.open(storage, { shutdown: 'clean' })
    expect(again.logEndOffset).toBe(4n)
    expect(again.producerState.producers.get(5n)?.lastSequence).toBe(3)
  })

  // compaction leaves indexes and snapshots that no replay can give; a restart begins to count index bytes anew
  const replayable = readdirSync(fixtures).filter(
    (name) => /-\d+$/.test(name) && !/^(compact|restart|crash)/.test(name),
  )

  it.each(replayable)('%s of a broker, recovered and closed, has the same bytes', (name) => {
    const before = storedFiles(directoryStorage(join(fixtures, name), 'read'))
    const storage = memoryStorage(before)
    const indexIntervalBytes = name.startsWith('__') ? 4096 : 200
    PartitionLog.open(storage, { indexIntervalBytes }).close()
    const after = storedFiles(storage)
    // an epoch in which nothing was written is forgotten, as a starting broker does
    for (const files of [before, after]) files.delete('leader-epoch-checkpoint')
    expect([...after]).toEqual([...before].map(([file, bytes]) => [file, new Uint8Array(bytes)]))
  })
})
