import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { PartitionLog } from '../../src/index.ts'
import { batchesFrom } from '../../src/mirroring/sharedLog.ts'
import { directoryStorage, openPartitionDirectory, stopPartition } from '../../src/node/index.ts'
import { type BatchOp, encodeOp } from '../producers/logBuilder.ts'
import { quickOrLong } from '../support/counts.ts'
import { interruptCommand, leftovers, readTree, runCommand, temporaryDirectories } from './support.ts'

const newDirectory = temporaryDirectories()
const child = fileURLToPath(new URL('./stopAndDie.js', import.meta.url))
const REQUEST = { clusterId: 'B', sourceClusterId: 'A', now: () => 5000n }

const OPS: BatchOp[] = [
  { kind: 'data', pid: -7, seq: 0, count: 2 },
  { kind: 'txn', pid: -8, seq: 0, count: 2 },
  { kind: 'data', pid: 3, seq: 0 },
  { kind: 'txn', pid: 4, seq: 0 },
  { kind: 'txn', pid: -9, seq: 0 },
  { kind: 'COMMIT', pid: -9 },
]
const END = 8n
/** Calls that change a file between two kills. */
const STRIDE = quickOrLong(12, 5)

/**
 * A log directory as a broker leaves it, with one mirrored partition in several segments; returns the partition's path.
 * @param options epoch: of the last leader, which has written nothing
 */
function logDirectory({ isClean = true, epoch = 0 } = {}): string {
  const directory = newDirectory()
  const partition = join(directory, 'orders-0')
  mkdirSync(partition)
  const log = PartitionLog.open(directoryStorage(partition), { segmentBytes: 300 })
  for (const op of OPS) log.append(encodeOp(op, log.logEndOffset), 'replication')
  if (epoch > 0) log.beginLeaderEpoch(epoch)
  if (isClean) log.close()
  else log.flush()
  const checkpoint = (offset: bigint) => `0\n1\norders 0 ${offset}\n`
  writeFileSync(join(directory, 'recovery-point-offset-checkpoint'), checkpoint(isClean ? END : 0n))
  writeFileSync(join(directory, 'replication-offset-checkpoint'), checkpoint(END))
  writeFileSync(join(directory, 'log-start-offset-checkpoint'), '0\n0\n')
  if (isClean) writeFileSync(join(directory, '.kafka_cleanshutdown'), '{"version":0,"brokerEpoch":1}')
  return partition
}

const stateIn = (partition: string) => {
  const file = join(partition, 'mirror-state.json')
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null
}

/** All files but indexes, which have an entry more or less by where a run has ended. */
const contentIn = (partition: string) =>
  Object.entries(readTree(partition)).filter(([name]) => !/\.(time)?index$/.test(name))

function barriersIn(partition: string): bigint[] {
  const log = openPartitionDirectory(partition, { shutdown: 'unclean', recoveryPoint: 0n })
  const batches = [...batchesFrom(log, 0n)]
  return batches
    .filter((batch) => batch.isControl && batch.producerId === -1n)
    .map(({ baseOffset }) => baseOffset)
}

/** A broker that starts on it takes the files as they are, and knows what one knows that recovers all of it. */
function expectStopped(partition: string, barrier: bigint): void {
  expect(stateIn(partition)).toMatchObject({ state: 'STOPPED', lastMirroredOffset: `${barrier}` })
  expect(barriersIn(partition)).toEqual([barrier])
  expect(leftovers(partition)).toEqual([])
  const content = (shutdown: 'clean' | 'unclean') => {
    const log = openPartitionDirectory(partition, { shutdown, recoveryPoint: 0n })
    const { logEndOffset, abortedTransactions, producerState } = log
    const producers = [...producerState.producers.values()].map(({ batches, ...entry }) => entry)
    return { logEndOffset, abortedTransactions, producers, open: producerState.ongoingTransactions }
  }
  expect(content('clean')).toEqual(content('unclean'))
  expect(content('clean')).toMatchObject({ logEndOffset: barrier + 1n, open: [] })
  expect(content('clean').producers.every(({ producerId }) => producerId >= 0n)).toBe(true)
  expect(existsSync(join(partition, `${`${barrier + 1n}`.padStart(20, '0')}.snapshot`))).toBe(true)
}

describe.each([true, false])('after a clean end of the broker: %s', (isClean) => {
  it('stops, leaves the checkpoints, and a broker that starts finds everything', async () => {
    const partition = logDirectory({ isClean })
    const before = readTree(join(partition, '..'))
    const report = await stopPartition(partition, REQUEST)
    expect(report).toMatchObject({
      directory: partition,
      dryRun: false,
      mirroredEndOffset: END,
      lastMirroredOffset: END + 2n,
    })
    expectStopped(partition, END + 2n)
    const after = readTree(join(partition, '..'))
    const own = (tree: Record<string, string>) =>
      Object.entries(tree).filter(([name]) => !name.startsWith('orders-0/'))
    expect(own(after)).toEqual(own(before))
    // by the checkpoints, the high watermark stays where it was; it rises with the in-sync replicas
    expect(openPartitionDirectory(partition).highWatermark).toBe(END)
    expect((await stopPartition(partition, REQUEST)).alreadyStopped).toBe(true)
    expect(readTree(join(partition, '..'))).toEqual(after)
  })

  it('a cut leaves checkpoints that are above the end of the log, which a broker lowers', async () => {
    const partition = logDirectory({ isClean })
    await stopPartition(partition, { ...REQUEST, openTransactions: 'truncate' })
    expectStopped(partition, 2n)
    const log = openPartitionDirectory(partition)
    expect([log.logEndOffset, log.highWatermark]).toEqual([3n, 3n])
    expect(log.recoveryPoint <= 3n).toBe(true)
    expect(log.leaderEpochs.at(-1)).toEqual({ epoch: 1, startOffset: 2n })
  })

  it('a dry run tells the same and changes no byte', async () => {
    for (const openTransactions of ['abort', 'truncate'] as const) {
      const partition = logDirectory({ isClean })
      const before = readTree(partition)
      const foretold = await stopPartition(partition, { ...REQUEST, openTransactions, dryRun: true })
      expect(readTree(partition)).toEqual(before)
      expect(await stopPartition(partition, { ...REQUEST, openTransactions })).toEqual({
        ...foretold,
        dryRun: false,
      })
    }
  })
})

it.skipIf(process.getuid?.() !== 0)(
  'run by root, it leaves all files to who owns the directory',
  async () => {
    const partition = logDirectory()
    for (const name of readdirSync(partition)) chownSync(join(partition, name), 4321, 4321)
    chownSync(partition, 4321, 4321)
    chmodSync(join(partition, 'leader-epoch-checkpoint'), 0o640)
    await stopPartition(partition, { ...REQUEST, openTransactions: 'truncate' })
    for (const name of readdirSync(partition)) {
      const { uid, gid } = statSync(join(partition, name))
      expect([name, uid, gid]).toEqual([name, 4321, 4321])
    }
    expect(statSync(join(partition, 'leader-epoch-checkpoint')).mode & 0o777).toBe(0o640)
  },
)

describe('what is no partition', () => {
  it('is refused, and nothing is made there', async () => {
    const partition = logDirectory()
    const empty = newDirectory()
    for (const path of [
      empty,
      join(partition, '..'),
      join(partition, '00000000000000000000.log'),
      join(empty, 'gone'),
    ]) {
      const run = () => stopPartition(path, REQUEST)
      await expect(run()).rejects.toMatchObject({ code: expect.stringMatching(/NOT_A_LOG|IO_ERROR/) })
    }
    expect(readTree(empty)).toEqual({})
    expect(readTree(join(partition, '..'))['mirror-state.json']).toBeUndefined()
  })

  it('a rewrite that was interrupted there must be finished first', async () => {
    const partition = logDirectory()
    writeFileSync(join(partition, '00000000000000000000.log.mirrorpid-journal'), 'x')
    await expect(stopPartition(partition, REQUEST)).rejects.toMatchObject({ code: 'UNFINISHED_REWRITE' })
  })
})

describe.each([
  ['abort', true, END + 2n],
  ['truncate', false, 2n],
] as const)('killed by the system: %s', (mode, isClean, barrier) => {
  let source: string
  let calls: string[]
  let expected: ReturnType<typeof contentIn>

  const run = (partition: string, at: number, when: string) =>
    spawnSync(process.execPath, [child, partition, mode, `${at}`, when], { encoding: 'utf8' })
  const copy = () => {
    const directory = join(newDirectory(), 'logs')
    cpSync(join(source, '..'), directory, { recursive: true })
    return join(directory, 'orders-0')
  }

  beforeAll(() => {
    source = logDirectory({ isClean, epoch: 4 })
    const done = copy()
    const { stdout, stderr } = run(done, 0, 'before')
    expect(stderr).toBe('')
    calls = JSON.parse(stdout)
    expectStopped(done, barrier)
    expected = contentIn(done)
    const epoch = mode === 'truncate' ? 5 : 4
    const checkpoint = readFileSync(join(done, 'leader-epoch-checkpoint'), 'utf8')
    expect(checkpoint).toBe(`0\n2\n0 0\n${epoch} ${mode === 'truncate' ? barrier : END}\n`)
  })

  it('at every step, a rerun does the rest', async () => {
    const steps = [...new Set(calls.flatMap((call) => [calls.indexOf(call), calls.lastIndexOf(call)]))]
    const named = ['PREPARING', 'MIRRORING', 'STOPPING', 'STOPPED'].map(
      (state) => `write mirror-state.json ${state}`,
    )
    expect(calls).toEqual(expect.arrayContaining(named))
    for (const [at, step] of steps.entries()) {
      if (at % quickOrLong(3, 1) > 0) continue
      const call = calls[step]!
      const when = call.startsWith('append') ? 'half' : step % 2 === 0 ? 'before' : 'after'
      const partition = copy()
      expect(run(partition, step + 1, when).signal, call).toBe('SIGKILL')
      if (stateIn(partition)?.state === 'STOPPED') expectStopped(partition, barrier)
      await stopPartition(partition, { ...REQUEST, openTransactions: mode })
      expectStopped(partition, barrier)
      expect(contentIn(partition), call).toEqual(expected)
    }
  })

  it('at moments of the real command', () => {
    const args = (partition: string) => [
      ...['stop', partition, '--cluster-id', 'B', '--source-cluster-id', 'A', '--quiet'],
      ...['--open-transactions', mode],
    ]
    let killed = 0
    for (let at = 1; killed === (at - 1) / STRIDE; at += STRIDE) {
      const partition = copy()
      const { signal } = interruptCommand(args(partition), 'SIGKILL', { calls: 'changes', at })
      if (signal === 'SIGKILL') killed++
      if (stateIn(partition)?.state === 'STOPPED') expectStopped(partition, barrier)
      expect(runCommand(args(partition))).toMatchObject({ status: 0 })
      expectStopped(partition, barrier)
      rmSync(partition, { recursive: true })
    }
    expect(killed).toBeGreaterThan(5)
  })
})
