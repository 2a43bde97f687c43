import { INSIDE, SCAN } from './crc.ts'
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

const PLATFORMATIC = '@platformatic/wasm-utils'
const HASH_WASM = 'hash-wasm'
const NATIVE = '@node-rs/crc32 (native)'
const PLAIN = 'plain JavaScript, a table'

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
    add(text, 'at least', 0.8, 'x', times('verify-large', size, INSIDE, SCAN))
  }
  const patchNs = results.median('rewrite', '16 KiB', 'patch, in wasm memory')
  const patchText = 'patch of 16 KiB batches in wasm memory'
  add(`${patchText}, in cache`, 'at least', 10, 'million/s', patchNs && 1000 / patchNs)
  const coldNs = results.median('rewrite-large', '16 KiB', 'patch, in wasm memory')
  add(`${patchText}, over 200 MiB`, 'at most', 150, 'ns', coldNs)
  const bufferNs = results.median('rewrite', '16 KiB', 'patch, on a Buffer')
  add('patch of 16 KiB batches on a Buffer', 'at least', 3, 'million/s', bufferNs && 1000 / bufferNs)
  for (const place of ['in wasm memory', 'on a Buffer']) {
    for (const size of ['16 KiB', '64 KiB', '1 MiB']) {
      const text = `crc 'verify' and rewrite of ${size} batches, ${place}, against native`
      add(
        text,
        'at least',
        2,
        'x',
        times('rewrite', size, `verify, ${place}`, 'native: verify, then recompute'),
      )
    }
  }
  for (const [name, limit] of [
    ['rewrite --out, patch', 1.3],
    ['rewrite --out, verify', 1.6],
    ['rewrite --in-place', 0.7],
  ] as const) {
    for (const copy of ['cp', 'cp and sync']) {
      const text = `${name}, 1 GiB of 16 KiB batches, time against ${copy}`
      add(text, 'at most', limit, 'x', times('command', '16 KiB', copy, name))
    }
  }
  const peaks = results.of('memory').map((figure) => figure.median)
  add('peak memory of a command', 'at most', 120, 'MB', peaks.length > 0 ? Math.max(...peaks) : undefined)
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
