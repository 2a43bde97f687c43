import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeRecordBatch, loadCoreSync, PartitionLog } from 'mirrorpid'
import { directoryStorage, recoverPartition } from 'mirrorpid/node'
import { sizeName } from './crc.ts'
import { printTable, type Results } from './results.ts'

/** How long does it take to append a log, and to recover it with nothing but its segments trusted? */

const MIB = 1024 * 1024
const SIZE = 256 * MIB
const RUNS = 3

function write(directory: string, batchBytes: number): number {
  const log = PartitionLog.open(directoryStorage(directory), { core: loadCoreSync(), segmentBytes: 64 * MIB })
  const value = new Uint8Array(batchBytes - 80).fill(7)
  let batches = 0
  for (let written = 0; written < SIZE; batches++) {
    const batch = encodeRecordBatch({
      producerId: BigInt(batches % 100),
      producerEpoch: 0,
      baseSequence: Math.floor(batches / 100),
      records: [{ timestamp: 1700000000000n, value }],
    })
    written += log.append(batch, 'client').bytes
  }
  log.close()
  return batches
}

export async function benchRecovery(results: Results): Promise<void> {
  for (const batchBytes of [1024, 16 * 1024]) {
    const root = mkdtempSync(join(tmpdir(), 'mirrorpid-bench-'))
    const directory = join(root, 'orders-0')
    try {
      mkdirSync(directory)
      const began = performance.now()
      const batches = write(directory, batchBytes)
      const appended = (performance.now() - began) / 1e3
      const times: number[] = []
      for (let run = 0; run < RUNS; run++) {
        const start = performance.now()
        const report = await recoverPartition(directory)
        times.push((performance.now() - start) / 1e3)
        if (report.batches !== batches || report.cut.length > 0)
          throw new Error('not all of it was recovered')
      }
      const what = { section: 'recovery', case: `batches of ${sizeName(batchBytes)}`, unit: 's' } as const
      results.add({ ...what, name: 'encode and append' }, [appended])
      results.add({ ...what, name: 'recover' }, times)
    } finally {
      rmSync(root, { recursive: true, force: true })
    }
  }
  printTable(
    `A partition of ${SIZE / MIB} MiB, appended by a client, then recovered with every CRC checked`,
    results.of('recovery'),
  )
}
