import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { consumerView, type RecordBatch, recordBatches } from '../../src/index.ts'
import { ProducerStateManager } from '../../src/producers/producerStateManager.ts'
import { plain } from './answers.ts'
import { logOf } from './logBuilder.ts'
import { mirroredLog } from './mirroredLogs.ts'
import { random, randomSequence } from './sequences.ts'

const fixtures = fileURLToPath(new URL('../fixtures/kafka-4.3.1', import.meta.url))
const LOGS = 300

/** All that a snapshot carries, whatever the order of its entries. */
function carried(manager: ProducerStateManager) {
  const snapshot = Buffer.from(manager.takeSnapshot())
  const entries = Array.from({ length: snapshot.readInt32BE(6) }, (_, index) =>
    snapshot.subarray(10 + index * 46, 56 + index * 46).toString('hex'),
  )
  return { entries: entries.sort(), mapEndOffset: manager.mapEndOffset }
}

function replayed(batches: Iterable<RecordBatch>, manager = new ProducerStateManager()) {
  for (const batch of batches) manager.append(batch, 'replication')
  return manager
}

function expectSameFromEverySnapshot(batches: RecordBatch[]): void {
  const whole = replayed(batches)
  const end = whole.mapEndOffset
  const upTo = new ProducerStateManager()
  for (let cut = 0; cut < batches.length; cut++) {
    const offset = upTo.mapEndOffset
    const loaded = ProducerStateManager.fromSnapshot(upTo.takeSnapshot(), { offset })
    replayed(batches.slice(cut), loaded)
    expect(carried(loaded)).toEqual(carried(whole))
    expect(loaded.lastStableOffset(end)).toBe(whole.lastStableOffset(end))
    const since = whole.abortedTransactions.filter((txn) => txn.lastOffset >= offset)
    expect(loaded.abortedTransactions).toEqual(since)
    upTo.append(batches[cut]!, 'replication')
  }
}

describe('a snapshot and what follows give what the whole log gives', () => {
  it('at every batch of random logs with barriers and transactions that come home', () => {
    for (let seed = 1; seed <= LOGS; seed++) expectSameFromEverySnapshot(logOf(mirroredLog(seed)).batches)
  })

  const partitions = readdirSync(fixtures).filter((name) => name.endsWith('-0'))
  it.each(partitions)('at every batch of %s', (partition) => {
    const segments = readdirSync(join(fixtures, partition)).filter((name) => name.endsWith('.log'))
    const bytes = Buffer.concat(segments.sort().map((name) => readFileSync(join(fixtures, partition, name))))
    expectSameFromEverySnapshot([...recordBatches(bytes)])
  })
})

describe('one state, however the log arrives', () => {
  it('by replication, by a mirror, by replay, as plain data to another thread', () => {
    for (let seed = 1; seed <= LOGS; seed++) {
      const { bytes, batches } = logOf(mirroredLog(seed))
      const whole = replayed(batches)
      const mirrored = new ProducerStateManager()
      for (const batch of batches) mirrored.append(batch, 'mirror')
      const scanned = new ProducerStateManager()
      expect(scanned.replay(bytes)).toEqual({ kind: 'none', bytes: 0 })
      for (const other of [mirrored, scanned, moved(scanned)])
        expect(other.toState()).toEqual(whole.toState())
    }
  })

  it('in sets of any size: the same producers, transactions and barriers', () => {
    for (let seed = 1; seed <= LOGS; seed++) {
      const { batches } = logOf(mirroredLog(seed))
      const next = random(seed)
      const manager = new ProducerStateManager()
      for (let at = 0; at < batches.length; ) {
        const size = 1 + Math.floor(next() * 6)
        manager.appendAll(batches.slice(at, at + size), 'mirror')
        at += size
      }
      const whole = replayed(batches)
      expect(carried(manager)).toEqual(carried(whole))
      expect(fates(manager)).toEqual(fates(whole))
      expect(manager.barriers).toEqual(whole.barriers)
    }
  })

  it('under mapped ids as under those of the source', () => {
    for (let seed = 1; seed <= LOGS; seed++) {
      const sequence = randomSequence(seed)
      const sets = sequence.steps.flatMap((step) =>
        'append' in step && step.origin === 'replication' ? [step.append] : [],
      )
      const source = new ProducerStateManager()
      const target = new ProducerStateManager()
      const map = (pid: number | undefined) => (pid === undefined || pid < 0 ? pid : -(pid + 2))
      for (const set of sets) {
        const outcome = (manager: ProducerStateManager, ops: typeof set) => {
          try {
            return manager.appendAll(logOf(ops, manager.mapEndOffset).batches, 'mirror')
          } catch (error) {
            return (error as Error).name
          }
        }
        // mapped already, or a barrier, which tells the two apart
        if (set.some((op) => (op.pid ?? 0) < 0 || op.type === 7)) continue
        expect(
          outcome(
            target,
            set.map((op) => ({ ...op, pid: map(op.pid)! })),
          ),
        ).toEqual(outcome(source, set))
      }
      const mapped = [...source.producers.values()].map((entry) => ({
        ...entry,
        producerId: -(entry.producerId + 2n),
      }))
      expect(plain([...target.producers.values()])).toEqual(plain(mapped))
      expect(target.firstUnstableOffset).toBe(source.firstUnstableOffset)
      expect(target.abortedTransactions.length).toBe(source.abortedTransactions.length)
    }
  })
})

describe('readers', () => {
  it('see of random mirrored logs exactly the committed records, given the aborted transactions', async () => {
    for (let seed = 1; seed <= LOGS; seed++) {
      const { bytes, batches } = logOf(mirroredLog(seed))
      const manager = replayed(batches)
      const stable = manager.lastStableOffset(manager.mapEndOffset)
      const { records } = await consumerView(bytes, {
        isolation: 'read_committed',
        abortedTransactions: manager.abortedTransactions,
      })
      const seen = records.map((record) => record.offset).filter((offset) => offset < stable)
      const { committed, firstOpen } = judged(batches)
      expect(stable, `seed ${seed}`).toBe(firstOpen ?? manager.mapEndOffset)
      expect(seen, `seed ${seed}`).toEqual(committed.filter((offset) => offset < stable))
    }
  })
})

interface Txn {
  offsets: bigint[]
  first: bigint
}

/** The rules of mirroring.md, written down a second time and as plainly as can be. */
function judged(batches: RecordBatch[]): { committed: bigint[]; firstOpen: bigint | null } {
  const open = new Map<bigint, Txn>()
  const committed: bigint[] = []
  const take = (pid: bigint): Txn | undefined => {
    const home = -pid - 2n
    const key = open.has(pid) || pid >= 0n ? pid : home
    const txn = open.get(key)
    open.delete(key)
    return txn
  }
  for (const batch of batches) {
    const offsets: bigint[] = []
    for (let offset = batch.baseOffset; offset <= batch.lastOffset; offset++) offsets.push(offset)
    if (batch.isControl && !batch.hasProducerId) open.clear()
    else if (batch.isControl) {
      const txn = take(batch.producerId)
      if (txn !== undefined && batch.bytes.at(-13 + 1) !== undefined && isCommit(batch))
        committed.push(...txn.offsets)
    } else if (batch.isTransactional) {
      const txn = take(batch.producerId) ?? { offsets: [], first: batch.baseOffset }
      txn.offsets.push(...offsets)
      open.set(batch.producerId, txn)
    } else committed.push(...offsets)
  }
  const firsts = [...open.values()].map((txn) => txn.first).sort((a, b) => (a < b ? -1 : 1))
  return { committed: committed.sort((a, b) => (a < b ? -1 : 1)), firstOpen: firsts[0] ?? null }
}

/** Of a marker: five one-byte fields (length, attributes, deltas, key length), then the key: version and type. */
function isCommit(batch: RecordBatch): boolean {
  return batch.payload[8] === 1
}

function moved(manager: ProducerStateManager): ProducerStateManager {
  return ProducerStateManager.fromState(structuredClone(manager.toState()))
}

function fates(manager: ProducerStateManager) {
  return manager.abortedTransactions.map(({ lastStableOffset: _, ...fate }) => fate)
}
