import { spawnSync } from 'node:child_process'
import { closeSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { crc32c } from '@node-rs/crc32'
import { describe, expect, it } from 'vitest'
import { Job } from '../../src/node/jobs/job.ts'
import { checkSegment } from '../../src/node/segments/segmentPasses.ts'
import { batch, pattern } from '../support/batches.ts'
import { quickOrLong } from '../support/counts.ts'
import { type Compression, compressedBatch, oneRecord } from '../support/recordsFaults.ts'
import { mainScript, temporaryDirectories } from './support.ts'

const newDirectory = temporaryDirectories()
const MiB = 1024 * 1024
const LIMIT = 100 * MiB
const LONG = quickOrLong(160, 512) * MiB
/** With threads, of which each has a heap of its own. */
const JOBS_LIMIT = 120_000_000

// The peak of the process itself. Linux counts the parent's memory into maxRSS of a child, so its own figure is read.
const REPORT_PEAK = `data:text/javascript,${encodeURIComponent(`
  import { readFileSync } from 'node:fs'
  import { isMainThread } from 'node:worker_threads'
  if (isMainThread) process.on('exit', () => {
    let kilobytes = process.resourceUsage().maxRSS
    try {
      kilobytes = Number(/VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1])
    } catch {}
    console.error('peak ' + kilobytes * 1024)
  })`)}`

function run(args: readonly string[]): { status: number | null; peak: number; json: Report } {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', REPORT_PEAK, mainScript, ...args, '--json', '--quiet'],
    { encoding: 'utf8', maxBuffer: 1 << 28 },
  )
  return { status, peak: Number(/peak (\d+)/.exec(stderr)?.[1]), json: JSON.parse(stdout) }
}

interface Report {
  files: Record<string, unknown>[]
  errors: unknown[]
}

/** A segment of many batches, of 16 KiB each unless told. */
function writeLongSegment(path: string, bytes: number, batchSize = 16 * 1024): void {
  const file = openSync(path, 'w')
  const one = batch({ payload: pattern(batchSize - 61) })
  const many = Buffer.concat(Array.from({ length: 64 }, () => one))
  for (let offset = 0; offset < bytes / one.length; offset += 64) {
    for (let at = 0; at < 64; at++) {
      const copy = many.subarray(at * one.length, (at + 1) * one.length)
      copy.writeBigInt64BE(BigInt(offset + at))
      copy.writeBigInt64BE(BigInt(at), 43)
      copy.writeUInt32BE(crc32c(copy.subarray(21)), 17)
    }
    writeSync(file, many)
  }
  closeSync(file)
}

/** A segment of compressed batches, each of one record of text. */
function writeCompressedSegment(path: string, bytes: number, compression: Compression, value: number): void {
  const file = openSync(path, 'w')
  const words = Buffer.from(pattern(value).toString('hex').slice(0, value))
  const one = compressedBatch(compression, oneRecord(words))
  for (let written = 0, offset = 1n; written < bytes; written += one.length) {
    one.writeBigInt64BE(offset++) // not in the CRC
    writeSync(file, one)
  }
  closeSync(file)
}

/** A segment whose one batch is so long: a sparse file, so that it costs nothing. */
function writeLongBatch(path: string, size: number, crc: number): void {
  const file = openSync(path, 'w')
  const header = batch({ producerId: 5n, batchLength: size - 12, crc })
  writeSync(file, header)
  writeSync(file, batch({ baseOffset: 1n, producerId: 6n }), 0, 61, size)
  closeSync(file)
}

/** The CRC of that batch: of its header, then of zeros. */
function crcOfLongBatch(size: number): number {
  const header = batch({ producerId: 5n, batchLength: size - 12 })
  const zeros = Buffer.alloc(MiB)
  let crc = crc32c(header.subarray(21))
  for (let left = size - header.length; left > 0; left -= MiB) {
    crc = crc32c(zeros.subarray(0, Math.min(left, MiB)), crc)
  }
  return crc
}

describe('memory stays below 100 MB', () => {
  it(`with a segment of ${LONG} bytes`, () => {
    const directory = newDirectory()
    const path = join(directory, '00000000000000000000.log')
    writeLongSegment(path, LONG)
    for (const crc of ['patch', 'verify']) {
      const { status, peak, json } = run(['rewrite', path, '--out', join(directory, crc), '--crc', crc])
      expect([status, json.files[0]?.rewritten]).toEqual([0, LONG / (16 * 1024)])
      expect(peak).toBeLessThan(LIMIT)
      rmSync(join(directory, crc), { recursive: true })
    }
    for (const crc of ['patch', 'verify', 'recompute']) {
      for (const flags of [[], ['--unmap']]) {
        const { status, peak, json } = run(['rewrite', path, '--in-place', '--crc', crc, ...flags])
        expect([status, json.files[0]?.rewritten]).toEqual([0, LONG / (16 * 1024)])
        expect(peak).toBeLessThan(LIMIT)
      }
    }
    const { status, peak } = run(['verify', path])
    expect(status).toBe(0)
    expect(peak).toBeLessThan(LIMIT)
  })

  it('in place with a million small batches, and when such a rewrite is resumed', async () => {
    const directory = newDirectory()
    const path = join(directory, '00000000000000000000.log')
    writeLongSegment(path, 64 * MiB, 64)
    const journal = `${path}.mirrorpid-journal`
    await checkSegment(path, journal, Job.start({}), { crc: 'patch', direction: 'map', scope: 'segment' })
    for (const [flags, files] of [
      [['--resume'], [{ rewritten: 0, alreadyMapped: MiB }]],
      [['--unmap'], [{ rewritten: MiB }]],
    ] as const) {
      const { status, peak, json } = run(['rewrite', path, '--in-place', ...flags])
      expect([status, json]).toMatchObject([0, { files }])
      expect(peak).toBeLessThan(LIMIT)
    }
  })

  it('or a little more with many jobs', () => {
    const partition = newDirectory()
    for (let at = 0; at < 6; at++) writeLongSegment(join(partition, `0000000000000000000${at}.log`), 64 * MiB)
    const out = join(newDirectory(), 'out')
    for (const args of [
      ['verify', partition],
      ['rewrite', partition, '--in-place'],
      ['rewrite', partition, '--in-place', '--crc', 'recompute', '--unmap'],
      ['rewrite', partition, '--out', out],
    ]) {
      const { json, peak } = run([...args, '--jobs', '64'])
      expect([args, json]).toMatchObject([args, { errors: [] }])
      expect([args, peak < JOBS_LIMIT, peak]).toEqual([args, true, peak])
    }
  })

  it.each([
    ['gzip', 16_000],
    ['lz4', 16_000],
    ['gzip', MiB],
    ['snappy', MiB],
  ] as const)('when records are read too: %s, of %d bytes', (compression, value) => {
    const partition = newDirectory()
    for (const name of ['00000000000000000000.log', '00000000000000000001.log']) {
      writeCompressedSegment(join(partition, name), 32 * MiB, compression, value)
    }
    for (const [jobs, limit] of [
      ['1', LIMIT],
      ['2', JOBS_LIMIT],
    ] as const) {
      const { status, peak } = run(['verify', partition, '--records', '--jobs', jobs])
      expect([status, peak < limit, peak]).toEqual([0, true, peak])
    }
  })

  it('with a batch of 300 MB, whose records are not read', () => {
    const path = join(newDirectory(), '00000000000000000000.log')
    writeLongBatch(path, 300_000_000, crcOfLongBatch(300_000_000))
    const { peak, json } = run(['verify', path, '--records'])
    const fault = 'its 300000000 bytes are more than the 134217728 that are taken into memory (maxBatchBytes)'
    // the other is a header that claims a record
    expect(json.files).toMatchObject([{ corrupt: [{ reason: 'records', fault }, { reason: 'records' }] }])
    expect(peak).toBeLessThan(LIMIT)
  })

  it('with a batch of 300 MB, in every mode', () => {
    const directory = newDirectory()
    const path = join(directory, '00000000000000000000.log')
    const size = 300_000_000
    writeLongBatch(path, size, crcOfLongBatch(size))
    for (const crc of ['patch', 'verify', 'recompute']) {
      const out = join(directory, crc)
      const { status, peak, json } = run(['rewrite', path, '--out', out, '--crc', crc])
      expect([status, json.files[0]?.rewritten]).toEqual([0, 2])
      expect(peak).toBeLessThan(LIMIT)
      const verified = run(['verify', join(out, '00000000000000000000.log')])
      expect(verified).toMatchObject({ status: 0, json: { files: [{ batches: 2, corrupt: [] }] } })
      expect(verified.peak).toBeLessThan(LIMIT)
      rmSync(out, { recursive: true })
    }
  })

  it('with a batch that only claims to be of 2 GiB, and with gigabytes of zeros', () => {
    const directory = newDirectory()
    const claim = join(directory, '00000000000000000000.log')
    const file = openSync(claim, 'w')
    writeSync(file, batch({ producerId: 5n, batchLength: 2_147_483_647 }))
    closeSync(file)
    const { status, peak, json } = run(['rewrite', claim, '--out', join(directory, 'out')])
    expect([status, json.files[0]?.incomplete]).toEqual([0, { position: 0, wants: 2_147_483_659, has: 61 }])
    expect(peak).toBeLessThan(LIMIT)

    const zeros = join(directory, 'zeros.log')
    const end = openSync(zeros, 'w')
    writeSync(end, Buffer.alloc(1), 0, 1, 2 * 1024 * MiB - 1)
    closeSync(end)
    const verified = run(['verify', zeros])
    expect(verified).toMatchObject({
      status: 0,
      json: { files: [{ trailing: { kind: 'zeros', bytes: statSync(zeros).size } }] },
    })
    expect(verified.peak).toBeLessThan(LIMIT)
  })
})
