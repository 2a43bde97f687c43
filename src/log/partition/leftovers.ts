import { InvalidRecordError } from '../../errors.ts'
import { baseOffsetOfName } from '../fileNames.ts'
import type { RecoveryEvent } from './logOptions.ts'
import { MAX_OFFSET, maxOffset, minOffset } from './offsets.ts'
import { scanBatches } from './segmentScan.ts'
import type { LogStorage } from './storage.ts'

const OF_SEGMENT = /^\d{20}\.(log|index|timeindex|txnindex)$/
const INDEX = /^\d{20}\.(index|timeindex|txnindex)$/
const LEFTOVER = /\.(deleted|cleaned|swap)$/
/** What a broker gives such names to; others are somebody else's, whatever they end in. */
const OF_BROKER =
  /^\d{20}\.(log|index|timeindex|txnindex)\.(deleted|cleaned|swap)$|^\d{20}\.snapshot\.deleted$/

/**
 * Finishes or undoes what a broker was about when it stopped: removes `.deleted` and `.cleaned`, moves `.swap` into the
 * place of what it replaces, removes indexes without a segment. Only files are touched that have a name which a broker
 * gives: it does not start on others. Source: Kafka's LogLoader.
 *
 * @throws InvalidRecordError for a `.log.swap` that cannot be read; nothing was changed then
 */
export function tidyLeftovers(storage: LogStorage, onRecovery: (event: RecoveryEvent) => void): void {
  const note = (name: string) => onRecovery({ kind: 'leftover', name })
  const all = storage.list().sort()
  const names = all.filter(isOfBroker)
  for (const name of all) if (LEFTOVER.test(name) && !isOfBroker(name)) onRecovery({ kind: 'foreign', name })
  const cleaned = names.filter((name) => name.endsWith('.cleaned'))
  const leastCleaned = cleaned.length === 0 ? null : cleaned.map(offsetOf).reduce(minOffset)
  const swaps = names.filter(
    (name) => name.endsWith('.swap') && (leastCleaned === null || offsetOf(name) < leastCleaned),
  )
  const replaced = namesReplacedBy(storage, swaps)
  // an unfinished swap before the .cleaned that tells that it is one
  const isSwap = (name: string) => name.endsWith('.swap')
  const unfinished = names.filter((name) => isSwap(name) && !swaps.includes(name))
  const removeAll = (doomed: readonly string[]) => {
    for (const name of doomed) {
      storage.remove(name)
      note(name)
    }
    // for good before the next step: nothing but these tells what has to be done
    if (doomed.length > 0) storage.sync()
  }
  removeAll(unfinished)
  removeAll([...names.filter((name) => !isSwap(name)), ...replaced])
  for (const name of swaps) {
    storage.rename(name, name.slice(0, -'.swap'.length))
    note(name)
  }
  const left = new Set(storage.list())
  for (const name of [...left].sort()) {
    if (!INDEX.test(name) || left.has(name.replace(/\.\w+$/, '.log'))) continue
    storage.remove(name)
    note(name)
  }
}

/**
 * The `.log.swap` files stand for all segments from the least of their base offsets to the largest of their last offsets.
 * One without a batch, which a cleaner that kept nothing has left, takes the place of the segment of its name alone.
 */
function namesReplacedBy(storage: LogStorage, swaps: readonly string[]): string[] {
  const segments = swaps.filter((name) => name.endsWith('.log.swap'))
  if (segments.length === 0) return []
  const from = segments.map(offsetOf).reduce(minOffset)
  const to = segments.map((name) => nextOffsetIn(storage, name)).reduce(maxOffset)
  return storage
    .list()
    .filter((name) => OF_SEGMENT.test(name) && offsetOf(name) >= from && offsetOf(name) < to)
    .sort()
}

/** A broker that cannot read a swap does not start, so the records that it would replace are still there. */
function nextOffsetIn(storage: LogStorage, name: string): bigint {
  const file = storage.open(name)
  let next = offsetOf(name)
  const scan = scanBatches(file, 0, file.size, null)
  let step = scan.next()
  for (; !step.done; step = scan.next()) next = step.value.batch.nextOffset
  if (step.value === null) return next
  throw new InvalidRecordError(
    `${name}: what the cleaner or a split has left here is damaged behind offset ${next}, so the segments that it would ` +
      'replace were kept. Nothing was changed; where they are sound, move this file away.',
    { baseOffset: offsetOf(name) },
  )
}

function isOfBroker(name: string): boolean {
  return OF_BROKER.test(name) && offsetOf(name) <= MAX_OFFSET
}

function offsetOf(name: string): bigint {
  return baseOffsetOfName(name) ?? 0n
}
