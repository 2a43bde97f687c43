import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCommand, type Tree, temporaryDirectories, writeTree } from '../node/support.ts'
import { batch, pattern } from '../support/batches.ts'

const newDirectory = temporaryDirectories()
const SEGMENT = '00000000000000000000.log'
const FAR = 2n ** 62n + 1n

const good = Buffer.concat([
  batch({ baseOffset: 0n, producerId: 5n, payload: pattern(300) }),
  batch({ baseOffset: 1n, producerId: -9n }),
])

function verify(tree: Tree, ...flags: string[]) {
  const directory = writeTree(newDirectory(), tree)
  return { ...runCommand(['verify', directory, ...flags]), path: join(directory, SEGMENT) }
}

describe('mirrorpid verify', () => {
  it('says that all is fine', () => {
    const { status, stdout, stderr, path } = verify({ [SEGMENT]: good, '00000000000000000007.log': '' })
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout.split('\n')).toEqual([
      `${path}: 2 batches, fine`,
      `${path.replace('0.log', '7.log')}: 0 batches, fine`,
      '2 segments, 422 B in 2 batches: 0 findings',
      '',
    ])
  })

  it('names each damaged batch, and goes on behind it', () => {
    const damaged = [
      good,
      batch({ baseOffset: 2n, crc: 0x1234 }),
      batch({ baseOffset: 9n }),
      batch({ baseOffset: 9n }),
      batch({ batchLength: 13 }),
    ]
    const { status, stdout, path } = verify({ [SEGMENT]: Buffer.concat(damaged) })
    expect(status).toBe(1)
    expect(stdout).toContain(
      `${path}: batch at byte 422 (base offset 2) is damaged: stored CRC 0x00001234, computed 0x`,
    )
    expect(stdout).toContain(`${path}: batch at byte 544 (base offset 9) is out of order`)
    expect(stdout).toContain(`${path}: batch at byte 605 (base offset 0) is unreadable: its batchLength`)
    expect(stdout).toContain('1 segment, 605 B in 5 batches: 3 findings')
  })

  it('prints one JSON document with --json, with every digit', () => {
    const bytes = Buffer.concat([good, batch({ baseOffset: FAR, crc: 0x1234 })])
    const { status, stdout, path } = verify({ [SEGMENT]: bytes }, '--json')
    expect(status).toBe(1)
    const counts = { batches: 3, rewritten: 1, alreadyMapped: 1, withoutProducer: 1, control: 0, legacy: 0 }
    const corrupt = {
      position: 422,
      baseOffset: FAR.toString(),
      reason: 'crc',
      stored: 0x1234,
      computed: expect.any(Number),
    }
    const { length: validBytes } = bytes
    expect(JSON.parse(stdout)).toEqual({
      files: [
        {
          path,
          ...counts,
          validBytes,
          trailing: { kind: 'none', bytes: 0 },
          corrupt: [corrupt],
          incomplete: null,
        },
      ],
      totals: { files: 1, ...counts, validBytes, corrupt: 1 },
      errors: [],
      leftOut: [],
    })
  })

  it('finds an incomplete batch', () => {
    const { status, stdout, path } = verify({ [SEGMENT]: Buffer.concat([good, good.subarray(0, 40)]) })
    expect(status).toBe(1)
    expect(stdout).toContain(`${path}: incomplete batch: wants 361 bytes, has 40 at position 422`)
  })

  it('finds a length that reaches beyond the file', () => {
    const { status, stdout } = verify({ [SEGMENT]: batch({ batchLength: 2147483647 }) }, '--quiet')
    expect(status).toBe(1)
    expect(stdout).toContain('incomplete batch: wants 2147483659 bytes, has 61 at position 0')
  })

  it.each([11, 4096])('notes %d trailing zeros, and exits with 0', (length) => {
    const { status, stdout, path } = verify({ [SEGMENT]: Buffer.concat([good, Buffer.alloc(length)]) })
    expect(status).toBe(0)
    expect(stdout).toContain(`${path}: ${length} trailing zero bytes, looks preallocated`)
  })

  it('finds damaged companions', () => {
    const tree = {
      [SEGMENT]: good,
      '00000000000000000004.snapshot': pattern(56),
      '00000000000000000000.txnindex': pattern(34),
    }
    const { status, stdout, stderr } = verify(tree, '--json')
    expect(status).toBe(1)
    expect(JSON.parse(stdout).errors).toMatchObject([
      { code: 'CORRUPT_TRANSACTION_INDEX', position: 0 },
      { code: 'CORRUPT_SNAPSHOT', position: 0 },
    ])
    expect(stderr).toContain('producer snapshot is damaged')
  })

  it('prints findings alone with --quiet', () => {
    expect(verify({ [SEGMENT]: good }, '--quiet')).toMatchObject({ status: 0, stdout: '', stderr: '' })
    const { status, stdout } = verify({ [SEGMENT]: batch({ crc: 1 }) }, '--quiet')
    expect([status, stdout.trim().split('\n').length]).toEqual([1, 1])
  })

  it('fails with a missing path, as JSON too', () => {
    const { status, stdout, stderr } = runCommand(['verify', join(newDirectory(), 'nowhere'), '--json'])
    expect(status).toBe(2)
    expect(stderr).toContain('no such file')
    expect(JSON.parse(stdout)).toMatchObject({ files: [], errors: [{ code: 'IO_ERROR', errno: 'ENOENT' }] })
  })

  it('counts what it could not read as failure, even with findings elsewhere', () => {
    const { status, stderr } = runCommand([
      'verify',
      writeTree(newDirectory(), { [SEGMENT]: batch({ crc: 1 }) }),
      join(newDirectory(), 'nowhere'),
    ])
    expect(status).toBe(2)
    expect(stderr).toContain('nowhere')
  })
})
