import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { interruptCommand, runCommand, temporaryDirectories, writeTree } from '../node/support.ts'
import { batch, pattern } from '../support/batches.ts'
import { compressedBatch, oneRecord, twoRecords, twoRecordsSpec } from '../support/recordsFaults.ts'

const newDirectory = temporaryDirectories()
const SEGMENT = '00000000000000000000.log'
const FAR = 2n ** 62n + 1n
const good = compressedBatch('lz4', twoRecords, twoRecordsSpec)
const bad = compressedBatch('gzip', twoRecords, { recordsCount: 3, lastOffsetDelta: 2, baseOffset: FAR })
const FAULT = 'the records end after 2 of 3, at byte 18 of the records'

function verify(bytes: Uint8Array, ...flags: string[]) {
  const path = join(writeTree(newDirectory(), { [SEGMENT]: bytes }), SEGMENT)
  return { ...runCommand(['verify', path, ...flags]), path }
}

describe('mirrorpid verify --records', () => {
  it('says that all is fine', () => {
    const { status, stdout, stderr, path } = verify(good, '--records')
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toContain(`${path}: 1 batch, fine\n`)
  })

  it('names what plain verify does not see, and exits with 1', () => {
    const bytes = Buffer.concat([good, bad])
    expect(verify(bytes).status).toBe(0)
    const { status, stdout, stderr, path } = verify(bytes, '--records', '--quiet')
    const place = `batch at byte ${good.length} (base offset ${FAR})`
    expect([status, stderr]).toEqual([1, ''])
    expect(stdout).toBe(`${path}: ${place} fails the check of its records: ${FAULT}\n`)
  })

  it('prints it as JSON, with every digit, whatever the number of jobs', () => {
    const tree = { 'orders-0': { [SEGMENT]: Buffer.concat([good, bad]) }, 'orders-1': { [SEGMENT]: good } }
    const root = writeTree(newDirectory(), tree)
    const [one, two] = ['1', '2'].map((jobs) =>
      runCommand(['verify', root, '--records', '--json', '--jobs', jobs]),
    )
    expect(two).toEqual(one)
    expect([one!.status, one!.stderr]).toEqual([1, ''])
    const corrupt = {
      position: good.length,
      baseOffset: FAR.toString(),
      reason: 'records',
      stored: null,
      computed: null,
      fault: FAULT,
    }
    const { files, totals } = JSON.parse(one!.stdout)
    expect(files.map((file: { corrupt: unknown }) => file.corrupt)).toEqual([[corrupt], []])
    expect(totals).toMatchObject({ files: 2, batches: 3, corrupt: 1 })
  })

  it('takes no more than it may into memory', () => {
    const large = compressedBatch('zstd', oneRecord(pattern(100_000)))
    expect(verify(large, '--records').status).toBe(0)
    const { status, stdout } = verify(large, '--records', '--max-batch-bytes', '65536')
    expect(status).toBe(1)
    expect(stdout).toContain(`its ${large.length} bytes are more than the 65536 that are taken into memory`)
  })

  it('refuses a limit that is none', () => {
    const { status, stderr } = verify(good, '--records', '--max-batch-bytes', 'much')
    expect(status).toBe(2)
    expect(stderr).toContain('--max-batch-bytes')
  })

  it('lists a damaged batch once, by its CRC', () => {
    const { status, stdout } = verify(batch({ payload: pattern(90), crc: 1 }), '--records', '--quiet')
    expect([status, stdout.trim().split('\n').length]).toEqual([1, 1])
    expect(stdout).toContain('is damaged: stored CRC')
  })

  it.each(['1', '2'])('is ended by a signal, with %s jobs', (jobs) => {
    const long = Buffer.concat(Array.from({ length: 40_000 }, () => good))
    for (let at = 0, offset = 0n; at < long.length; at += good.length, offset += 2n) {
      long.writeBigInt64BE(offset, at) // not in the CRC
    }
    const root = writeTree(newDirectory(), { 'a-0': { [SEGMENT]: long }, 'b-0': { [SEGMENT]: long } })
    const args = ['verify', root, '--records', '--jobs', jobs]
    const outcome = interruptCommand(args, 'SIGINT', { calls: 'reads', at: 2 })
    expect(outcome).toMatchObject({ signal: 'SIGINT', stdout: '' })
    expect(outcome.stderr).toContain('interrupted by SIGINT')
  })

  it('is explained', () => {
    const { status, stdout } = runCommand(['verify', '--help'])
    expect(status).toBe(0)
    expect(stdout).toContain('mirrorpid verify /kafka/orders-0 --records')
  })
})
