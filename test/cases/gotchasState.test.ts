// What tools for Kafka's log get wrong about producers and transactions, readers and dumps. gotchas.test.ts has the bytes;
// test/producers has the rules of producer state themselves.
import { describe, expect, it } from 'vitest'
import { mapProducerId } from '../../src/core/producerId.ts'
import { consumerView } from '../../src/formats/consumerView.ts'
import { decodeRecords } from '../../src/formats/decodeRecords.ts'
import { encodeRecordBatch } from '../../src/formats/encodeRecordBatch.ts'
import { recordBatches } from '../../src/formats/recordBatches.ts'
import { ProducerStateManager } from '../../src/producers/producerStateManager.ts'
import { loadCoreSync } from '../../src/wasm/load.ts'
import { dataBatch, dumpBytes, positions } from '../dump/support.ts'
import { appender, type BatchOp, batchOf, data, encodeOp, logOf, viewOf } from '../producers/logBuilder.ts'
import { batch } from '../support/batches.ts'

const core = loadCoreSync()

const txn = (pid: number, seq: number, more: Partial<BatchOp> = {}): BatchOp => ({
  ...data(pid, seq, more),
  kind: 'txn',
})
const abort = (pid: number, more: Partial<BatchOp> = {}): BatchOp => ({ kind: 'ABORT', pid, ...more })
const commit = (pid: number, more: Partial<BatchOp> = {}): BatchOp => ({ kind: 'COMMIT', pid, ...more })

function replayed(...ops: BatchOp[]): ProducerStateManager {
  const manager = new ProducerStateManager()
  manager.replay(logOf(ops).bytes)
  return manager
}

/** The offsets that a reader gets who is told of these aborted transactions. */
async function committed(
  bytes: Uint8Array,
  ...abortedTransactions: { producerId: bigint; firstOffset: bigint }[]
): Promise<bigint[]> {
  const { records } = await consumerView(bytes, { isolation: 'read_committed', abortedTransactions })
  return records.map((record) => record.offset)
}

describe('CRCs', () => {
  it('are no matter of replay, as after a clean shutdown; who appends or reads checks them', async () => {
    const bytes = encodeOp(txn(7, 0))
    bytes[bytes.length - 1]! ^= 1
    const manager = new ProducerStateManager()
    manager.replay(bytes)
    expect(manager.producers.get(7n)?.lastSequence).toBe(0)
    expect(core.verify(bytes).corrupt).toHaveLength(1)
    await expect(consumerView(bytes)).rejects.toMatchObject({ code: 'CORRUPT_BATCH' })
  })
})

describe('ids that are only partly rewritten', () => {
  const whole = logOf([txn(8, 0), abort(8), txn(8, 1), commit(8)])
  const partly = Buffer.from(whole.bytes)
  core.rewrite(partly.subarray(0, whole.batches[0]!.sizeInBytes)) // the first data batch, not its marker

  it('leave a transaction that nobody ends', () => {
    const manager = new ProducerStateManager()
    manager.replay(partly)
    expect(manager.firstUnstableOffset).toBe(0n)
    expect(manager.abortedTransactions).toEqual([])
    expect(manager.producers.get(mapProducerId(8n))?.currentTxnFirstOffset).toBe(0n)
  })

  it('show aborted data to readers who are told the other id, and hide none of what was committed', async () => {
    expect(await committed(whole.bytes, { producerId: 8n, firstOffset: 0n })).toEqual([2n])
    expect(await committed(partly, { producerId: 8n, firstOffset: 0n })).toEqual([0n, 2n])
  })
})

describe('two sources under one id', () => {
  it('a log takes the lower epoch back, with a warning; later clients of the higher one are refused', () => {
    const warnings: unknown[] = []
    const { manager, append } = appender(new ProducerStateManager({ onWarning: (it) => warnings.push(it) }))
    append(data(5, 3, { epoch: 4 }), 'replication')
    append(data(5, 0, { epoch: 1 }), 'replication')
    expect(warnings).toMatchObject([{ kind: 'producer-epoch', producerId: 5n, found: 1, current: 4 }])
    expect(manager.producers.get(5n)).toMatchObject({ producerEpoch: 1, lastSequence: 0 })
    expect(() => append(data(5, 4, { epoch: 4 }))).toThrow(
      expect.objectContaining({ code: 'OUT_OF_ORDER_SEQUENCE' }),
    )
  })
})

describe('expiry', () => {
  const day = 86_400_000

  it('goes by the times in the records: old data is forgotten when it is loaded, future data is kept', () => {
    const manager = replayed(data(1, 0, { timestamp: 1000 }), data(2, 0, { timestamp: 3 * day }))
    const loaded = ProducerStateManager.fromSnapshot(manager.takeSnapshot(), { now: BigInt(2 * day) })
    expect([...loaded.producers.keys()]).toEqual([2n])
  })

  it('counts a marker as a sign of life', () => {
    const manager = replayed(txn(1, 0, { timestamp: 1000 }), commit(1, { timestamp: day }))
    expect(manager.removeExpired(day + 1001)).toBe(0)
    expect(manager.removeExpired(2 * day)).toBe(1)
  })
})

describe('a marker', () => {
  it('that is removed before its data: the transaction hangs', () => {
    const manager = replayed(txn(1, 0), data(2, 0))
    expect(manager.lastStableOffset(2n)).toBe(0n)
  })

  it('that is removed before its data: committed data is aborted with the transaction that follows', () => {
    const whole = replayed(txn(1, 0), commit(1), txn(1, 1), abort(1))
    const without = replayed(txn(1, 0), txn(1, 1), abort(1))
    expect(whole.abortedTransactions).toMatchObject([{ firstOffset: 2n, lastOffset: 3n }])
    expect(without.abortedTransactions).toMatchObject([{ firstOffset: 0n, lastOffset: 2n }])
  })

  it('whose data is removed: harmless, and the header that is left keeps the sequence', () => {
    const { manager, append } = appender()
    append(txn(1, 0, { count: 0, delta: 4 }), 'replication')
    append(commit(1), 'replication')
    expect(manager.lastStableOffset(6n)).toBe(6n)
    expect(manager.producers.get(1n)).toMatchObject({ lastSequence: 4, lastOffset: 4n })
    append(txn(1, 5))
  })

  it('lost by an unclean election: admin abort writes another, and that ends the transaction', () => {
    const { manager, append } = appender()
    append(txn(1, 0), 'replication')
    append(data(2, 0), 'replication')
    expect(manager.lastStableOffset(2n)).toBe(0n)
    append(abort(1), 'coordinator')
    expect(manager.lastStableOffset(3n)).toBe(3n)
    expect(manager.abortedTransactions).toMatchObject([{ producerId: 1n, firstOffset: 0n, lastOffset: 2n }])
  })

  it('takes an offset: what is stable ends behind it', () => {
    expect(replayed(txn(1, 0), commit(1)).lastStableOffset(2n)).toBe(2n)
  })

  it('that compaction has emptied ends nothing', () => {
    const manager = replayed(txn(1, 0), { kind: 'emptied', pid: 1, epoch: 0 })
    expect(manager.firstUnstableOffset).toBe(0n)
  })

  it('is none where a user wrote its bytes: control is a bit of the batch', async () => {
    const [control] = await decodeRecords(batchOf(abort(1)))
    const record = { key: control!.key, value: control!.value }
    const bytes = encodeRecordBatch({
      baseOffset: 1n,
      producerId: 1n,
      producerEpoch: 0,
      baseSequence: 1,
      isTransactional: true,
      records: [record],
    })
    const manager = replayed(txn(1, 0))
    manager.append(viewOf(bytes), 'client')
    expect(manager.firstUnstableOffset).toBe(0n)
    expect(manager.abortedTransactions).toEqual([])
  })
})

describe('control records of KRaft', () => {
  it.each([2, 3, 4, 5, 6])('type %i has no producer, so it is no state', (type) => {
    const manager = replayed({ kind: 'control', type }, data(1, 0))
    expect([...manager.producers.keys()]).toEqual([1n])
    expect(manager.mapEndOffset).toBe(2n)
  })
})

describe('compaction', () => {
  it('takes records away: sequences and offsets go by the header', () => {
    // five records, of which two are left
    const { manager, append } = appender()
    append(data(1, 10, { count: 2, delta: 4 }), 'replication')
    expect(manager.producers.get(1n)?.batches).toMatchObject([
      { firstSequence: 10, lastSequence: 14, firstOffset: 0n, lastOffset: 4n },
    ])
    expect(manager.mapEndOffset).toBe(5n)
    append(data(1, 15))
  })

  it('takes whole batches away: what follows a gap is in sequence for a log', () => {
    const manager = new ProducerStateManager()
    for (const [offset, seq] of [
      [3n, 0],
      [90n, 50],
    ] as const) {
      manager.append(batchOf(data(1, seq), offset), 'replication')
    }
    expect(manager.producers.get(1n)).toMatchObject({ lastSequence: 50, lastOffset: 90n })
  })

  it('takes aborted data away at once; its entry in the transaction index stays and drops nothing else', async () => {
    const { bytes } = logOf([abort(5), txn(5, 1), commit(5)], 10n)
    expect(await committed(bytes, { producerId: 5n, firstOffset: 2n })).toEqual([11n])
  })

  it('keeps record times right under a delete horizon, which is no time of a record', async () => {
    const times = [1700000000000n, 1700000000007n]
    // as the cleaner writes it: the horizon in the header, the deltas relative to it
    const horizon = 1800000000000n
    const delta = (timestamp: bigint, offset: number) =>
      varlong(timestamp - horizon).concat(varlong(BigInt(offset)))
    const records = times.map((timestamp, offset) => [0, ...delta(timestamp, offset), 1, 1, 0])
    const compacted = batch({
      attributes: 0x40,
      baseTimestamp: horizon,
      maxTimestamp: times[1]!,
      lastOffsetDelta: 1,
      recordsCount: 2,
      producerId: 9n,
      payload: Uint8Array.from(records.flatMap((bytes) => [...varlong(BigInt(bytes.length)), ...bytes])),
    })
    core.rewrite(compacted, { crc: 'verify' })
    const view = viewOf(compacted)
    expect(view).toMatchObject({ deleteHorizonMs: horizon, producerId: mapProducerId(9n) })
    expect((await decodeRecords(view)).map(({ timestamp }) => timestamp)).toEqual(times)
    const manager = new ProducerStateManager()
    manager.append(view, 'replication')
    expect(manager.producers.get(mapProducerId(9n))?.lastTimestamp).toBe(times[1])
    const { lines } = await dumpBytes(compacted, { isDeep: true })
    expect(lines[0]).toContain(
      `deleteHorizonMs: OptionalLong[${horizon}] position: 0 CreateTime: ${times[1]} `,
    )
    expect(lines[1]).toContain(`CreateTime: ${times[0]} `)
  })

  it('makes batches larger than max.message.bytes, and segments that begin below their first batch', async () => {
    const large = dataBatch(50, 2, {}, 'x'.repeat(1_100_000))
    const { findings, lines } = await dumpBytes(Buffer.concat([large, dataBatch(52)]))
    expect(findings).toEqual([])
    expect(positions(lines)).toEqual([0, large.length])
  })
})

describe('a last offset delta that is wrong', () => {
  it('shifts offsets and sequences, with nobody to notice: here too it is taken as it is', () => {
    const { manager, append } = appender()
    append(data(1, 0, { count: 1, delta: 9 }), 'replication')
    expect(manager.producers.get(1n)).toMatchObject({ lastSequence: 9, lastOffset: 9n })
    expect(manager.mapEndOffset).toBe(10n)
  })
})

describe('a file that is cut, or zeros behind its batches', () => {
  const { bytes, batches } = logOf([txn(1, 0), commit(1)])
  const whole = bytes.subarray(0, batches[0]!.sizeInBytes)

  it.each([8, 11, 12, 16, 17, 18, 60, 61, 77])(
    'cut after %i bytes of the last batch: state is that of the whole ones',
    (left) => {
      const manager = new ProducerStateManager()
      expect(manager.replay(bytes.subarray(0, whole.length + left))).toEqual({
        kind: 'incomplete',
        bytes: left,
      })
      expect(manager.mapEndOffset).toBe(1n)
      expect(manager.firstUnstableOffset).toBe(0n)
    },
  )

  it('zeros of a preallocated file are its end', async () => {
    const manager = new ProducerStateManager()
    expect(manager.replay(Buffer.concat([bytes, Buffer.alloc(4096)]))).toEqual({ kind: 'zeros', bytes: 4096 })
    expect([...recordBatches(Buffer.concat([whole, Buffer.alloc(4096)]))]).toHaveLength(1)
    expect((await consumerView(Buffer.concat([bytes, Buffer.alloc(4096)]))).nextOffset).toBe(2n)
  })
})

/** A zigzag varlong. */
function varlong(value: bigint): number[] {
  let rest = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n))
  const bytes: number[] = []
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
  return [...bytes, Number(rest)]
}
