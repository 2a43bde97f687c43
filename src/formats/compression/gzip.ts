import {
  Z_BUF_ERROR,
  Z_NO_FLUSH,
  Z_OK,
  Z_STREAM_END,
  ZStream,
  zlibInflate,
  zlibInflateInit2,
  zlibInflateReset,
} from 'pako'
import { MalformedBytes } from '../../bytes/byteReader.ts'
import type { Decompress } from './codec.ts'
import { Output } from './output.ts'

/** zlib's window bits for a gzip wrapper and nothing else; zlib then checks each member's CRC-32 and length. */
const GZIP_ONLY = 16 + 15
const TRAILER_SIZE = 8
/** DEFLATE makes at most this of one byte. */
const MAX_RATIO = 1032
const GROWTH = 1 << 16

/**
 * A gzip stream (RFC 1952). Like the JDK's GZIPInputStream, which Kafka reads with, it takes several members one after
 * another and ignores what follows the last one.
 */
export const decompressGzip: Decompress = (compressed, limits) => {
  const output = new Output('gzip', limits, expectedSize(compressed))
  const stream = new ZStream()
  stream.input = compressed
  stream.next_in = 0
  stream.avail_in = compressed.length
  zlibInflateInit2(stream, GZIP_ONLY)
  inflateMember(stream, output)
  while (startsMember(compressed, stream.next_in)) {
    zlibInflateReset(stream)
    inflateMember(stream, output)
  }
  return output.finish()
}

/** What the last member's trailer says, within reason: only a guess, because it is not yet known to be true. */
function expectedSize(compressed: Uint8Array): number {
  if (compressed.length < TRAILER_SIZE) return 0
  const view = new DataView(compressed.buffer, compressed.byteOffset, compressed.byteLength)
  return Math.min(view.getUint32(compressed.length - 4, true), compressed.length * MAX_RATIO)
}

/** The two bytes of gzip's magic and the only compression method. */
function startsMember(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === 0x1f && bytes[at + 1] === 0x8b && bytes[at + 2] === 8
}

function inflateMember(stream: ZStream, output: Output): void {
  for (;;) {
    stream.output = output.bytes
    stream.next_out = output.length
    stream.avail_out = output.bytes.length - output.length
    const status = zlibInflate(stream, Z_NO_FLUSH)
    output.length = stream.next_out
    if (status === Z_STREAM_END) return
    if (status !== Z_OK && status !== Z_BUF_ERROR) {
      throw new MalformedBytes(stream.msg || `zlib's status is ${status}`, stream.next_in)
    }
    if (stream.avail_out > 0) throw new MalformedBytes('the data ends too early', stream.next_in)
    if (output.room(GROWTH) === output.length) throw output.overLimit()
  }
}
