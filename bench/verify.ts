import { loadCoreSync } from 'mirrorpid'
import { jsCore } from 'mirrorpid/js'
import { type Contender, contest } from './contest.ts'
import { sizeName } from './crc.ts'
import { INSIDE, JS, NATIVE, ON_A_BUFFER, SCAN } from './names.ts'
import { nativeVerify } from './peers.ts'
import { recordSet } from './records.ts'
import { printSpeeds, printTable, type Results } from './results.ts'
import { countBatches } from './rewrite.ts'
import { xorScan } from './xorScan.ts'

/** What does it cost to check the CRCs of a record set, and how near is that to the limit? */

const SIZES = [200, 1024, 4096, 16_384, 65_536, 1 << 20]
const SET = 512 * 1024
const LARGE = 256 << 20

const wasm = loadCoreSync()
const js = jsCore()

export async function benchVerify(results: Results): Promise<void> {
  for (const size of SIZES) {
    const records = recordSet(size, Math.max(4, Math.floor(SET / size)))
    await contestOn(results, 'verify', sizeName(size), records, [
      { name: JS, run: () => requireSound(js.verify(records)) },
      { name: NATIVE, run: () => nativeVerify(records) },
    ])
  }
  printTable('Verify of record sets in cache, a batch', results.of('verify'))
  for (const size of [16_384, 65_536, 1 << 20]) {
    const records = recordSet(size, LARGE / size)
    const { scan } = await xorScan(records)
    await contestOn(results, 'verify-large', sizeName(size), records, [
      { name: NATIVE, run: () => nativeVerify(records) },
      { name: SCAN, run: () => scan(0, records.length) },
    ])
  }
  printSpeeds('Verify of 256 MiB', results.of('verify-large'))
}

async function contestOn(
  results: Results,
  section: string,
  caseName: string,
  records: Buffer,
  others: readonly Contender[],
): Promise<void> {
  const region = wasm.allocate(records.length)
  try {
    region.bytes.set(records)
    const inside = region.bytes
    const operations = countBatches(records)
    await contest(results, { section, case: caseName, operations, bytes: records.length / operations }, [
      { name: INSIDE, run: () => requireSound(wasm.verify(inside)) },
      { name: ON_A_BUFFER, run: () => requireSound(wasm.verify(records)) },
      ...others,
    ])
  } finally {
    region.free()
  }
}

function requireSound({ corrupt }: { corrupt: unknown[] }): void {
  if (corrupt.length > 0) throw new Error('a sound batch was found damaged')
}
