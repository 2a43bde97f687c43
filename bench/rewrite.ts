import { type Core, type CrcMode, loadCoreSync } from 'mirrorpid'
import { jsCore } from 'mirrorpid/js'
import { nativeRecompute, plainJsRecompute, type Rewrite } from './peers.ts'
import { recordSet } from './records.ts'
import { type Measured, measure, table } from './report.ts'

/** What does it cost to rewrite a batch, by its size and by the way? */

const SIZES = [1024, 16 * 1024, 64 * 1024, 1024 * 1024]
/** As many batches at each size, so that sizes compare; together more than a second-level cache at 16 KiB and up. */
const BATCHES = 200

const withCore =
  (core: Core, crc: CrcMode): Rewrite =>
  (records, direction) => {
    core.rewrite(records, { crc, direction })
  }

export async function benchRewrite(): Promise<void> {
  const wasm = loadCoreSync()
  const js = jsCore()
  const inside = 'wasm, in its memory'
  const contenders: [string, Rewrite][] = [
    [`${inside}: patch`, withCore(wasm, 'patch')],
    [`${inside}: verify`, withCore(wasm, 'verify')],
    [`${inside}: recompute`, withCore(wasm, 'recompute')],
    ['wasm, on a Buffer: patch', withCore(wasm, 'patch')],
    ['wasm, on a Buffer: verify', withCore(wasm, 'verify')],
    ['mirrorpid/js: patch', withCore(js, 'patch')],
    ['mirrorpid/js: recompute', withCore(js, 'recompute')],
    ['plain JS recompute', plainJsRecompute],
    ['native CRC recompute', nativeRecompute],
  ]
  const columns = new Map<number, Map<string, Measured>>()
  for (const size of SIZES) {
    const original = recordSet(size, BATCHES)
    const results = new Map<string, Measured>()
    for (const [name, rewrite] of contenders) {
      const region = name.startsWith(inside) ? wasm.allocate(original.length) : null
      const records = region?.bytes ?? new Uint8Array(original.length)
      records.set(original)
      requireRight(name, rewrite, records, original)
      let direction: 'map' | 'unmap' = 'map'
      const measured = await measure(name, () => {
        rewrite(records, direction)
        direction = direction === 'map' ? 'unmap' : 'map'
      })
      results.set(name, { median: measured.median / BATCHES, deviation: measured.deviation / BATCHES })
      region?.free()
    }
    columns.set(size, results)
  }
  table('Rewrite, ns a batch (median ± median absolute deviation)', contenders, columns)
  printRatios(columns, `${inside}: patch`)
}

function requireRight(name: string, rewrite: Rewrite, records: Uint8Array, original: Buffer): void {
  const expected = new Uint8Array(original)
  nativeRecompute(expected, 'map')
  rewrite(records, 'map')
  if (!Buffer.from(records).equals(expected)) throw new Error(`${name} gives wrong bytes`)
  rewrite(records, 'unmap')
  if (!Buffer.from(records).equals(original)) throw new Error(`${name} does not undo itself`)
}

function printRatios(columns: Map<number, Map<string, Measured>>, ours: string): void {
  const medians = [...columns].map(([size, results]) => ({
    size,
    ours: results.get(ours)!.median,
    outside: results.get('wasm, on a Buffer: patch')!.median,
    plain: results.get('plain JS recompute')!.median,
    slicing: results.get('mirrorpid/js: recompute')!.median,
  }))
  for (const { size, ours: median, outside, plain, slicing } of medians) {
    const best = Math.min(plain, slicing)
    console.log(
      `${size / 1024} KiB: patch ${(plain / median).toFixed(0)}x plain JS recompute ` +
        `(${(best / median).toFixed(0)}x the faster JS one); on a Buffer ${(plain / outside).toFixed(0)}x`,
    )
  }
  const costs = medians.map((entry) => entry.ours)
  console.log(
    `patch from 1 KiB to 1 MiB: slowest / fastest ${(Math.max(...costs) / Math.min(...costs)).toFixed(2)}\n`,
  )
}
