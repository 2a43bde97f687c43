import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeRecordBatch } from 'mirrorpid'
import { main, peakMegabytes, seconds } from './commandLine.ts'
import { printTable, type Results } from './results.ts'

/** What does it cost to open a log, by its segments and its producers? It must not grow with their product. */

const RUNS = 3
const BATCHES_BEHIND = 9_900
const STOP = ['stop', '--dry-run', '--unmarked', '--quiet', '--cluster-id', 'B', '--source-cluster-id', 'A']

/** All producers in the first segment, as many batches in the others together. */
function write(
  directory: string,
  segments: number,
  producers: number,
  idOf: (producer: number) => bigint,
): void {
  const value = new Uint8Array(50)
  const sequences = new Int32Array(producers)
  for (let segment = 0, batch = 0, behind = 0; segment < segments; segment++) {
    const end =
      segment === 0 ? producers : producers + Math.floor((BATCHES_BEHIND * ++behind) / (segments - 1))
    const name = `${String(batch).padStart(20, '0')}.log`
    const batches: Uint8Array[] = []
    for (; batch < end; batch++) {
      const producer = batch % producers
      batches.push(
        encodeRecordBatch({
          baseOffset: BigInt(batch),
          producerId: idOf(producer),
          producerEpoch: 0,
          baseSequence: sequences[producer]!++,
          records: [{ timestamp: 1700000000000n, value }],
        }),
      )
    }
    writeFileSync(join(directory, name), Buffer.concat(batches))
  }
}

export function benchOpening(results: Results): void {
  for (const producers of [5_000, 50_000]) {
    for (const segments of [100, 1000]) {
      for (const [ids, idOf] of [
        ['mapped', (producer: number) => -BigInt(producer) - 2n],
        ['local', BigInt],
      ] as const) {
        benchLog(results, `${segments} segments, ${producers} ${ids} ids`, (directory) =>
          write(directory, segments, producers, idOf),
        )
      }
    }
  }
  const title = `A partition opened by a command: all producers in the first segment, ${BATCHES_BEHIND} batches in the others`
  printTable(title, results.of('opening'))
  printTable(`${title}; peak memory`, results.of('opening-memory'))
}

function benchLog(results: Results, caseName: string, make: (directory: string) => void): void {
  const root = mkdtempSync(join(tmpdir(), 'mirrorpid-bench-'))
  const directory = join(root, 'orders-0')
  try {
    mkdirSync(directory)
    make(directory)
    for (const [name, args] of [
      ['recover', ['recover', directory]],
      ['stop --dry-run', [...STOP, directory]],
    ] as const) {
      const times = Array.from({ length: RUNS }, () => seconds(process.execPath, [main, ...args]))
      results.add({ section: 'opening', case: caseName, name, unit: 's' }, times)
      const peak = peakMegabytes([...args], join(root, 'peak'))
      results.add({ section: 'opening-memory', case: caseName, name, unit: 'MB' }, [peak])
    }
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}
