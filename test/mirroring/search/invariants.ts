import type { PartitionLog, RecordBatch } from '../../../src/index.ts'
import { ProducerStateManager, type ProducerStateManagerOptions } from '../../../src/index.ts'
import { batchesOf, type Truth } from './truth.ts'
import { Violation } from './violation.ts'

export type Fate = 'open' | 'aborted' | 'committed'

/** What a log's bytes make of its producers and transactions, in log order. */
export class Replay {
  readonly state: ProducerStateManager
  readonly batches: RecordBatch[]
  readonly #truth: Truth

  /** @throws Violation where two producers are one to the state */
  constructor(
    log: PartitionLog,
    end: bigint,
    options: ProducerStateManagerOptions,
    truth: Truth,
    where: string,
  ) {
    this.state = new ProducerStateManager(options)
    this.batches = batchesOf(log, end)
    this.#truth = truth
    const owners = new Map<bigint, string>()
    for (const batch of this.batches) {
      const author = truth.authorOf(batch)
      if (author !== null && !batch.isControl && batch.hasProducerId) {
        const owner = owners.get(batch.producerId)
        if (owner !== undefined && owner !== author.producer && this.state.producers.has(batch.producerId)) {
          throw new Violation(
            `${where}: at offset ${batch.baseOffset} producer ${author.producer} writes as ${batch.producerId}, which ` +
              `is known as ${owner}`,
          )
        }
        owners.set(batch.producerId, author.producer)
      }
      this.state.append(batch, 'replication')
    }
    this.state.onLogEndOffset(end)
  }

  /** Of each transaction with records in the log. Each batch of one has the same. */
  fates(where: string): Map<string, Fate> {
    const fates = new Map<string, Fate>()
    for (const batch of this.batches) {
      const transaction = this.#truth.authorOf(batch)?.transaction ?? null
      if (transaction === null || batch.isControl) continue
      const fate = this.#fateOf(batch)
      const known = fates.get(transaction)
      if (known !== undefined && known !== fate) {
        throw new Violation(`${where}: of transaction ${transaction}, some is ${known} and some is ${fate}`)
      }
      fates.set(transaction, fate)
    }
    return fates
  }

  #fateOf({ producerId, baseOffset }: RecordBatch): Fate {
    const isOpen = this.state.ongoingTransactions.some(
      (open) =>
        (open.producerId === producerId || open.producerId === -(producerId + 2n)) &&
        open.firstOffset <= baseOffset,
    )
    if (isOpen) return 'open'
    const isAborted = this.state.abortedTransactions.some(
      (aborted) =>
        aborted.producerId === producerId &&
        aborted.firstOffset <= baseOffset &&
        baseOffset <= aborted.lastOffset,
    )
    return isAborted ? 'aborted' : 'committed'
  }
}

/**
 * Why a state is not that of a replay of the same log; null where it is. After a restart or a truncation a state comes from
 * a snapshot, which keeps the last batch of each producer and no timestamp of it; what has expired by time may be missing.
 */
export function stateDifference(
  state: ProducerStateManager,
  replay: Replay,
  expiredUpTo: bigint,
): string | null {
  const times = new Map(replay.batches.map(({ lastOffset, maxTimestamp }) => [lastOffset, maxTimestamp]))
  const isFresh = (lastOffset: bigint) => (times.get(lastOffset) ?? -1n) > expiredUpTo
  const has = textOf(state, expiredUpTo, isFresh)
  const should = textOf(replay.state, expiredUpTo, isFresh)
  if (has !== should) return `has    ${has}\n  replay ${should}`
  for (const { producerId, batches } of state.producers.values()) {
    const offsets = batches.map(({ lastOffset }) => lastOffset)
    const expected = replay.state.producers.get(producerId)?.batches.map(({ lastOffset }) => lastOffset) ?? []
    if (offsets.length > 0 && String(expected.slice(-offsets.length)) !== String(offsets)) {
      return `knows batches of ${producerId} that end at ${offsets}; replay: ${expected}`
    }
  }
  return null
}

function textOf(
  state: ProducerStateManager,
  expiredUpTo: bigint,
  isFresh: (lastOffset: bigint) => boolean,
): string {
  const producers = [...state.producers.values()]
    .filter((entry) => entry.lastTimestamp > expiredUpTo || entry.currentTxnFirstOffset !== null)
    .map(({ batches, ...entry }) => {
      const last = batches.at(-1)
      const isKept = last !== undefined && isFresh(last.lastOffset)
      return {
        ...entry,
        lastSequence: isKept ? entry.lastSequence : null,
        lastOffset: isKept ? entry.lastOffset : null,
        // the entry that knew it may have expired
        coordinatorEpoch: expiredUpTo >= 0n ? null : entry.coordinatorEpoch,
      }
    })
    .sort((a, b) => (a.producerId < b.producerId ? -1 : 1))
  const ongoing = state.ongoingTransactions.map(({ producerId, firstOffset }) => ({
    producerId,
    firstOffset,
  }))
  return JSON.stringify({ producers, ongoing }, (_, value) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
}
