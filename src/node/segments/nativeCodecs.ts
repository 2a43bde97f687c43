import { MessageChannel, type MessagePort } from 'node:worker_threads'
import * as zlib from 'node:zlib'
import { createCodecs, type Decompress, type DecompressLimits } from '../../formats/compression/codec.ts'
import { CompressionType } from '../../formats/recordBatch.ts'

/** Results are made in pieces of such a size; more than one piece are put together in memory of their own. */
const LEAST_CHUNK = 64 * 1024
/** Few batches are compressed better than this. */
const USUAL_RATIO = 32

/** The codecs that Node has itself are its own, which are faster; zstd has been among them since Node 22.15. */
export function nativeCodecs(): ReturnType<typeof createCodecs> {
  const gzip = native(zlib.gunzipSync)
  const { zstdDecompressSync } = zlib as { zstdDecompressSync?: typeof zlib.gunzipSync }
  return createCodecs(
    zstdDecompressSync === undefined ? { gzip } : { gzip, zstd: native(zstdDecompressSync) },
  )
}

function native(decompress: typeof zlib.gunzipSync): Decompress {
  return (compressed, { maxBytes, room }) => {
    if (room === undefined) return decompress(compressed, { maxOutputLength: maxBytes })
    // what fits into the room is mostly one piece, whose memory can be given back
    const chunkSize = Math.min(Math.max(LEAST_CHUNK, compressed.length * USUAL_RATIO), room.length + 1)
    return moved(decompress(compressed, { maxOutputLength: maxBytes, chunkSize }), room)
  }
}

/**
 * A result in the room that was given for it; its own memory is given back at once. Left to the garbage collector, that
 * is 32 MB on each thread before it has a look.
 */
function moved(result: Buffer, room: NonNullable<DecompressLimits['room']>): Uint8Array {
  if (result.length > room.length) return result
  room.set(result)
  const bytes = room.subarray(0, result.length)
  giveBack(result.buffer) // from here on it is empty
  return bytes
}

let closed: MessagePort | null = null

/** What goes with a message to a closed port is gone with it; this is the one way that Node 20 has. */
function giveBack(memory: ArrayBufferLike): void {
  if (closed === null) {
    closed = new MessageChannel().port1
    closed.close()
  }
  try {
    closed.postMessage(null, [memory as ArrayBuffer])
  } catch {
    // Node keeps what several of its buffers share
  }
}

/** The same, all loaded: each gives its decompressor at once. */
export async function loadNativeCodecs(): Promise<(compressionType: number) => Decompress> {
  const codecs = nativeCodecs()
  await Promise.all(Object.values(CompressionType).map(codecs))
  // a number that no codec has is an error, at once too
  return (compressionType) => codecs(compressionType) as Decompress
}
