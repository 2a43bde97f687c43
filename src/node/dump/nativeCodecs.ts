import * as zlib from 'node:zlib'
import { createCodecs, type Decompress } from '../../formats/compression/codec.ts'

/** The codecs that Node has itself are its own, which are faster; zstd has been among them since Node 22.15. */
export function nativeCodecs(): ReturnType<typeof createCodecs> {
  const gzip: Decompress = (compressed, { maxBytes }) =>
    zlib.gunzipSync(compressed, { maxOutputLength: maxBytes })
  const { zstdDecompressSync } = zlib as { zstdDecompressSync?: typeof zlib.gunzipSync }
  if (zstdDecompressSync === undefined) return createCodecs({ gzip })
  const zstd: Decompress = (compressed, { maxBytes }) =>
    zstdDecompressSync(compressed, { maxOutputLength: maxBytes })
  return createCodecs({ gzip, zstd })
}
