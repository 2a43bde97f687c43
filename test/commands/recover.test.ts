import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PartitionLog } from '../../src/log/partition/partitionLog.ts'
import { directoryStorage } from '../../src/node/storage/directoryStorage.ts'
import { readTree, runCommand, temporaryDirectories } from '../node/support.ts'
import { type BatchOp, encodeOp } from '../producers/logBuilder.ts'

const newDirectory = temporaryDirectories()
const fixtures = new URL('../fixtures/kafka-4.3.1/', import.meta.url).pathname
const SEGMENT = '00000000000000000000.log'

function partition(ops: readonly BatchOp[], options = {}): string {
  const directory = join(newDirectory(), 'orders-0')
  cpSync(join(fixtures, 'plain-0', 'partition.metadata'), join(directory, 'partition.metadata'))
  const log = PartitionLog.open(directoryStorage(directory), options)
  for (const op of ops) log.append(encodeOp({ ...op, offset: Number(log.logEndOffset) }), 'replication')
  log.close()
  return directory
}

function recover(directory: string, ...flags: string[]) {
  const outcome = runCommand(['recover', directory, ...flags])
  return { ...outcome, json: flags.includes('--json') ? JSON.parse(outcome.stdout) : null }
}

const mirrored: BatchOp[] = [
  { kind: 'data', pid: 5, seq: 0, count: 3 },
  { kind: 'txn', pid: -7, seq: 0 },
  { kind: 'txn', pid: -9, seq: 0 },
  { kind: 'ABORT', pid: -7, coordinatorEpoch: 3 },
  { kind: 'barrier', source: 'A' },
  { kind: 'txn', pid: 5, seq: 3 },
  { kind: 'data', pid: -7, seq: 1 },
]

describe('mirrorpid recover', () => {
  it('tells what a broker would know', () => {
    const directory = partition(mirrored)
    const { status, json, stderr } = recover(directory, '--cluster-id', 'B', '--json')
    expect(status).toBe(0)
    expect(json).toMatchObject({
      directory,
      written: false,
      logStartOffset: '0',
      logEndOffset: '9',
      lastStableOffset: '7',
      mirroredBatches: 4,
      producers: [
        {
          producerId: '-7',
          sourceProducerId: '5',
          epoch: 0,
          lastSequence: 1,
          lastOffset: '8',
          currentTxnFirstOffset: null,
          coordinatorEpoch: -1,
        },
        {
          producerId: '5',
          sourceProducerId: null,
          epoch: 0,
          lastSequence: 3,
          lastOffset: '7',
          currentTxnFirstOffset: '7',
          coordinatorEpoch: -1,
        },
      ],
      openTransactions: [{ producerId: '5', firstOffset: '7' }],
      abortedTransactions: [
        { producerId: '-7', firstOffset: '3', lastOffset: '5', lastStableOffset: '4' },
        { producerId: '-9', firstOffset: '4', lastOffset: '6', lastStableOffset: '7' },
      ],
      barriers: [{ offset: '6', sourceClusterId: 'A', applied: true }],
      cut: [],
      errors: [],
    })
    expect(stderr).toContain('4 batches are under mapped producer ids')
  })

  it('says it to people', () => {
    const { status, stdout } = recover(partition(mirrored))
    expect(status).toBe(0)
    for (const text of [
      'log start offset    0\n',
      'log end offset      9\n',
      'last stable offset  7,',
      '2 producers:',
      'producer 5, epoch 0, since offset 7',
      '2 aborted transactions',
      'offset 6, source cluster A: expired 2 producers, ended 1 transaction\n',
      'nothing was changed',
    ]) {
      expect(stdout).toContain(text)
    }
    expect(stdout).toMatch(/│ +-7 │ +5 │ +0 │ +1 │ +8 │/)
  })

  it('sees it as stock Kafka does, and as other readings of a barrier', () => {
    const directory = partition(mirrored)
    const stock = recover(
      directory,
      '--json',
      '--producer-id-test',
      'stock',
      '--barrier-policy',
      'ignore',
    ).json
    expect(stock.producers.map(({ producerId }: { producerId: string }) => producerId)).toEqual(['5'])
    expect(stock).toMatchObject({ abortedTransactions: [], barriers: [{ applied: false }] })
    const own = recover(directory, '--json', '--barrier-policy', 'stop-only', '--cluster-id', 'A').json
    expect(own.barriers).toMatchObject([{ applied: false }])
    expect(own.lastStableOffset).toBe('4')
    expect(recover(directory, '--json', '--barrier-scope', 'all').json.barriers).toMatchObject([
      { expired: { producers: 3 } },
    ])
  })

  it('of every fixture of a broker gives its offsets, and changes no file', () => {
    for (const [name, end] of [
      ['transactions-0', '31'],
      ['crashed-0', '25'],
      ['segments-0', '25'],
    ] as const) {
      const directory = join(newDirectory(), name)
      cpSync(join(fixtures, name), directory, { recursive: true })
      const before = readTree(directory)
      const { status, json } = recover(directory, '--json')
      expect([name, status, json.logEndOffset]).toEqual([name, 0, end])
      expect(readTree(directory)).toEqual(before)
    }
  })

  it('finds damage, and with --write cuts it once', () => {
    const directory = partition(mirrored)
    const path = join(directory, SEGMENT)
    writeFileSync(path, readFileSync(path).subarray(0, -3))
    const before = readTree(directory)
    const first = recover(directory)
    expect(first.status).toBe(1)
    expect(first.stdout).toMatch(/bytes would be cut at position \d+: the last batch is incomplete/)
    expect(recover(directory, '--quiet').stdout.split('\n')).toHaveLength(2)
    expect(readTree(directory)).toEqual(before)
    const written = recover(directory, '--write', '--json')
    expect(written.status).toBe(1)
    expect(written.json).toMatchObject({
      written: true,
      logEndOffset: '8',
      cut: [{ fault: 'incomplete', isZero: false }],
    })
    const again = recover(directory, '--write', '--json')
    expect([again.status, again.json.logEndOffset, again.json.cut]).toEqual([0, '8', []])
    const clean = PartitionLog.open(directoryStorage(directory), { shutdown: 'clean' })
    expect([clean.logEndOffset, clean.producerState.firstUndecidedOffset]).toEqual([8n, 7n])
  })

  it('takes zeros at the end for a preallocated segment', () => {
    const directory = partition(mirrored)
    const path = join(directory, SEGMENT)
    writeFileSync(path, Buffer.concat([readFileSync(path), Buffer.alloc(100_000)]))
    const { status, stdout } = recover(directory)
    expect(status).toBe(0)
    expect(stdout).toContain('100000 trailing zero bytes, as in a preallocated segment, would be cut')
  })

  it('says on which log no broker starts', () => {
    const directory = partition([{ kind: 'txn', pid: 5, seq: 0 }])
    const path = join(directory, SEGMENT)
    const plain = encodeOp({ kind: 'data', pid: 5, seq: 1, offset: 1 })
    writeFileSync(path, Buffer.concat([readFileSync(path), plain]))
    const { status, stderr } = recover(directory)
    expect(status).toBe(1)
    expect(stderr).toContain(`${directory}: no broker starts on this log: batch at offset 1 of producer 5`)
    expect(recover(directory, '--json').json.errors).toMatchObject([
      { code: 'INVALID_TXN_STATE', offset: '1' },
    ])
    writeFileSync(join(directory, 'leader-epoch-checkpoint'), 'x\ny\n')
    expect(recover(directory).status).toBe(1)
  })

  it.each([[['--barrier-policy', 'x']], [['--cluster-id', '']], [[]], [['a', 'b']]])(
    '%j: usage, 2',
    (flags) => {
      expect(
        runCommand(['recover', ...(flags.length === 2 && flags[0] === 'a' ? [] : [newDirectory()]), ...flags])
          .status,
      ).toBe(2)
    },
  )

  it('refuses what is no partition directory', () => {
    const directory = partition(mirrored)
    for (const path of [join(directory, SEGMENT), join(directory, '..'), join(directory, 'gone')]) {
      const { status, stderr } = recover(path)
      expect([status, stderr.startsWith('mirrorpid: ')]).toEqual([2, true])
    }
  })
})
