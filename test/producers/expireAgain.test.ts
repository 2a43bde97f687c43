import { describe, expect, it } from 'vitest'
import type { ProducerStateManagerOptions } from '../../src/producers/managerOptions.ts'
import { ProducerStateManager } from '../../src/producers/producerStateManager.ts'
import { type BatchOp, data, logOf } from './logBuilder.ts'
import { random } from './sequences.ts'

const NOTHING = { producers: 0, transactions: 0 }
const LOGS = 90
const barrier: BatchOp = { kind: 'barrier' }
const txn = (pid: number, seq = 0, epoch = 0): BatchOp => ({ kind: 'txn', pid, seq, epoch })
const commit = (pid: number, epoch = 0): BatchOp => ({ kind: 'COMMIT', pid, epoch, coordinatorEpoch: 3 })

function replayed(ops: readonly BatchOp[], options: ProducerStateManagerOptions = {}) {
  const manager = new ProducerStateManager(options)
  for (const batch of logOf(ops).batches) manager.append(batch, 'replication')
  return manager
}

function loaded(manager: ProducerStateManager, options: ProducerStateManagerOptions = {}) {
  return ProducerStateManager.fromSnapshot(manager.takeSnapshot(), {
    ...options,
    offset: manager.mapEndOffset,
  })
}

/** One state, in each form that it can be kept in. */
function formsOf(ops: readonly BatchOp[], options: ProducerStateManagerOptions = {}) {
  const whole = replayed(ops, options)
  const inOneSet = new ProducerStateManager(options)
  inOneSet.appendAll(logOf(ops).batches, 'mirror')
  return {
    whole,
    inOneSet,
    copied: ProducerStateManager.fromState(structuredClone(whole.toState()), options),
    'from a snapshot': loaded(whole, options),
    'from a snapshot of an unknown offset': ProducerStateManager.fromSnapshot(whole.takeSnapshot(), options),
    'from a snapshot of a snapshot': loaded(loaded(whole, options), options),
  }
}

/** Of one to three producers, mirrored and local: everything that leaves a trace, in epochs that mostly rise. */
function anyLog(seed: number, barriers: number): BatchOp[] {
  const next = random(seed)
  const below = (n: number) => Math.floor(next() * n)
  const pids = [-7, -8, 6].slice(below(3))
  const open = new Set<number>()
  return Array.from({ length: 3 + below(12) }, (_, at): BatchOp => {
    if (next() < barriers) {
      open.clear()
      return barrier
    }
    const pid = pids[below(pids.length)]!
    const epoch = Math.floor(at / 5) + below(2)
    if (next() < 0.1) return { kind: 'emptied', pid, epoch }
    if (next() < 0.3) {
      open.delete(pid)
      open.delete(-pid - 2)
      return { kind: next() < 0.5 ? 'COMMIT' : 'ABORT', pid, epoch }
    }
    if (!open.has(pid) && next() < 0.4) return data(pid, at, { epoch, count: 1 + below(3) })
    open.add(pid)
    return txn(pid, at, epoch)
  })
}

describe('expireMirrored, once more behind the barrier', () => {
  const behind: Record<string, BatchOp[]> = {
    'a transaction whose marker has the next epoch': [txn(-7), commit(-7, 1)],
    'a marker alone': [commit(-7)],
    'a control batch that compaction has emptied': [{ kind: 'emptied', pid: -7 }],
    'data, and a marker of the next epoch': [data(-7, 0), commit(-7, 1)],
    'a transaction that is open': [txn(-7)],
    'a transaction that came home': [txn(5), txn(-7, 1), commit(-7, 1)],
    'the marker of one that came home': [txn(5), commit(-7, 1)],
  }
  for (const [what, ops] of Object.entries(behind)) {
    it(`keeps ${what}`, () => {
      const all = [data(-9, 0), data(-7, 0), barrier, ...ops]
      for (const [form, manager] of Object.entries(formsOf(all))) {
        const before = manager.toState()
        expect(before.producers.map((row) => row.producerId)).toContain(-7n)
        expect(manager.expireMirrored(2n), form).toEqual(NOTHING)
        expect(manager.toState(), form).toEqual(before)
      }
    })
  }

  it('changes nothing, whatever has come since, in whatever form the state is', () => {
    for (let seed = 1; seed <= LOGS; seed++) {
      const barrierScope = seed % 2 === 0 ? 'all' : 'mirrored'
      const ops = anyLog(seed, 0.15)
      for (let length = 1; length <= ops.length; length++) {
        let forms: ReturnType<typeof formsOf>
        try {
          forms = formsOf(ops.slice(0, length), { barrierScope })
        } catch {
          break // plain data in a transaction: the log ends before it
        }
        for (const [form, manager] of Object.entries(forms)) {
          const before = manager.toState()
          for (const { offset } of forms.whole.barriers)
            expect(manager.expireMirrored(offset), `seed ${seed}, ${length}, ${form}`).toEqual(NOTHING)
          expect(manager.toState(), `seed ${seed}, ${length}, ${form}`).toEqual(before)
        }
      }
    }
  })
})

describe('expireMirrored, where no barrier has acted yet', () => {
  it('keeps a producer whole whose marker alone lies behind the offset, also when a snapshot lay between', () => {
    const ops = [data(-7, 0), { kind: 'data' } as const, commit(-7)]
    for (const manager of [replayed(ops), loaded(replayed(ops))]) {
      expect(manager.expireMirrored(1n)).toEqual(NOTHING)
      expect(manager.expireMirrored(2n)).toEqual(NOTHING)
      expect(manager.producers.get(-7n)?.batches).toHaveLength(1)
      expect(manager.expireMirrored(3n)).toEqual({ producers: 1, transactions: 0 })
    }
  })

  it('from a snapshot of a later offset: a transaction that is open tells that no marker came', () => {
    const plain: BatchOp = { kind: 'data' }
    const ops = [data(-7, 0), txn(-8), plain, plain]
    expect(replayed(ops).expireMirrored(2n)).toEqual({ producers: 2, transactions: 1 })
    const manager = loaded(replayed(ops))
    expect(manager.expireMirrored(2n)).toEqual({ producers: 1, transactions: 1 })
    expect([...manager.producers.keys()]).toEqual([-7n])
  })

  it('from a snapshot: the same at and behind its offset, never more before it', () => {
    const options = { barrierPolicy: 'ignore' } as const
    for (let seed = 1; seed <= LOGS / 3; seed++) {
      const ops = anyLog(seed, 0)
      let end: bigint
      try {
        end = replayed(ops, options).mapEndOffset
      } catch {
        continue
      }
      for (let cut = 0; cut <= ops.length; cut++) {
        const snapshot = replayed(ops.slice(0, cut), options)
        const offset = snapshot.mapEndOffset
        for (let at = 0n; at <= end; at++) {
          const whole = replayed(ops, options)
          const since = loaded(snapshot, options)
          for (const batch of logOf(ops.slice(cut), offset).batches) since.append(batch, 'replication')
          const expired = [whole.expireMirrored(at), since.expireMirrored(at)]
          if (at >= offset) expect(expired[1], `seed ${seed}, ${cut}, ${at}`).toEqual(expired[0])
          const kept = [...since.producers.keys()]
          expect(kept, `seed ${seed}, ${cut}, ${at}`).toEqual(
            expect.arrayContaining([...whole.producers.keys()]),
          )
        }
      }
    }
  })
})
