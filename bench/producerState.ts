import { ProducerStateManager } from 'mirrorpid'
import { contest } from './contest.ts'
import { random } from './records.ts'
import { printTable, type Results } from './results.ts'

/** What does it cost to keep the state of a partition's producers, in time and memory? */

const BATCHES = 1_000_000
const HEADER_SIZE = 61

/** Headers alone, as a scan that skips the records reads them; every producer in turn at random, in sequence. */
function log(producers: number): Buffer {
  const next = random(producers)
  const sequences = new Int32Array(producers)
  const bytes = Buffer.alloc(BATCHES * HEADER_SIZE)
  for (let index = 0, at = 0; index < BATCHES; index++, at += HEADER_SIZE) {
    const producer = producers === BATCHES ? index : Math.floor(next() * producers)
    bytes.writeBigInt64BE(BigInt(index), at)
    bytes.writeInt32BE(HEADER_SIZE - 12, at + 8)
    bytes.writeInt8(2, at + 16)
    bytes.writeBigInt64BE(1700000000000n + BigInt(index), at + 35)
    bytes.writeBigInt64BE(BigInt(producer), at + 43)
    bytes.writeInt32BE(sequences[producer]!, at + 53)
    sequences[producer]!++
    bytes.writeInt32BE(1, at + 57)
  }
  return bytes
}

/** All of the process but its code and stacks; exact with `node --expose-gc`, else an upper bound. */
function megabytes(): number {
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 1e6
}

export async function benchProducerState(results: Results): Promise<void> {
  const counts = [1, 100, 10_000, BATCHES]
  const logs = counts.map((producers) => {
    const bytes = log(producers)
    const before = megabytes()
    const manager = new ProducerStateManager()
    manager.replay(bytes)
    const used = megabytes() - before
    const size = manager.producers.size
    const name = `${size} producer${size === 1 ? '' : 's'}`
    const what = { section: 'producers-memory', case: name, unit: 'MB' } as const
    results.add({ ...what, name: 'state' }, [used])
    results.add({ ...what, name: 'snapshot' }, [manager.takeSnapshot().length / 1e6])
    return { name, bytes }
  })
  for (const { name, bytes } of logs) {
    await contest(results, { section: 'producers', case: name, operations: BATCHES }, [
      { name: 'replay', run: () => new ProducerStateManager().replay(bytes) },
    ])
  }
  printTable('Producer state, header scan and update, a batch', results.of('producers'))
  printTable(`Producer state after ${BATCHES} batches`, results.of('producers-memory'))
}
