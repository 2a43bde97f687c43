import * as names from './names.ts'
import type { Results, Spread } from './results.ts'

/** What the project has set itself, each a ratio or a figure of one run; and whether that run has reached it. */
export interface Target {
  text: string
  /** In `unit`; `at least` for speeds and ratios of speeds, `at most` for costs. */
  bound: 'at least' | 'at most'
  limit: number
  unit: string
  /** The median of the rounds; null where this run did not measure it. */
  actual: number | null
  /** The rounds furthest from it, where each gave a ratio. */
  range: [low: number, high: number] | null
  isReached: boolean | null
}

const { INSIDE, NATIVE, PLAIN, PLATFORMATIC, HASH_WASM } = names

export function targets(results: Results): Target[] {
  const list: Target[] = []
  const add = (
    text: string,
    bound: Target['bound'],
    limit: number,
    unit: string,
    measured: number | Spread | undefined,
  ) => {
    const actual = (typeof measured === 'object' ? measured.median : measured) ?? null
    const range: Target['range'] = typeof measured === 'object' ? [measured.low, measured.high] : null
    const isReached = actual === null ? null : bound === 'at least' ? actual >= limit : actual <= limit
    list.push({ text, bound, limit, unit, actual, range, isReached })
  }
  /** How many times as fast `ours` is as the fastest of the others. */
  const times = (section: string, caseName: string, ours: string, ...others: string[]) =>
    results.times(section, caseName, ours, others)
  const crcTimes = (size: string, limit: number, name: string, ...others: string[]) =>
    add(`CRC-32C of ${size} against ${name}`, 'at least', limit, 'x', times('crc', size, INSIDE, ...others))

  for (const [size, limit] of [
    ['4 KiB', 1],
    ['16 KiB', 1.3],
    ['64 KiB', 2],
    ['1 MiB', 2],
  ] as const) {
    crcTimes(size, limit, NATIVE, NATIVE)
  }
  for (const [size, limit] of [
    ['4 KiB', 2.5],
    ['16 KiB', 4],
    ['64 KiB', 4],
    ['1 MiB', 4],
  ] as const) {
    crcTimes(size, limit, 'the best other wasm', PLATFORMATIC, HASH_WASM)
  }
  crcTimes('4 KiB', 10, 'plain JavaScript', PLAIN)
  for (const size of ['64 KiB', '1 MiB']) crcTimes(size, 20, 'plain JavaScript', PLAIN)
  for (const size of ['16 KiB', '64 KiB', '1 MiB']) {
    const text = `verify of 256 MiB, batches of ${size}, in wasm memory, against the XOR scan`
    add(text, 'at least', 0.8, 'x', times('verify-large', size, INSIDE, names.SCAN))
  }
  const patchNs = results.median('rewrite', '16 KiB', names.rewriteIn('in wasm memory', 'patch'))
  const patchText = 'patch of 16 KiB batches in wasm memory'
  add(`${patchText}, in cache`, 'at least', 10, 'million/s', patchNs && 1000 / patchNs)
  const coldNs = results.median('rewrite-large', '16 KiB', names.rewriteIn('in wasm memory', 'patch'))
  add(`${patchText}, over 200 MiB`, 'at most', 150, 'ns', coldNs)
  const bufferNs = results.median('rewrite', '16 KiB', names.rewriteIn('on a Buffer', 'patch'))
  add('patch of 16 KiB batches on a Buffer', 'at least', 3, 'million/s', bufferNs && 1000 / bufferNs)
  for (const place of names.PLACES) {
    for (const size of ['16 KiB', '64 KiB', '1 MiB']) {
      const text = `crc 'verify' and rewrite of ${size} batches, ${place}, against native`
      const ours = names.rewriteIn(place, 'verify')
      add(text, 'at least', 2, 'x', times('rewrite', size, ours, names.NATIVE_CHECKED_REWRITE))
    }
  }
  for (const [name, limit] of [
    [names.OUT_PATCH, 1.3],
    [names.OUT_VERIFY, 1.6],
    [names.IN_PLACE, 0.7],
  ] as const) {
    for (const copy of [names.COPY, names.COPY_AND_SYNC]) {
      const text = `${name}, 1 GiB of 16 KiB batches, time against ${copy}`
      add(text, 'at most', limit, 'x', times('command', '16 KiB', copy, name))
    }
  }
  for (const [caseName, limit] of [
    [names.ONE_THREAD, 100],
    [names.TWO_THREADS, 120],
  ] as const) {
    const peak = results.highest('memory', caseName)
    add(`peak memory of a command, ${caseName}`, 'at most', limit, 'MB', peak)
  }
  return list
}

export function printTargets(list: readonly Target[]): void {
  const rows: Record<string, Record<string, string>> = {}
  for (const { text, bound, limit, unit, actual, range, isReached } of list) {
    if (actual === null) continue
    const by = bound === 'at least' ? actual / limit - 1 : limit / actual - 1
    rows[text] = {
      target: `${bound} ${limit} ${unit}`,
      measured: `${actual.toPrecision(3)} ${unit}${range === null ? '' : ` (${range.map((value) => value.toPrecision(3)).join('-')})`}`,
      reached: isReached ? 'yes' : `no, by ${Math.abs(by * 100).toFixed(0)} %`,
    }
  }
  console.log('\nTargets')
  console.table(rows)
}
