import { spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32c } from '@node-rs/crc32'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { batch } from '../support/batches.ts'
import { quickOrLong } from '../support/counts.ts'
import { main } from './cli.ts'
import { dataBatch } from './support.ts'

const MiB = 1024 * 1024
const LIMIT = 100 * MiB

// The peak of the process itself. Linux counts the parent's memory into maxRSS of a child, so its own figure is read.
const REPORT_PEAK = `data:text/javascript,${encodeURIComponent(`
  import { readFileSync } from 'node:fs'
  process.on('exit', () => {
    let kilobytes = process.resourceUsage().maxRSS
    try {
      kilobytes = Number(/VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1])
    } catch {}
    console.error('peak ' + kilobytes * 1024)
  })`)}`

interface Measured {
  status: number | null
  peak: number
  stderr: string
  lines: number
  bytes: number
  lastLine: string
}

/** Runs a dump whose output is counted and thrown away. */
async function measure(...args: string[]): Promise<Measured> {
  const child = spawn(process.execPath, ['--import', REPORT_PEAK, main, 'dump', ...args])
  const measured = { status: null as number | null, peak: 0, stderr: '', lines: 0, bytes: 0, lastLine: '' }
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    measured.stderr += text
  })
  const closed = new Promise<number | null>((resolve) => child.on('close', resolve))
  let rest = ''
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    measured.bytes += chunk.length
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) measured.lines++
    rest = chunk.subarray(-2000).toString('utf8')
  }
  measured.lastLine = rest.trimEnd().split('\n').at(-1) ?? ''
  measured.status = await closed
  measured.peak = Number(/peak (\d+)/.exec(measured.stderr)?.[1])
  return measured
}

/** Of a long segment, several times what may be held. */
const LONG = quickOrLong(256, 1024) * MiB
const LARGE = quickOrLong(200, 600) * MiB
let directory: string
let segment: string
let batches = 0

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'mirrorpid-dump-'))
  segment = join(directory, '00000000000000000000.log')
  const many = Buffer.concat(Array.from({ length: 64 }, () => dataBatch(0, 150, {}, 'v'.repeat(95))))
  const size = many.length / 64
  const file = openSync(segment, 'w')
  for (let written = 0; written < LONG; written += many.length) {
    for (let at = 0; at < many.length; at += size) many.writeBigInt64BE(150n * BigInt(batches++), at) // not in the CRC
    writeSync(file, many)
  }
  closeSync(file)
})

afterAll(() => rmSync(directory, { recursive: true, force: true }))

describe('memory stays below 100 MB', () => {
  it(`with a segment of ${LONG} bytes`, async () => {
    expect(statSync(segment).size).toBeGreaterThanOrEqual(LONG)
    const { status, peak, lines, lastLine } = await measure(segment)
    expect({ status, lines }).toEqual({ status: 0, lines: batches + 2 })
    expect(lastLine).toMatch(new RegExp(`^baseOffset: ${(batches - 1) * 150} .* isvalid: true$`))
    expect(peak).toBeLessThan(LIMIT)
  })

  it('with all its records', async () => {
    const { status, peak, lines, lastLine } = await measure(segment, '--print-data-log')
    expect({ status, lines }).toEqual({ status: 0, lines: batches * 151 + 2 })
    expect(lastLine).toMatch(new RegExp(`^\\| offset: ${batches * 150 - 1} .* payload: v{95}$`))
    expect(peak).toBeLessThan(LIMIT)
  })

  it('with JSON of it', async () => {
    const { status, peak, lines } = await measure(segment, '--json', '--max-bytes', String(LONG / 4))
    expect(status).toBe(0)
    expect(lines).toBeGreaterThan(batches / 5)
    expect(peak).toBeLessThan(LIMIT)
  })

  it(`with one batch of ${LARGE} bytes, whose CRC is checked and whose records are not shown`, async () => {
    const size = LARGE
    const zeros = Buffer.alloc(MiB)
    const header = batch({ batchLength: size - 12 })
    let crc = crc32c(header.subarray(21))
    for (let left = size - 61; left > 0; left -= MiB)
      crc = crc32c(zeros.subarray(0, Math.min(left, MiB)), crc)
    for (const [stored, isValid] of [
      [crc, true],
      [(crc ^ 1) >>> 0, false],
    ] as const) {
      const path = join(directory, `${isValid ? '1' : '2'}.log`)
      const file = openSync(path, 'w')
      writeSync(file, batch({ batchLength: size - 12, crc: stored }))
      writeSync(file, dataBatch(1), 0, dataBatch(1).length, size)
      closeSync(file)
      const plain = await measure(path)
      expect(plain.status).toBe(isValid ? 0 : 1)
      expect(plain.lines).toBe(4)
      expect(plain.peak).toBeLessThan(LIMIT)
      const deep = await measure(path, '--deep-iteration')
      expect(deep.status).toBe(1)
      expect(deep.lines).toBe(6)
      expect(deep.stderr).toContain(`${LARGE} bytes are more than the 134217728 that are taken into memory`)
      expect(deep.peak).toBeLessThan(LIMIT)
    }
  })

  it(`with zeros of ${LONG} bytes, and garbage of as much`, async () => {
    const path = join(directory, '3.log')
    const file = openSync(path, 'w')
    writeSync(file, dataBatch(0))
    writeSync(file, Buffer.from([0]), 0, 1, LONG)
    closeSync(file)
    const zeros = await measure(path)
    expect(zeros).toMatchObject({ status: 0, lines: 3 })
    expect(zeros.peak).toBeLessThan(LIMIT)
    const end = openSync(path, 'r+')
    writeSync(end, dataBatch(2), 0, dataBatch(2).length, LONG)
    closeSync(end)
    const garbage = await measure(path)
    expect(garbage).toMatchObject({ status: 1, lines: 4 })
    expect(garbage.stderr).toContain(`the next is found at byte ${LONG}`)
    expect(garbage.peak).toBeLessThan(LIMIT)
  })
})
