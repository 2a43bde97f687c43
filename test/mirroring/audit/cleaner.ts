import { type RecordBatch, recordBatches } from '../../../src/index.ts'
import { type BatchOp, encodeOp, viewOf } from '../../producers/logBuilder.ts'
import { random } from '../../producers/sequences.ts'
import type { HealthyOp } from './healthyLogs.ts'

interface Placed {
  op: HealthyOp
  offset: bigint
}

function placed(ops: readonly HealthyOp[]): Placed[] {
  let offset = 0n
  return ops.map((op) => {
    const place = { op, offset }
    offset = viewOf(encodeOp(op, offset)).nextOffset
    return place
  })
}

const isData = ({ kind }: BatchOp) => kind === 'data' || kind === 'txn'

/**
 * A log as Kafka's cleaner leaves it: aborted data goes, of other data any records or batches; a producer's last data
 * batch stays as a header; a marker goes, or is emptied, only once nothing of its transaction is left.
 */
export function cleaned(ops: readonly HealthyOp[], seed: number): RecordBatch[] {
  const next = random(seed)
  const all = placed(ops)
  const dirty = Math.floor(next() * all.length)
  const lastOf = new Map<number, Placed>()
  for (const place of all) if (isData(place.op) && place.op.pid !== undefined) lastOf.set(place.op.pid, place)
  const alive = new Set<HealthyOp['transaction']>()

  function cleanData({ op, offset }: Placed): BatchOp | null {
    const isGone = op.transaction?.isAborted === true || next() < 0.4
    const count = op.count ?? 1
    const delta = count - 1
    if (isGone && (op.pid === undefined || lastOf.get(op.pid)?.offset !== offset)) return null
    return { ...op, delta, count: isGone ? 0 : 1 + Math.floor(next() * count) }
  }

  const isOpen = (op: HealthyOp) => op.transaction !== undefined && !ended.has(op.transaction)
  const ended = new Set(all.filter(({ op }) => !isData(op)).map(({ op }) => op.transaction))
  const kept: { op: BatchOp; offset: bigint }[] = []
  for (const [index, place] of all.entries()) {
    const { op, offset } = place
    // the cleaner stops at the first open transaction; what it has not reached stays
    let result: BatchOp | null = op
    if (index < dirty && isData(op) && !isOpen(op)) result = cleanData(place)
    else if (index < dirty && (op.kind === 'COMMIT' || op.kind === 'ABORT') && !alive.has(op.transaction)) {
      const roll = next()
      result = roll < 0.4 ? null : roll < 0.6 ? { ...op, kind: 'emptied' } : op
    }
    if (result === null) continue
    if (isData(op)) alive.add(op.transaction)
    kept.push({ op: result, offset })
  }
  return [...recordBatches(Buffer.concat(kept.map(({ op, offset }) => encodeOp(op, offset))))]
}
