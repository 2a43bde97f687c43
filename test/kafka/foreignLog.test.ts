import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { consumerView } from '../../src/index.ts'
import { memoryStorage } from '../../src/log/partition/memoryStorage.ts'
import { PartitionLog } from '../../src/log/partition/partitionLog.ts'
import { openPartitionDirectory } from '../../src/node/partition/partitionDirectory.ts'
import { directoryStorage } from '../../src/node/storage/directoryStorage.ts'
import { lastOnly } from '../log/logStates.ts'
import { type BatchOp, encodeOp } from '../producers/logBuilder.ts'
import { storedFiles } from '../support/storedFiles.ts'
import { startJava } from './jvm.js'

interface Seen {
  begin: number
  end: number
  records: string[]
}

/** A real broker, started on the partition directory whenever it is asked. */
class ForeignBroker {
  readonly #child: Awaited<ReturnType<typeof startJava>>
  readonly #lines: AsyncIterator<string>
  readonly #work: string
  directory = ''

  private constructor(child: Awaited<ReturnType<typeof startJava>>, work: string) {
    this.#child = child
    this.#work = work
    this.#lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]()
  }

  static async start(topic: string): Promise<ForeignBroker> {
    const work = mkdtempSync(join(tmpdir(), 'mirrorpid-foreign-'))
    const child = await startJava('mirrorpid.kafka.ForeignLog', [work, topic], {
      properties: { 'java.io.tmpdir': work },
    })
    const broker = new ForeignBroker(child, work)
    broker.directory = JSON.parse(await broker.#line()).directory
    return broker
  }

  async #line(): Promise<string> {
    const { value, done } = await this.#lines.next()
    if (done) throw new Error('the broker has ended')
    return value
  }

  async consume(): Promise<Record<'read_uncommitted' | 'read_committed', Seen>> {
    this.#child.stdin!.write('start\n')
    return JSON.parse(await this.#line())
  }

  async end(): Promise<void> {
    const closed = once(this.#child, 'close')
    this.#child.stdin!.end()
    await closed
    rmSync(this.#work, { recursive: true, force: true, maxRetries: 10 })
  }
}

const ops: BatchOp[] = [
  { kind: 'data', pid: 1000, seq: 0, count: 3, bytes: 40 },
  { kind: 'data', count: 2, bytes: 10 },
  { kind: 'txn', pid: 1001, seq: 0, count: 2, bytes: 21 },
  { kind: 'txn', pid: 1002, seq: 0, bytes: 22 },
  { kind: 'ABORT', pid: 1001 },
  { kind: 'data', pid: 1000, seq: 3, bytes: 41 },
  { kind: 'COMMIT', pid: 1002 },
  { kind: 'barrier', source: 'A' },
  { kind: 'txn', pid: 1001, seq: 2, bytes: 23 },
  { kind: 'COMMIT', pid: 1001 },
  { kind: 'txn', pid: 1002, seq: 1, bytes: 24 },
  { kind: 'ABORT', pid: 1002 },
  { kind: 'data', pid: 1000, seq: 4, bytes: 42 },
  { kind: 'txn', pid: 1001, seq: 3, bytes: 25 },
  { kind: 'data', pid: 1000, seq: 5, bytes: 43 },
]

/** By the broker's clock, no producer has expired. */
const NOW = Date.now()

/** The log that is put under the broker: several segments, all indexes. */
function written(storage = memoryStorage()): PartitionLog {
  const log = PartitionLog.open(storage, { segmentBytes: 400, indexIntervalBytes: 100 })
  for (const op of ops) {
    const isMarker = op.kind === 'ABORT' || op.kind === 'COMMIT' || op.kind === 'barrier'
    log.append(encodeOp({ ...op, timestamp: NOW }, log.logEndOffset), isMarker ? 'coordinator' : 'client')
  }
  log.updateHighWatermark(log.logEndOffset)
  return log
}

async function seenHere(isolation: 'read_uncommitted' | 'read_committed'): Promise<Seen> {
  const log = written()
  const records: string[] = []
  const end = isolation === 'read_committed' ? log.lastStableOffset : log.logEndOffset
  for (let offset = 0n; offset < end; ) {
    const read = log.read(offset, {
      isolation: isolation === 'read_committed' ? isolation : 'high_watermark',
    })
    const abortedTransactions = read.abortedTransactions ?? []
    const view = await consumerView(read.records, { isolation, abortedTransactions, fromOffset: offset })
    records.push(...view.records.map((record) => `${record.offset}:${record.value?.length ?? -1}`))
    offset = view.nextOffset
  }
  return { begin: 0, end: Number(end), records }
}

describe('a partition that PartitionLog has written, under a real broker', () => {
  let broker: ForeignBroker
  beforeAll(async () => {
    broker = await ForeignBroker.start('handmade')
    const { directory } = broker
    const metadata = readFileSync(join(directory, 'partition.metadata'))
    rmSync(directory, { recursive: true })
    mkdirSync(directory)
    written(directoryStorage(directory)).close()
    writeFileSync(join(directory, 'partition.metadata'), metadata)
  })
  afterAll(() => broker?.end())

  const remove = (pattern: RegExp) => {
    for (const name of readdirSync(broker.directory)) {
      if (pattern.test(name)) rmSync(join(broker.directory, name))
    }
  }
  const expected = async () => ({
    read_uncommitted: await seenHere('read_uncommitted'),
    read_committed: await seenHere('read_committed'),
  })

  it('has something to tell: aborted, committed and open transactions', async () => {
    const { read_uncommitted, read_committed } = await expected()
    expect(read_uncommitted.records).toHaveLength(14)
    expect(read_committed).toMatchObject({ end: 17, records: { length: 9 } })
  })

  it('is served after a clean stop', async () => {
    expect(await broker.consume()).toEqual(await expected())
  })

  it('is served after a crash that has lost the indexes and snapshots', async () => {
    remove(/(index|\.snapshot)$/)
    rmSync(join(dirname(broker.directory), '.kafka_cleanshutdown'))
    expect(await broker.consume()).toEqual(await expected())
  })

  it('and what the broker leaves is what was written', () => {
    const log = openPartitionDirectory(broker.directory)
    const own = written()
    expect([log.logStartOffset, log.logEndOffset]).toEqual([own.logStartOffset, own.logEndOffset])
    expect(lastOnly(log.producerState)).toEqual(lastOnly(own.producerState))
    expect(log.abortedTransactions).toEqual(own.abortedTransactions)
    const [left, made] = [directoryStorage(broker.directory, 'read'), memoryStorage()]
    written(made).close()
    for (const [name, bytes] of storedFiles(made)) {
      if (name.endsWith('.log') || name.endsWith('.txnindex'))
        expect(new Uint8Array(left.read(name)!), name).toEqual(bytes)
    }
  })
})
