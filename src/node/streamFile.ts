import type { BatchStream } from '../log/batchStream.ts'
import { onFile } from './ioErrors.ts'
import type { Job } from './job.ts'
import type { OutputFile } from './outputFile.ts'
import { changedMeanwhile, type SourceFile } from './sourceFile.ts'

const WINDOWS = 3

/**
 * Feeds a file to a stream through windows in the core's own memory, where the core works without a copy. Of three
 * windows one is read ahead, one is worked on and one is written behind. What a window leaves over (the start of a
 * batch) goes in front of the next: each has as much room there.
 *
 * @param output takes the bytes as the stream leaves them; null where nothing is to be written
 */
export async function streamFile(
  source: SourceFile,
  stream: BatchStream,
  job: Job,
  output: OutputFile | null,
): Promise<void> {
  const { path, size } = source
  const { windowSize } = job
  job.begin(path, size)
  const region = job.core.allocate(WINDOWS * 2 * windowSize)
  /** The room for what is left over and the room for what is read; taken anew, as the core's memory may move. */
  const windowOf = (step: number) => {
    const start = (step % WINDOWS) * 2 * windowSize
    return region.bytes.subarray(start, start + 2 * windowSize)
  }
  const readInto = (step: number, position: number) => {
    const room = windowOf(step).subarray(windowSize, windowSize + Math.min(windowSize, size - position))
    return awaitedLater(readFully(source, room, position))
  }
  let reading = readInto(0, 0)
  let writing = Promise.resolve()
  try {
    let left = 0
    for (let step = 0, position = 0; position < size; step++) {
      const length = await reading
      job.signal?.throwIfAborted()
      const next = position + length
      if (next < size) reading = readInto(step + 1, next)
      const start = windowSize - left
      const end = windowSize + length
      const done = start + stream.feed(windowOf(step).subarray(start, end))
      await writing
      if (output !== null) {
        writing = awaitedLater(output.write(windowOf(step).subarray(start, done), position - left))
      } else if (stream.isSettled) {
        job.advance(size - position)
        return
      }
      left = end - done
      windowOf(step + 1).set(windowOf(step).subarray(done, end), windowSize - left)
      position = next
      job.advance(length)
    }
    await writing
  } finally {
    // the system must be done with the windows before they are given back
    await Promise.allSettled([reading, writing])
    region.free()
  }
}

async function readFully({ path, handle }: SourceFile, room: Uint8Array, position: number): Promise<number> {
  const { length } = room
  let filled = 0
  while (filled < length) {
    const { bytesRead } = await onFile('read it', path, () =>
      handle.read(room, filled, length - filled, position + filled),
    )
    if (bytesRead === 0) throw changedMeanwhile(path)
    filled += bytesRead
  }
  return filled
}

/** The same promise, whose failure is no "unhandled rejection" while nobody waits for it yet. */
function awaitedLater<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}
