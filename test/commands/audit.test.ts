import { utimesSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fixtures } from '../mirroring/audit/support.ts'
import { runCommand, type Tree, temporaryDirectories, writeTree } from '../node/support.ts'
import { type BatchOp, data, logOf } from '../producers/logBuilder.ts'
import { batch } from '../support/batches.ts'

const newDirectory = temporaryDirectories()
const SEGMENT = '00000000000000000000.log'
const NEXT = '00000000000000000002.log'
const bytesOf = (...ops: BatchOp[]) => logOf(ops).bytes
const txn = (pid: number, seq: number): BatchOp => ({ kind: 'txn', pid, seq })

/** Segments whose second begins at offset 2. */
const continued = (...ops: BatchOp[]) => logOf(ops, 2n).bytes

function audit(tree: Tree, ...flags: string[]) {
  const directory = writeTree(newDirectory(), tree)
  return { ...runCommand(['audit', directory, ...flags]), directory }
}

describe('mirrorpid audit', () => {
  it('finds nothing in what a real broker wrote', () => {
    const { status, stdout } = runCommand(['audit', fixtures])
    expect(status).toBe(0)
    expect(stdout).toContain('18 logs, 29.0 KiB in 206 batches of 35 producers: 0 findings')
    expect(stdout).toContain(
      'transactions-0: producer 1010, epoch 1, has a transaction open since offset 22; readers of committed records ' +
        'wait before 9 records (664 B)',
    )
    expect(stdout).toContain('compacted-0: compacted')
  })

  it('prints a table for people, and notes', () => {
    const { status, stdout, stderr, directory } = audit({
      'orders-0': { [SEGMENT]: bytesOf(data(-7, 0), data(-7, 0), { kind: 'barrier' }) },
    })
    expect([status, stderr]).toEqual([1, ''])
    expect(stdout).toMatch(/│ orders-0 +│ sequence │ +-7 │ +5 │ +0 │ +1 │ +0 │ sequence 0 comes again/)
    expect(stdout).toContain(`${join(directory, 'orders-0')}: barrier at offset 2, source cluster A`)
    expect(stdout).toContain('1 log, 213 B in 3 batches of 1 producer: 1 finding')
    expect(stdout).not.toContain('\u001b')
  })

  it('prints one JSON document, with every digit', () => {
    const far = [0n, 1n].map((baseOffset) => batch({ baseOffset, producerId: -(2n ** 62n) - 1n }))
    expect(JSON.parse(audit({ [SEGMENT]: Buffer.concat(far) }, '--json').stdout).findings).toMatchObject([
      { producerId: '-4611686018427387905', sourceProducerId: '4611686018427387903' },
    ])
    const whole = audit({ 'orders-0': { [SEGMENT]: bytesOf(txn(6, 0), data(-7, 0), data(-7, 0)) } }, '--json')
    expect([whole.status, whole.stderr]).toEqual([1, ''])
    expect(JSON.parse(whole.stdout)).toEqual({
      findings: [
        {
          kind: 'sequence',
          partition: 'orders-0',
          producerId: '-7',
          sourceProducerId: '5',
          epoch: 0,
          offset: '2',
          previousOffset: '1',
          message: expect.stringContaining('drops them'),
        },
      ],
      openTransactions: [expect.objectContaining({ producerId: '6', firstOffset: '0', recordsBehind: 3 })],
      partitions: [
        expect.objectContaining({ partition: 'orders-0', compacted: false, barriers: [], notes: [] }),
      ],
      damaged: [],
      incomplete: [],
      totals: expect.objectContaining({
        partitions: 1,
        batches: 3,
        findings: 1,
        openTransactions: 1,
        damaged: 0,
      }),
      errors: [],
      leftOut: [],
    })
  })

  it('takes the segments of a directory as one log, and a segment file as one of its own', () => {
    const tree = { [SEGMENT]: bytesOf(data(5, 0), data(5, 1)), [NEXT]: continued(data(5, 1)) }
    const { status, directory } = audit(tree)
    expect(status).toBe(1)
    expect(runCommand(['audit', join(directory, SEGMENT), join(directory, NEXT)]).status).toBe(0)
  })

  it('takes what the cleaner has finished in the place of what it replaces', () => {
    const tree = {
      [SEGMENT]: bytesOf(data(5, 0), data(5, 1)),
      [`${SEGMENT}.swap`]: logOf([data(5, 0), data(5, 1), data(5, 2)]).bytes,
      [NEXT]: continued(data(5, 2), data(5, 3)),
    }
    expect(audit(tree)).toMatchObject({ status: 0 })
    expect(audit({ ...tree, [NEXT]: continued(data(5, 2), data(5, 2)) })).toMatchObject({ status: 1 })
  })

  it("knows a coordinator's topic by the directory's name (D-26)", () => {
    const bytes = bytesOf(txn(11, 0), { kind: 'COMMIT', pid: 11 }, txn(11, 0))
    expect(audit({ '__consumer_offsets-3': { [SEGMENT]: bytes } }).status).toBe(0)
    const { status, directory } = audit({ 'orders-3': { [SEGMENT]: bytes } })
    expect(status).toBe(1)
    expect(runCommand(['audit', directory, '--internal-topic']).status).toBe(0)
    const file = join(
      writeTree(newDirectory(), { '__consumer_offsets-3': { [SEGMENT]: bytes } }),
      '__consumer_offsets-3',
      SEGMENT,
    )
    expect(runCommand(['audit', file]).status).toBe(0)
  })

  it('leaves damaged batches out, says so, and goes on', () => {
    const bytes = bytesOf(data(5, 0), data(5, 1), data(5, 2), data(5, 2))
    bytes[68 + 60]! ^= 1
    const { status, stdout, stderr, directory } = audit({ [SEGMENT]: bytes })
    expect(status).toBe(1)
    expect(stderr).toContain(`${join(directory, SEGMENT)}: batch at byte 68 (base offset 1) is damaged`)
    expect(stdout).toContain('sequence 2 comes again')
    const alone = bytes.subarray(0, 3 * 68)
    expect(audit({ [SEGMENT]: alone }, '--quiet')).toMatchObject({ status: 1, stdout: '' })
    const cut = audit({ [SEGMENT]: alone.subarray(0, 60) }, '--json')
    expect([cut.status, JSON.parse(cut.stdout).incomplete]).toEqual([
      1,
      [expect.objectContaining({ position: 0, has: 60 })],
    ])
  })

  it('judges by no timestamp later than the last change of its segment file, nor than now', () => {
    const HOUR = 3600
    const second = continued({ kind: 'data', timestamp: 4 * HOUR * 1000 })
    const far = continued({ kind: 'data', timestamp: 9e15 }, { kind: 'data', timestamp: 4 * HOUR * 1000 })
    const open = bytesOf(txn(5, 0), data(6, 0))
    const changed = (bytes: Uint8Array, [first, next]: [number, number]) => {
      const directory = writeTree(newDirectory(), { [SEGMENT]: open, [NEXT]: bytes })
      utimesSync(join(directory, SEGMENT), first, first)
      utimesSync(join(directory, NEXT), next, next)
      const { status, stdout } = runCommand(['audit', directory, '--json'])
      const { findings, partitions } = JSON.parse(stdout)
      return [status, findings.length, partitions[0].notes.map(({ kind }: { kind: string }) => kind)]
    }
    expect(changed(second, [HOUR, 4 * HOUR])).toEqual([1, 1, []])
    expect(changed(second, [HOUR, 2 * HOUR])).toEqual([0, 0, ['timestamp-ahead']])
    expect(changed(second, [5 * HOUR, 2 * HOUR])).toEqual([0, 0, ['timestamp-ahead']])
    // copied just now
    expect(changed(second, [Date.now() / 1000, Date.now() / 1000])).toEqual([1, 1, []])
    const nextCentury = 4e9
    expect(changed(far, [nextCentury, nextCentury])).toEqual([1, 1, ['timestamp-ahead']])
    expect(changed(far.subarray(0, far.length / 2), [nextCentury, nextCentury])).toEqual([
      0,
      0,
      ['timestamp-ahead'],
    ])
  })

  it('takes a timeout, and lists so many findings', () => {
    const late = { kind: 'data', timestamp: 1_201_001 } as const
    expect(audit({ [SEGMENT]: bytesOf(txn(5, 0), late) }).stdout).toContain('hanging-transaction')
    expect(audit({ [SEGMENT]: bytesOf(txn(5, 0), late) }, '--transaction-timeout', '3600000').status).toBe(0)
    const many = audit(
      { [SEGMENT]: bytesOf(...Array.from({ length: 5 }, () => data(5, 0))) },
      '--max-findings',
      '1',
    )
    expect(many.stdout).toContain('3 more findings')
  })

  it('prints findings alone with --quiet', () => {
    const open = { [SEGMENT]: bytesOf(txn(5, 0)) }
    expect(audit(open, '--quiet')).toMatchObject({ status: 0, stdout: '', stderr: '' })
    const { stdout } = audit({ [SEGMENT]: bytesOf(data(5, 0), data(5, 0)) }, '--quiet')
    expect(stdout).toContain('sequence')
    expect(stdout).not.toContain('1 log')
  })

  it('fails with a missing path, as JSON too, and without any', () => {
    const missing = runCommand(['audit', join(newDirectory(), 'nowhere'), '--json'])
    expect(missing.status).toBe(2)
    expect(JSON.parse(missing.stdout)).toMatchObject({ findings: [], errors: [{ errno: 'ENOENT' }] })
    expect(runCommand(['audit'])).toMatchObject({ status: 2, stdout: '' })
    expect(runCommand(['audit', 'x', '--source', 'noname']).stderr).toContain('NAME=PATH')
    expect(runCommand(['audit', 'x', '--transaction-timeout', '-1']).status).toBe(2)
  })
})

describe('mirrorpid audit --help', () => {
  it('explains itself', () => {
    const { status, stdout } = runCommand(['audit', '--help'])
    expect(status).toBe(0)
    for (const word of [
      'Examples:',
      '--source',
      'hanging-transaction',
      '--transaction-timeout',
      '--json',
      '--quiet',
    ]) {
      expect(stdout).toContain(word)
    }
  })
})

describe('mirrorpid audit --source', () => {
  const log = (...ops: BatchOp[]): Tree => ({ [SEGMENT]: bytesOf(...ops) })

  function compare(A: Tree, B: Tree, ...flags: string[]) {
    const [a, b] = [writeTree(newDirectory(), A), writeTree(newDirectory(), B)]
    return { ...runCommand(['audit', '--source', `A=${a}`, '--source', `B=${b}`, ...flags]), a, b }
  }

  it('predicts which producers meet', () => {
    const { status, stdout } = compare(log(data(5, 0), data(9, 0)), log(data(-7, 0)), '--json')
    expect(status).toBe(1)
    expect(JSON.parse(stdout).findings).toMatchObject([
      {
        kind: 'overlap',
        producerId: '-7',
        sourceProducerId: '5',
        offset: '0',
        sources: [
          { source: 'A', producerId: '5' },
          { source: 'B', producerId: '-7' },
        ],
      },
    ])
  })

  it('finds none where there are none', () => {
    const { status, stdout } = compare(log(data(5, 0)), log(data(6, 0)))
    expect([status, stdout]).toEqual([0, '2 logs of sources: 0 findings\n'])
  })

  it('compares partitions of the same name in log directories', () => {
    const A = { 'orders-0': log(data(5, 0)), 'orders-1': log(data(6, 0)) }
    expect(compare(A, { 'orders-0': log(data(6, 0)), 'orders-1': log(data(5, 0)) }).status).toBe(0)
    const { status, stdout } = compare(A, { 'orders-1': log(data(6, 0)) }, '--json')
    expect(status).toBe(1)
    expect(JSON.parse(stdout).findings).toMatchObject([{ partition: 'orders-1', producerId: '-8' }])
  })

  it('takes sources of one name for one cluster', () => {
    const directory = writeTree(newDirectory(), { one: log(data(5, 0)), two: log(data(5, 1)) })
    const args = ['one', 'two'].flatMap((name) => ['--source', `A=${join(directory, name, SEGMENT)}`])
    expect(runCommand(['audit', ...args]).status).toBe(0)
  })

  it('audits paths beside it', () => {
    const { a } = compare(log(data(5, 0)), log(data(6, 0)))
    const { stdout, status } = runCommand(['audit', a, '--source', `A=${a}`])
    expect([status, stdout]).toEqual([
      0,
      '1 log, 68 B in 1 batch of 1 producer; 1 log of a source: 0 findings\n',
    ])
  })
})
