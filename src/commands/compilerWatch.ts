import { performance } from 'node:perf_hooks'

/** A shorter run gets nothing compiled that takes long. */
const LONG_ENOUGH_TO_COMPILE_MS = 400
const TIME_TO_FINISH_MS = 50
const SAMPLE_MS = 10
/** Behind a sample that is older, the main thread was at work for long: it says nothing of the last moments. */
const OLDEST_MS = TIME_TO_FINISH_MS + 3 * SAMPLE_MS

/** At `time`, the event loop had been idle for `idle` since the program's start; milliseconds. */
export interface IdleSample {
  time: number
  idle: number
}

/**
 * Node waits for compilers in the background when a program ends, and one of them may wait for a garbage collection by
 * the main thread: then the process never ends (nodejs/node#54918, open in 2026). So after work that got compiled, they
 * get time to finish while the main thread still listens, unless it has just listened for as long, as it does while it
 * waits for the disk.
 */
export class CompilerWatch {
  readonly #timer = setInterval(() => this.#sample(), SAMPLE_MS).unref()
  /** The last ones, the oldest first. */
  #samples: IdleSample[] = []

  #sample(): void {
    const sample = sampleNow()
    this.#samples = this.#samples.filter(({ time }) => sample.time - time <= OLDEST_MS)
    this.#samples.push(sample)
  }

  /** To be awaited at the end of the program. */
  async letFinish(): Promise<void> {
    clearInterval(this.#timer)
    if (performance.now() < LONG_ENOUGH_TO_COMPILE_MS) return
    const left = timeStillDue(this.#samples, sampleNow())
    if (left > 0) await new Promise((resolve) => setTimeout(resolve, left))
  }
}

/** For how long the main thread has still to listen, in milliseconds, after what it did in the last moments. */
export function timeStillDue(samples: readonly IdleSample[], now: IdleSample): number {
  const since = samples.findLast(({ time }) => now.time - time >= TIME_TO_FINISH_MS)
  if (since === undefined || now.time - since.time > OLDEST_MS) return TIME_TO_FINISH_MS
  return Math.max(0, TIME_TO_FINISH_MS - (now.idle - since.idle))
}

function sampleNow(): IdleSample {
  return { time: performance.now(), idle: performance.eventLoopUtilization().idle }
}
