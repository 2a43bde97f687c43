import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sizeName } from './crc.ts'
import { recordSet } from './records.ts'
import { printTable, type Results } from './results.ts'

/** What does the whole command cost, against a plain copy of the same segment? */

export const GIBIBYTE = 1 << 30
const ROUNDS = 5
export const main = fileURLToPath(new URL('../../dist/commands/main.js', import.meta.url))

/**
 * Writes a segment with a write for each batch, as a broker appends them: how a file was written decides what later
 * writes to it cost.
 *
 * @returns the offset behind its last batch
 */
export function makeSegment(path: string, batchSize: number, byteLength: number, baseOffset: bigint): bigint {
  const piece = recordSet(batchSize, (64 * 1024 * 1024) / batchSize)
  const file = openSync(path, 'w')
  let nextOffset = baseOffset
  for (let written = 0; written < byteLength; ) {
    for (let at = 0; at < piece.length && written < byteLength; ) {
      const size = 12 + piece.readInt32BE(at + 8)
      piece.writeBigInt64BE(nextOffset++, at) // not covered by the CRC
      writeSync(file, piece, at, size)
      at += size
      written += size
    }
  }
  closeSync(file)
  return nextOffset
}

function seconds(command: string, args: string[]): number {
  const start = process.hrtime.bigint()
  const { status, stderr } = spawnSync(command, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  if (status !== 0) throw new Error(`${command} ended with ${status}: ${stderr}`)
  return Number(process.hrtime.bigint() - start) / 1e9
}

export function benchCommand(results: Results): void {
  for (const batchSize of [16, 4, 64]) benchSegment(results, batchSize * 1024)
  printTable(
    'A segment of 1 GiB by the size of its batches, whole processes; all but cp and verify sync the disk',
    results.of('command'),
  )
}

/** In place, each run undoes what the one before did, so that there is always everything to do. */
function benchSegment(results: Results, batchSize: number): void {
  const directory = mkdtempSync(join(tmpdir(), 'mirrorpid-bench-'))
  try {
    const segment = join(directory, '00000000000000000000.log')
    makeSegment(segment, batchSize, GIBIBYTE, 0n)
    const copy = join(directory, 'copy')
    const out = join(directory, 'out')
    const clear = () => {
      rmSync(copy, { force: true })
      rmSync(out, { recursive: true, force: true })
    }
    let isMapped = false
    const inPlace = (): string[] => {
      isMapped = !isMapped
      return ['rewrite', segment, '--in-place', ...(isMapped ? [] : ['--unmap'])]
    }
    const into = (crc: string) => () => ['rewrite', segment, '--out', out, '--crc', crc]
    const commands: [string, () => string[]][] = [
      ['rewrite --in-place', inPlace],
      ['rewrite --out, patch', into('patch')],
      ['rewrite --out, verify', into('verify')],
      ['verify', () => ['verify', segment]],
    ]
    const ways: [string, () => number][] = [
      ['cp', () => seconds('cp', [segment, copy])],
      ['cp and sync', () => seconds('sh', ['-c', 'cp "$0" "$1" && sync "$1"', segment, copy])],
      ...commands.map(([name, args]): [string, () => number] => [
        name,
        () => seconds(process.execPath, [main, ...args(), '--quiet']),
      ]),
      ['--version: the start alone', () => seconds(process.execPath, [main, '--version'])],
    ]
    const times = ways.map((): number[] => [])
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [index, [, run]] of ways.entries()) {
        clear()
        spawnSync('sync')
        const time = run()
        if (round > 0) times[index]!.push(time) // the first round warms the page cache
      }
    }
    const caseName = sizeName(batchSize)
    for (const [index, [name]] of ways.entries()) {
      results.add({ section: 'command', case: caseName, name, unit: 's' }, times[index]!)
    }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
