import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PartitionLog } from '../../src/index.ts'
import {
  directoryStorage,
  openPartitionDirectory,
  recoverPartition,
  rewritePaths,
  rewriteSegmentFile,
  stopPartition,
} from '../../src/node/index.ts'
import { encodeOp } from '../producers/logBuilder.ts'
import { readTree, runCommand, temporaryDirectories } from './support.ts'

// A small file of the broker that is there and cannot be read must not mean that nothing is known.

const newDirectory = temporaryDirectories()
const SEGMENT = '00000000000000000000.log'
const IDS = ['--cluster-id', 'B', '--source-cluster-id', 'A']
const REQUEST = { clusterId: 'B', sourceClusterId: 'A' }
const CHECKPOINTS = [
  'recovery-point-offset-checkpoint',
  'log-start-offset-checkpoint',
  'replication-offset-checkpoint',
]
const EPOCHS = 'leader-epoch-checkpoint'

/** Ten offsets of a mirrored producer, in a log directory of its own with all files that a broker writes. */
function partition(): string {
  const directory = join(newDirectory(), 'orders-0')
  mkdirSync(directory)
  const log = PartitionLog.open(directoryStorage(directory))
  for (let seq = 0; seq < 10; seq++) {
    log.append(encodeOp({ kind: 'data', pid: -7, seq, offset: seq }, log.logEndOffset), 'replication')
  }
  log.close()
  const write = (name: string, text: string) => writeFileSync(join(directory, name), text)
  for (const name of CHECKPOINTS) {
    write(`../${name}`, `0\n2\norders 0 ${name.startsWith('log') ? 0 : 10}\npayments 3 7\n`)
  }
  write('../meta.properties', '#\nversion=1\nnode.id=1\ncluster.id=B\n')
  write('partition.metadata', 'version: 0\ntopic_id: WqPs1ukdSyyDjBYhcqZg8w')
  return directory
}

const FILES: [name: string, contents: [text: string, line: number | null][]][] = [
  ...CHECKPOINTS.map((name): (typeof FILES)[number] => [
    `../${name}`,
    [
      ['', 1],
      ['\0'.repeat(40), 1],
      ['0', 2],
      ['0\r\n', 2],
      ['0\n2\norders 0 10\n', 2],
      ['0\n1\norders 0 10\npayments 0 1\n', 2],
      ['0\norders 0 10\n', 2],
      ['0\n2\norders 0 10\npaym', 4],
      ['0\n2\norders 0 10\npayments 0 x\n', 4],
      ['0\n2\norders 0 10\n\n', 4],
      ['0\n1\norders 0 -1\n', 3],
      ['1\n1\norders 0 10\n', 1],
      ['nothing to see here\n', 1],
    ],
  ]),
  [
    EPOCHS,
    [
      ['', 1],
      ['\0'.repeat(9), 1],
      ['0\n', 2],
      ['0\n2\n0 0\n', 2],
      ['0\n1\n0\n', 3],
      ['0\n2\n0 0\nx 5\n', 4],
      ['words\n', 1],
    ],
  ],
  [
    // beside the segments: that of this package
    'log-start-offset-checkpoint',
    [
      ['', 1],
      ['\0\0\0', 1],
      ['0\n1\n', 2],
      ['0\n1\nx\n', 3],
      ['0\n2\n0\n0\n', 2],
      ['0\n0\n', 2],
    ],
  ],
  [
    'partition.metadata',
    [
      ['', 1],
      ['\0\0\0', 1],
      ['version: 0\n', 2],
      ['version: x\ntopic_id: WqPs1ukdSyyDjBYhcqZg8w', 1],
      ['version: 0\ntopic_id: WqPs1ukdSyyDjBYhcq', 2],
      ['version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA', 2],
    ],
  ],
  [
    '../meta.properties',
    [
      ['', null],
      ['\0'.repeat(20), null],
      ['cluster.id=B\nnode.id=1\n', null],
      ['version=\ncluster.id=B\n', null],
      ['version=2\ncluster.id=B\n', null],
      ['version=1\nnode.id=1\n', null],
      ['version=1\ncluster.id=\\u00\n', null],
    ],
  ],
]

describe.each(FILES)('%s', (name, contents) => {
  it.each(contents)('as %j', async (text, line) => {
    const directory = partition()
    const file = join(directory, name)
    writeFileSync(file, text)
    const root = join(directory, '..')
    const before = readTree(root)
    const expected = { code: 'CORRUPT_CHECKPOINT', file, line }
    const changing = [
      () => stopPartition(directory, REQUEST),
      () => stopPartition(directory, { ...REQUEST, dryRun: true }),
      () => recoverPartition(directory, { write: true }),
      async () => openPartitionDirectory(directory, { write: true }),
      async () => openPartitionDirectory(directory),
      () => rewriteSegmentFile(join(directory, SEGMENT), { inPlace: true, direction: 'unmap' }),
      ...[root, directory, join(directory, SEGMENT)].flatMap((path) =>
        [false, true].map((dryRun) => async () => {
          const { errors } = await rewritePaths([path], { inPlace: true, direction: 'unmap', dryRun })
          throw errors[0]
        }),
      ),
    ]
    for (const change of changing) {
      await expect(change(), `${change}`).rejects.toMatchObject(expected)
      expect(readTree(root), `${change}`).toEqual(before)
    }
    const { unreadable, logEndOffset } = await recoverPartition(directory)
    expect(unreadable).toMatchObject([expected])
    expect(logEndOffset).toBe(10n)
    expect(readTree(root)).toEqual(before)
  })

  it('is refused by the commands, which name it and its line', () => {
    const directory = partition()
    const [text, line] = contents[0]!
    writeFileSync(join(directory, name), text)
    const before = readTree(join(directory, '..'))
    const where = `${join(directory, name)}${line === null ? '' : `, line ${line}`}: it `
    for (const args of [
      ['stop', directory, ...IDS],
      ['recover', directory, '--write'],
      ['rewrite', directory, '--in-place', '--unmap'],
      ['rewrite', directory, '--in-place', '--unmap', '--dry-run'],
      ['rewrite', join(directory, '..'), '--in-place', '--unmap', '--json'],
    ]) {
      const { status, stderr, stdout } = runCommand(args)
      expect(status, args.join(' ')).toBe(2)
      expect(stderr + stdout).toContain(where)
      expect(readTree(join(directory, '..'))).toEqual(before)
    }
    const { status, stderr } = runCommand(['recover', directory])
    expect(status).toBe(1)
    expect(stderr).toContain(where)
    const { errors, logEndOffset } = JSON.parse(runCommand(['recover', directory, '--json']).stdout)
    expect(errors).toMatchObject([{ code: 'CORRUPT_CHECKPOINT', line }])
    expect(logEndOffset).toBe('10')
  })
})

describe('what is fine', () => {
  it('is not refused, nor is what is not there', async () => {
    const whole = partition()
    expect((await recoverPartition(whole)).unreadable).toEqual([])
    await stopPartition(whole, REQUEST)
    const bare = join(newDirectory(), 'orders-0')
    mkdirSync(bare)
    writeFileSync(join(bare, SEGMENT), readFileSync(join(partition(), SEGMENT)))
    expect((await recoverPartition(bare, { write: true })).unreadable).toEqual([])
    await stopPartition(bare, REQUEST)
  })

  it('a rewrite that was interrupted is finished all the same', async () => {
    const directory = partition()
    writeFileSync(join(directory, '../replication-offset-checkpoint'), '')
    const { errors } = await rewritePaths([directory], { inPlace: true, resume: true })
    expect(errors).toEqual([])
  })

  // a batch of five offsets, cut, behind five; the checkpoints say that all ten are on disk, and replicated
  it.each(['\n', '\r\n', '\r'])('what checkpoints say counts with line ends %j', async (end) => {
    const directory = join(newDirectory(), 'orders-0')
    mkdirSync(directory)
    const batches = [0, 5].map((at) => encodeOp({ kind: 'data', pid: -7, seq: at, count: 5, offset: at }))
    writeFileSync(join(directory, SEGMENT), Buffer.concat([batches[0]!, batches[1]!.subarray(0, 70)]))
    for (const name of CHECKPOINTS.filter((name) => !name.startsWith('log'))) {
      writeFileSync(join(directory, '..', name), ['0', '1', 'orders 0 10', ''].join(end))
    }
    const before = readTree(directory)
    const refused = { code: 'CORRUPT_BATCH' }
    await expect(stopPartition(directory, REQUEST)).rejects.toMatchObject(refused)
    expect(readTree(directory)).toEqual(before)
  })
})
