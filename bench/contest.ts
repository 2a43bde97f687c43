import { Bench } from 'tinybench'
import type { Results } from './results.ts'

export interface Contender {
  name: string
  run: () => void
}

export interface Contest {
  section: string
  case: string
  /** Operations that one call of `run` does: figures are for one of them. */
  operations?: number
  /** Bytes that one operation reads. */
  bytes?: number
}

export const ROUNDS = 9
/** For each contender in each round. */
const ROUND_MS = 50
/** A sample takes at least as long, so that the timer is no part of it. */
const SAMPLE_MS = 0.05

/**
 * Measures contenders against one another: in turn, round after round, so that a machine that is busy for a while is so
 * for all of them; each round begins with another one, so that nothing that comes at intervals hits always the same. A
 * round gives a median; the figure is the median of the rounds, after one that does not count.
 */
export async function contest(
  results: Results,
  { operations = 1, ...what }: Contest,
  contenders: readonly Contender[],
): Promise<void> {
  const benches = contenders.map(
    ({ name, run }) => new Repeated(`${what.section}, ${what.case}: ${name}`, run),
  )
  const rounds = contenders.map((): number[] => [])
  for (let round = 0; round <= ROUNDS; round++) {
    for (let turn = 0; turn < benches.length; turn++) {
      const index = (round * 5 + turn) % benches.length
      const nanoseconds = await benches[index]!.round()
      if (round > 0) rounds[index]!.push(nanoseconds / operations)
    }
  }
  for (const [index, { name }] of contenders.entries()) {
    results.add({ ...what, name, unit: 'ns' }, rounds[index]!)
  }
}

/** One contender, by tinybench. */
class Repeated {
  readonly #bench = new Bench({
    time: ROUND_MS,
    iterations: 1,
    warmup: false,
    throws: true,
    retainSamples: true,
  })
  readonly #calls: number

  constructor(name: string, run: () => void) {
    const calls = callsInSample(run)
    this.#calls = calls
    this.#bench.add(name, () => {
      for (let call = 0; call < calls; call++) run()
    })
    // such as a timer too coarse for what it is to time: no figure is better than a wrong one
    this.#bench.addEventListener('warning', (event) => {
      throw new Error(`${name}: ${JSON.stringify(event)}`)
    })
  }

  /** The median of one round, in nanoseconds a call. */
  async round(): Promise<number> {
    this.#bench.reset()
    const [task] = await this.#bench.run()
    if (task === undefined || !('latency' in task.result)) throw new Error(`${task?.name} gave no result`)
    return (task.result.latency.p50 * 1e6) / this.#calls
  }
}

function callsInSample(run: () => void): number {
  for (let calls = 1; ; calls *= 2) {
    const began = performance.now()
    for (let call = 0; call < calls; call++) run()
    if (performance.now() - began >= SAMPLE_MS) return calls
  }
}
