import { setImmediate } from 'node:timers/promises'
import type { BatchStream } from '../../log/batchStream.ts'
import type { OutputFile } from '../files/outputFile.ts'
import { readWhole, type SourceFile } from '../files/sourceFile.ts'
import type { Job } from '../jobs/job.ts'

/** The first read, and the one behind the rest of a batch that was passed over: a header with some room. */
const HEAD = 64
/** Batches up to this size are read whole, which costs less than to read their headers one by one. */
const SMALL_BATCH = 8192
/** After so many windows the event loop has its turn; a turn takes as long as to rewrite a quarter of a window. */
export const WINDOWS_A_TURN = 4

/**
 * Feeds a file to a stream through a window in the core's own memory, where the core works without a copy. What the
 * window leaves over (the start of a batch) stands before what is read next.
 *
 * Reads and writes are synchronous, a window at a time: with reads ahead or writes behind on other threads, what one
 * thread waits for another was measured to take as long as what they gain. Every few windows the event loop has its
 * turn, so signals and progress get through.
 *
 * @param output takes the bytes as the stream leaves them; null where nothing is to be written
 * @param windowsATurn fewer where the stream takes its time
 */
export async function streamFile(
  source: SourceFile,
  stream: BatchStream,
  job: Job,
  output: OutputFile | null,
  windowsATurn = WINDOWS_A_TURN,
): Promise<void> {
  const { path, size } = source
  const { windowSize } = job
  const progress = job.begin(path, size)
  const region = job.core.allocate(2 * windowSize)
  try {
    await takeTurn(job)
    let left = 0
    for (let position = 0; position < size; ) {
      // taken anew in each turn, as the core's memory may have moved
      const { bytes } = region
      const length = Math.min(windowSize, size - position)
      readWhole(source, bytes.subarray(left, left + length), position)
      const window = bytes.subarray(0, left + length)
      const done = stream.feed(window)
      if (output !== null) output.write(window.subarray(0, done), position - left)
      else if (stream.isSettled) break
      window.copyWithin(0, done)
      left = window.length - done
      position += length
      if (progress.reach(position, windowsATurn * windowSize)) await takeTurn(job)
    }
    progress.end()
  } finally {
    region.free()
  }
}

/** For a stream that is only to look, how large a batch it should await whole. */
export function largestWhole(job: Job): number {
  return Math.min(job.windowSize, SMALL_BATCH)
}

/**
 * Feeds a file as `streamFile` does, to a stream that only looks, and not at all of it: the rest of a large batch is not
 * even read where the stream can do without. Windows are short behind such a batch, and grow where there are small ones.
 *
 * @param onPause is called every few windows, before the event loop's turn, and at the end
 */
export async function scanFile(
  source: SourceFile,
  stream: BatchStream,
  job: Job,
  onPause: () => Promise<void>,
): Promise<void> {
  const { path, size } = source
  const { windowSize } = job
  const progress = job.begin(path, size)
  const region = job.core.allocate(2 * windowSize)
  try {
    let left = 0
    let wanted = HEAD
    for (let position = 0; position < size && !stream.isSettled; ) {
      const { bytes } = region
      const length = Math.min(wanted, windowSize, size - position)
      readWhole(source, bytes.subarray(left, left + length), position)
      const window = bytes.subarray(0, left + length)
      const done = stream.feed(window)
      window.copyWithin(0, done)
      left = window.length - done
      position += length
      const { skippable } = stream
      stream.skip(skippable)
      position += skippable
      wanted = skippable > 0 ? HEAD : 8 * length
      if (progress.reach(position, WINDOWS_A_TURN * windowSize)) {
        await onPause()
        await takeTurn(job)
      }
    }
    await onPause()
    progress.end()
  } finally {
    region.free()
  }
}

async function takeTurn(job: Job): Promise<void> {
  await setImmediate()
  job.signal?.throwIfAborted()
}
