import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dumpLog } from '../../src/dump/logDump.ts'
import { TextFormat } from '../../src/dump/textFormat.ts'
import { findBatch } from '../../src/log/batchSearch.ts'
import { Windows } from '../../src/log/windows.ts'
import { loadCoreSync } from '../../src/wasm/load.ts'
import { recordSets } from '../support/arbitraries.ts'
import { batch, pattern } from '../support/batches.ts'
import { dataBatch, dumpBytes, dumpOptions, memorySource, printed } from './support.ts'

const core = loadCoreSync()

describe('windows', () => {
  it('show the bytes of the file wherever they are asked for', async () => {
    const bytes = pattern(1000)
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 61, max: 400 }),
        fc.integer({ min: 1, max: 1000 }),
        fc.array(fc.nat({ max: 999 }), { minLength: 1, maxLength: 20 }),
        async (windowSize, end, places) => {
          const windows = new Windows(core, memorySource(bytes), windowSize, end)
          for (const place of places.map((position) => position % end)) {
            const shown = await windows.at(place)
            expect(shown.length).toBeGreaterThanOrEqual(Math.min(windowSize, end - place))
            expect(Buffer.from(shown).equals(bytes.subarray(place, place + shown.length))).toBe(true)
            expect(place + shown.length).toBeLessThanOrEqual(end)
          }
          await windows.settled()
          windows.free()
        },
      ),
    )
  })

  it('read a file once that is passed over in order', async () => {
    const source = memorySource(pattern(100_000))
    const windows = new Windows(core, source, 1000, source.size)
    for (let position = 0; position < source.size; position += 333) await windows.at(position)
    await windows.settled()
    windows.free()
    expect(source.bytesRead).toBe(source.size)
  })

  it('pass on what the system says, and go on after it', async () => {
    const source = memorySource(pattern(10_000))
    let fails = false
    const read = source.read.bind(source)
    source.read = async (room, position) => {
      if (fails) throw new Error('the disk is gone')
      await read(room, position)
    }
    const windows = new Windows(core, source, 100, source.size)
    await windows.at(0)
    fails = true
    await expect(windows.at(5000)).rejects.toThrow('the disk is gone')
    fails = false
    expect((await windows.at(70))[0]).toBe(pattern(10_000)[70])
    await windows.settled()
    windows.free()
  })
})

describe('a dump', () => {
  const inWindows = async (bytes: Uint8Array, windowSize: number, isDeep: boolean) => {
    const options = dumpOptions({ isDeep, printsData: isDeep })
    const { lines, findings, notes } = await printed(new TextFormat(options), options, (session, report) =>
      dumpLog(memorySource(bytes), session, report, 0n, 'x.log', windowSize),
    )
    return { lines, findings, notes }
  }

  it('is the same whatever the window is', async () => {
    await fc.assert(
      fc.asyncProperty(
        recordSets,
        fc.constantFrom(61, 62, 100, 517),
        fc.boolean(),
        async (bytes, windowSize, isDeep) => {
          const { lines, findings, notes } = await dumpBytes(bytes, { isDeep, printsData: isDeep })
          expect(await inWindows(bytes, windowSize, isDeep)).toEqual({ lines, findings, notes })
        },
      ),
      { numRuns: 400 },
    )
  })

  it('of real records is the same whatever the window is', async () => {
    const parts = [
      dataBatch(0, 3),
      Buffer.alloc(40, 0xaa),
      dataBatch(3, 40),
      dataBatch(43),
      Buffer.alloc(200),
      dataBatch(45, 9),
    ]
    const bytes = Buffer.concat(parts)
    const { lines, findings, notes } = await dumpBytes(bytes, { printsData: true })
    expect(lines.length).toBeGreaterThan(50)
    for (const windowSize of [61, 99, 250, 1000]) {
      expect(await inWindows(bytes, windowSize, true)).toEqual({ lines, findings, notes })
    }
  })
})

describe('the search for a batch', () => {
  const search = async (
    bytes: Uint8Array,
    from: number,
    budget = { bytes: 1e9 },
    lowestOffset: bigint | null = 0n,
  ) => {
    const windows = new Windows(core, memorySource(bytes), 100, bytes.length)
    const found = await findBatch(windows, core, { from, lowestOffset, highestOffset: 2n ** 31n }, budget)
    await windows.settled()
    windows.free()
    return found
  }

  it('finds what is there, at any place', async () => {
    const wanted = dataBatch(5, 20)
    for (const lead of [0, 1, 38, 39, 40, 99, 100, 101, 399, 1000]) {
      const bytes = Buffer.concat([pattern(lead, 3), wanted, pattern(50)])
      expect(await search(bytes, 0)).toEqual({ position: lead, follows: true })
      expect(await search(bytes, lead + 1)).toBeNull()
    }
  })

  it('takes nothing implausible, though its CRC is right', async () => {
    for (const spec of [
      { baseOffset: -1n },
      { attributes: 0x80 },
      { attributes: 0x0100 },
      { attributes: 5 },
      { lastOffsetDelta: -1 },
      { recordsCount: -1 },
      { recordsCount: 2 },
      { partitionLeaderEpoch: -2 },
      { magic: 3 },
    ]) {
      expect(
        await search(batch(spec), 0),
        JSON.stringify(spec, (_, v) => String(v)),
      ).toBeNull()
    }
    expect(await search(batch(), 0)).toEqual({ position: 0, follows: true })
  })

  it('ends when its budget is used up', async () => {
    const bytes = Buffer.concat([Buffer.alloc(5000, 0xaa), dataBatch(5)])
    const budget = { bytes: 3000 }
    expect(await search(bytes, 0, budget)).toBeNull()
    expect(budget.bytes).toBe(0)
  })

  it('prefers offsets that follow', async () => {
    const bytes = Buffer.concat([dataBatch(2), dataBatch(5)])
    expect(await search(bytes, 0, { bytes: 1e9 }, 4n)).toEqual({
      position: dataBatch(2).length,
      follows: true,
    })
    expect(await search(bytes, 0, { bytes: 1e9 }, 6n)).toEqual({ position: 0, follows: false })
  })
})
