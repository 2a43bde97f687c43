import type { BatchOp } from '../../producers/logBuilder.ts'
import { random } from '../../producers/sequences.ts'

/** A batch of a healthy log, and the transaction that it belongs to. */
export interface HealthyOp extends BatchOp {
  transaction?: { isAborted: boolean }
}

interface Producer {
  pid: number
  version: 0 | 1 | 2 // 0: idempotent alone
  epoch: number
  seq: number
  open: HealthyOp['transaction'] | null
  lastMarker: HealthyOp | null
}

const SEQUENCES = 2 ** 31

export interface HealthyOptions {
  /** Producers start at epoch 0 and sequence 0, and nothing is mirrored. */
  isFresh?: boolean
  length?: number
}

/**
 * What one partition may go through where everything is right: idempotent and transactional producers of both versions,
 * epochs that rise, sequences that wrap, markers written twice or for nothing, and failovers: it is written, mirrored from
 * a cluster that numbers its producers as this one does, stopped with a barrier, and written again. A local transaction
 * may be open when mirroring begins, and come home.
 */
export function healthyLog(seed: number, { isFresh = false, length = 60 }: HealthyOptions = {}): HealthyOp[] {
  const next = random(seed)
  const below = (n: number) => Math.floor(next() * n)
  const chance = (p: number) => next() < p
  const ops: HealthyOp[] = []
  let time = 1_700_000_000_000

  function newProducer(pid: number): Producer {
    const version = below(3) as Producer['version']
    const isOld = !isFresh && chance(0.3)
    const seq = isOld ? (chance(0.5) ? SEQUENCES - 1 - below(4) : below(50)) : 0
    return { pid, version, epoch: isOld ? below(4) : 0, seq, open: null, lastMarker: null }
  }

  const newProducers = (idOf: (index: number) => number) =>
    Array.from({ length: 1 + below(4) }, (_, index) => newProducer(idOf(index)))
  const locals = newProducers((index) => index)
  let mirrored = newProducers((index) => -index - 2)
  let isMirroring = !isFresh && chance(0.5)

  function push(op: HealthyOp): HealthyOp {
    time += 1 + below(400)
    const whole = { ...op, timestamp: time }
    ops.push(whole)
    return whole
  }

  function write(producer: Producer): void {
    const count = 1 + below(3)
    const { pid, epoch, seq } = producer
    if (producer.version > 0) producer.open ??= { isAborted: false }
    const transaction = producer.open
    push({ kind: transaction ? 'txn' : 'data', pid, epoch, seq, count, ...(transaction && { transaction }) })
    producer.seq = (seq + count) % SEQUENCES
    producer.lastMarker = null
  }

  function raiseEpoch(producer: Producer, by = 1): void {
    producer.epoch += by
    producer.seq = 0
  }

  /** As the coordinator ends a transaction, or as a stop settles it (with the epoch of the data). */
  function end(producer: Producer, isAborted = chance(0.5), isSettled = false): void {
    const isRaised = !isSettled && (producer.version === 2 || (isAborted && chance(0.15)))
    const { pid, epoch, open } = producer
    if (open) open.isAborted = isAborted
    const kind = isAborted ? 'ABORT' : 'COMMIT'
    const op: HealthyOp = { kind, pid, epoch: epoch + (isRaised ? 1 : 0), ...(open && { transaction: open }) }
    producer.lastMarker = push(op)
    producer.open = null
    if (isRaised) raiseEpoch(producer, producer.version === 2 ? 1 : 2) // version 1 raises it again for the next producer
  }

  /** A transaction that has sent nothing to this partition. */
  function endNothing(producer: Producer): void {
    if (producer.version > 0 && !producer.open) end(producer, true)
  }

  function stop(): void {
    for (const producer of mirrored) if (producer.open) end(producer, true, true)
    push({ kind: 'barrier' })
    for (const producer of locals) producer.open = null // R2
    mirrored = newProducers((index) => -index - 2) // of another source, or of this one after long
    isMirroring = false
  }

  /** The mirror meets the rest of the transactions that began here. */
  function startMirror(): void {
    isMirroring = true
    if (mirrored.some((producer) => producer.lastMarker || producer.open)) return
    mirrored = locals.map((producer) => ({ ...producer, pid: -producer.pid - 2, lastMarker: null }))
  }

  function step(): void {
    if (chance(0.08)) {
      push({ kind: 'data', count: 1 + below(3) })
      return
    }
    if (!isFresh && chance(0.06)) {
      if (isMirroring) stop()
      else startMirror()
      return
    }
    const all = isMirroring ? mirrored : locals
    const producer = all[below(all.length)]!
    if (producer.open && chance(0.4)) end(producer)
    else if (chance(0.04)) endNothing(producer)
    else if (producer.lastMarker && chance(0.05)) push(producer.lastMarker)
    else if (!producer.open && chance(0.05)) raiseEpoch(producer)
    else write(producer)
  }

  while (ops.length < length) step()
  return ops
}
