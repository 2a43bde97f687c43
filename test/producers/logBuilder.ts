import {
  type ControlRecordType,
  encodeMirrorPidReset,
  encodeRecordBatch,
  type RecordBatch,
  recordBatches,
} from '../../src/index.ts'
import type { AppendOrigin } from '../../src/producers/appendOrigin.ts'
import { ProducerStateManager } from '../../src/producers/producerStateManager.ts'

/** Batches of a test log, in few words: only what producer state looks at. */
export interface BatchOp {
  /** Data, transactional data, markers, a control batch that compaction has emptied, a control batch of another type,
   * a MIRROR_PID_RESET. */
  kind: 'data' | 'txn' | 'COMMIT' | 'ABORT' | 'emptied' | 'control' | 'barrier'
  offset?: number
  pid?: number
  epoch?: number
  seq?: number
  /** Records; default 1. With 0 a header is left, as compaction does. */
  count?: number
  /** Default `count - 1`. */
  delta?: number
  /** Default 1000. */
  timestamp?: number
  coordinatorEpoch?: number
  /** Control record type of `control`. */
  type?: number
  /** Size of each record's value; default none. */
  bytes?: number
  /** Default 0. */
  leaderEpoch?: number
  /** Of a barrier; default `A`. */
  source?: string | null
}

function int16s(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2)
  for (const [index, value] of values.entries()) bytes.writeInt16BE(value, index * 2)
  return bytes
}

function markerValue(coordinatorEpoch: number): Buffer {
  const bytes = Buffer.alloc(6)
  bytes.writeInt32BE(coordinatorEpoch, 2)
  return bytes
}

const CONTROL_TYPE = { ABORT: 0, COMMIT: 1 } satisfies Partial<Record<keyof typeof ControlRecordType, number>>

/** One batch as bytes; the offset may be given from outside. */
export function encodeOp(op: BatchOp, offset = BigInt(op.offset ?? 0)): Uint8Array<ArrayBuffer> {
  const timestamp = BigInt(op.timestamp ?? 1000)
  if (op.kind === 'barrier') {
    const sourceClusterId = op.source === undefined ? 'A' : op.source
    return encodeMirrorPidReset({
      baseOffset: offset,
      leaderEpoch: op.leaderEpoch ?? 0,
      timestamp,
      sourceClusterId,
    })
  }
  const producer = {
    producerId: BigInt(op.pid ?? -1),
    producerEpoch: op.epoch ?? (op.pid === undefined ? -1 : 0),
  }
  const common = { baseOffset: offset, partitionLeaderEpoch: op.leaderEpoch ?? 0, ...producer }
  if (op.kind === 'data' || op.kind === 'txn') {
    const count = op.count ?? 1
    const value = op.bytes === undefined ? {} : { value: new Uint8Array(op.bytes).fill(op.bytes) }
    return encodeRecordBatch({
      ...common,
      isTransactional: op.kind === 'txn',
      baseSequence: op.seq ?? (op.pid === undefined ? -1 : 0),
      lastOffsetDelta: op.delta ?? Math.max(count - 1, 0),
      ...(count === 0 ? { maxTimestamp: timestamp } : {}),
      records: Array.from({ length: count }, () => ({ timestamp, ...value })),
    })
  }
  if (op.kind === 'emptied') {
    return encodeRecordBatch({
      ...common,
      isTransactional: true,
      isControl: true,
      maxTimestamp: timestamp,
      records: [],
    })
  }
  const isMarker = op.kind !== 'control'
  const key = int16s(0, isMarker ? CONTROL_TYPE[op.kind as 'ABORT' | 'COMMIT'] : (op.type ?? 2))
  const value = isMarker ? markerValue(op.coordinatorEpoch ?? 0) : Buffer.alloc(6)
  return encodeRecordBatch({
    ...common,
    isTransactional: isMarker,
    isControl: true,
    records: [{ timestamp, key, value }],
  })
}

export function viewOf(bytes: Uint8Array): RecordBatch {
  const [batch] = recordBatches(bytes)
  if (batch === undefined) throw new Error('no batch')
  return batch
}

export function batchOf(op: BatchOp, offset?: bigint): RecordBatch {
  return viewOf(encodeOp(op, offset))
}

/** Batches back to back, each behind the one before; and where each begins, in offsets. */
export function logOf(ops: readonly BatchOp[], from = 0n): { bytes: Buffer; batches: RecordBatch[] } {
  let offset = from
  const encoded = ops.map((op) => {
    const bytes = encodeOp(op, offset)
    offset = viewOf(bytes).nextOffset
    return bytes
  })
  const bytes = Buffer.concat(encoded)
  return { bytes, batches: [...recordBatches(bytes)] }
}

/** Appends at the end of the log, as a leader's log does. */
export function appender(manager = new ProducerStateManager()) {
  const append = (op: BatchOp, origin: AppendOrigin = 'client', version = 0) =>
    manager.append(batchOf(op, manager.mapEndOffset), origin, { transactionVersion: version })
  return { manager, append }
}

export const data = (pid: number, seq: number, more: Partial<BatchOp> = {}): BatchOp => ({
  kind: 'data',
  pid,
  seq,
  ...more,
})
