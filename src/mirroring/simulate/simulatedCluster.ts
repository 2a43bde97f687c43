import type { LogAppendResult } from '../../log/partition/logAppend.ts'
import { memoryStorage } from '../../log/partition/memoryStorage.ts'
import type { PartitionLog } from '../../log/partition/partitionLog.ts'
import type { LogStorage } from '../../log/partition/storage.ts'
import { MirrorPartition } from '../mirrorPartition.ts'
import type { OpenTransactionsMode } from '../mirrorState.ts'
import { memoryStateStore } from '../mirrorStateFile.ts'
import { ReplicaSet } from '../replicaSet.ts'
import { settleTransactions } from '../settleTransactions.ts'
import { isAligned, sharedEndOffset } from '../sharedLog.ts'
import type { PolicyRules } from './policies.ts'

const REPLICAS = 2

/** A cluster with one partition, whose replicas and mirror are real ones, in memory. */
export class SimulatedCluster {
  readonly name: string
  readonly #rules: PolicyRules
  readonly #now: () => bigint
  readonly #storages: LogStorage[]
  readonly #store = memoryStateStore()
  #replicas: ReplicaSet
  #partition: MirrorPartition

  constructor(name: string, rules: PolicyRules, now: () => bigint, replicas = REPLICAS) {
    this.name = name
    this.#rules = rules
    this.#now = now
    this.#storages = Array.from({ length: replicas }, () => memoryStorage())
    this.#replicas = this.#openReplicas()
    this.#partition = this.#openPartition()
  }

  get partition(): MirrorPartition {
    return this.#partition
  }

  get log(): PartitionLog {
    return this.#replicas.log
  }

  /** The logs of all replicas. */
  get logs(): PartitionLog[] {
    return this.#replicas.replicas.map(({ log }) => log)
  }

  get leaderEpoch(): number {
    return this.#replicas.leaderEpoch
  }

  append(batch: Uint8Array, origin: 'client' | 'coordinator'): LogAppendResult {
    const result = this.#partition.append(batch, origin)
    this.#replicas.replicate()
    return result
  }

  /** Returns what the log was cut to. */
  mirrorFrom(source: SimulatedCluster, truncateTo = sharedEndOffset(this.log, source.log)): bigint {
    this.#partition.prepare({ sourceClusterId: source.name, truncateTo })
    this.#partition.start()
    this.#replicas.replicate()
    return this.log.logEndOffset
  }

  /** Cuts what the source has not, because it was cut itself; returns whether there was any. */
  realign(source: SimulatedCluster): boolean {
    if (isAligned(this.log, source.log)) return false
    this.#partition.fail(`${source.name} has cut its log`)
    this.mirrorFrom(source)
    return true
  }

  /** What a fetch of one batch gives; empty where the source has no more. */
  nextBatch(source: SimulatedCluster): Uint8Array {
    if (this.log.logEndOffset >= source.log.logEndOffset) return new Uint8Array(0)
    return source.log.read(this.log.logEndOffset, { isolation: 'high_watermark', maxBytes: 0 }).records
  }

  mirror(records: Uint8Array): void {
    this.#partition.mirror(records)
    this.#replicas.replicate()
  }

  stop(openTransactions: OpenTransactionsMode): void {
    if (!this.#rules.hasBarrier) {
      this.#stopWithoutBarrier(openTransactions)
    } else if (this.#partition.stop({ openTransactions }) === 'STOPPING') {
      this.#replicas.replicate()
      this.#partition.stop({ openTransactions })
    }
    this.#replicas.replicate()
  }

  /** All brokers die and recover from their files. */
  restart(): void {
    this.#replicas = this.#openReplicas()
    this.#replicas.replicate()
    this.#partition = this.#openPartition()
  }

  /** What a mirror without the barrier would do: a step that the real one has not. */
  #stopWithoutBarrier(mode: OpenTransactionsMode): void {
    const state = this.#store.load()
    if (state?.state === 'STOPPED') return
    // whether it may stop at all is for the real one to say
    if (state?.state !== 'MIRRORING' && state?.state !== 'PAUSED') {
      this.#partition.stop({ openTransactions: mode })
      return
    }
    const { producerState, logEndOffset } = this.log
    const firstOpen = mode === 'truncate' ? producerState.firstUndecidedOffset : null
    const end = firstOpen ?? logEndOffset
    settleTransactions(this.#replicas, mode, end, this.#now)
    this.#store.save({ ...state, state: 'STOPPED', mirroredEndOffset: end, lastMirroredOffset: end })
    this.#partition = this.#openPartition()
  }

  #openReplicas(): ReplicaSet {
    const { core, barrierPolicy } = this.#rules
    return new ReplicaSet(this.#storages, { core, clusterId: this.name, barrierPolicy })
  }

  #openPartition(): MirrorPartition {
    const { hasBarrier } = this.#rules
    // without barriers ids meet, which is to be seen here
    return new MirrorPartition(this.#replicas, this.#store, { now: this.#now, force: !hasBarrier })
  }
}
