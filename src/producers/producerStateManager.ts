import { bytesOf } from '../bytes/view.ts'
import { type OptionKinds, requireOptions, requireThing, shown } from '../core/arguments.ts'
import { finish, newCounts } from '../core/batchChecks.ts'
import type { Trailing } from '../core/core.ts'
import { RecordSetCursor } from '../core/recordSetCursor.ts'
import { FRAME_BATCH } from '../core/status.ts'
import { CorruptBatchError, InvalidArgumentError } from '../errors.ts'
import { NO_PRODUCER_EPOCH, type RecordBatch, requireBatch, requireBatches } from '../formats/recordBatch.ts'
import { type AppendOrigin, checkOrigin } from './appendOrigin.ts'
import {
  type AppendOptions,
  type AppendResult,
  type Barrier,
  NO_APPEND_OPTIONS,
  requireAppendOptions,
} from './appendResult.ts'
import {
  type CheckedOptions,
  checkOptions,
  MANAGER_OPTIONS,
  type ProducerStateManagerOptions,
  requireOffset,
} from './managerOptions.ts'
import { exportState, importState, type ProducerState } from './plainState.ts'
import { ProducerAppend } from './producerAppend.ts'
import { TXN_NONE, TXN_STATE } from './producerRow.ts'
import { readSnapshot, writeSnapshot } from './producerSnapshot.ts'
import { lastTimestampOf, type ProducerStateEntry } from './producerStateEntry.ts'
import { ProducersMap } from './producersMap.ts'
import type { Expired } from './producerUpdates.ts'
import type { AbortedTransactionEntry } from './transactions.ts'

/** A transaction that no marker has ended yet. */
export interface OngoingTransaction {
  /** Under which its next batch or its marker comes. */
  producerId: bigint
  producerEpoch: number
  /** Of the coordinator that wrote the producer's last marker; -1 where none is known. */
  coordinatorEpoch: number
  /** Of its first record. */
  firstOffset: bigint
}

/** How a producer snapshot is loaded. */
export interface SnapshotOptions extends ProducerStateManagerOptions {
  /**
   * The offset in the file's name: the state is that before it. Default: the log start offset, and where the markers lay
   * that it holds is not known (see `expireMirrored`).
   */
  offset?: bigint
  /** Producers that have expired by then are left out, as a starting broker does. Milliseconds; default: none expires. */
  now?: bigint
}

const SNAPSHOT_OPTIONS: OptionKinds<SnapshotOptions> = { ...MANAGER_OPTIONS, offset: 'any', now: 'any' }

/**
 * What a broker knows of the producers of one partition: their last batches, their open transactions, which of them were
 * aborted. It takes every batch of the log in log order, control batches and barriers included, and is a function of
 * these bytes alone. Offsets are taken as they stand in the batches: who appends a client's batch writes the log end
 * offset into it first (`baseOffset`, the first eight bytes, which its CRC does not cover). That offsets rise is for the
 * log to check, as in Kafka.
 *
 * @see Kafka's ProducerStateManager and UnifiedLog.append; KIP-1279 for mapped ids and barriers
 * @example
 * const state = new ProducerStateManager()
 * for (const batch of recordBatches(segment)) state.append(batch, 'replication')
 * state.producers.get(1000n)?.lastSequence
 */
export class ProducerStateManager {
  /** A live view; entries are copies. In the order in which the producers came. */
  readonly producers: ReadonlyMap<bigint, ProducerStateEntry>
  readonly #options: CheckedOptions
  readonly #append: ProducerAppend
  #logStartOffset: bigint

  /** @throws InvalidArgumentError for an option that is not known, or out of its range */
  constructor(options: ProducerStateManagerOptions = {}) {
    this.#options = checkOptions(requireOptions('options of ProducerStateManager', options, MANAGER_OPTIONS))
    this.#append = new ProducerAppend(this.#options)
    this.#logStartOffset = this.#options.logStartOffset
    this.producers = new ProducersMap(() => this.#append.updates.producers)
  }

  /**
   * Takes one batch, as an append of its own.
   *
   * @returns whether it is one of a client's last five batches again; then nothing has changed, and the answer to the
   *   client is that of the earlier append
   * @throws OutOfOrderSequenceError, InvalidProducerEpochError, InvalidTxnStateError, TransactionCoordinatorFencedError
   *   where a broker would; InvalidRecordError for a marker that cannot be read, or what no client may write. The state is
   *   as it was.
   */
  append(batch: RecordBatch, origin: AppendOrigin, options: AppendOptions = NO_APPEND_OPTIONS): AppendResult {
    return this.#append.one(requireBatch(batch), checkOrigin(origin), requireAppendOptions(options))
  }

  /**
   * Takes the batches of one append (a fetched record set) as Kafka does: all of them or, when it throws, none. A leader
   * takes one batch at a time. That is not quite the same as one by one: an epoch that goes down within a set leaves
   * older batches in the window, and the last stable offset of an abort knows all transactions of the set.
   *
   * @throws as `append`; InvalidRecordError for more than one batch from `client` or `coordinator`
   */
  appendAll(
    batches: Iterable<RecordBatch>,
    origin: AppendOrigin,
    options: AppendOptions = NO_APPEND_OPTIONS,
  ): AppendResult {
    return this.#append.all(requireBatches(batches), checkOrigin(origin), requireAppendOptions(options))
  }

  /**
   * Takes the batches of a segment one by one, as recovery does; the fastest way through a log, since it makes nothing of
   * a batch. CRCs are not checked.
   *
   * @returns what follows the last whole batch
   * @throws as `append` with origin `replication`, CorruptBatchError at a batch that cannot be framed; the batches before
   *   it are in the state
   */
  replay(records: Uint8Array | DataView, origin: 'replication' | 'mirror' = 'replication'): Trailing {
    checkOrigin(origin)
    const cursor = new RecordSetCursor(bytesOf(records, 'records'))
    let kind = cursor.frame()
    for (; kind === FRAME_BATCH; kind = cursor.frame()) {
      this.#append.framed(cursor.view, cursor.position, cursor.size, cursor.magic, origin)
      cursor.advance()
    }
    const counts = newCounts()
    const unreadable = finish(cursor, counts, kind)
    if (unreadable !== null) throw new CorruptBatchError(unreadable)
    return counts.trailing
  }

  /** What follows the last batch taken: the state is that before this offset (Kafka: mapEndOffset). */
  get mapEndOffset(): bigint {
    return this.#append.mapEndOffset
  }

  /**
   * First offset of the earliest transaction that is open, or whose end is not replicated yet (see `onHighWatermark`);
   * null where there is none. Not below the log start offset.
   */
  get firstUnstableOffset(): bigint | null {
    return this.#clipped(this.#append.updates.transactions.firstUnstableOffset)
  }

  /** First offset of the earliest transaction that is open; null where none is. */
  get firstUndecidedOffset(): bigint | null {
    return this.#clipped(this.#append.updates.transactions.firstUndecidedOffset)
  }

  /** What readers of committed records may read up to, with this high watermark. */
  lastStableOffset(highWatermark: bigint): bigint {
    requireOffset('highWatermark', highWatermark)
    const unstable = this.#clipped(this.#append.updates.transactions.firstUnstableOffsetAt(highWatermark))
    return unstable !== null && unstable < highWatermark ? unstable : highWatermark
  }

  /** The open transactions, earliest first. */
  get ongoingTransactions(): OngoingTransaction[] {
    return [...this.#append.updates.transactions.ongoing()].map(({ producerId, firstOffset }) => {
      const { producerEpoch = NO_PRODUCER_EPOCH, coordinatorEpoch = -1 } =
        this.producers.get(producerId) ?? {}
      return { producerId, producerEpoch, coordinatorEpoch, firstOffset }
    })
  }

  /** Aborted transactions, in the order in which they ended. */
  get abortedTransactions(): readonly AbortedTransactionEntry[] {
    return this.#append.updates.transactions.aborted
  }

  /** The barriers met, in log order, with what they did. */
  get barriers(): readonly Barrier[] {
    return this.#append.barriers
  }

  /** The high watermark has moved: transactions that ended below it hold the last stable offset back no longer. */
  onHighWatermark(highWatermark: bigint): void {
    this.#append.updates.transactions.removeUnreplicated(requireOffset('highWatermark', highWatermark))
  }

  /** The log ends at or behind an offset that no batch has told: the state is that before it. */
  onLogEndOffset(logEndOffset: bigint): void {
    this.#append.raiseMapEndOffset(requireOffset('logEndOffset', logEndOffset))
  }

  /** The log starts later now: what ended before it is forgotten. */
  onLogStartOffset(logStartOffset: bigint): void {
    requireOffset('logStartOffset', logStartOffset)
    if (logStartOffset <= this.#logStartOffset) return
    this.#logStartOffset = logStartOffset
    const { transactions } = this.#append.updates
    transactions.removeUnreplicated(logStartOffset)
    transactions.removeAborted(logStartOffset)
    this.#append.raiseMapEndOffset(logStartOffset)
  }

  /**
   * What a barrier at `offset` does: transactions that began before it and are open are aborted, and mirrored producers
   * (all, by `barrierScope`) expire of which no batch and no marker lies at or behind it; the others are kept whole.
   * Appending a barrier that acts does this already; doing it again changes nothing, whatever has come behind it.
   *
   * A snapshot does not tell where markers lie. Of a state that was loaded from one of a later offset nothing expires that
   * may have come behind the barrier: its producers stay, except one whose transaction is open and whose last batch lies
   * before `offset`. Where the snapshot's offset was not given, a producer with a batch counts by that one, and one of
   * which markers alone are known stays.
   */
  expireMirrored(offset: bigint): Expired {
    requireOffset('offset', offset)
    return this.#append.expire(offset, offset)
  }

  /**
   * Removes the producers without an open transaction of which nothing was heard for `producerIdExpirationMs`, by the
   * timestamps of their records.
   *
   * @param now milliseconds since the epoch
   * @returns how many
   * @throws InvalidArgumentError
   */
  removeExpired(now: bigint | number): number {
    if (typeof now !== 'bigint' && !Number.isSafeInteger(now)) {
      throw new InvalidArgumentError(`now must be a whole number of milliseconds; got ${shown(now)}`)
    }
    const isExpired = expiry(BigInt(now), this.#options.producerIdExpirationMs)
    return this.#append.updates.producers.removeIf(
      (words, start) => words[start + TXN_STATE] === TXN_NONE && isExpired(lastTimestampOf(words, start)),
    )
  }

  /** Whether a producer of a mapped id is known: a file with it is for no broker that exists (see `PartitionLog`). */
  get holdsMirrored(): boolean {
    return this.#append.updates.producers.holdsMirrored
  }

  /** The bytes of the `.snapshot` file for `mapEndOffset`, those that a broker would write. */
  takeSnapshot(): Uint8Array<ArrayBuffer> {
    return writeSnapshot(this.#append.updates.producers)
  }

  /**
   * The state that a snapshot holds: of each producer the last batch alone, and no ended transactions.
   *
   * @throws CorruptCompanionError CORRUPT_SNAPSHOT for bytes that a broker would not take
   */
  static fromSnapshot(snapshot: Uint8Array, options: SnapshotOptions = {}): ProducerStateManager {
    const { offset, now, ...managerOptions } = requireOptions(
      'options of fromSnapshot',
      options,
      SNAPSHOT_OPTIONS,
    )
    const manager = new ProducerStateManager(managerOptions)
    const { producerIdExpirationMs, logStartOffset } = manager.#options
    const isExpired = now === undefined ? () => false : expiry(now, producerIdExpirationMs)
    const mapEndOffset = requireOffset('offset', offset ?? logStartOffset)
    const updates = readSnapshot(snapshot, offset ?? null, isExpired)
    manager.#append.restore(updates, mapEndOffset)
    return manager
  }

  /** The whole state as plain data, for `structuredClone` and other threads. */
  toState(): ProducerState {
    return exportState(this.#append, this.#logStartOffset)
  }

  /** The inverse of `toState`; options are not part of the state. */
  static fromState(state: ProducerState, options: ProducerStateManagerOptions = {}): ProducerStateManager {
    requireThing('state', state, 'producers', 'what toState() gives')
    requireOptions('options of fromState', options, MANAGER_OPTIONS)
    const manager = new ProducerStateManager({ ...options, logStartOffset: state.logStartOffset })
    importState(manager.#append, state)
    return manager
  }

  #clipped(offset: bigint | null): bigint | null {
    return offset !== null && offset < this.#logStartOffset ? this.#logStartOffset : offset
  }
}

/** Java's subtraction of longs wraps; so does this. */
function expiry(now: bigint, expirationMs: number): (lastTimestamp: bigint) => boolean {
  const limit = BigInt(expirationMs)
  return (lastTimestamp) => BigInt.asIntN(64, now - lastTimestamp) >= limit
}
