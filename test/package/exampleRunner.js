// Runs the examples of the doc comments in a project that has the package; examples.test.ts writes `examples.js` beside
// this. Prints, as JSON, what went wrong with each (null: nothing).
import { deepStrictEqual } from 'node:assert'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as zlib from 'node:zlib'
import * as mirrorpid from 'mirrorpid'
import { examples } from './examples.js'

const { loadCore, memoryStateStore, memoryStorage, MirrorPartition, PartitionLog } = mirrorpid
const { recordBatches, SoleReplica, SourceProducers } = mirrorpid

const fixtures = process.argv[2]
const SEGMENT = '00000000000000000000.log'
const read = (partition, name) => new Uint8Array(readFileSync(join(fixtures, partition, name)))

/** What examples take as given, fresh for each. */
async function given() {
  const records = read('idempotent-none-0', SEGMENT)
  const damaged = records.slice()
  damaged[70] ^= 1
  const core = await loadCore()
  const mapped = read('transactions-0', SEGMENT)
  core.rewrite(mapped)
  const storage = memoryStorage([[SEGMENT, mapped]])
  const source = PartitionLog.open(memoryStorage([[SEGMENT, records.slice()]]))
  const directory = mkdtempSync(join(process.cwd(), 'example-'))
  for (const root of ['kafka', 'data']) {
    mkdirSync(join(directory, root))
    cpSync(join(fixtures, 'transactions-0'), join(directory, root, 'orders-0'), { recursive: true })
  }
  // a mirror, so that it can be stopped
  writeFileSync(join(directory, 'kafka', 'orders-0', SEGMENT), mapped)
  cpSync(join(fixtures, 'transactions-0', SEGMENT), join(directory, SEGMENT))
  return {
    core,
    records,
    segment: records.slice(),
    bytes: records.slice(),
    fetched: records.slice(),
    damaged,
    batch: recordBatches(records).next().value,
    compressed: recordBatches(read('idempotent-gzip-0', SEGMENT)).next().value,
    value: new TextEncoder().encode('hello'),
    snapshot: read('transactions-0', '00000000000000000031.snapshot'),
    index: read('transactions-0', '00000000000000000000.txnindex'),
    abortedTransactions: [],
    response: new Response(records.slice()),
    log: PartitionLog.open(memoryStorage()),
    storage,
    source,
    mirror: new MirrorPartition(new SoleReplica(PartitionLog.open(memoryStorage())), memoryStateStore()),
    a: new SourceProducers('A'),
    b: new SourceProducers('B'),
    gunzipSync: zlib.gunzipSync,
    zstdDecompressSync: zlib.zstdDecompressSync,
    console: { log() {}, error() {} },
    directory,
    path: (name) => join(directory, name),
    same: (actual, expected) => deepStrictEqual(actual, expected),
    async throws(run, name) {
      try {
        await run()
      } catch (error) {
        if (error.name === name) return
        throw error
      }
      throw new Error(`throws no ${name}`)
    },
  }
}

const home = process.cwd()
const outcomes = []
for (const example of examples) {
  process.chdir(home)
  const bindings = await given()
  process.chdir(bindings.directory)
  try {
    await example(bindings)
    outcomes.push(null)
  } catch (error) {
    outcomes.push(String(error.stack))
  }
}
console.log(JSON.stringify(outcomes))
