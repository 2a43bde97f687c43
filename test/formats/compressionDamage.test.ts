// Case by case and by every cut and every change of a byte: damage gives one of our errors, and never a hang, a crash or,
// where the format can tell, wrong bytes.
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { compressFrameSync } from 'lz4-napi'
import { describe, expect, it } from 'vitest'
import { InvalidRecordError } from '../../src/errors.ts'
import type { CodecName } from '../../src/formats/compression/codec.ts'
import { hex } from '../support/batches.ts'
import {
  codecNames,
  decompress,
  lz4Checked,
  outcomeOf,
  text,
  xerial,
  xerialHeader,
  zstd,
  zstdChecked,
} from '../support/compression.ts'

/** A copy with other bytes at a position; a negative one counts from the end. */
function patched(bytes: Uint8Array, position: number, content: string): Buffer {
  const copy = Buffer.from(bytes)
  copy.set(hex(content), position < 0 ? copy.length + position : position)
  return copy
}

// without the flag and without the checksum
const zstdUnchecked = patched(zstdChecked, 4, '00').subarray(0, -4)
const zstdSized = Buffer.from(zstd.compress(text))

/** Where a change may give wrong bytes, because the format has no checksum over that place. */
interface Unseen {
  from: number
  to: number
  /** What can be said all the same of the wrong bytes. */
  isPlausible: (bytes: Buffer) => boolean
}

const hasRightLength = (bytes: Buffer) => bytes.length === text.length
// The word before a block is not in its checksum: it may become the end mark, or say that the block is not compressed.
const isOtherKindOfBlock = (bytes: Buffer) =>
  bytes.length === 0 || bytes.equals(lz4Checked.subarray(19, 19 + bytes.length))
const streams: [CodecName, string, Buffer, Unseen | null][] = [
  ['gzip', 'which has a CRC', gzipSync(text), null],
  ['lz4', 'with checksums', lz4Checked, { from: 15, to: 19, isPlausible: isOtherKindOfBlock }],
  ['lz4', 'without', compressFrameSync(text), { from: 7, to: Infinity, isPlausible: () => true }],
  ['snappy', 'which has none', xerial(text), { from: 22, to: Infinity, isPlausible: hasRightLength }],
  ['zstd', 'with a checksum', zstdChecked, null],
  ['zstd', 'without', zstdUnchecked, { from: 6, to: Infinity, isPlausible: () => true }],
  ['zstd', 'with its size', zstdSized, { from: 6, to: Infinity, isPlausible: hasRightLength }],
]

describe.each(streams)('%s, %s', (name, _, bytes, unseen) => {
  it('is whole to begin with', () => {
    expect(outcomeOf(name, bytes, text).kind).toBe('right')
  })

  it('notices every cut', () => {
    for (let length = 0; length < bytes.length; length++) {
      const { kind } = outcomeOf(name, bytes.subarray(0, length), text)
      // snappy has no end mark: its header alone is a stream of no blocks
      const isWhole = name === 'snappy' && length === xerialHeader.length
      if (kind !== (isWhole ? 'wrong' : 'error')) expect.fail(`${length} bytes: ${kind}`)
    }
  })

  it('notices every change of a byte that its format can notice', () => {
    for (let position = 0; position < bytes.length; position++) {
      for (let value = 0; value < 256; value++) {
        const copy = Buffer.from(bytes)
        copy[position] = value
        const outcome = outcomeOf(name, copy, text)
        if (outcome.kind !== 'wrong') continue
        const isUnseen = unseen !== null && position >= unseen.from && position < unseen.to
        if (!(isUnseen && unseen.isPlausible(outcome.bytes))) {
          expect.fail(`byte ${position} = ${value} gave ${outcome.bytes.length} wrong bytes`)
        }
      }
    }
  })
})

describe.each(codecNames)('%s', (name) => {
  const starts = { gzip: '1f8b0800000000000003', snappy: '', lz4: '04224d18604082', zstd: '28b52ffd0060' }
  const whole = { gzip: gzipSync(text), snappy: xerial(text), lz4: lz4Checked, zstd: zstdUnchecked }[name]

  it('meets any bytes with a result or a typed error', () => {
    const prefix = fc.constantFrom(Buffer.alloc(0), hex(starts[name]))
    fc.assert(
      fc.property(prefix, fc.uint8Array({ maxLength: 300 }), (start, bytes) => {
        outcomeOf(name, Buffer.concat([start, bytes]), text)
      }),
      { numRuns: 2000 },
    )
  })

  it('meets any damage with a result or a typed error', () => {
    const change = fc.tuple(fc.nat({ max: whole.length - 1 }), fc.nat({ max: 255 }))
    fc.assert(
      fc.property(fc.array(change, { minLength: 2, maxLength: 5 }), (changes) => {
        const copy = Buffer.from(whole)
        for (const [position, value] of changes) copy[position] = value
        outcomeOf(name, copy, text)
      }),
      { numRuns: 3000 },
    )
  })
})

/** A frame of 64 KiB blocks that holds one. */
function lz4Block(content: string): Buffer {
  const size = Buffer.alloc(4)
  size.writeUInt32LE(content.length / 2)
  return Buffer.concat([hex('04224d18604082'), size, hex(content), Buffer.alloc(4)])
}

/** A frame with a window of 256 KiB that holds one compressed block. */
function zstdBlock(content: string): Buffer {
  const header = Buffer.alloc(4)
  header.writeUInt32LE(((content.length / 2) << 3) | 5)
  return Buffer.concat([hex('28b52ffd0040'), header.subarray(0, 3), hex(content)])
}

it('blocks made by hand are read', () => {
  expect(decompress('lz4', lz4Block('1f6101000000')).toString()).toBe('a'.repeat(20))
  expect(decompress('lz4', lz4Block('00'))).toHaveLength(0)
  expect(decompress('zstd', zstdBlock('086100')).toString()).toBe('a')
  expect(decompress('zstd', zstdBlock('0861015401020004')).toString()).toBe('aaaa')
  expect(decompress('snappy', hex('0500610101')).toString()).toBe('aaaaa')
})

describe('what is wrong is told', () => {
  it.each<[CodecName, Uint8Array, RegExp, number?]>([
    ['gzip', Buffer.alloc(0), /the gzip data is damaged at byte 0: the data ends too early/, 0],
    ['gzip', Buffer.from('text'), /incorrect header check/],
    ['gzip', patched(gzipSync(text), -8, '00000000'), /incorrect data check/],
    ['gzip', patched(gzipSync(text), -4, '00000000'), /incorrect length check/],
    ['gzip', hex('1f8b08000000000000034b044200'), /invalid distance too far back/],
    ['snappy', Buffer.alloc(0), /ends in the length of its output/, 0],
    ['snappy', hex('ffffffff7f00'), /claim to hold/],
    ['snappy', hex('808080808001'), /longer than 5 bytes/],
    ['snappy', hex('0a0061'), /claims 10 bytes and holds 1/, 0],
    ['snappy', hex('010461'), /a literal goes beyond its block/, 1],
    ['snappy', hex('02086161610061'), /more than it claims/, 1],
    ['snappy', hex('05006105'), /ends in a copy/, 3],
    ['snappy', hex('0500610100'), /0 bytes back where 1 are/, 3],
    ['snappy', hex('0500610102'), /2 bytes back where 1 are/, 3],
    ['snappy', hex('06006113ffffffff'), /4294967295 bytes back/, 3],
    ['snappy', hex('0afcfaffffff000000'), /a literal goes beyond its block/, 1],
    ['snappy', Buffer.concat([xerialHeader, hex('7fffffff00')]), /2147483647 bytes where 1 are left/, 16],
    ['snappy', Buffer.concat([xerialHeader, hex('000000')]), /ends in the length of a block/, 16],
    ['snappy', xerialHeader.subarray(0, 12), /ends in the header/],
    ['snappy', patched(xerialHeader, 8, '00000000'), /version is 0/],
    ['lz4', Buffer.alloc(0), /the data ends/, 0],
    ['lz4', patched(lz4Checked, 0, '01'), /the magic is 0x184d2201/, 0],
    ['lz4', patched(lz4Checked, 4, '5c'), /depend on each other/, 4],
    ['lz4', patched(lz4Checked, 4, 'bc'), /version is 2/, 4],
    ['lz4', patched(lz4Checked, 4, '7d'), /a dictionary is wanted/, 4],
    ['lz4', patched(lz4Checked, 5, '30'), /block size descriptor/, 5],
    ['lz4', patched(lz4Checked, 6, '00'), /header's checksum is wrong/, 14],
    ['lz4', patched(lz4Checked, 20, '00'), /a block's checksum is wrong/, 15],
    ['lz4', lz4Block('1f6100000000'), /0 bytes back where 1 are/, 11],
    ['lz4', lz4Block('1f6102000000'), /2 bytes back where 1 are/, 11],
    ['lz4', lz4Block('2061'), /literals go beyond their block/, 11],
    ['lz4', lz4Block('f0ff'), /ends in a length/, 11],
    ['lz4', lz4Block('1f610100ff'), /ends in a length/, 11],
    ['lz4', lz4Block('106101'), /ends in an offset/, 11],
    ['lz4', lz4Block('10610100'), /without its last literals/, 15],
    ['lz4', lz4Block(`1f610100${'ff'.repeat(300)}0000`), /holds more than allowed/, 11],
    ['lz4', hex('04224d1860408201000100'), /claims 65537 bytes; the frame allows 65536/, 7],
    ['zstd', Buffer.alloc(0), /the data ends/, 0],
    ['zstd', Buffer.from('text'), /the magic is/, 0],
    ['zstd', hex('28b52ffd0840010000'), /reserved flag/, 4],
    ['zstd', hex('28b52ffd014007010000'), /wants dictionary 7/, 4],
    ['zstd', hex('28b52ffd2005090000'), /ends where 1 more bytes are due/],
    ['zstd', hex('28b52ffd200509000061'), /claims 5 bytes and has 1/, 4],
    ['zstd', hex('28b52ffd0040070000'), /reserved type/, 6],
    ['zstd', hex('28b52ffd000009210061'), /a block claims 1057 bytes of 1024 allowed/, 6],
    ['zstd', patched(zstdChecked, -4, '00000000'), /checksum is wrong/, zstdChecked.length - 4],
    ['zstd', zstdBlock('00'), /a compressed block has 1 bytes/],
    ['zstd', zstdBlock('0861'), /the sequences are missing/],
    ['zstd', zstdBlock('1061'), /the literals go beyond their block/],
    ['zstd', zstdBlock('13400000'), /use an earlier tree/],
    ['zstd', zstdBlock('08610000'), /1 bytes are left in a block/],
    ['zstd', zstdBlock('0861ff'), /ends in the number of its sequences/],
    ['zstd', zstdBlock('08610101'), /reserved bits of the sequences/],
    ['zstd', zstdBlock('086101fc01'), /use an earlier table/],
    ['zstd', zstdBlock('0861015425000001'), /a table's symbol is 37/],
    ['zstd', zstdBlock('0861015400000000'), /a bit stream has no end mark/],
    ['zstd', zstdBlock('0861015401020005'), /a match goes 2 bytes back where 1 are/],
    ['zstd', zstdBlock('0861015400010003'), /a match goes 0 bytes back/],
    ['zstd', zstdBlock('0861015402020004'), /too few literals/],
    ['zstd', zstdBlock('0861015401020008'), /1 bits are left behind/],
    ['zstd', zstdBlock('0861015401020002'), /the sequences are cut/],
  ])('%s %#', (name, bytes, message, position) => {
    let error: unknown
    try {
      decompress(name, bytes)
    } catch (thrown) {
      error = thrown
    }
    expect(error).toBeInstanceOf(InvalidRecordError)
    expect((error as InvalidRecordError).code).toBe('INVALID_RECORD')
    expect((error as InvalidRecordError).message).toMatch(message)
    expect((error as InvalidRecordError).message).toContain(name)
    expect((error as InvalidRecordError).cause).toBeInstanceOf(Error)
    if (position !== undefined) expect((error as InvalidRecordError).position).toBe(position)
  })
})
