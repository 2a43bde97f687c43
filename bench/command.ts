import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { main, seconds } from './commandLine.ts'
import { sizeName } from './crc.ts'
import { COPY, COPY_AND_SYNC, IN_PLACE, OUT_PATCH, OUT_VERIFY } from './names.ts'
import { printTable, type Results } from './results.ts'
import { GIBIBYTE, makeSegment } from './segments.ts'

/** What does the whole command cost, against a plain copy of the same segment? */

const ROUNDS = 5

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
      [IN_PLACE, inPlace],
      [OUT_PATCH, into('patch')],
      [OUT_VERIFY, into('verify')],
      ['verify', () => ['verify', segment]],
    ]
    const ways: [string, () => number][] = [
      [COPY, () => seconds('cp', [segment, copy])],
      [COPY_AND_SYNC, () => seconds('sh', ['-c', 'cp "$0" "$1" && sync "$1"', segment, copy])],
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
