import { type Core, type CrcMode, loadCoreSync } from 'mirrorpid'
import { jsCore } from 'mirrorpid/js'
import { type Contender, contest } from './contest.ts'
import { sizeName } from './crc.ts'
import { NATIVE_CHECKED_REWRITE, NATIVE_REWRITE, PLACES, PLAIN_REWRITE, rewriteIn } from './names.ts'
import { nativeRecompute, nativeVerifyAndRecompute, plainJsRecompute, type Rewrite } from './peers.ts'
import { recordSet } from './records.ts'
import { printTable, type Results } from './results.ts'

/** What does it cost to rewrite a batch, by its size and by the way? */

const SIZES = [200, 1024, 4096, 16_384, 65_536, 1 << 20]
/** Of a record set: it stays in a second-level cache. Of the largest batches there are four. */
const SET = 512 * 1024
const LARGE = 200 << 20

const wasm = loadCoreSync()
const js = jsCore()

interface Way {
  name: string
  rewrite: Rewrite
  isInside?: boolean
}

const withCore =
  (core: Core, crc: CrcMode): Rewrite =>
  (records, direction) => {
    core.rewrite(records, { crc, direction })
  }

const WAYS: Way[] = [
  ...(['patch', 'verify', 'recompute'] as const).flatMap((crc) =>
    PLACES.map((place) => ({
      name: rewriteIn(place, crc),
      rewrite: withCore(wasm, crc),
      isInside: place === 'in wasm memory',
    })),
  ),
  ...(['patch', 'verify', 'recompute'] as const).map((crc) => ({
    name: `mirrorpid/js: ${crc}`,
    rewrite: withCore(js, crc),
  })),
  { name: PLAIN_REWRITE, rewrite: plainJsRecompute },
  { name: NATIVE_REWRITE, rewrite: nativeRecompute },
  { name: NATIVE_CHECKED_REWRITE, rewrite: nativeVerifyAndRecompute },
]

export async function benchRewrite(results: Results): Promise<void> {
  for (const size of SIZES) {
    const original = recordSet(size, Math.max(4, Math.floor(SET / size)))
    await contestOn(results, 'rewrite', sizeName(size), original, WAYS)
  }
  printTable('Rewrite of record sets in cache, a batch', results.of('rewrite'))
  const large = recordSet(16_384, LARGE / 16_384)
  const names = PLACES.map((place) => rewriteIn(place, 'patch'))
  const patches = WAYS.filter(({ name }) => names.includes(name))
  await contestOn(results, 'rewrite-large', '16 KiB', large, patches)
  printTable('Rewrite over 200 MiB, a batch', results.of('rewrite-large'))
}

async function contestOn(
  results: Results,
  section: string,
  caseName: string,
  original: Buffer,
  ways: readonly Way[],
): Promise<void> {
  const inside = ways.filter((way) => way.isInside).map(() => wasm.allocate(original.length))
  // a later allocate may move the memory, so views are taken after all of them
  const regions = inside.values()
  const operations = countBatches(original)
  const contenders = ways.map(({ name, rewrite, isInside }): Contender => {
    const records = isInside ? regions.next().value!.bytes : new Uint8Array(original.length)
    records.set(original)
    requireRight(name, rewrite, records, original)
    let direction: 'map' | 'unmap' = 'map'
    return {
      name,
      run: () => {
        rewrite(records, direction)
        direction = direction === 'map' ? 'unmap' : 'map'
      },
    }
  })
  const bytes = original.length / operations
  await contest(results, { section, case: caseName, operations, bytes }, contenders)
  for (const region of inside) region.free()
}

export function countBatches(records: Buffer): number {
  let count = 0
  for (let at = 0; at < records.length; at += 12 + records.readInt32BE(at + 8)) count++
  return count
}

function requireRight(name: string, rewrite: Rewrite, records: Uint8Array, original: Buffer): void {
  const expected = new Uint8Array(original)
  nativeRecompute(expected, 'map')
  rewrite(records, 'map')
  if (!Buffer.from(records).equals(expected)) throw new Error(`${name} gives wrong bytes`)
  rewrite(records, 'unmap')
  if (!Buffer.from(records).equals(original)) throw new Error(`${name} does not undo itself`)
}
