import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { peakMegabytes } from './commandLine.ts'
import { IN_PLACE, ONE_THREAD, OUT_PATCH, OUT_VERIFY, TWO_THREADS } from './names.ts'
import { printTable, type Results } from './results.ts'
import { GIBIBYTE, makeSegment } from './segments.ts'

/** What memory does a command take at its peak? On one large segment by one thread, and on two by two threads. */

const BATCH_SIZE = 16 * 1024
const CLUSTERS = ['--cluster-id', 'B', '--source-cluster-id', 'A']

export function benchMemory(results: Results): void {
  benchPartition(results, ONE_THREAD, 1)
  benchPartition(results, TWO_THREADS, 2)
  printTable('Peak memory of a command on a partition of 1 GiB, batches of 16 KiB', results.of('memory'))
}

function benchPartition(results: Results, caseName: string, segments: number): void {
  const root = mkdtempSync(join(tmpdir(), 'mirrorpid-bench-'))
  try {
    const partition = join(root, 'orders-0')
    mkdirSync(partition)
    let nextOffset = 0n
    for (let made = 0; made < segments; made++) {
      const name = `${String(nextOffset).padStart(20, '0')}.log`
      nextOffset = makeSegment(join(partition, name), BATCH_SIZE, GIBIBYTE / segments, nextOffset)
    }
    const out = join(root, 'out')
    const commands: [name: string, args: string[]][] = [
      ['verify', ['verify', partition, '--quiet']],
      ['dump', ['dump', partition]],
      [OUT_PATCH, ['rewrite', partition, '--out', out, '--quiet']],
      [OUT_VERIFY, ['rewrite', partition, '--out', out, '--crc', 'verify', '--quiet']],
      [IN_PLACE, ['rewrite', partition, '--in-place', '--quiet']],
      ['audit', ['audit', partition, '--quiet']],
      ['recover', ['recover', partition, '--quiet']],
      ['stop', ['stop', partition, ...CLUSTERS, '--quiet']],
    ]
    for (const [name, args] of commands) {
      rmSync(out, { recursive: true, force: true })
      results.add({ section: 'memory', case: caseName, name, unit: 'MB' }, [
        peakMegabytes(args, join(root, 'peak')),
      ])
    }
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}
