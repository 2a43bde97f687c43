import { bytesOf } from '../bytes/view.ts'
import { type OptionKinds, oneOf, requireOptions, requireText, requireThing } from '../core/arguments.ts'
import type { Core } from '../core/core.ts'
import { engineOf } from '../core/crcEngine.ts'
import { InvalidArgumentError } from '../errors.ts'
import { encodeMirrorPidReset } from '../formats/mirrorPidReset.ts'
import type { LogAppendResult } from '../log/partition/logAppend.ts'
import { OffsetOutOfRangeError } from '../log/partition/logErrors.ts'
import { minOffset } from '../log/partition/offsets.ts'
import type { PartitionLog } from '../log/partition/partitionLog.ts'
import { type AppendOptions, requireAppendOptions } from '../producers/appendResult.ts'
import { requireOffset } from '../producers/managerOptions.ts'
import { barrierAt } from './barrierAt.ts'
import type { Leader } from './leader.ts'
import { AppendRefusedError, SourceClusterMismatchError } from './mirrorErrors.ts'
import {
  checkMode,
  checkStop,
  checkTransition,
  isStopUnderWay,
  isWritable,
  type MirrorState,
  type MirrorStateName,
  type OpenTransactionsMode,
} from './mirrorState.ts'
import type { MirrorStateStore } from './mirrorStateFile.ts'
import { settleTransactions } from './settleTransactions.ts'
import { SourceIds } from './sourceIds.ts'

/** How a mirror maps and stamps what it writes. */
export interface MirrorPartitionOptions {
  /** Maps the producer ids. Default: the core of the log. */
  core?: Core
  /** How ids are mapped: default `map`; `none` stores them as they are, as the later drafts do. */
  producerIds?: 'map' | 'none'
  /** Go on where the mapping makes one of two ids of the source. Default false. */
  force?: boolean
  /** Milliseconds since the epoch, for the records that a stop writes. Default: the clock. */
  now?: () => bigint
}

const MIRROR_OPTIONS: OptionKinds<MirrorPartitionOptions> = {
  core: 'object',
  producerIds: 'any',
  force: 'boolean',
  now: 'function',
}

/** What is mirrored, and what of this log stays. */
export interface PrepareRequest {
  /** The cluster that is to be mirrored. */
  sourceClusterId: string
  /** What of this log the source has too ends here; the rest is dropped. Default: nothing is. */
  truncateTo?: bigint
}

const PREPARE_REQUEST: OptionKinds<PrepareRequest> = { sourceClusterId: 'any', truncateTo: 'any' }

/** Whose mirror is stopped, and what becomes of transactions that are open. */
export interface StopRequest {
  /** Must be the mirror's source; default: not checked. */
  sourceClusterId?: string
  /** Default `abort`. A stop that is under way keeps the one that it began with. */
  openTransactions?: OpenTransactionsMode
}

const STOP_REQUEST: OptionKinds<StopRequest> = { sourceClusterId: 'string', openTransactions: 'any' }

/**
 * A partition that mirrors one of another cluster: what may be written to it and when, and the failover. Its state is
 * saved before each step that it permits, so that after a crash the same call goes on where the last one stopped.
 *
 * @see KIP-1279 (Cluster Mirroring)
 * @example
 * const mirror = new MirrorPartition(new SoleReplica(log), mirrorStateFile(storage))
 * mirror.prepare({ sourceClusterId: 'A' })
 * mirror.start()
 * mirror.mirror(fetched)
 * mirror.stop({ openTransactions: 'abort' }) // 'STOPPED': local producers may write
 */
export class MirrorPartition {
  readonly #leader: Leader
  readonly #store: MirrorStateStore
  readonly #core: Core | undefined
  readonly #isMapped: boolean
  readonly #now: () => bigint
  /** Null where nobody asks. */
  readonly #sourceIds: SourceIds | null
  #state: MirrorState | null

  /** @throws InvalidArgumentError, CorruptMirrorStateError */
  constructor(leader: Leader, store: MirrorStateStore, options: MirrorPartitionOptions = {}) {
    requireThing('leader', leader, 'log', 'a Leader, such as new SoleReplica(log)')
    requireThing('store', store, 'load', 'a MirrorStateStore, such as mirrorStateFile(storage)')
    requireOptions('options of MirrorPartition', options, MIRROR_OPTIONS)
    if (options.core !== undefined) engineOf(options.core)
    const { core, producerIds = 'map', force = false, now = () => BigInt(Date.now()) } = options
    oneOf('producerIds', producerIds, ['map', 'none'])
    this.#leader = leader
    this.#store = store
    this.#core = core
    this.#isMapped = producerIds === 'map'
    this.#sourceIds = this.#isMapped && !force ? new SourceIds() : null
    this.#now = now
    this.#state = store.load()
  }

  /** The leader's log. */
  get log(): PartitionLog {
    return this.#leader.log
  }

  /** Null for a partition that was never mirrored: it is like any other. */
  get state(): MirrorStateName | null {
    return this.#state?.state ?? null
  }

  get sourceClusterId(): string | null {
    return this.#state?.sourceClusterId ?? null
  }

  /** Offset of the barrier of the last stop; null before there was one. */
  get lastMirroredOffset(): bigint | null {
    return this.#state?.lastMirroredOffset ?? null
  }

  /**
   * First offset that this cluster wrote itself when it stopped: that of the barrier, or of the ABORT markers before it.
   * In a failback the old source is cut to it: what it has from there on, this log has not.
   */
  get mirroredEndOffset(): bigint | null {
    return this.#state?.mirroredEndOffset ?? null
  }

  /** Why the mirror is FAILED. */
  get failure(): string | null {
    return this.#state?.failure ?? null
  }

  /**
   * Makes the partition ready for a source: what only this log has is dropped. Local producers cannot write from here on.
   * @throws InvalidTransitionError
   */
  prepare(request: PrepareRequest): void {
    requireOptions('request of prepare', request, PREPARE_REQUEST)
    const { sourceClusterId, truncateTo = this.log.logEndOffset } = request
    if (typeof sourceClusterId !== 'string' || sourceClusterId === '') {
      throw new InvalidArgumentError('sourceClusterId must be the id of the cluster to mirror')
    }
    const prepareOffset = requireOffset('truncateTo', truncateTo)
    this.#sourceIds?.forget()
    this.#become('PREPARING', {
      sourceClusterId,
      prepareOffset,
      openTransactions: null,
      plannedBarrierOffset: null,
      ...this.#stopBelow(prepareOffset),
      failure: null,
    })
    this.#cutTo(prepareOffset)
  }

  /** Lets batches of the source in; also resumes a mirror that is paused. */
  start(): void {
    if (this.#state?.state === 'PREPARING') this.#cutTo(this.#state.prepareOffset ?? this.log.logEndOffset)
    this.#become('MIRRORING', { prepareOffset: null })
  }

  /**
   * Appends what was fetched from the source at `log.logEndOffset`, with its offsets; producer ids are mapped. The last
   * batch may be cut. Two ids of the source that the mapping makes one fail the mirror, unless a barrier stands between them
   * (after a reopen, of what is mirrored from then on: a log does not tell what its mapped ids were).
   *
   * @param records not changed
   * @throws AppendRefusedError unless MIRRORING; ProducerIdsMeetError, the mirror being FAILED then;
   * UnmappableProducerIdError; what `PartitionLog.append` throws
   */
  mirror(records: Uint8Array | DataView): LogAppendResult {
    this.#requireMirroring('a mirror append')
    const mapped = bytesOf(records, 'records').slice()
    const error = this.#sourceIds?.take(mapped, this.log) ?? null
    if (error !== null) {
      this.fail(error.message)
      throw error
    }
    // the log checks CRCs, and a patched one is as wrong as it was before
    if (this.#isMapped) (this.#core ?? this.log.core).rewrite(mapped)
    const result = this.#leader.append(mapped, 'mirror')
    this.#sourceIds?.appended(this.log)
    return result
  }

  /**
   * Drops what lies at or above an offset, as the source has lost it: another leader there, or a cut further up. It lasts
   * when the call returns; a recovery point that is kept elsewhere must be lowered before the next append. The log then
   * ends at the offset, also where that is below its start.
   *
   * @throws AppendRefusedError unless MIRRORING
   */
  truncateTo(offset: bigint): void {
    this.#requireMirroring('a cut')
    // first what is known of a barrier that goes, so that no crash leaves the state ahead of the log
    const isCut = requireOffset('offset', offset) < this.log.logEndOffset
    if (isCut) this.#save('MIRRORING', this.#stopBelow(offset))
    this.#cutTo(offset)
  }

  /**
   * Drops what the source has deleted: raises the log start offset, as far as the high watermark, and never lowers it. It
   * lasts once the log is flushed. An empty log that ends below the offset begins anew there. One that holds records does
   * not, as what lies between would be missing in silence: `fail` the mirror, or `prepare` it with `truncateTo` 0.
   *
   * @returns the log start offset as it is then
   * @throws AppendRefusedError unless MIRRORING; OffsetOutOfRangeError above the end of a log that holds records
   */
  followLogStart(offset: bigint): bigint {
    this.#requireMirroring('a change of the log start offset')
    const { logStartOffset, logEndOffset, highWatermark } = this.log
    if (requireOffset('offset', offset) <= logEndOffset) {
      this.#leader.startAt(minOffset(offset, highWatermark))
    } else if (logStartOffset === logEndOffset) {
      this.#leader.startAt(offset)
    } else {
      throw new OffsetOutOfRangeError(offset, logStartOffset, logEndOffset)
    }
    return this.log.logStartOffset
  }

  /**
   * Appends what a local producer or coordinator writes.
   * @throws AppendRefusedError unless the partition is STOPPED or was never mirrored; what `PartitionLog.append` throws
   */
  append(
    records: Uint8Array,
    origin: 'client' | 'coordinator',
    options: AppendOptions = {},
  ): LogAppendResult {
    oneOf('origin', origin, ['client', 'coordinator'])
    requireAppendOptions(options)
    if (!isWritable(this.state)) {
      throw new AppendRefusedError(
        'a local append',
        this.state,
        'stop the mirror first, or write to its source.',
      )
    }
    return this.#leader.append(records, origin, options)
  }

  /** Stops taking batches in; what was appended is on disk then. InvalidTransitionError unless MIRRORING. */
  pause(): void {
    this.#become('PAUSING', {})
    this.log.flush()
    this.#become('PAUSED', {})
  }

  /** Goes on where `pause` stopped: the same as `start`. */
  resume(): void {
    this.start()
  }

  /** Gives up on a source: nothing is appended until the mirror is prepared anew, or stopped. */
  fail(reason: string): void {
    this.#become('FAILED', { failure: requireText('reason', reason) })
  }

  /**
   * The failover: settles the open transactions, appends the barrier, and, once it is replicated, makes the partition
   * writable. Call it again while it gives `STOPPING`: after the replicas have fetched, after a crash, or under another
   * leader. Called at `STOPPED`, it changes nothing.
   *
   * @throws SourceClusterMismatchError, InvalidTransitionError
   */
  stop(request: StopRequest = {}): 'STOPPING' | 'STOPPED' {
    requireOptions('request of stop', request, STOP_REQUEST)
    const { sourceClusterId, openTransactions = 'abort' } = request
    checkMode(openTransactions)
    const source = this.#state?.sourceClusterId
    if (source !== undefined && sourceClusterId !== undefined && sourceClusterId !== source) {
      throw new SourceClusterMismatchError(source, sourceClusterId)
    }
    if (this.#state?.state === 'STOPPED') return 'STOPPED'
    if (!isStopUnderWay(this.#state)) {
      const { producerState, logEndOffset } = this.log
      if (this.#state !== null) checkStop(this.#state, logEndOffset)
      const firstOpen = openTransactions === 'truncate' ? producerState.firstUndecidedOffset : null
      const mirroredEndOffset = firstOpen ?? logEndOffset
      const begun = { openTransactions, mirroredEndOffset, plannedBarrierOffset: null, prepareOffset: null }
      this.#become('STOPPING', { ...begun, failure: null })
    } else if (this.#state.state === 'FAILED') {
      this.#become('STOPPING', { failure: null })
    }
    const barrierOffset = this.#writeBarrier()
    if (this.log.highWatermark <= barrierOffset) return 'STOPPING'
    this.#become('STOPPED', {
      lastMirroredOffset: barrierOffset,
      plannedBarrierOffset: null,
      openTransactions: null,
    })
    return 'STOPPED'
  }

  /** Steps 2 to 4. What an earlier call or another leader has done, and this log has, is not done again. */
  #writeBarrier(): bigint {
    const state = this.#state!
    const planned = state.plannedBarrierOffset
    if (planned !== null && this.#endsWithBarrier(planned, state.sourceClusterId)) {
      this.log.flush()
      return planned
    }
    // a crash, or another leader, may have less than the log that the stop began with
    const end = minOffset(state.mirroredEndOffset ?? this.log.logEndOffset, this.log.logEndOffset)
    this.#become('STOPPING', { mirroredEndOffset: end, plannedBarrierOffset: null })
    settleTransactions(this.#leader, state.openTransactions ?? 'abort', end, this.#now)
    // known before it is written, so that a second call finds it and writes no other
    const offset = this.log.logEndOffset
    this.#become('STOPPING', { plannedBarrierOffset: offset })
    const barrier = encodeMirrorPidReset({
      baseOffset: offset,
      leaderEpoch: this.#leader.leaderEpoch,
      timestamp: this.#now(),
      sourceClusterId: state.sourceClusterId,
    })
    this.#leader.append(barrier, 'coordinator')
    this.log.flush()
    return offset
  }

  /**
   * Whether the log ends with the barrier of this stop. Another leader may have one of an earlier failover at the same
   * offset, with mirrored batches behind it.
   */
  #endsWithBarrier(offset: bigint, sourceClusterId: string): boolean {
    const { log } = this
    return offset + 1n === log.logEndOffset && barrierAt(log, offset)?.sourceClusterId === sourceClusterId
  }

  #requireMirroring(what: string): void {
    if (this.state !== 'MIRRORING') throw new AppendRefusedError(what, this.state, 'start the mirror first.')
  }

  #cutTo(offset: bigint): void {
    if (offset < this.log.logEndOffset) this.#leader.truncateTo(offset)
    this.log.flush()
  }

  /** What is known of the last stop once the log is cut to an offset. */
  #stopBelow(offset: bigint): Partial<MirrorState> {
    const barrier = this.lastMirroredOffset
    return barrier !== null && barrier < offset ? {} : { mirroredEndOffset: null, lastMirroredOffset: null }
  }

  #become(to: MirrorStateName, changes: Partial<MirrorState>): void {
    checkTransition(this.state, to)
    this.#save(to, changes)
  }

  #save(to: MirrorStateName, changes: Partial<MirrorState>): void {
    const next: MirrorState = {
      sourceClusterId: '',
      prepareOffset: null,
      openTransactions: null,
      plannedBarrierOffset: null,
      mirroredEndOffset: null,
      lastMirroredOffset: null,
      failure: null,
      ...this.#state,
      ...changes,
      state: to,
    }
    this.#store.save(next)
    this.#state = next
  }
}
