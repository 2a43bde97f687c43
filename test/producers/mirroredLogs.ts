import type { BatchOp } from './logBuilder.ts'
import { random } from './sequences.ts'

/**
 * A partition's history in batches: written by local producers, mirrored (the other cluster's ids, and its own
 * transactions that come home), stopped by barriers. As in a real one, local ids are not written while it is mirrored.
 */
export function mirroredLog(seed: number): BatchOp[] {
  const next = random(seed)
  const below = (n: number) => Math.floor(next() * n)
  const pick = <T>(values: readonly T[]): T => values[below(values.length)]!
  const sequences = new Map<number, number>()
  const open = new Set<number>()
  const ops: BatchOp[] = []
  let isMirroring = next() < 0.5

  function write(pid: number): void {
    const seq = sequences.get(pid) ?? 0
    const count = 1 + below(2)
    const home = -pid - 2
    const isOpen = open.has(pid) || (pid < 0 && open.has(home))
    if (isOpen && next() < 0.35) {
      ops.push({ kind: pick(['ABORT', 'COMMIT']), pid, epoch: 0 })
      open.delete(pid)
      if (pid < 0) open.delete(home)
      return
    }
    const isTransactional = isOpen || next() < 0.7
    ops.push({ kind: isTransactional ? 'txn' : 'data', pid, seq, count, epoch: 0 })
    sequences.set(pid, seq + count)
    if (!isTransactional) return
    if (pid < 0) open.delete(home)
    open.add(pid)
  }

  const length = 4 + below(30)
  while (ops.length < length) {
    if (next() < 0.08) {
      ops.push({ kind: 'barrier' })
      open.clear()
      isMirroring = next() < 0.6
    } else if (next() < 0.05) {
      ops.push({ kind: 'data', count: 2 })
      isMirroring ||= next() < 0.3 // a failback needs no barrier before it
    } else write(isMirroring ? pick([-2, -3, -4]) : pick([0, 1, 2]))
  }
  return ops
}
