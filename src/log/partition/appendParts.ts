import type { AppendOrigin } from '../../producers/appendOrigin.ts'
import type { AppendOptions } from '../../producers/appendResult.ts'
import type { ProducerStateManagerOptions } from '../../producers/managerOptions.ts'
import { ProducerStateManager } from '../../producers/producerStateManager.ts'
import type { CheckedRecords } from './appendRecords.ts'
import { MAX_POSITION, MAX_RELATIVE_OFFSET } from './offsets.ts'

/**
 * The batches of an append in as few parts as segments can hold that begin with them; one, but where a source's compaction
 * has left a gap of more than an index can span. A broker refuses such a set (LogSegmentOffsetOverflowException), so its
 * fetcher would ask for it for ever.
 */
export function partsOf(records: CheckedRecords): CheckedRecords[] {
  const { bytes, batches } = records
  const first = batches[0]
  const last = batches.at(-1)
  if (first === undefined || last === undefined) return []
  // nearly all sets; their offsets rise
  if (last.lastOffset - first.baseOffset <= MAX_RELATIVE_OFFSET && bytes.length <= MAX_POSITION) {
    return [records]
  }
  const parts: CheckedRecords[] = []
  let start = 0
  let from = 0
  let end = 0
  for (const [at, { lastOffset, sizeInBytes }] of batches.entries()) {
    const isFull =
      lastOffset - batches[from]!.baseOffset > MAX_RELATIVE_OFFSET || end - start + sizeInBytes > MAX_POSITION
    if (isFull && at > from) {
      parts.push({ bytes: bytes.subarray(start, end), batches: batches.slice(from, at) })
      start = end
      from = at
    }
    end += sizeInBytes
  }
  return [...parts, { bytes: bytes.subarray(start), batches: batches.slice(from) }]
}

/**
 * Gives the parts to a copy of the state: when the first is written, none may be refused any more.
 *
 * @throws what `ProducerStateManager.appendAll` throws
 */
export function requireAccepted(
  parts: readonly CheckedRecords[],
  state: ProducerStateManager,
  stateOptions: ProducerStateManagerOptions,
  origin: AppendOrigin,
  options: AppendOptions,
): void {
  const copy = ProducerStateManager.fromState(state.toState(), { ...stateOptions, onWarning: null })
  for (const { batches } of parts) copy.appendAll(batches, origin, options)
}
