import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ON_STOCK_BROKERS } from '../../src/commands/stockBrokers.ts'
import { PartitionLog } from '../../src/index.ts'
import { directoryStorage } from '../../src/node/index.ts'
import { readTree, runCommand, temporaryDirectories } from '../node/support.ts'
import { type BatchOp, encodeOp } from '../producers/logBuilder.ts'

const NOTE = `mirrorpid: note: ${ON_STOCK_BROKERS}\n`
const newDirectory = temporaryDirectories()
const IDS = ['--cluster-id', 'B', '--source-cluster-id', 'A']

const MIRRORED: BatchOp[] = [
  { kind: 'data', pid: -7, seq: 0 },
  { kind: 'txn', pid: -8, seq: 0 },
  { kind: 'data', pid: -7, seq: 1 },
]

function partition(ops = MIRRORED): string {
  const directory = join(newDirectory(), 'orders-0')
  mkdirSync(directory)
  const log = PartitionLog.open(directoryStorage(directory))
  for (const op of ops) log.append(encodeOp(op, log.logEndOffset), 'replication')
  log.close()
  return directory
}

describe('mirrorpid stop', () => {
  it('tells what it would do, does it, and does it once', () => {
    const directory = partition()
    const before = readTree(directory)
    const dry = runCommand(['stop', directory, ...IDS, '--dry-run'])
    expect([dry.status, dry.stderr]).toEqual([0, NOTE])
    expect(dry.stdout).toBe(`${directory}: would be stopped; it mirrored A
  1 open transaction aborted:
    producer -8 (6 in the source), epoch 0, from offset 1 on
  barrier (MIRROR_PID_RESET) at offset 4, leader epoch 0; log end offset 5
  2 mirrored producers expired
  mirrored end offset 3: what A has from there on, this log has not
  last mirrored offset 4: the barrier's
nothing was changed
`)
    expect(readTree(directory)).toEqual(before)

    const first = runCommand(['stop', directory, ...IDS])
    expect([first.status, first.stderr]).toEqual([0, NOTE])
    expect(first.stdout).toContain(`${directory}: stopped; it mirrored A\n`)
    expect(first.stdout).toContain('cut the log of A to the mirrored end offset 3')
    const after = readTree(directory)

    const second = runCommand(['stop', directory, ...IDS, '--open-transactions', 'truncate'])
    expect([second.status, second.stderr]).toEqual([0, NOTE])
    expect(second.stdout).toContain(`${directory}: already stopped at offset 4; nothing was changed\n`)
    expect(readTree(directory)).toEqual(after)
    const dump = runCommand(['dump', directory, '--print-data-log'])
    expect(dump.stdout.match(/MirrorPidReset/g)?.length).toBe(1)
    expect(dump.stdout).toContain('MirrorPidReset {"version":0,"sourceClusterId":"A"}')
  })

  it('JSON keeps every digit', () => {
    const directory = partition()
    const args = [...IDS, '--open-transactions', 'truncate', '--leader-epoch', '12', '--json']
    const { status, stdout, stderr } = runCommand(['stop', directory, ...args])
    expect([status, stderr]).toEqual([0, NOTE])
    expect(JSON.parse(stdout)).toEqual({
      directory,
      clusterId: 'B',
      sourceClusterId: 'A',
      dryRun: false,
      alreadyStopped: false,
      openTransactions: 'truncate',
      settled: [{ producerId: '-8', sourceProducerId: '6', producerEpoch: 0, firstOffset: '1' }],
      truncatedOffsets: '2',
      mirroredEndOffset: '1',
      lastMirroredOffset: '1',
      logEndOffset: '2',
      leaderEpoch: 12,
      expiredProducers: 1,
      cut: [],
      removedSegments: [],
      leftovers: [],
      foreignFiles: [],
      warnings: [ON_STOCK_BROKERS],
      errors: [],
    })
    expect(readFileSync(join(directory, 'leader-epoch-checkpoint'), 'utf8')).toBe('0\n2\n0 0\n12 1\n')
  })

  it('another source than the one that is noted is refused', () => {
    const directory = partition()
    expect(runCommand(['stop', directory, ...IDS, '--quiet'])).toMatchObject({
      status: 0,
      stdout: '',
      stderr: '',
    })
    const before = readTree(directory)
    const args = ['stop', directory, '--cluster-id', 'B', '--source-cluster-id', 'C']
    const { status, stdout, stderr } = runCommand(args)
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr).toContain(`${directory}: this partition is mirrored from the cluster "A", not from "C"`)
    const json = runCommand([...args, '--json'])
    expect(json.status).toBe(2)
    expect(JSON.parse(json.stdout).errors).toMatchObject([
      { code: 'SOURCE_CLUSTER_MISMATCH', expected: 'A', given: 'C' },
    ])
    expect(readTree(directory)).toEqual(before)
  })

  it('a mirror that has failed is stopped', () => {
    const directory = partition()
    const state = { version: 1, state: 'FAILED', sourceClusterId: 'A', failure: 'the source is gone' }
    writeFileSync(join(directory, 'mirror-state.json'), JSON.stringify(state))
    expect(runCommand(['stop', directory, ...IDS])).toMatchObject({ status: 0, stderr: NOTE })
    expect(JSON.parse(readFileSync(join(directory, 'mirror-state.json'), 'utf8'))).toMatchObject({
      state: 'STOPPED',
      failure: null,
    })
  })

  it('a log in which no id is mapped must be said to be the mirror', () => {
    const directory = partition([{ kind: 'data', pid: 7, seq: 0 }])
    const refused = runCommand(['stop', directory, ...IDS])
    expect([refused.status, refused.stdout]).toEqual([2, ''])
    expect(refused.stderr).toContain(`mirrorpid: ${directory}: no producer in this log has a mapped id`)
    expect(runCommand(['stop', directory, ...IDS, '--unmarked', '--quiet'])).toMatchObject({
      status: 0,
      stdout: '',
      stderr: '',
    })
  })

  it('a mirror that goes on behind the barrier is stopped again where that is asked for', () => {
    const directory = partition()
    runCommand(['stop', directory, ...IDS])
    const log = PartitionLog.open(directoryStorage(directory))
    log.append(encodeOp({ kind: 'txn', pid: -8, seq: 0 }, log.logEndOffset), 'replication')
    log.close()
    const refused = runCommand(['stop', directory, ...IDS, '--json'])
    expect(refused.status).toBe(2)
    expect(JSON.parse(refused.stdout).errors).toMatchObject([
      { code: 'STOP_REFUSED', reason: 'mirrored-again' },
    ])
    const again = runCommand(['stop', directory, ...IDS, '--again'])
    expect(again.stdout).toContain('barrier (MIRROR_PID_RESET) at offset 7, leader epoch 0; log end offset 8')
  })

  it('says what it cuts of a last write, also when quiet', () => {
    const directory = partition()
    const segment = join(directory, '00000000000000000000.log')
    const torn = encodeOp({ kind: 'data', pid: -7, seq: 2 }, 3n).subarray(0, 40)
    writeFileSync(segment, Buffer.concat([readFileSync(segment), torn]))
    const { status, stdout, stderr } = runCommand(['stop', directory, ...IDS, '--quiet'])
    expect([status, stdout]).toEqual([0, ''])
    expect(stderr).toMatch(/^mirrorpid: warning: 0{20}\.log: 40 bytes of a batch .* are cut, at byte \d+\n$/)
  })

  it('damage is a finding, and is not cut off', () => {
    const directory = partition()
    const segment = join(directory, '00000000000000000000.log')
    const bytes = readFileSync(segment)
    bytes[66]! ^= 1
    writeFileSync(segment, bytes)
    const { status, stderr } = runCommand(['stop', directory, ...IDS])
    expect(status).toBe(1)
    expect(stderr).toContain('00000000000000000000.log: damaged at byte 0 (crc)')
    expect(readFileSync(segment)).toEqual(bytes)
    expect(existsSync(join(directory, 'mirror-state.json'))).toBe(false)
  })

  it.each([
    [['stop', ...IDS], "missing required argument 'dir'"],
    [['stop', 'x'], "required option '--cluster-id <id>' not specified"],
    [['stop', 'x', '--cluster-id', 'B'], "required option '--source-cluster-id <id>' not specified"],
    [['stop', 'x', '--cluster-id', '', '--source-cluster-id', 'A'], 'It must be the id of a cluster.'],
    [['stop', 'x', ...IDS, '--open-transactions', 'ask'], 'Allowed choices are truncate, abort'],
    [['stop', 'x', ...IDS, '--leader-epoch', '-1'], 'It must be a whole number from 0 to 2147483647.'],
    [['stop', 'gone', ...IDS], 'there is no such file or directory'],
    [
      ['stop', '.', '--cluster-id', 'A', '--source-cluster-id', 'A'],
      /does not mirror itself|one partition directory is needed/,
    ],
  ])('refuses %j', (args, message) => {
    const { status, stdout, stderr } = runCommand(args)
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(message)
    expect(stderr).not.toMatch(/\n\s+at /)
  })

  it('explains itself', () => {
    const { status, stdout } = runCommand(['stop', '--help'])
    expect(status).toBe(0)
    const text = stdout.replace(/\s+/g, ' ')
    for (const word of [
      'Examples:',
      'Stop the brokers first',
      'mirrored end offset',
      '--leader-epoch',
      '--dry-run',
    ]) {
      expect(text).toContain(word)
    }
  })
})
