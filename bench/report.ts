import { Bench } from 'tinybench'

/** Nanoseconds a call: median, and the median absolute deviation from it. */
export interface Measured {
  median: number
  deviation: number
}

/** Times one function. Fails when the timer is too coarse for it, rather than print a wrong number. */
export async function measure(name: string, run: () => void): Promise<Measured> {
  const bench = new Bench({ name, time: 400, warmupTime: 150, throws: true, retainSamples: true })
  let warning: string | undefined
  bench.addEventListener('warning', (event) => {
    warning = `${name}: ${JSON.stringify(event)}`
  })
  bench.add(name, run)
  await bench.run()
  if (warning !== undefined) throw new Error(warning)
  const result = bench.tasks[0]?.result
  if (result === undefined || !('latency' in result)) throw new Error(`${name} gave no result`)
  return { median: result.latency.p50 * 1e6, deviation: result.latency.mad * 1e6 }
}
