import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
// threads run the built package
import * as built from '../../dist/node/index.js'
import { InvalidArgumentError } from '../../src/errors.ts'
import { jsCore } from '../../src/js.ts'
import { type VerifySegmentOptions, verifyPaths, verifySegmentFile } from '../../src/node/index.ts'
import { batch, legacyEntry, pattern } from '../support/batches.ts'
import {
  compressedBatch,
  compressions,
  oneRecord,
  recordsFaults,
  twoRecords,
  twoRecordsSpec,
} from '../support/recordsFaults.ts'
import { type Tree, temporaryDirectories, writeTree } from './support.ts'

const newDirectory = temporaryDirectories()
const fixtures = fileURLToPath(new URL('../fixtures/kafka-4.3.1', import.meta.url))
const FAR = 2n ** 62n + 1n

function writeSegment(...batches: Uint8Array[]): string {
  const path = join(newDirectory(), '00000000000000000000.log')
  writeFileSync(path, Buffer.concat(batches))
  return path
}

async function corruptOf(path: string, options: VerifySegmentOptions = {}) {
  return (await verifySegmentFile(path, { records: true, ...options })).corrupt
}

const plain = (baseOffset: bigint) => compressedBatch('none', twoRecords, { ...twoRecordsSpec, baseOffset })

describe('records', () => {
  it('are looked at only where they are asked for', async () => {
    const path = writeSegment(batch({ payload: pattern(100) }))
    expect((await verifySegmentFile(path)).corrupt).toEqual([])
    expect((await verifyPaths([path])).totals.corrupt).toBe(0)
    expect(await corruptOf(path)).toMatchObject([{ reason: 'records' }])
    expect((await verifyPaths([path], { records: true })).totals.corrupt).toBe(1)
  })

  it.each(compressions)('are listed with their place, and what is wrong: %s', async (compression) => {
    const faults = Object.values(recordsFaults)
    const batches: Buffer[] = []
    const expected: unknown[] = []
    let position = 0
    faults.forEach(({ records, spec, message }, at) => {
      const baseOffset = FAR + BigInt(at) * 2n ** 32n
      const good = plain(baseOffset - 100n)
      const bad = compressedBatch(compression, records, { ...spec, baseOffset })
      batches.push(good, bad)
      position += good.length
      const fault = expect.stringMatching(message)
      expected.push({ position, baseOffset, reason: 'records', stored: null, computed: null, fault })
      position += bad.length
    })
    const path = writeSegment(...batches)
    // what a window holds, and what comes in pieces
    for (const windowSize of [undefined, 61, 100]) {
      expect(await corruptOf(path, windowSize === undefined ? {} : { windowSize })).toEqual(expected)
    }
    expect(await corruptOf(path, { core: jsCore() })).toEqual(expected)
  })

  it('are not asked for where the CRC or the offsets are wrong', async () => {
    const payload = pattern(100)
    const path = writeSegment(
      plain(0n),
      batch({ baseOffset: 5n, payload, crc: 1 }),
      batch({ baseOffset: 1n, payload }),
      batch({ baseOffset: 9n, payload }),
      batch({ batchLength: 13 }),
    )
    for (const windowSize of [61, 4096]) {
      const corrupt = await corruptOf(path, { windowSize })
      expect(corrupt.map(({ reason }) => reason)).toEqual(['crc', 'offset', 'records', 'size'])
    }
  })

  it('of magic 0 and 1 are left out', async () => {
    const path = writeSegment(
      legacyEntry({ magic: 0 }),
      legacyEntry({ magic: 1, offset: 1n, value: pattern(400) }),
    )
    for (const windowSize of [61, 4096]) expect(await corruptOf(path, { windowSize })).toEqual([])
  })

  it('of one large batch are read', async () => {
    const value = pattern(6_000_000)
    for (const compression of compressions) {
      const large = compressedBatch(compression, oneRecord(value))
      const cut = compressedBatch(compression, oneRecord(value).subarray(0, -1), { baseOffset: 1n })
      const path = writeSegment(large, cut, plain(2n))
      expect(await corruptOf(path)).toMatchObject([{ position: large.length, baseOffset: 1n }])
      const { corrupt } = await verifySegmentFile(path, { records: true, maxBatchBytes: 1_000_000 })
      const limited =
        compression === 'none'
          ? `its ${large.length} bytes are more than the 1000000 that are taken into memory (maxBatchBytes)`
          : expect.stringContaining('1000000')
      expect(corrupt).toMatchObject([
        { position: 0, reason: 'records', fault: limited },
        { position: large.length, reason: 'records' },
      ])
    }
  })

  it('of Kafka itself are all fine', async () => {
    const { totals, errors } = await verifyPaths([fixtures], { records: true })
    expect({ errors, corrupt: totals.corrupt }).toEqual({ errors: [], corrupt: 0 })
    expect(totals.files).toBeGreaterThan(20)
    expect(totals.control).toBeGreaterThan(10)
  })

  it.each([{ maxBatchBytes: -1 }, { maxBatchBytes: 1.5 }, { maxBatchBytes: 2 ** 31 }, { records: 'yes' }])(
    'are not looked at with %j',
    async (options) => {
      const path = writeSegment(plain(0n))
      await expect(verifySegmentFile(path, options as never)).rejects.toThrow(InvalidArgumentError)
      await expect(verifyPaths([path], options as never)).rejects.toThrow(InvalidArgumentError)
    },
  )
})

describe('records, by several jobs', () => {
  const tree: Tree = Object.fromEntries(
    compressions.map((compression): [string, Tree] => [
      `${compression}-0`,
      Object.fromEntries(
        Object.values(recordsFaults).map(({ records, spec }, at): [string, Uint8Array] => [
          `${String(at).padStart(20, '0')}.log`,
          Buffer.concat([
            plain(BigInt(at)),
            compressedBatch(compression, records, { ...spec, baseOffset: FAR }),
          ]),
        ]),
      ),
    ]),
  )

  it('are found as by one', async () => {
    const root = writeTree(newDirectory(), tree)
    const one = await built.verifyPaths([root], { records: true, jobs: 1 })
    const two = await built.verifyPaths([root], { records: true, jobs: 2 })
    expect(two).toEqual(one)
    expect(one.totals.corrupt).toBe(compressions.length * Object.keys(recordsFaults).length)
    const limited = await built.verifyPaths([root], { records: true, jobs: 2, maxBatchBytes: 61 })
    expect(limited.totals.corrupt).toBe(limited.totals.batches)
  })

  it.each([1, 2])('tell of their progress, and end when they are told to: %d', async (jobs) => {
    const long = Buffer.concat(Array.from({ length: 20_000 }, (_, at) => plain(2n * BigInt(at))))
    const root = writeTree(newDirectory(), {
      'orders-0': { '00000000000000000000.log': long },
      'orders-1': { '00000000000000000000.log': long },
    })
    const seen: number[] = []
    const settings = { records: true, jobs, windowSize: 65_536 }
    await built.verifyPaths([root], { ...settings, onProgress: ({ bytes }) => seen.push(bytes) })
    expect(seen.length).toBeGreaterThan(10)
    expect(seen.at(-1)).toBe(2 * long.length)
    const controller = new AbortController()
    const onProgress = ({ bytes }: { bytes: number }) => {
      if (bytes > 500_000) controller.abort(new Error('stop'))
    }
    const call = built.verifyPaths([root], { ...settings, onProgress, signal: controller.signal })
    await expect(call).rejects.toThrow('stop')
  })
})
