import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PartitionLog, recordBatches } from '../../src/index.ts'
import {
  auditPaths,
  directoryStorage,
  openPartitionDirectory,
  recoverPartition,
  rewritePaths,
  rewriteSegmentFile,
  stopPartition,
  verifyPaths,
} from '../../src/node/index.ts'
import { lockDirectory } from '../../src/node/locks/directoryLock.ts'
import { lockHolder } from '../../src/node/locks/lockHolder.ts'
import { type BatchOp, encodeOp } from '../producers/logBuilder.ts'
import {
  type CommandOutcome,
  mainScript,
  readTree,
  runCommand,
  temporaryDirectories,
  writeTree,
} from './support.ts'

const newDirectory = temporaryDirectories()
const LOCK = '.mirrorpid-lock'
const SEGMENT = '00000000000000000000.log'
const IDS = ['--cluster-id', 'B', '--source-cluster-id', 'A']
const REQUEST = { clusterId: 'B', sourceClusterId: 'A' }
const PAIRS = 5

/** What its producers are, before and after. */
const NATIVE = [7n, -10n]
const MAPPED = [-9n, -10n]

/** Native and mapped producers, with a transaction open, in many segments. */
function partition(): string {
  const directory = join(newDirectory(), 'orders-0')
  mkdirSync(directory)
  const log = PartitionLog.open(directoryStorage(directory), { segmentBytes: 2000 })
  for (let at = 0; at < 200; at++) {
    const op: BatchOp = { kind: 'data', pid: at % 2 === 0 ? 7 : -10, seq: at >> 1 }
    log.append(encodeOp(op, log.logEndOffset), 'replication')
  }
  log.append(encodeOp({ kind: 'txn', pid: -11, seq: 0 }, log.logEndOffset), 'replication')
  log.close()
  return directory
}

function run(args: readonly string[]): Promise<CommandOutcome> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [mainScript, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    const outcome: CommandOutcome = { status: null, signal: null, stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        outcome[name] += text
      })
    }
    child.on('close', (status, signal) => resolve({ ...outcome, status, signal }))
  })
}

function batchesIn(directory: string) {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.log'))
    .sort()
    .flatMap((name) => [...recordBatches(readFileSync(join(directory, name)))])
}

const barriers = (directory: string) =>
  batchesIn(directory).filter(({ isControl, producerId }) => isControl && producerId === -1n).length

/** Of the producers that were there from the start; a half-mapped log has some of both. */
const producers = (directory: string) =>
  [...new Set(batchesIn(directory).map(({ producerId }) => producerId))].filter(
    (id) => id === 7n || id === -9n || id === -10n,
  )

const locked = expect.objectContaining({ code: 'DIRECTORY_LOCKED', file: expect.stringContaining(LOCK) })

describe('pairs of commands at once on one partition', () => {
  const stop = (directory: string) => ['stop', directory, ...IDS]
  const recover = (directory: string) => ['recover', directory, '--write', '--quiet']
  const inPlace = (directory: string) => ['rewrite', directory, '--in-place', '--quiet']

  it.each([
    ['stop', 'stop', stop, stop],
    ['rewrite --in-place', 'stop', inPlace, stop],
    ['rewrite --in-place', 'rewrite --in-place', inPlace, inPlace],
    ['recover --write', 'stop', recover, stop],
    ['recover --write', 'rewrite --in-place', recover, inPlace],
  ])('%s and %s', async (_one, _other, one, other) => {
    const isMapped = one === inPlace || other === inPlace
    for (let pair = 0; pair < PAIRS; pair++) {
      const directory = partition()
      const outcomes = await Promise.all([run(one(directory)), run(other(directory))])
      const statuses = outcomes.map(({ status }) => status)
      expect(statuses, outcomes.map(({ stderr }) => stderr).join('\n')).toContain(0)
      for (const { status, stderr } of outcomes) {
        if (status === 0) continue
        expect([status, stderr]).toEqual([2, expect.stringContaining(LOCK)])
      }
      expect(barriers(directory)).toBeLessThanOrEqual(1)
      expect(readdirSync(directory).filter((name) => name.includes('.mirrorpid'))).toEqual([])
      const ids = producers(directory)
      expect(isMapped ? [MAPPED, NATIVE] : [NATIVE]).toContainEqual(ids)
      // whoever was refused does its part now
      for (const [at, command] of [one, other].entries()) {
        if (statuses[at] !== 0) expect(runCommand(command(directory)).status).toBe(0)
      }
      expect(barriers(directory)).toBe(one === stop || other === stop ? 1 : 0)
      if (isMapped) expect(producers(directory)).toEqual(MAPPED)
      const { errors, totals } = await verifyPaths([directory])
      expect([errors, totals.corrupt]).toEqual([[], 0])
    }
  })
})

describe('a directory that is locked', () => {
  it('is changed by no command and no call, and each says so', async () => {
    const directory = partition()
    const segment = join(directory, SEGMENT)
    const before = readTree(directory)
    const lock = lockDirectory(directory)
    await expect(stopPartition(directory, REQUEST)).rejects.toEqual(locked)
    await expect(recoverPartition(directory, { write: true })).rejects.toEqual(locked)
    await expect(rewriteSegmentFile(segment, { inPlace: true })).rejects.toEqual(locked)
    expect(() => openPartitionDirectory(directory, { write: true })).toThrow(locked)
    for (const path of [directory, segment]) {
      const { files, errors } = await rewritePaths([path], { inPlace: true })
      expect([files, errors]).toEqual([[], [locked]])
    }
    for (const args of [
      ['stop', directory, ...IDS],
      ['recover', directory, '--write'],
      ['rewrite', directory, '--in-place'],
    ]) {
      const { status, stderr } = runCommand(args)
      expect([status, stderr]).toEqual([2, expect.stringContaining(`process ${process.pid} on`)])
      expect(stderr).toContain(join(directory, LOCK))
    }
    lock.release()
    expect(readTree(directory)).toEqual(before)
  })

  it('is read by all, as if there were no lock', async () => {
    const directory = partition()
    const out = join(newDirectory(), 'out')
    const looks = async () => {
      const { files: verified, leftOut } = await verifyPaths([directory])
      const { findings, totals } = await auditPaths([directory])
      const { written, ...recovered } = await recoverPartition(directory)
      const { stdout } = runCommand(['dump', directory])
      const dry = await stopPartition(directory, { ...REQUEST, dryRun: true })
      return { verified, leftOut, findings, totals, recovered, stdout, dry: dry.lastMirroredOffset }
    }
    const free = await looks()
    const lock = lockDirectory(directory)
    expect(await looks()).toEqual(free)
    const { errors, leftOut } = await rewritePaths([directory], { outDirectory: out })
    expect([errors, leftOut]).toEqual([[], []])
    expect(readdirSync(join(out, 'orders-0'))).not.toContain(LOCK)
    expect(openPartitionDirectory(directory).logEndOffset).toBe(201n)
    lock.release()
  })

  it('by a process that is gone is taken over by each', () => {
    const pid = spawnSync(process.execPath, ['-e', '']).pid
    for (const args of [
      ['stop', ...IDS],
      ['recover', '--write', '--quiet'],
      ['rewrite', '--in-place', '--quiet'],
    ]) {
      const directory = partition()
      writeFileSync(join(directory, LOCK), JSON.stringify({ ...lockHolder(), pid, started: null }))
      expect(runCommand([args[0]!, directory, ...args.slice(1)]).status).toBe(0)
      expect(existsSync(join(directory, LOCK))).toBe(false)
    }
  })

  it('is free again after errors', async () => {
    const directory = partition()
    writeFileSync(join(directory, 'leader-epoch-checkpoint'), '9\n0\n')
    const call = () => recoverPartition(directory, { write: true })
    for (let time = 0; time < 2; time++) {
      await expect(call()).rejects.toMatchObject({ code: 'CORRUPT_CHECKPOINT' })
      expect(() => openPartitionDirectory(directory, { write: true })).toThrow(/checkpoint/)
    }
    rmSync(join(directory, 'leader-epoch-checkpoint'))
    const [name = ''] = readdirSync(directory).filter((name) => name.endsWith('.log'))
    const bytes = readFileSync(join(directory, name))
    bytes[30]! ^= 1
    writeFileSync(join(directory, name), bytes)
    for (let time = 0; time < 2; time++) {
      const { errors } = await rewritePaths([directory], { inPlace: true, crc: 'verify' })
      expect(errors).toMatchObject([{ code: 'CORRUPT_BATCH' }])
    }
    expect(readdirSync(directory)).not.toContain(LOCK)
  })

  it('by one job takes several of its files at a time', async () => {
    const directory = partition()
    const segments = readdirSync(directory).filter((name) => name.endsWith('.log'))
    const { errors, files } = await rewritePaths(
      segments.map((name) => join(directory, name)),
      { inPlace: true, jobs: 3 },
    )
    expect([errors, files.length]).toEqual([[], segments.length])
    expect(producers(directory)).toEqual(MAPPED)
    expect(readdirSync(directory)).not.toContain(LOCK)
  })
})

describe('openPartitionDirectory for writing', () => {
  it('locks the directory until the log is closed', () => {
    const directory = partition()
    const log = openPartitionDirectory(directory, { write: true })
    expect(() => openPartitionDirectory(directory, { write: true })).toThrow(/this very process/)
    log.append(encodeOp({ kind: 'data', pid: 3, seq: 0 }, log.logEndOffset), 'replication')
    log.close()
    log.close()
    const again = openPartitionDirectory(directory, { write: true })
    expect(again.logEndOffset).toBe(202n)
    again.close()
    expect(readdirSync(directory)).not.toContain(LOCK)
  })

  it.each([
    ['a journal of an interrupted rewrite', { [`${SEGMENT}.mirrorpid-journal`]: 'x' }, 'UNFINISHED_REWRITE'],
    ['no segments', null, 'NOT_A_LOG'],
  ])('refuses %s, whichever way it is opened, and changes nothing', (_name, files, code) => {
    const directory = files === null ? newDirectory() : partition()
    writeFileSync(join(directory, 'notes.txt'), 'x')
    for (const [name, content] of Object.entries(files ?? {})) writeFileSync(join(directory, name), content)
    const before = readTree(directory)
    for (const options of [{}, { write: true }, { write: true, create: true }]) {
      expect(() => openPartitionDirectory(directory, options)).toThrow(expect.objectContaining({ code }))
    }
    expect(readTree(directory)).toEqual(before)
  })

  it('begins a partition where it is told to: missing, empty, or as a broker makes it', () => {
    const root = newDirectory()
    const path = join(root, 'new-0')
    expect(() => openPartitionDirectory(path, { write: true })).toThrow(/no such file/)
    expect(() => openPartitionDirectory(path, { create: true })).toThrow(/goes with write/)
    expect(readdirSync(root)).toEqual([])
    for (const files of [
      null,
      {},
      { 'partition.metadata': 'version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ' },
    ]) {
      rmSync(path, { recursive: true, force: true })
      if (files !== null) writeTree(path, files)
      const log = openPartitionDirectory(path, { write: true, create: true })
      expect(log.logEndOffset).toBe(0n)
      log.close()
      expect(readdirSync(path)).toContain(SEGMENT)
      openPartitionDirectory(path, { write: true, create: true }).close()
    }
  })
})
