import { Zstd } from '@hpcc-js/wasm-zstd'
import { compressFrameSync } from 'lz4-napi'
import { compressSync } from 'snappy'
import { DecompressionLimitError, InvalidRecordError } from '../../src/errors.ts'
import { type CodecName, codecOf, type Decompress } from '../../src/formats/compression/codec.ts'
import { CompressionType } from '../../src/formats/recordBatch.ts'
import { hex } from './batches.ts'

export const MIB = 1 << 20
export const codecNames: CodecName[] = ['gzip', 'snappy', 'lz4', 'zstd']
export const zstd = await Zstd.load()

export const text = Buffer.from(
  'the quick brown fox jumps over the lazy dog, the quick brown fox naps. '.repeat(3),
)

/** The text by the command lines `zstd -19 --check` and `lz4 -BX --content-size`. */
export const zstdChecked = hex(
  '28b52ffd0468ed0100f40274686520717569636b2062726f776e20666f78206a756d7073206f766572206c617a7920646f672c206e6170732e' +
    '2003000b2550052a420b563901ddfbeae6',
)
export const lz4Checked = hex(
  '04224d187c40d5000000000000002145000000f01074686520717569636b2062726f776e20666f78206a756d7073206f766572201f00916c61' +
    '7a7920646f672c0e000c2d005f6e6170732e1a00020f470062506170732e20fdba57500000000005697958',
)

const decompressors = new Map<CodecName, Decompress>()
for (const name of codecNames) decompressors.set(name, await codecOf(CompressionType[name]))

export function decompress(
  name: CodecName,
  bytes: Uint8Array,
  maxBytes = 8 * MIB,
  magic: 0 | 1 | 2 = 2,
): Buffer {
  const result = decompressors.get(name)!(bytes, { maxBytes, magic })
  return Buffer.from(result.buffer, result.byteOffset, result.length)
}

export type Outcome = { kind: 'right' | 'wrong'; bytes: Buffer } | { kind: 'error'; bytes: null }

/** What comes of a stream: the right bytes, other bytes, or one of our errors; all else is thrown on. */
export function outcomeOf(name: CodecName, bytes: Uint8Array, right: Buffer): Outcome {
  try {
    const result = decompress(name, bytes, MIB)
    return { kind: result.equals(right) ? 'right' : 'wrong', bytes: result }
  } catch (error) {
    if (!(error instanceof InvalidRecordError || error instanceof DecompressionLimitError)) throw error
    return { kind: 'error', bytes: null }
  }
}

export const xerialHeader = hex('82534e41505059000000000100000001')

export function xerialBlock(bytes: Uint8Array): Buffer {
  const block = compressSync(bytes)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(block.length)
  return Buffer.concat([length, block])
}

export function xerial(bytes: Uint8Array): Buffer {
  const blocks: Buffer[] = []
  for (let at = 0; at < bytes.length; at += 32768) blocks.push(xerialBlock(bytes.subarray(at, at + 32768)))
  return Buffer.concat([xerialHeader, ...blocks])
}

/** A frame with its blocks repeated: `times` the content. */
export function repeatedLz4(bytes: Buffer, times: number): Buffer {
  const frame = compressFrameSync(bytes)
  const blocks = new Array<Buffer>(times).fill(frame.subarray(7, -4))
  return Buffer.concat([frame.subarray(0, 7), ...blocks, Buffer.alloc(4)])
}

/** A frame of several blocks that does not say how long its content is, as Kafka's client writes it. */
export function zstdStream(bytes: Uint8Array): Buffer {
  const parts: Uint8Array[] = []
  zstd.reset()
  for (let at = 0; at < bytes.length; at += 50_000) {
    parts.push(zstd.compressChunk(bytes.subarray(at, at + 50_000)).slice())
  }
  return Buffer.concat([...parts, zstd.compressEnd()])
}

export function randomBytes(size: number): Buffer {
  const bytes = Buffer.alloc(size)
  let state = 2463534242
  for (let at = 0; at < size; at++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    bytes[at] = state >>> 8
  }
  return bytes
}
