import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeRecordBatch, loadCoreSync, PartitionLog } from 'mirrorpid'
import { directoryStorage, recoverPartition } from 'mirrorpid/node'

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

export async function benchRecovery(): Promise<void> {
  const rows: Record<string, Record<string, string>> = {}
  for (const batchBytes of [1024, 16 * 1024]) {
    const root = mkdtempSync(join(tmpdir(), 'mirrorpid-bench-'))
    const directory = join(root, 'orders-0')
    try {
      mkdirSync(directory)
      const began = performance.now()
      const batches = write(directory, batchBytes)
      const appended = performance.now() - began
      const times: number[] = []
      for (let run = 0; run < RUNS; run++) {
        const start = performance.now()
        const report = await recoverPartition(directory)
        times.push(performance.now() - start)
        if (report.batches !== batches || report.cut.length > 0)
          throw new Error('not all of it was recovered')
      }
      const size = readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0)
      const median = times.sort((a, b) => a - b)[RUNS >> 1]!
      rows[`batches of ${batchBytes / 1024} KiB`] = {
        'encode and append MiB/s': (SIZE / MIB / (appended / 1e3)).toFixed(0),
        'recover s': (median / 1e3).toFixed(2),
        'recover MiB/s': (size / MIB / (median / 1e3)).toFixed(0),
        'ns a batch': ((median * 1e6) / batches).toFixed(0),
      }
    } finally {
      rmSync(root, { recursive: true, force: true })
    }
  }
  console.log(
    `A partition of ${SIZE / MIB} MiB: appended by a client's batches, then recovered, every CRC checked`,
  )
  console.table(rows)
}
