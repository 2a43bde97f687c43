import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { recordBatches } from '../../src/formats/recordBatches.ts'
import { memoryStorage } from '../../src/log/partition/memoryStorage.ts'
import { PartitionLog } from '../../src/log/partition/partitionLog.ts'
import type { LogStorage } from '../../src/log/partition/storage.ts'
import { directoryStorage } from '../../src/node/storage/directoryStorage.ts'
import { ProducerStateManager } from '../../src/producers/producerStateManager.ts'
import { type BatchOp, encodeOp, logOf } from '../producers/logBuilder.ts'
import { mirroredLog } from '../producers/mirroredLogs.ts'
import { quickOrLong } from '../support/counts.ts'
import { storedFiles } from '../support/storedFiles.ts'
import { SequenceMaker } from './logSequences.ts'
import { abortedLines, allRecords, lastOnly, replayed } from './logStates.ts'

const fixtures = new URL('../fixtures/kafka-4.3.1/', import.meta.url).pathname
const SEED = 7
const LOGS = quickOrLong(50, 200)

const copyOf = (storage: LogStorage, keep: (name: string) => boolean = () => true) =>
  memoryStorage([...storedFiles(storage)].filter(([name]) => keep(name)))

/** A log that was written for a while by leader, follower and mirror, truncated, rolled and reopened. */
function mirrored(seed: number): SequenceMaker {
  const maker = new SequenceMaker(seed, { isMirrored: true })
  for (let step = 0; step < 40; step++) {
    const dice = maker.below(10)
    if (dice < 5) maker.take(maker.lead())
    else if (dice < 8) maker.take(maker.follow())
    else if (dice < 9) maker.take({ op: 'truncate', offset: maker.truncation() })
    else
      maker.take({ op: 'close', damage: [], logStartOffset: 0, recoveryPoint: 0, clean: maker.chance(0.5) })
  }
  return maker
}

describe('the producer state is that of the bytes', () => {
  it(`of ${LOGS} random mirrored logs from seed ${SEED}: live, recovered, from snapshots and replayed`, () => {
    let barriers = 0
    for (let index = 0; index < LOGS; index++) {
      const { log, storage } = mirrored(SEED * 10_000 + index).run
      const name = `seed ${SEED * 10_000 + index}`
      const expected = replayed(log)
      barriers += expected.barriers.length
      expect(lastOnly(log.producerState), name).toEqual(lastOnly(expected))
      const recovered = PartitionLog.open(copyOf(storage, (file) => !file.endsWith('.snapshot')))
      // where truncation has left a gap at the end, the bytes do not say where the log ended
      expect(lastOnly(recovered.producerState), name).toEqual(lastOnly(replayed(recovered)))
      expect(allRecords(recovered).equals(allRecords(log)), name).toBe(true)
      expect(abortedLines(recovered), name).toEqual(abortedLines(expected))
      expect(abortedLines(log), name).toEqual(abortedLines(expected))
      log.close()
      const reopened = PartitionLog.open(copyOf(storage), { shutdown: 'clean' })
      expect(lastOnly(reopened.producerState), name).toEqual(lastOnly(replayed(reopened)))
      expect(abortedLines(reopened), name).toEqual(abortedLines(expected))
    }
    expect(barriers).toBeGreaterThan(LOGS)
  })

  it('a snapshot at every batch and a replay of the rest give the whole', () => {
    const logs = readdirSync(fixtures)
      .filter((name) => /-\d+$/.test(name))
      .map((name) =>
        allRecords(
          PartitionLog.open(memoryStorage(storedFiles(directoryStorage(join(fixtures, name), 'read')))),
        ),
      )
    for (let seed = 0; seed < LOGS / 2; seed++) logs.push(logOf(mirroredLog(seed)).bytes)
    for (let seed = 0; seed < LOGS / 4; seed++) logs.push(allRecords(mirrored(seed).run.log))
    for (const bytes of logs) {
      const expected = new ProducerStateManager()
      expected.replay(bytes)
      const before = new ProducerStateManager()
      for (const batch of recordBatches(bytes)) {
        before.append(batch, 'replication')
        const again = ProducerStateManager.fromSnapshot(before.takeSnapshot(), {
          offset: before.mapEndOffset,
        })
        again.replay(bytes.subarray(batch.position + batch.sizeInBytes))
        expect(lastOnly(again)).toEqual(lastOnly(expected))
      }
    }
  })

  it('is the same on a leader, a follower and a mirror, whatever was fetched at once', () => {
    for (let seed = 0; seed < LOGS; seed++) {
      const ops = mirroredLog(seed)
      const { bytes, batches } = logOf(ops)
      const leader = PartitionLog.open(memoryStorage(), { segmentBytes: 700 })
      for (const op of ops) {
        leader.append(encodeOp(op, leader.logEndOffset), originOf(op), { leaderEpoch: 0 })
      }
      expect(allRecords(leader).equals(bytes), `seed ${seed}`).toBe(true)
      for (const [origin, size] of [
        ['replication', 1],
        ['replication', 1e9],
        ['mirror', 3],
        ['mirror', 1e9],
      ] as const) {
        const other = PartitionLog.open(memoryStorage(), { segmentBytes: 400 })
        for (let at = 0; at < batches.length; at += size) {
          const set = batches.slice(at, at + size).map((batch) => batch.bytes)
          other.append(Buffer.concat(set), origin, { leaderEpoch: 0 })
        }
        expect(lastOnly(other.producerState), `seed ${seed} ${origin} ${size}`).toEqual(
          lastOnly(leader.producerState),
        )
        expect(abortedLines(other)).toEqual(abortedLines(leader))
        expect(other.producerState.barriers.map(({ applied }) => applied)).toEqual(
          leader.producerState.barriers.map(() => true),
        )
      }
    }
  })
})

/** A leader that is a mirror too writes what it has fetched. */
function originOf({ kind, pid = -1 }: BatchOp) {
  if (kind === 'barrier') return 'coordinator'
  return pid < -1 ? 'mirror' : kind === 'ABORT' || kind === 'COMMIT' ? 'coordinator' : 'client'
}
