import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadCoreSync, PartitionLog } from '../../src/index.ts'
import { directoryStorage, recoverPartition, rewritePaths, stopPartition } from '../../src/node/index.ts'
import { type BatchOp, encodeOp } from '../producers/logBuilder.ts'
import { powerLosses } from '../support/forgetfulDisk.ts'
import { powerCutsIn, type Tree, writeTree } from '../support/forgetfulFiles.ts'
import { leftovers, readTree, temporaryDirectories } from './support.ts'

// What changes files for good, on a disk that forgets what was not synced: the power fails behind each of its calls in turn,
// and the next run has to make what this one would have made.

const newDirectory = temporaryDirectories()
const SEED = Number(process.env.MIRRORPID_LOSS_SEED ?? 1)
const RANDOM_LOSSES = Number(process.env.MIRRORPID_LOSSES ?? 2)
const core = loadCoreSync()

const OPS: BatchOp[] = [
  { kind: 'data', pid: 5, seq: 0, count: 2 },
  { kind: 'txn', pid: 6, seq: 0 },
  { kind: 'ABORT', pid: 6 },
  { kind: 'data', pid: 5, seq: 2, bytes: 90 },
  { kind: 'txn', pid: 7, seq: 0 },
  { kind: 'COMMIT', pid: 7 },
  { kind: 'data', pid: 5, seq: 3, bytes: 90 },
  { kind: 'txn', pid: 6, seq: 1 },
]

/** A directory with one partition in it, whose producers have these ids. */
function withPartition(idOf = (pid: number) => pid): string {
  const root = newDirectory()
  mkdirSync(join(root, 'orders-0'))
  const storage = directoryStorage(join(root, 'orders-0'))
  const log = PartitionLog.open(storage, { segmentBytes: 400, indexIntervalBytes: 100 })
  for (const op of OPS) log.append(encodeOp({ ...op, pid: idOf(op.pid!) }, log.logEndOffset), 'replication')
  log.close()
  return root
}
const mapped = (pid: number) => -pid - 2

/** Without locks, which the next run takes over, and what it does not take for data. */
const filesIn = (directory: string) =>
  Object.fromEntries(
    Object.entries(readTree(directory)).filter(([name]) => !/\.mirrorpid-(lock|[0-9a-f]{8})/.test(name)),
  )
/** Nor the time indexes: how many entries lead to the last one differs by the runs. */
const logIn = (directory: string) =>
  Object.fromEntries(Object.entries(filesIn(directory)).filter(([name]) => !name.endsWith('.timeindex')))

/** Lets the power fail behind each call of a run, and hands over a directory with what each time was left. */
async function loseEverywhere(
  root: string,
  run: (root: string) => unknown,
  check: (left: string, where: string, isOver: boolean) => Promise<void>,
  random = RANDOM_LOSSES,
): Promise<number> {
  const all = new Map<string, { tree: Tree; where: string; isOver: boolean }>()
  const calls = await powerCutsIn(
    root,
    (call) => powerLosses(random, SEED * 1000 + call),
    () => run(root),
    (tree, where, isOver) => {
      const files = [...tree].map(
        ([path, bytes]) => `${path} ${bytes && Buffer.from(bytes).toString('latin1')}`,
      )
      all.set([isOver, ...files.sort()].join('\n'), { tree, where, isOver })
    },
  )
  const left = newDirectory()
  for (const { tree, where, isOver } of all.values()) {
    writeTree(tree, left)
    await check(left, where, isOver)
  }
  return calls.length
}

const inPlace = async (root: string, resume = false) => {
  const options = { inPlace: true, resume, jobs: 1, core }
  expect((await rewritePaths([join(root, 'orders-0')], options)).errors).toEqual([])
}
const out = (root: string) =>
  rewritePaths([join(root, 'orders-0')], { outDirectory: join(root, 'there'), jobs: 1, core })

describe('the power fails at every step of a rewrite', () => {
  it('in place: nothing was changed, or --resume finishes it', async () => {
    const root = withPartition()
    const before = filesIn(root)
    const reference = withPartition()
    await inPlace(reference)
    const after = filesIn(reference)
    const halves: { tree: Record<string, string>; where: string }[] = []
    const outcomes = new Set<boolean>()
    const calls = await loseEverywhere(root, inPlace, async (left, where, isOver) => {
      const found = filesIn(left)
      if (isOver) expect(found, where).toEqual(after)
      const isHalf = Object.keys(found).some(
        (name) => name.endsWith('-journal') && found[name.slice(0, -18)] !== before[name.slice(0, -18)],
      )
      if (isHalf) halves.push({ tree: found, where })
      await inPlace(left, true)
      expect([before, after], where).toContainEqual(filesIn(left))
      outcomes.add(JSON.stringify(filesIn(left)) === JSON.stringify(after))
      await inPlace(left)
      expect([filesIn(left), leftovers(left)], where).toEqual([after, []])
    })
    expect(calls).toBeGreaterThan(10)
    expect(outcomes.size).toBe(2)

    // and of the run that finishes it
    expect(halves.length).toBeGreaterThan(3)
    const { tree, where } = halves[halves.length >> 1]!
    const half = newDirectory()
    writeTree(new Map(Object.entries(tree).map(([name, bytes]) => [name, Buffer.from(bytes, 'hex')])), half)
    await loseEverywhere(
      half,
      (directory) => inPlace(directory, true),
      async (left, again, isOver) => {
        if (isOver) expect(filesIn(left), again).toEqual(after)
        await inPlace(left, true)
        expect(filesIn(left), `${where}, then ${again}`).toEqual(after)
      },
    )
  })

  it('to another directory: it is there whole, or not at all, and the source is as it was', async () => {
    const root = withPartition()
    const before = filesIn(join(root, 'orders-0'))
    const reference = withPartition()
    await out(reference)
    const after = filesIn(join(reference, 'there', 'orders-0'))
    const kept = Object.keys(before).filter((name) => !/\.(snapshot|index|timeindex|txnindex)$/.test(name))
    expect(Object.keys(after)).toEqual(kept)
    const calls = await loseEverywhere(root, out, async (left, where, isOver) => {
      expect(filesIn(join(left, 'orders-0')), where).toEqual(before)
      const target = join(left, 'there', 'orders-0')
      if (existsSync(target) || isOver) expect(filesIn(target), where).toEqual(after)
      else expect((await out(left)).errors, where).toEqual([])
      expect(filesIn(target), where).toEqual(after)
    })
    expect(calls).toBeGreaterThan(10)
  })
})

// what a stop and a recovery do to a log is known from storages in memory; here it is whether the calls of the system do it
describe('the power fails at every step', () => {
  it('of a failover: the same call does the rest', async () => {
    const stop = (root: string) => {
      const request = { clusterId: 'B', sourceClusterId: 'A', openTransactions: 'truncate' } as const
      return stopPartition(join(root, 'orders-0'), { ...request, now: () => 5000n })
    }
    const reference = withPartition(mapped)
    await stop(reference)
    const after = logIn(reference)
    const check = async (left: string, where: string, isOver: boolean) => {
      if (isOver) expect(logIn(left), where).toEqual(after)
      await stop(left)
      expect(logIn(left), where).toEqual(after)
    }
    expect(await loseEverywhere(withPartition(mapped), stop, check, 1)).toBeGreaterThan(30)
  })

  it('of a recovery: the same call does the rest', async () => {
    const damaged = () => {
      const root = withPartition()
      const segment = join(root, 'orders-0', '00000000000000000000.log')
      const bytes = readFileSync(segment)
      bytes[bytes.length - 1]! ^= 1
      writeFileSync(segment, bytes)
      return root
    }
    const recover = (root: string) =>
      recoverPartition(join(root, 'orders-0'), { clusterId: 'B', write: true })
    const reference = damaged()
    expect((await recover(reference)).removedSegments).toMatchObject([{ segment: 5n }])
    const after = logIn(reference)
    await loseEverywhere(damaged(), recover, async (left, where, isOver) => {
      if (isOver) expect(logIn(left), where).toEqual(after)
      await recover(left)
      expect(logIn(left), where).toEqual(after)
    })
  })
})
