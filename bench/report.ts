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

export function table(
  title: string,
  rows: [string, unknown][],
  columns: Map<number, Map<string, Measured>>,
): void {
  console.log(title)
  const lines: Record<string, Record<string, string>> = {}
  for (const [name] of rows) {
    const line: Record<string, string> = {}
    for (const [size, results] of columns) {
      const { median, deviation } = results.get(name)!
      line[`${size / 1024} KiB`] = `${median.toFixed(0)} ± ${deviation.toFixed(0)}`
    }
    lines[name] = line
  }
  console.table(lines)
}
