import type { BatchOp } from './logBuilder.ts'

export interface AppendStep {
  append: BatchOp[]
  origin: 'client' | 'coordinator' | 'replication'
  /** The transaction version that a marker's request names. */
  version?: number
}

/** A step of a sequence: an append, a move of the high watermark, or a check for expired producers. */
export type Step = AppendStep | { highWatermark: number } | { expire: number }

/** Appends to one partition. `direct` asks Kafka's producer state without its log, which ignores mapped ids. */
export interface Sequence {
  name: string
  mode: 'log' | 'direct'
  /** Whether a client's unknown producer must start at sequence 0. */
  zero?: boolean
  expirationMs?: number
  steps: Step[]
}

/** A seeded generator (mulberry32): the same sequences in every run. */
export function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

interface Model {
  pid: number
  epoch: number
  seq: number
  coordinatorEpoch: number
  isOpen: boolean
  sent: BatchOp[]
}

const MAX = 2147483647

function epochNear(model: Model, distance: number): number {
  return Math.min(Math.max(0, model.epoch + distance), 32767)
}

/** Mostly what producers do, often enough what they must not; the model only steers, the answers are Kafka's. */
export function randomSequence(seed: number): Sequence {
  const next = random(seed)
  const below = (n: number) => Math.floor(next() * n)
  const chance = (p: number) => next() < p
  const pick = <T>(values: readonly T[]): T => values[below(values.length)]!
  const mode = chance(0.25) ? ('direct' as const) : ('log' as const)
  const idOf = mode === 'direct' ? (n: number) => (chance(0.8) ? -(n + 2) : n + 100) : (n: number) => n
  const models: Model[] = Array.from({ length: 1 + below(chance(0.1) ? 30 : 4) }, (_, index) => ({
    pid: idOf(chance(0.2) ? index * 1000 + below(3) * 2 ** 33 : index),
    epoch: below(3),
    seq: chance(0.2) ? MAX - below(6) : chance(0.2) ? below(10) : 0,
    coordinatorEpoch: 0,
    isOpen: false,
    sent: [],
  }))
  const leads = mode === 'log' && chance(0.65)
  const mixed = chance(0.2)
  let end = 0
  let time = 1000
  const later = () => {
    time += below(50) - 5
    return time
  }

  function dataOp(model: Model): BatchOp {
    if (model.sent.length > 0 && chance(0.15)) return { ...pick(model.sent.slice(-7)) }
    const count = 1 + below(chance(0.2) ? 5 : 2)
    const op: BatchOp = {
      kind: (model.isOpen ? chance(0.93) : chance(0.4)) ? 'txn' : 'data',
      pid: model.pid,
      epoch: model.epoch,
      seq: model.seq,
      count,
      timestamp: later(),
    }
    if (chance(0.12)) op.seq = pick([0, model.seq + 1, Math.max(model.seq - 1, 0), below(5), MAX]) % (MAX + 1)
    if (chance(0.08)) op.epoch = epochNear(model, pick([-1, 1, 1, 2]))
    if (op.epoch !== model.epoch && chance(0.6)) op.seq = 0
    return op
  }

  function markerOp(model: Model, version: number): BatchOp {
    const bump = version >= 2 ? pick([1, 1, 1, 1, 0, -1, 2]) : pick([0, 0, 0, 0, 0, 1, -1])
    return {
      kind: chance(0.5) ? 'ABORT' : 'COMMIT',
      pid: model.pid,
      epoch: chance(0.01) ? 32767 : epochNear(model, bump),
      coordinatorEpoch: Math.max(0, model.coordinatorEpoch + pick([0, 0, 0, 1, -1])),
      timestamp: later(),
    }
  }

  /** Follows what the step would do if it is taken; a refused one only makes the model guess worse. */
  function learn(model: Model, op: BatchOp): void {
    if (op.kind === 'txn' || op.kind === 'data') {
      const { delta, offset: _offset, ...whole } = op
      model.sent.push({ ...whole, count: delta === undefined ? (op.count ?? 1) : delta + 1 })
      model.seq = ((op.seq ?? 0) + (op.delta ?? (op.count ?? 1) - 1) + 1) % (MAX + 1)
      model.epoch = Math.max(model.epoch, op.epoch ?? 0)
      if (op.kind === 'txn') model.isOpen = true
    } else if (op.kind === 'ABORT' || op.kind === 'COMMIT') {
      if ((op.epoch ?? 0) > model.epoch) model.seq = 0
      model.epoch = Math.max(model.epoch, op.epoch ?? 0)
      model.coordinatorEpoch = Math.max(model.coordinatorEpoch, op.coordinatorEpoch ?? 0)
      model.isOpen = false
    }
  }

  function followerOp(): BatchOp {
    if (chance(0.05)) return { kind: 'data', count: 1, timestamp: time }
    const model = pick(models)
    const isMarker = chance(model.isOpen ? 0.3 : 0.08)
    const op = isMarker ? markerOp(model, pick([0, 2])) : chance(0.03) ? emptied(model) : dataOp(model)
    if (!isMarker && chance(0.08) && op.kind !== 'emptied') {
      op.delta = (op.count ?? 1) - 1 + below(4) // compaction took the last records
      if (chance(0.3)) op.count = 0
    }
    if (mode === 'log' && chance(0.004))
      return { kind: 'control', type: 2 + below(8), pid: model.pid, epoch: 0 }
    learn(model, op)
    return op
  }

  const emptied = (model: Model): BatchOp => ({ kind: 'emptied', pid: model.pid, epoch: model.epoch })

  function follow(): Step {
    const append = Array.from({ length: 1 + below(chance(0.5) ? 6 : 1) }, () => {
      const op = { ...followerOp(), offset: end + (chance(0.1) ? below(5) : 0) }
      end = op.offset + (op.delta ?? Math.max((op.count ?? 1) - 1, 0)) + 1
      return op
    })
    return { append, origin: 'replication' }
  }

  function lead(): Step {
    const model = pick(models)
    if (chance(model.isOpen ? 0.35 : 0.07)) {
      const version = pick([0, 1, 2, 2])
      const op = markerOp(model, version)
      learn(model, op)
      end += 1
      return { append: [op], origin: 'coordinator', version }
    }
    const op = chance(0.05) ? ({ kind: 'data', timestamp: time } satisfies BatchOp) : dataOp(model)
    if (op.pid !== undefined) learn(model, op)
    end += op.count ?? 1
    return { append: [op], origin: chance(0.1) ? 'coordinator' : 'client' }
  }

  const steps: Step[] = []
  const length = 3 + below(chance(0.2) ? 40 : 18)
  for (let index = 0; index < length; index++) {
    if (chance(0.06)) steps.push({ highWatermark: below(end + 1) })
    else if (chance(0.02)) steps.push({ expire: time - 500 + below(1200) })
    else steps.push(mode === 'log' && leads !== (mixed && chance(0.3)) ? lead() : follow())
  }
  return { name: `seed ${seed}`, mode, zero: chance(0.2), expirationMs: 500, steps }
}
