import { baseOffsetOfName } from '../fileNames.ts'
import type { RecoveryEvent } from './logOptions.ts'
import { maxOffset, minOffset } from './offsets.ts'
import { scanBatches } from './segmentScan.ts'
import type { LogStorage } from './storage.ts'

const OF_SEGMENT = /^\d{20}\.(log|index|timeindex|txnindex)$/
const INDEX = /^\d{20}\.(index|timeindex|txnindex)$/

/**
 * Finishes or undoes what a broker was about when it stopped: removes `.deleted` and `.cleaned`, moves `.swap` into the
 * place of what it replaces, removes indexes without a segment. Source: Kafka's LogLoader.
 */
export function tidyLeftovers(storage: LogStorage, onRecovery: (event: RecoveryEvent) => void): void {
  const note = (name: string) => onRecovery({ kind: 'leftover', name })
  const names = () => storage.list().sort()
  const cleaned = names().filter((name) => name.endsWith('.cleaned'))
  const leastCleaned = cleaned.length === 0 ? null : cleaned.map(offsetOf).reduce(minOffset)
  for (const name of names()) {
    const isUnfinishedSwap = name.endsWith('.swap') && leastCleaned !== null && offsetOf(name) >= leastCleaned
    if (!name.endsWith('.deleted') && !name.endsWith('.cleaned') && !isUnfinishedSwap) continue
    storage.remove(name)
    note(name)
  }
  const swaps = names().filter((name) => name.endsWith('.swap'))
  removeReplaced(storage, swaps, note)
  for (const name of swaps) {
    storage.rename(name, name.slice(0, -'.swap'.length))
    note(name)
  }
  for (const name of names()) {
    if (!INDEX.test(name) || storage.list().includes(name.replace(/\.\w+$/, '.log'))) continue
    storage.remove(name)
    note(name)
  }
}

/** A `.log.swap` stands for all segments from its base offset to its last offset. */
function removeReplaced(storage: LogStorage, swaps: readonly string[], note: (name: string) => void): void {
  const segments = swaps.filter((name) => name.endsWith('.log.swap'))
  if (segments.length === 0) return
  const from = segments.map(offsetOf).reduce(minOffset)
  const to = segments.map((name) => nextOffsetIn(storage, name)).reduce(maxOffset)
  for (const name of storage.list()) {
    if (!OF_SEGMENT.test(name) || offsetOf(name) < from || offsetOf(name) >= to) continue
    storage.remove(name)
    note(name)
  }
}

function nextOffsetIn(storage: LogStorage, name: string): bigint {
  const file = storage.open(name)
  let next = offsetOf(name)
  for (const { batch } of scanBatches(file, 0, file.size, null)) next = batch.nextOffset
  return next
}

/** A name without an offset is no broker's; it is removed or renamed as the others are, and replaces nothing. */
function offsetOf(name: string): bigint {
  return baseOffsetOfName(name) ?? 0n
}
