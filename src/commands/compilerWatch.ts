import { performance } from 'node:perf_hooks'

/** A shorter run gets nothing compiled that takes long. */
const LONG_ENOUGH_TO_COMPILE_MS = 400
const TIME_TO_FINISH_MS = 50
const SAMPLE_MS = 10
const SAMPLES = TIME_TO_FINISH_MS / SAMPLE_MS + 1

/**
 * Node waits for compilers in the background when a program ends, and one of them may wait for a garbage collection by
 * the main thread: then the process never ends (nodejs/node#54918, open in 2026). So after work that got compiled, they
 * get time to finish while the main thread still listens, unless it has just listened for as long, as it does while it
 * waits for the disk.
 */
export class CompilerWatch {
  readonly #timer = setInterval(() => this.#sample(), SAMPLE_MS).unref()
  /** For how long the event loop had been idle: now, and at the samples before, the oldest first. */
  readonly #idle: number[] = []

  #sample(): void {
    if (this.#idle.push(idleTime()) > SAMPLES) this.#idle.shift()
  }

  /** To be awaited at the end of the program. */
  async letFinish(): Promise<void> {
    clearInterval(this.#timer)
    if (performance.now() < LONG_ENOUGH_TO_COMPILE_MS) return
    const listened = idleTime() - (this.#idle[0] ?? 0)
    if (listened >= TIME_TO_FINISH_MS) return
    await new Promise((resolve) => setTimeout(resolve, TIME_TO_FINISH_MS - listened))
  }
}

function idleTime(): number {
  return performance.eventLoopUtilization().idle
}
