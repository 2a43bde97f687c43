import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { recordSets } from '../support/arbitraries.ts'
import { batch, hex, legacyEntry, pattern } from '../support/batches.ts'
import { dataBatch, dumpBytes, positions } from './support.ts'

const first = dataBatch(0)
const second = dataBatch(2)
const third = dataBatch(4)
const good = Buffer.concat([first, second])

/** Bytes in which no header looks plausible. */
const garbage = (length: number) => Buffer.alloc(length, 0xaa)

describe('a batch with a wrong CRC', () => {
  it('is printed as it is, is a finding, and the next goes on', async () => {
    const bytes = Buffer.concat([first, second, third])
    bytes[first.length + 70]! ^= 1
    const { lines, findings } = await dumpBytes(bytes)
    expect(lines.map((line) => / isvalid: (\w+)$/.exec(line)?.[1])).toEqual(['true', 'false', 'true'])
    expect(findings).toMatchObject([{ kind: 'crc', position: first.length }])
    expect(findings[0]!.message).toMatch(/base offset 2\) is damaged: stored CRC 0x[0-9a-f]{8}, computed/)
  })

  it('has its records shown all the same', async () => {
    const bytes = Buffer.from(first)
    bytes[17]! ^= 1
    const { lines, findings } = await dumpBytes(bytes, { printsData: true })
    expect(lines.slice(1)).toEqual([
      '| offset: 0 CreateTime: 1700000000000 keySize: 2 valueSize: 10 sequence: 0 headerKeys: [] key: k0 payload: some value',
      '| offset: 1 CreateTime: 1700000000001 keySize: 2 valueSize: 10 sequence: 1 headerKeys: [] key: k1 payload: some value',
    ])
    expect(findings.map((finding) => finding.kind)).toEqual(['crc'])
  })

  it('with records that cannot be read ends there, and the next goes on', async () => {
    const bytes = Buffer.concat([first, second])
    bytes[61] = 0x7f // the first record's length
    const { lines, findings } = await dumpBytes(bytes, { printsData: true })
    expect(lines.filter((line) => line.startsWith('|'))).toHaveLength(2)
    expect(findings.map((finding) => finding.kind)).toEqual(['crc', 'records'])
    expect(findings[1]).toMatchObject({ position: 0 })
    expect(findings[1]!.message).toMatch(/batch at byte 0 \(base offset 0\): record 0 claims -64 bytes/)
  })
})

describe('garbage between good batches', () => {
  it.each([1, 11, 12, 17, 18, 60, 61, 62, 1000, 1048576, 3000000])(
    'of %i bytes: the next is found',
    async (length) => {
      const { lines, findings } = await dumpBytes(Buffer.concat([first, garbage(length), second, third]))
      const at = first.length + length
      expect(positions(lines)).toEqual([0, at, at + second.length])
      expect(findings).toHaveLength(1)
      expect(findings[0]).toMatchObject({ kind: 'unreadable', position: first.length })
      expect(findings[0]!.message).toContain(`the last good one is at byte 0 (offsets 0 to 1)`)
      expect(findings[0]!.message).toContain(`the next is found at byte ${at}: ${length} bytes are skipped`)
    },
  )

  it('that is zeros', async () => {
    const { lines, findings, notes } = await dumpBytes(
      Buffer.concat([first, Buffer.alloc(2_000_000), second]),
    )
    expect(positions(lines)).toEqual([0, first.length + 2_000_000])
    expect(findings[0]!.message).toMatch(/there are zeros; .*2000000 bytes are skipped/)
    expect(notes).toEqual([])
  })

  it('more than once, before entries of magic 0 and 1 too', async () => {
    const old = legacyEntry({ magic: 1, offset: 2n, value: Buffer.from('old') })
    const older = legacyEntry({ magic: 0, offset: 3n })
    const parts = [garbage(100), first, garbage(50), old, garbage(30), older, garbage(70), third, garbage(99)]
    const { lines, findings } = await dumpBytes(Buffer.concat(parts))
    expect(positions(lines)).toEqual([
      100,
      150 + first.length,
      180 + first.length + old.length,
      250 + first.length + old.length + older.length,
    ])
    expect(findings.map((finding) => finding.kind)).toEqual(Array(5).fill('unreadable'))
    expect(findings[0]!.message).toContain('no good batch is before it')
    expect(findings[4]!.message).toContain('no further batch is found in the 99 bytes that are left')
    expect(lines.at(-1)).toBe('Found 99 invalid bytes at the end of x.log')
  })

  it('is not left for what only looks like a batch', async () => {
    const lure = Buffer.from(second)
    lure[70]! ^= 1 // a wrong CRC
    const { lines } = await dumpBytes(Buffer.concat([first, garbage(40), lure, garbage(40), third]))
    expect(positions(lines)).toEqual([0, first.length + 80 + lure.length])
  })

  it('is left for a batch whose offsets follow rather than for one inside a value', async () => {
    const inner = dataBatch(0, 1, {}, 'inner')
    const outer = batch({ baseOffset: 2n, payload: Buffer.concat([Buffer.alloc(20, 1), inner]) })
    outer.writeInt32BE(5, 8) // its size is wrong
    const { lines, findings } = await dumpBytes(Buffer.concat([first, outer, third]))
    expect(positions(lines)).toEqual([0, first.length + outer.length])
    // where nothing follows, it is better than nothing
    const alone = await dumpBytes(Buffer.concat([first, outer]))
    expect(positions(alone.lines)).toEqual([0, first.length + outer.length - inner.length])
    expect(alone.findings[0]!.message).toContain('though its offsets do not follow')
    expect(findings).toHaveLength(1)
  })

  it('with batches larger than a window behind it', async () => {
    const large = dataBatch(2, 3, {}, 'x'.repeat(1_500_000))
    const { lines, findings } = await dumpBytes(Buffer.concat([first, garbage(77), large, dataBatch(5)]))
    expect(positions(lines)).toEqual([0, first.length + 77, first.length + 77 + large.length])
    expect(findings).toHaveLength(1)
    expect(lines.every((line) => line.endsWith('isvalid: true'))).toBe(true)
  })
})

describe('a wrong size', () => {
  // F-5
  it.each([0, 13, 40, 48, -1, -2147483648])(
    'of batchLength %i is told with its place',
    async (batchLength) => {
      const bad = Buffer.from(second)
      bad.writeInt32BE(batchLength, 8)
      const { lines, findings } = await dumpBytes(Buffer.concat([first, bad, third]))
      expect(positions(lines)).toEqual([0, first.length + bad.length])
      expect(findings).toMatchObject([{ kind: 'unreadable', position: first.length }])
      expect(findings[0]!.message).toContain(`its size ${batchLength + 12} cannot be`)
    },
  )

  it('of 40 whose CRC is right for it is no batch', async () => {
    const bad = batch({ batchLength: 40, baseOffset: 2n })
    const short = batch({ baseOffset: 2n }).subarray(0, 52)
    short.writeInt32BE(40, 8)
    const { findings } = await dumpBytes(Buffer.concat([first, bad]))
    expect(findings[0]!.message).toContain('its size 52 cannot be')
    expect((await dumpBytes(Buffer.concat([first, short]))).findings[0]!.kind).toBe('unreadable')
  })

  it.each([2147483647, 5000])(
    'of batchLength %i beyond the end: what it hides is found',
    async (batchLength) => {
      const bad = Buffer.from(second)
      bad.writeInt32BE(batchLength, 8)
      const { lines, findings } = await dumpBytes(Buffer.concat([first, bad, third]))
      expect(positions(lines)).toEqual([0, first.length + bad.length])
      expect(findings[0]!.message).toContain(
        `its size ${batchLength + 12} reaches beyond the end of the file`,
      )
    },
  )

  it('beyond the end with nothing behind it is an incomplete batch', async () => {
    const bad = Buffer.from(second)
    bad.writeInt32BE(2147483647, 8)
    const { lines, findings } = await dumpBytes(Buffer.concat([first, bad]))
    expect(lines.at(-1)).toBe(`Found ${bad.length} invalid bytes at the end of x.log`)
    expect(findings).toMatchObject([{ kind: 'trailing', position: first.length }])
    expect(findings[0]!.message).toBe(
      `incomplete batch: wants 2147483659 bytes, has ${bad.length} at position ${first.length}`,
    )
  })

  it('that swallows good batches: those are found again', async () => {
    const bad = Buffer.from(second)
    bad.writeInt32BE(bad.length + third.length - 12 + 10, 8)
    const fourth = dataBatch(6)
    const fifth = dataBatch(8)
    const { lines, findings } = await dumpBytes(Buffer.concat([first, bad, third, fourth, fifth]))
    const at = first.length + bad.length
    // the batch as its header says, then what it hides
    expect(positions(lines)).toEqual([
      0,
      first.length,
      at,
      at + third.length,
      at + third.length + fourth.length,
    ])
    expect(findings.map((finding) => finding.kind)).toEqual(['crc', 'unreadable'])
    expect(findings[1]!.message).toContain('inside of the batch before, whose size must be wrong')
  })
})

describe('a magic that is none', () => {
  // F-8
  it.each([3, 127, -1, -128])('%i is told with its place', async (magic) => {
    const bad = Buffer.from(second)
    bad.writeInt8(magic, 16)
    const { lines, findings } = await dumpBytes(Buffer.concat([first, bad, third]))
    expect(positions(lines)).toEqual([0, first.length + bad.length])
    expect(findings[0]!.message).toContain(`its magic ${magic} cannot be`)
  })

  it('magics may be mixed', async () => {
    const old = legacyEntry({ magic: 1, offset: 0n })
    const long = legacyEntry({ magic: 1, offset: 3n, value: Buffer.alloc(100, 1) })
    const { lines, findings } = await dumpBytes(Buffer.concat([old, dataBatch(1), long, dataBatch(4)]), {
      isDeep: true,
    })
    expect(findings).toEqual([])
    expect(lines[0]).toBe(
      `offset: 0 position: 0 CreateTime: 1700000000000 size: 35 magic: 1 compresscodec: none crc: ${old.readUInt32BE(12)} isvalid: true`,
    )
    expect(lines[1]).toBe(
      `| offset: 0 CreateTime: 1700000000000 keySize: -1 valueSize: 1 isValid: true crc: ${old.readUInt32BE(12)}`,
    )
    expect(positions(lines)).toHaveLength(4)
  })
})

describe('the end of a file', () => {
  it.each(Array.from({ length: second.length }, (_, cut) => cut))(
    'cut after %i bytes of a batch',
    async (cut) => {
      const { lines, findings, notes } = await dumpBytes(Buffer.concat([first, second.subarray(0, cut)]))
      expect(positions(lines)).toEqual([0])
      if (cut === 0) {
        expect(findings).toEqual([])
        return
      }
      expect(lines.at(-1)).toBe(`Found ${cut} invalid bytes at the end of x.log`)
      // a base offset's first bytes are zeros
      if (second.subarray(0, cut).every((byte) => byte === 0)) expect(notes).toHaveLength(1)
      else expect(findings).toMatchObject([{ kind: 'trailing', position: first.length }])
    },
  )

  // F-2
  it.each([1, 11, 17])('%i zeros are a note, and Kafka’s line', async (count) => {
    const { lines, findings, notes } = await dumpBytes(Buffer.concat([first, Buffer.alloc(count)]))
    expect(lines.at(-1)).toBe(`Found ${count} invalid bytes at the end of x.log`)
    expect(findings).toEqual([])
    expect(notes).toEqual([`${count} trailing zero bytes, looks preallocated`])
  })

  it.each([18, 4096, 3_000_000])('%i zeros are a note', async (count) => {
    const { lines, findings, notes } = await dumpBytes(Buffer.concat([first, Buffer.alloc(count)]))
    expect(positions(lines)).toEqual([0])
    expect(lines).toHaveLength(1)
    expect(findings).toEqual([])
    expect(notes).toEqual([`${count} trailing zero bytes, looks preallocated`])
  })

  it('only zeros, or nothing', async () => {
    expect(await dumpBytes(Buffer.alloc(5000))).toMatchObject({ lines: [], findings: [] })
    expect(await dumpBytes(Buffer.alloc(0))).toMatchObject({ lines: [], findings: [], notes: [] })
  })

  it('zeros and then something else are damage', async () => {
    const { lines, findings } = await dumpBytes(
      Buffer.concat([first, Buffer.alloc(4000), Buffer.from('xyz')]),
    )
    expect(findings[0]).toMatchObject({ kind: 'unreadable', position: first.length })
    expect(lines.at(-1)).toBe('Found 4003 invalid bytes at the end of x.log')
  })
})

describe('--max-bytes', () => {
  it.each(Array.from({ length: good.length + 1 }, (_, limit) => limit))(
    '%i: no batch goes beyond, no line about the rest',
    async (maxBytes) => {
      const { lines, findings, notes } = await dumpBytes(good, { maxBytes })
      const expected = maxBytes < first.length ? [] : maxBytes < good.length ? [0] : [0, first.length]
      expect(positions(lines)).toEqual(expected)
      expect(lines).toHaveLength(expected.length)
      expect([...findings, ...notes]).toEqual([])
    },
  )
})

describe('records that cannot be read', () => {
  it('of an undefined codec', async () => {
    const bad = batch({ attributes: 5, baseOffset: 2n, payload: pattern(50) })
    const { lines, findings } = await dumpBytes(Buffer.concat([first, bad, third]), { isDeep: true })
    expect(positions(lines)).toHaveLength(3)
    expect(lines[3]).toContain(' compresscodec: undefined(5) ')
    expect(findings).toMatchObject([{ kind: 'records', position: first.length }])
    expect(findings[0]!.message).toContain('number 5; only 0 to 4 are defined')
  })

  it.each([1, 2, 3, 4])('of codec %i whose data is none', async (attributes) => {
    const bad = batch({ attributes, baseOffset: 2n, payload: pattern(50) })
    const { lines, findings } = await dumpBytes(Buffer.concat([first, bad, third]), { isDeep: true })
    expect(positions(lines)).toHaveLength(3)
    expect(findings).toMatchObject([{ kind: 'records', position: first.length }])
  })

  it('of a count that is wrong', async () => {
    for (const recordsCount of [-1, -2147483648, 1, 3, 2147483647]) {
      const bad = Buffer.from(first)
      bad.writeInt32BE(recordsCount, 57)
      const fixed = batch({
        recordsCount,
        lastOffsetDelta: 1,
        payload: first.subarray(61),
        producerId: 5n,
      })
      const { findings } = await dumpBytes(fixed, { isDeep: true })
      expect(findings, String(recordsCount)).toMatchObject([{ kind: 'records', position: 0 }])
    }
  })

  it('that are more than the limit, in a batch within and beyond a window', async () => {
    for (const size of [200_000, 3_000_000]) {
      const large = dataBatch(2, 1, {}, 'x'.repeat(size))
      const bytes = Buffer.concat([first, large, dataBatch(3)])
      const { lines, findings } = await dumpBytes(bytes, { isDeep: true, maxBatchBytes: 100_000 })
      expect(positions(lines)).toHaveLength(3)
      expect(lines.filter((line) => line.startsWith('| '))).toHaveLength(4)
      expect(findings).toMatchObject([{ kind: 'records', position: first.length }])
      expect(findings[0]!.message).toContain(`its ${large.length} bytes are more than the 100000`)
    }
  })
})

describe('whatever the bytes are', () => {
  it('the dump ends, and every good batch before the first damage is there', async () => {
    await fc.assert(
      fc.asyncProperty(recordSets, fc.boolean(), async (bytes, isDeep) => {
        const { report } = await dumpBytes(bytes, { isDeep, printsData: isDeep })
        expect(report.validBytes).toBeLessThanOrEqual(bytes.length * 2)
      }),
      { numRuns: 300 },
    )
  })

  it('random bytes', async () => {
    for (let seed = 1; seed < 60; seed++) {
      const { report, source } = await dumpBytes(pattern(5000 + seed * 7, seed), { printsData: true })
      expect(report.batches).toBe(0)
      expect(source.bytesRead).toBeLessThan(100_000)
    }
  })

  it('one byte of a good log changed anywhere', async () => {
    const bytes = Buffer.concat([first, second, third])
    for (let at = 0; at < bytes.length; at++) {
      for (const change of [1, 0x80, 0xff]) {
        const copy = Buffer.from(bytes)
        copy[at]! ^= change
        const { lines, findings } = await dumpBytes(copy, { printsData: true })
        const found = positions(lines)
        // the batches that were not changed are always there
        for (const [position, size] of [
          [0, first.length],
          [first.length, second.length],
          [first.length + second.length, third.length],
        ] as const) {
          if (at < position || at >= position + size) expect(found, `${at} ^ ${change}`).toContain(position)
        }
        const isOutsideCrc = [0, first.length, first.length + second.length].some(
          (start) => (at >= start && at < start + 8) || (at >= start + 12 && at < start + 16),
        )
        if (!isOutsideCrc) expect(findings.length, `${at} ^ ${change}`).toBeGreaterThan(0)
      }
    }
  })
})

describe('headers made to be tried again and again', () => {
  it('do not make the work grow with the square of the size', async () => {
    // each claims all the rest, is plausible, and has a wrong CRC
    const lures: Buffer[] = []
    const total = 40_000
    for (let index = 0; index < total; index++) {
      const lure = batch({ baseOffset: 10n, lastOffsetDelta: 5, crc: 1 })
      lure.writeInt32BE((total - index) * 61 - 12, 8)
      lures.push(lure)
    }
    const bytes = Buffer.concat([first, garbage(30), ...lures])
    const began = performance.now()
    const { findings, source } = await dumpBytes(bytes)
    expect(findings.at(-1)!.message).toContain('too much damage to look for more')
    expect(source.bytesRead).toBeLessThan(200 * 1024 * 1024)
    expect(performance.now() - began).toBeLessThan(20_000)
  })
})

describe('the vectors of the log format', () => {
  it('give the lines that Kafka prints for them', async () => {
    const bytes = hex(
      '0000000000000000000000470000000702fd8ec4520010000000010000018bcfe568000000018bcfe5680500000000000003e8000300000000' +
        '000000021c000000046b3104763102026802780c000a02010100' +
        '00000000000000020000004200000007025d7c2a2b0030000000000000018bcfe568090000018bcfe5680900000000000003e80003ffffffff' +
        '000000012000000008000000010c00000000000400' +
        '000000000000000a000000310000000702e38af65d001000000004ffffffffffffffff0000018bcfe5680500000000000003e800030000001400000000' +
        '00000000000000050000001aa5da6a6201000000018bcfe56800000000026b31000000027631' +
        '0000000000000005000000104c9f5bc20000ffffffff000000027631',
    )
    const { lines, findings } = await dumpBytes(bytes, { printsData: true })
    expect(findings).toEqual([])
    expect(lines).toEqual([
      'baseOffset: 0 lastOffset: 1 count: 2 baseSequence: 0 lastSequence: 1 producerId: 1000 producerEpoch: 3 partitionLeaderEpoch: 7 isTransactional: true isControl: false deleteHorizonMs: OptionalLong.empty position: 0 CreateTime: 1700000000005 size: 83 magic: 2 compresscodec: none crc: 4253992018 isvalid: true',
      '| offset: 0 CreateTime: 1700000000000 keySize: 2 valueSize: 2 sequence: 0 headerKeys: [h] key: k1 payload: v1',
      '| offset: 1 CreateTime: 1700000000005 keySize: -1 valueSize: -1 sequence: 1 headerKeys: []',
      'baseOffset: 2 lastOffset: 2 count: 1 baseSequence: -1 lastSequence: -1 producerId: 1000 producerEpoch: 3 partitionLeaderEpoch: 7 isTransactional: true isControl: true deleteHorizonMs: OptionalLong.empty position: 83 CreateTime: 1700000000009 size: 78 magic: 2 compresscodec: none crc: 1568418347 isvalid: true',
      '| offset: 2 CreateTime: 1700000000009 keySize: 4 valueSize: 6 sequence: -1 headerKeys: [] endTxnMarker: COMMIT coordinatorEpoch: 4',
      'baseOffset: 10 lastOffset: 14 count: 0 baseSequence: 20 lastSequence: 24 producerId: 1000 producerEpoch: 3 partitionLeaderEpoch: 7 isTransactional: true isControl: false deleteHorizonMs: OptionalLong.empty position: 161 CreateTime: 1700000000005 size: 61 magic: 2 compresscodec: none crc: 3817535069 isvalid: true',
      'offset: 5 position: 222 CreateTime: 1700000000000 size: 38 magic: 1 compresscodec: none crc: 2782554722 isvalid: true',
      '| offset: 5 CreateTime: 1700000000000 keySize: 2 valueSize: 2 isValid: true crc: 2782554722 key: k1 payload: v1',
      'offset: 5 position: 260 NoTimestampType: -1 size: 28 magic: 0 compresscodec: none crc: 1285512130 isvalid: true',
      '| offset: 5 NoTimestampType: -1 keySize: -1 valueSize: 2 isValid: true crc: 1285512130 payload: v1',
    ])
  })
})
