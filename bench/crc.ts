import { crc32c as native } from '@node-rs/crc32'
import { crc32c as platformatic } from '@platformatic/wasm-utils'
import { createCRC32 } from 'hash-wasm'
import { loadCoreSync } from 'mirrorpid'
import { jsCore } from 'mirrorpid/js'
import { type Contender, contest } from './contest.ts'
import { HASH_WASM, INSIDE, JS, NATIVE, ON_A_BUFFER, PLAIN, PLATFORMATIC, SCAN } from './names.ts'
import { tableCrc32c } from './peers.ts'
import { random } from './records.ts'
import { printSpeeds, printTable, type Results } from './results.ts'
import { xorScan } from './xorScan.ts'

/** How fast is CRC-32C, by the size of what is checked, against everyone else's? */

const SIZES = [61, 512, 1024, 4096, 16_384, 65_536, 1 << 20]
const LARGE = 256 << 20
const POLYNOMIAL = 0x82f63b78

/** By name: the CRC of a part of some bytes, at hand wherever it wants them. */
type Crc = (start: number, byteLength: number) => number

export async function benchCrc(results: Results): Promise<void> {
  for (const size of SIZES) {
    const bytes = filled(size)
    const { crcs, contenders, free } = await contendersOver(bytes)
    requireRight(crcs, bytes, [[0, size]])
    await contest(
      results,
      { section: 'crc', case: sizeName(size), bytes: size },
      contenders.map(({ name, run }) => ({ name, run: () => run(0, size) })),
    )
    free()
  }
  printSpeeds('CRC-32C of bytes in cache', results.of('crc'))
  await benchLarge(results)
}

/** The same in pieces over more than a cache holds, one after the other. */
async function benchLarge(results: Results): Promise<void> {
  const bytes = filled(LARGE)
  const { crcs, contenders, free } = await contendersOver(bytes)
  for (const size of [16_384, 1 << 20]) {
    requireRight(crcs, bytes, [
      [0, size],
      [LARGE - size, size],
    ])
    const overAll = contenders.map(({ name, run }): Contender => {
      let start = 0
      // 16 MiB a call: the next call goes on where this one ended
      return {
        name,
        run: () => {
          for (let done = 0; done < 16 << 20; done += size) {
            run(start, size)
            start = (start + size) % LARGE
          }
        },
      }
    })
    const what = { section: 'crc-large', case: `pieces of ${sizeName(size)}`, bytes: size }
    await contest(results, { ...what, operations: (16 << 20) / size }, overAll)
  }
  printSpeeds('CRC-32C over 256 MiB', results.of('crc-large'))
  printTable('CRC-32C in cache, a call', results.of('crc'))
  free()
}

function filled(size: number): Buffer {
  const next = random(size)
  const bytes = Buffer.alloc(size)
  const pattern = Buffer.from(Array.from({ length: Math.min(size, 65_521) }, () => Math.floor(next() * 256)))
  for (let at = 0; at < size; at += pattern.length) pattern.copy(bytes, at)
  return bytes
}

async function contendersOver(bytes: Buffer) {
  const core = loadCoreSync()
  const js = jsCore()
  const region = core.allocate(bytes.length)
  region.bytes.set(bytes)
  const inside = region.bytes
  const hashWasm = await createCRC32(POLYNOMIAL)
  const part = (start: number, length: number) =>
    start === 0 && length === bytes.length ? bytes : bytes.subarray(start, start + length)
  const crcs = new Map<string, Crc>([
    [
      INSIDE,
      (start, length) =>
        core.crc32c(
          start === 0 && length === inside.length ? inside : inside.subarray(start, start + length),
        ),
    ],
    [ON_A_BUFFER, (start, length) => core.crc32c(part(start, length))],
    [JS, (start, length) => js.crc32c(part(start, length))],
    [PLAIN, (start, length) => tableCrc32c(part(start, length))],
    [NATIVE, (start, length) => native(part(start, length))],
    [PLATFORMATIC, (start, length) => platformatic(part(start, length))],
    [
      HASH_WASM,
      (start, length) => {
        hashWasm.init()
        hashWasm.update(part(start, length))
        return Number.parseInt(hashWasm.digest(), 16)
      },
    ],
  ])
  const { scan } = await xorScan(bytes)
  const contenders: { name: string; run: (start: number, length: number) => void }[] = [
    ...[...crcs].map(([name, run]) => ({ name, run })),
    { name: SCAN, run: scan },
  ]
  return { crcs, contenders, free: () => region.free() }
}

function requireRight(crcs: Map<string, Crc>, bytes: Buffer, parts: [number, number][]): void {
  for (const [start, length] of parts) {
    const expected = tableCrc32c(bytes.subarray(start, start + length))
    for (const [name, crc] of crcs) {
      if (crc(start, length) !== expected) throw new Error(`${name} gives a wrong CRC of ${length} bytes`)
    }
  }
}

export function sizeName(size: number): string {
  if (size >= 1 << 20) return `${size / (1 << 20)} MiB`
  return size % 1024 === 0 ? `${size / 1024} KiB` : `${size} B`
}
