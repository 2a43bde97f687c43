import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { recordSet } from './records.ts'

/** What does the whole command cost, against a plain copy of the same segment? */

const GIBIBYTE = 1 << 30
const ROUNDS = 5
const main = fileURLToPath(new URL('../../dist/commands/main.js', import.meta.url))

function makeSegment(path: string, batchSize: number): void {
  const piece = recordSet(batchSize, (64 * 1024 * 1024) / batchSize)
  const file = openSync(path, 'w')
  let baseOffset = 0n
  for (let written = 0; written + piece.length <= GIBIBYTE; written += piece.length) {
    for (let at = 0; at < piece.length; at += 12 + piece.readInt32BE(at + 8)) {
      piece.writeBigInt64BE(baseOffset++, at) // not covered by the CRC
    }
    writeSync(file, piece)
  }
  closeSync(file)
}

function seconds(command: string, args: string[]): number {
  const start = process.hrtime.bigint()
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ended with ${status}: ${stderr}`)
  return Number(process.hrtime.bigint() - start) / 1e9
}

function median(values: number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!
}

export async function benchCommand(): Promise<void> {
  for (const batchSize of [16, 4, 64]) benchSegment(batchSize * 1024)
}

/** In place, each run undoes what the one before did, so that there is always everything to do. */
function benchSegment(batchSize: number): void {
  const directory = mkdtempSync(join(tmpdir(), 'mirrorpid-bench-'))
  try {
    const segment = join(directory, '00000000000000000000.log')
    makeSegment(segment, batchSize)
    const copy = join(directory, 'copy')
    const out = join(directory, 'out')
    let isMapped = false
    const rewriteInPlace = () => {
      const flags = isMapped ? ['--unmap'] : []
      isMapped = !isMapped
      return seconds(process.execPath, [main, 'rewrite', segment, '--in-place', '--quiet', ...flags])
    }
    const ways: [string, () => number][] = [
      ['cp', () => seconds('cp', [segment, copy])],
      ['cp and sync', () => seconds('sh', ['-c', 'cp "$0" "$1" && sync "$1"', segment, copy])],
      ['rewrite --in-place', rewriteInPlace],
      ...(['patch', 'verify'] as const).map((crc): [string, () => number] => [
        `rewrite --out, ${crc}`,
        () => seconds(process.execPath, [main, 'rewrite', segment, '--out', out, '--crc', crc, '--quiet']),
      ]),
      ['verify', () => seconds(process.execPath, [main, 'verify', segment, '--quiet'])],
      ['--version: the start alone', () => seconds(process.execPath, [main, '--version'])],
    ]
    const times = new Map<string, number[]>(ways.map(([name]) => [name, []]))
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [name, run] of ways) {
        rmSync(copy, { force: true })
        rmSync(out, { recursive: true, force: true })
        spawnSync('sync')
        const time = run()
        if (round > 0) times.get(name)!.push(time) // the first round warms the page cache
      }
    }
    const against = (values: number[], name: string) =>
      `${(median(values) / median(times.get(name)!)).toFixed(2)}x`
    console.log(
      `A 1 GiB segment of ${batchSize / 1024} KiB batches, whole processes; all but cp and verify sync the disk`,
    )
    console.table(
      Object.fromEntries(
        [...times].map(([name, values]) => [
          name,
          {
            'median s': median(values).toFixed(2),
            spread: `${Math.min(...values).toFixed(2)} - ${Math.max(...values).toFixed(2)}`,
            'against cp': against(values, 'cp'),
            'against cp and sync': against(values, 'cp and sync'),
          },
        ]),
      ),
    )
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
