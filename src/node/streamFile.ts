import { readSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import type { BatchStream } from '../log/batchStream.ts'
import { atFile } from './ioErrors.ts'
import type { Job } from './job.ts'
import type { OutputFile } from './outputFile.ts'
import { changedMeanwhile, type SourceFile } from './sourceFile.ts'

/**
 * Feeds a file to a stream through a window in the core's own memory, where the core works without a copy. What the
 * window leaves over (the start of a batch) stands before what is read next.
 *
 * Reads and writes are synchronous, a window at a time: reading ahead and writing behind on other threads was measured
 * and gained nothing. Between windows the event loop has its turn, so signals and progress get through.
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
  const region = job.core.allocate(2 * windowSize)
  try {
    let left = 0
    for (let position = 0; position < size; ) {
      await setImmediate()
      job.signal?.throwIfAborted()
      // taken anew in each turn, as the core's memory may have moved
      const { bytes } = region
      const length = Math.min(windowSize, size - position)
      readFully(source, bytes.subarray(left, left + length), position)
      const window = bytes.subarray(0, left + length)
      const done = stream.feed(window)
      if (output !== null) {
        output.write(window.subarray(0, done), position - left)
      } else if (stream.isSettled) {
        job.advance(size - position)
        return
      }
      window.copyWithin(0, done)
      left = window.length - done
      position += length
      job.advance(length)
    }
  } finally {
    region.free()
  }
}

function readFully({ path, handle }: SourceFile, room: Uint8Array, position: number): void {
  let filled = 0
  while (filled < room.length) {
    const read = atFile('read it', path, () =>
      readSync(handle.fd, room, filled, room.length - filled, position + filled),
    )
    if (read === 0) throw changedMeanwhile(path)
    filled += read
  }
}
