// Compressed by independent implementations: node:zlib (zlib), snappy (the Rust one), lz4-napi (lz4_flex), wasm-zstd (the
// original in wasm), and Kafka's own client in the fixtures.
import { readFileSync } from 'node:fs'
import { constants, gunzipSync, gzipSync } from 'node:zlib'
import { compressFrameSync } from 'lz4-napi'
import { compressSync } from 'snappy'
import { describe, expect, it } from 'vitest'
import { DecompressionLimitError, InvalidRecordError } from '../../src/errors.ts'
import { type CodecName, codecOf, createCodecs } from '../../src/formats/compression/codec.ts'
import { xxHash32 } from '../../src/formats/compression/xxHash32.ts'
import { xxHash64Low } from '../../src/formats/compression/zstd/xxHash64.ts'
import { parseRecords } from '../../src/formats/record.ts'
import { CompressionType } from '../../src/formats/recordBatch.ts'
import { recordBatches } from '../../src/formats/recordBatches.ts'
import { hex } from '../support/batches.ts'
import {
  codecNames,
  decompress,
  lz4Checked,
  MIB,
  randomBytes,
  repeatedLz4,
  text,
  xerial,
  xerialBlock,
  xerialHeader,
  zstd,
  zstdChecked,
  zstdStream,
} from '../support/compression.ts'

type Compressor = [CodecName, string, (bytes: Buffer) => Uint8Array]
const both = (bytes: Buffer, compress: (part: Buffer) => Uint8Array) =>
  Buffer.concat([compress(bytes.subarray(0, 99)), compress(bytes.subarray(99))])
const behind = Buffer.from('something behind it')
const skippable = hex('5f2a4d1803000000aabbcc')

const compressors: Compressor[] = [
  ['gzip', 'level 6', (bytes) => gzipSync(bytes)],
  ['gzip', 'stored', (bytes) => gzipSync(bytes, { level: 0 })],
  ['gzip', 'fixed codes', (bytes) => gzipSync(bytes, { strategy: constants.Z_FIXED })],
  ['gzip', 'two members', (bytes) => both(bytes, (part) => gzipSync(part))],
  ['gzip', 'something behind it', (bytes) => Buffer.concat([gzipSync(bytes), behind])],
  ['snappy', 'framed', xerial],
  ['snappy', 'framed twice', (bytes) => both(bytes, xerial)],
  ['snappy', 'bare', (bytes) => compressSync(bytes)],
  ['lz4', 'plain', (bytes) => compressFrameSync(bytes)],
  ['lz4', 'checked', (bytes) => compressFrameSync(bytes, { blockChecksums: true, contentChecksum: true })],
  ['lz4', 'something behind it', (bytes) => Buffer.concat([compressFrameSync(bytes), behind])],
  ...[1, 3, 9, 19].map((level): Compressor => {
    return ['zstd', `level ${level}`, (bytes) => zstd.compress(bytes, level)]
  }),
  ['zstd', 'a stream', zstdStream],
  [
    'zstd',
    'frames and skippable ones',
    (bytes) => both(bytes, (part) => Buffer.concat([skippable, zstd.compress(part)])),
  ],
]

const contents: [string, (size: number) => Buffer][] = [
  ['zeros', (size) => Buffer.alloc(size)],
  ['short repeats', (size) => Buffer.alloc(size, 'abcab')],
  ['random bytes', randomBytes],
  ['few symbols', (size) => randomBytes(size).map((byte) => Math.clz32(byte << 24)) as Buffer],
  [
    'text',
    (size) => {
      const lines = Array.from({ length: size / 20 + 1 }, (_, id) => `{"id":${id * id},"user":"${id % 77}"}`)
      return Buffer.from(lines.join('\n')).subarray(0, size)
    },
  ],
]

describe.each(compressors)('%s, %s', (name, _, compress) => {
  it.each(contents)('gives back %s of any size', (_, make) => {
    for (const size of [0, 1, 2, 15, 100, 1000, 65_536, 131_073, MIB]) {
      const bytes = make(size)
      const compressed = compress(bytes)
      if (!decompress(name, compressed).equals(bytes)) expect.fail(`${size} bytes`)
      expect(decompress(name, compressed, size), 'a limit that just suffices').toHaveLength(size)
      if (size > 0) expect(() => decompress(name, compressed, size - 1)).toThrow(DecompressionLimitError)
    }
  })
})

const bombs: Record<CodecName, () => Uint8Array> = {
  gzip: () => Buffer.concat(new Array(16).fill(gzipSync(Buffer.alloc(64 * MIB), { level: 1 }))),
  // snappy makes at most 21 bytes of one
  snappy: () => Buffer.concat([xerialHeader, ...new Array(1024).fill(xerialBlock(Buffer.alloc(MIB)))]),
  lz4: () => repeatedLz4(Buffer.alloc(4 * MIB), 256),
  zstd: () => Buffer.concat(new Array(16).fill(zstd.compress(Buffer.alloc(64 * MIB)))),
}

/** A record without what differs between the fixtures. */
function contentOf(name: CodecName | 'none') {
  const file = new URL(
    `../fixtures/kafka-4.3.1/idempotent-${name}-0/00000000000000000000.log`,
    import.meta.url,
  )
  const hexOf = (bytes: Uint8Array | null) => (bytes === null ? null : Buffer.from(bytes).toString('hex'))
  return [...recordBatches(readFileSync(file))].flatMap((batch) => {
    const payload = name === 'none' ? batch.payload : decompress(name, batch.payload)
    return parseRecords(batch, payload).map(({ key, value, headers }) => [
      hexOf(key),
      hexOf(value),
      headers.map((header) => [header.key, hexOf(header.value)]),
    ])
  })
}

describe.each(codecNames)('%s', (name) => {
  it("reads what Kafka's client wrote", () => {
    const plain = contentOf('none')
    expect(plain.length).toBeGreaterThan(20)
    expect(contentOf(name).slice(0, 22)).toEqual(plain.slice(0, 22))
  })

  it('stops 1 GiB of zeros at the limit, soon and in bounded memory', () => {
    const bomb = bombs[name]()
    for (const maxBytes of [0, 1000, MIB]) {
      const before = process.memoryUsage().arrayBuffers
      const start = performance.now()
      let error: unknown
      try {
        decompress(name, bomb, maxBytes)
      } catch (thrown) {
        error = thrown
      }
      expect(error).toBeInstanceOf(DecompressionLimitError)
      expect(error).toMatchObject({ code: 'DECOMPRESSION_LIMIT', limit: maxBytes, codec: name })
      expect((error as Error).message).toMatch(/maxDecompressedBytes/)
      expect(performance.now() - start).toBeLessThan(2000)
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(3 * MIB)
    }
  })
})

describe('codecs', () => {
  it('are loaded when first asked for and are there at once afterwards', async () => {
    const codecs = createCodecs()
    const first = codecs(CompressionType.zstd)
    expect(first).toBeInstanceOf(Promise)
    expect(codecs(CompressionType.zstd)).toBeInstanceOf(Promise)
    const loaded = await first
    expect(codecs(CompressionType.zstd)).toBeTypeOf('function')
    expect(loaded(zstdChecked, { maxBytes: MIB, magic: 2 })).toEqual(new Uint8Array(text))
  })

  it('leave uncompressed bytes alone', () => {
    const none = codecOf(0)
    if (none instanceof Promise) expect.fail('a promise')
    expect(none(text, { maxBytes: 0, magic: 2 })).toBe(text)
  })

  it.each([5, 6, 7, -1, 1.5, Number.NaN])('refuse number %s', (number) => {
    expect(() => codecOf(number)).toThrow(InvalidRecordError)
  })

  it.each([0, 1] as const)('refuse zstd in magic %s', (magic) => {
    const act = () => decompress('zstd', zstdChecked, MIB, magic)
    expect(act).toThrow(InvalidRecordError)
    expect(act).toThrow(`zstd compression is not allowed in magic ${magic}`)
  })

  it('do not check the header of LZ4 in magic 0, which old writers hashed wrongly', () => {
    const wrong = Buffer.from(lz4Checked)
    wrong[14] = 0
    expect(decompress('lz4', wrong, MIB, 0)).toEqual(text)
    expect(() => decompress('lz4', wrong, MIB, 1)).toThrow(/header's checksum/)
  })

  it('take native decompressors instead, at once, with the same errors', () => {
    const codecs = createCodecs({
      gzip: (bytes, { maxBytes }) => gunzipSync(bytes, { maxOutputLength: maxBytes }),
      snappy: () => Buffer.alloc(100),
      lz4: () => {
        throw 'a string'
      },
    })
    const run = (name: CodecName, bytes: Uint8Array, maxBytes: number) => {
      const codec = codecs(CompressionType[name])
      if (codec instanceof Promise) expect.fail('a promise')
      return codec(bytes, { maxBytes, magic: 2 })
    }
    expect(run('gzip', gzipSync(text), text.length)).toEqual(text)
    expect(() => run('gzip', gzipSync(text), text.length - 1)).toThrow(DecompressionLimitError)
    expect(() => run('gzip', text, MIB)).toThrow(/the gzip data is damaged: incorrect header check/)
    expect(() => run('snappy', text, 99)).toThrow(DecompressionLimitError)
    expect(() => run('lz4', text, 99)).toThrow(/the lz4 data is damaged: a string/)
  })
})

it('xxHash gives the values of its reference', () => {
  const vectors: [string, number, number][] = [
    ['', 0x02cc5d05, 0x51d8e999],
    ['a', 0x550d7456, 0xa98c6e5b],
    ['abc', 0x32d153ff, 0xad770999],
  ]
  for (const [input, hash32, hash64] of vectors) {
    const bytes = Buffer.from(`-${input}-`)
    expect(xxHash32(bytes, 1, bytes.length - 1)).toBe(hash32)
    expect(xxHash64Low(bytes, 1, bytes.length - 1)).toBe(hash64)
  }
})
