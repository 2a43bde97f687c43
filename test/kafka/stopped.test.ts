import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PartitionLog } from '../../src/index.ts'
import {
  directoryStorage,
  rewritePaths,
  type StopPartitionReport,
  stopPartition,
} from '../../src/node/index.ts'
import { type BatchOp, encodeOp } from '../producers/logBuilder.ts'
import { type Replayed, replay } from './judge.js'
import { committed } from './manifest.js'

// What "mirrorpid stop" leaves, started on by Kafka's own log loading, after a clean shutdown and after none. Kafka sees the
// producers of this cluster only, and the barrier as a control batch like any other.

const FIXTURES = [
  'transactions-0',
  'transactions-v1-0',
  'producers-0',
  'segments-0',
  'idempotent-lz4-0',
  'restarted-0',
]

/** Mirrored producers, and local ones from before, one of them in a transaction. */
const MIXED: BatchOp[] = [
  { kind: 'data', pid: 3, seq: 0 },
  { kind: 'txn', pid: 9, seq: 0 },
  { kind: 'ABORT', pid: 9 },
  { kind: 'txn', pid: -8, seq: 0, count: 2 },
  { kind: 'data', pid: -7, seq: 0 },
  { kind: 'txn', pid: 4, seq: 0 },
  { kind: 'data', pid: 3, seq: 1 },
]

const root = mkdtempSync(join(tmpdir(), 'mirrorpid-stopped-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

describe.each(['abort', 'truncate'] as const)('after a stop (%s)', (openTransactions) => {
  const reports = new Map<string, StopPartitionReport>()
  let clean: Replayed[]
  let crashed: Replayed[]

  beforeAll(async () => {
    const directory = join(root, openTransactions)
    const sources = FIXTURES.map((name) => join(committed, name))
    await rewritePaths(sources, { outDirectory: directory })
    const mixed = join(directory, 'mixed-0')
    mkdirSync(mixed)
    const log = PartitionLog.open(directoryStorage(mixed), { segmentBytes: 300 })
    for (const op of MIXED) log.append(encodeOp(op, log.logEndOffset), 'replication')
    log.close()
    for (const name of [...FIXTURES, 'mixed-0']) {
      const request = { clusterId: 'B', sourceClusterId: 'A', openTransactions }
      reports.set(name, await stopPartition(join(directory, name), request))
    }
    const directories = [...reports.values()].map((report) => report.directory)
    for (const path of directories) {
      expect(existsSync(join(path, 'mirror-state.json'))).toBe(true)
    }
    clean = await replay(directories, { after: 'clean' })
    crashed = await replay(directories, { after: 'crash' })
  })

  it('a broker starts on it, and finds the end where we say', () => {
    for (const [at, report] of [...reports.values()].entries()) {
      for (const broker of [clean[at], crashed[at]]) {
        expect(broker).toMatchObject({
          path: report.directory,
          logEndOffset: `${report.logEndOffset}`,
          lastStableOffset: `${report.logEndOffset}`,
        })
        expect(broker?.error).toBeUndefined()
      }
    }
  })

  it('it takes the snapshot at its word, which says what recovery finds', () => {
    const known = (replayed: Replayed[]) =>
      replayed.map(({ producers, abortedTransactions, bytes }) => ({
        abortedTransactions,
        bytes,
        ids: producers.map(({ producerId }) => `${producerId}`),
      }))
    expect(known(clean).map(({ ids }) => ids)).toEqual(known(crashed).map(({ ids }) => ids))
    expect(known(clean).map(({ bytes }) => bytes)).toEqual(known(crashed).map(({ bytes }) => bytes))
    expect(
      known(clean)
        .flatMap(({ ids }) => ids)
        .every((id) => !id.startsWith('-')),
    ).toBe(true)
    const mixed = clean.at(-1)
    expect(mixed?.producers.map(({ producerId }) => `${producerId}`)).toEqual(
      openTransactions === 'abort' ? ['3', '4', '9'] : ['3', '9'],
    )
  })
})
