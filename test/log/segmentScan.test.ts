import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defaultCrcEngine } from '../../src/core/jsCrc.ts'
import { memoryStorage } from '../../src/log/partition/memoryStorage.ts'
import { scanBatches } from '../../src/log/partition/segmentScan.ts'
import type { StoredFile } from '../../src/log/partition/storage.ts'
import { batch, legacyEntry, pattern } from '../support/batches.ts'

const engine = defaultCrcEngine()
const fileOf = (bytes: Uint8Array) => memoryStorage([['x', bytes]]).open('x')

function scan(file: StoredFile, windowSize?: number, end = file.size, withCrc = true) {
  const found: string[] = []
  const batches = scanBatches(file, 0, end, withCrc ? engine : null, windowSize)
  let step = batches.next()
  for (; !step.done; step = batches.next()) {
    const { batch, position, size } = step.value
    found.push(
      `${position}+${size} ${batch.magic} ${batch.baseOffset}-${batch.lastOffset} ${batch.maxTimestamp}`,
    )
  }
  return { found, fault: step.value }
}

const arbitraryBatches = fc.array(
  fc.record({ size: fc.integer({ min: 0, max: 900 }), legacy: fc.boolean(), control: fc.boolean() }),
  { maxLength: 12 },
)
const CONTROL = 0x20

describe('scanBatches', () => {
  it('finds the same batches however small its window is, also those larger than it', () => {
    fc.assert(
      fc.property(arbitraryBatches, fc.integer({ min: 1, max: 700 }), fc.nat(2000), (sizes, window, cut) => {
        const all = sizes.map(({ size, legacy, control }, at) =>
          legacy
            ? legacyEntry({ magic: (at % 2) as 0 | 1 })
            : batch({
                baseOffset: BigInt(at),
                producerId: 3n,
                attributes: control ? CONTROL : 0,
                payload: pattern(size),
              }),
        )
        const bytes = Buffer.concat(all)
        const file = fileOf(bytes.subarray(0, Math.max(0, bytes.length - (cut % 100))))
        expect(scan(file, window)).toEqual(scan(file))
        if (cut % 100 === 0) expect(scan(file, window).found).toHaveLength(sizes.length)
      }),
    )
  })

  it.each([1, 61, 100, 5000, undefined])(
    'gives a control batch whole, of other large ones the header alone (window %s)',
    (window) => {
      const all = [CONTROL, 0, CONTROL, CONTROL | 0x10, 0].map((attributes, at) =>
        batch({ baseOffset: BigInt(at), attributes, payload: pattern(at === 2 ? 400_000 : 7000 * at, at) }),
      )
      for (const crcs of [engine, null]) {
        const given = Array.from(
          scanBatches(fileOf(Buffer.concat(all)), 0, Buffer.concat(all).length, crcs, window),
          ({ batch, position }) => {
            expect(batch.position).toBe(position)
            return Buffer.from(batch.bytes)
          },
        )
        for (const [at, bytes] of given.entries()) {
          const whole = all[at]!
          const isWhole = at !== 4 || window === undefined
          const least = bytes.length === 61 && (whole[22]! & CONTROL) === 0 ? 61 : whole.length
          expect(bytes.equals(whole.subarray(0, isWhole ? least : 61)), `batch ${at}`).toBe(true)
        }
        expect(given).toHaveLength(all.length)
      }
    },
  )

  it('believes no length of a control batch that the file does not have', () => {
    const reads: number[] = []
    const bytes = batch({ attributes: CONTROL, batchLength: 2147483647 })
    const file = fileOf(bytes)
    const watched: StoredFile = {
      ...file,
      size: file.size,
      readInto(room, position) {
        reads.push(room.length)
        return file.readInto(room, position)
      },
    }
    expect(scan(watched)).toEqual({ found: [], fault: 'incomplete' })
    expect(Math.max(...reads)).toBeLessThanOrEqual(bytes.length)
  })

  it('checks the CRC of a batch larger than its window, and says nothing where it need not', () => {
    const bytes = Buffer.from(batch({ payload: pattern(400_000) }))
    bytes[300_000]! ^= 1
    expect(scan(fileOf(bytes))).toEqual({ found: [], fault: 'crc' })
    expect(scan(fileOf(bytes), undefined, bytes.length, false)).toMatchObject({ fault: null })
    bytes[300_000]! ^= 1
    expect(scan(fileOf(bytes))).toMatchObject({ found: [expect.any(String)], fault: null })
  })

  const good = batch({ baseOffset: 0n })
  const cases: [string, Uint8Array, string | null][] = [
    ['nothing', new Uint8Array(0), null],
    ['11 bytes', good.subarray(0, 11), 'incomplete'],
    ['16 bytes', good.subarray(0, 16), 'incomplete'],
    ['a cut batch', good.subarray(0, good.length - 1), 'incomplete'],
    ['zeros', new Uint8Array(200), 'size'],
    ['a length of 13', batch({ batchLength: 13 }), 'size'],
    ['a length of 40 in magic 2', batch({ batchLength: 40 }), 'size'],
    ['a negative length', batch({ batchLength: -1 }), 'size'],
    ['a huge length', batch({ batchLength: 2147483647 }), 'incomplete'],
    ['a wrong CRC', batch({ crc: 1 }), 'crc'],
  ]

  it.each(cases)('stops at %s, behind what is good', (_name, bytes, fault) => {
    for (const window of [1, 61, 100, undefined]) {
      expect(scan(fileOf(bytes), window)).toEqual({ found: [], fault })
      const behind = scan(fileOf(Buffer.concat([good, bytes])), window)
      expect(behind.fault).toBe(fault)
      expect(behind.found).toHaveLength(1)
    }
  })

  it.each([-1, 3, 127])('stops at magic %d', (magic) => {
    const bytes = Buffer.from(good)
    bytes.writeInt8(magic, 16)
    expect(scan(fileOf(bytes)).fault).toBe('magic')
  })
})
