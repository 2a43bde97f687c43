import { requireThing } from '../core/arguments.ts'
import type { LogAppendResult } from '../log/partition/logAppend.ts'
import type { PartitionLog } from '../log/partition/partitionLog.ts'
import type { AppendOrigin } from '../producers/appendOrigin.ts'
import { type AppendOptions, requireAppendOptions } from '../producers/appendResult.ts'

/** The replica of a partition that takes what is written to it. */
export interface Leader {
  /** The leader's log; another one after a change of leaders. */
  readonly log: PartitionLog
  readonly leaderEpoch: number
  /** As `PartitionLog.append`, in the leader's epoch. */
  append(records: Uint8Array, origin: AppendOrigin, options?: AppendOptions): LogAppendResult
  /** Cuts the log; replicas that have more follow, which takes another leader epoch. */
  truncateTo(offset: bigint): void
  /** Raises the log start offset; a log that ends below it begins anew there. Replicas that begin before follow. */
  startAt(offset: bigint): void
}

/**
 * The leader of a partition that has no other replica: what is appended is replicated.
 *
 * @example
 * const mirror = new MirrorPartition(new SoleReplica(log), memoryStateStore())
 */
export class SoleReplica implements Leader {
  readonly log: PartitionLog
  readonly leaderEpoch: number

  /** @param leaderEpoch default: the latest in the log, or 0 */
  constructor(log: PartitionLog, leaderEpoch: number | null = null) {
    this.log = requireThing('log', log, 'logEndOffset', 'a PartitionLog')
    this.leaderEpoch = leaderEpoch ?? log.leaderEpochs.at(-1)?.epoch ?? 0
    this.onReplicated()
  }

  /** As `PartitionLog.append`; what was appended is below the high watermark then. */
  append(records: Uint8Array, origin: AppendOrigin, options: AppendOptions = {}): LogAppendResult {
    requireAppendOptions(options)
    const result = this.log.append(records, origin, { ...options, leaderEpoch: this.leaderEpoch })
    this.onReplicated()
    return result
  }

  truncateTo(offset: bigint): void {
    this.log.truncateTo(offset)
    this.onReplicated()
  }

  startAt(offset: bigint): void {
    moveStart(this.log, offset)
    this.onReplicated()
  }

  /** There is nobody else to wait for. */
  protected onReplicated(): void {
    this.log.updateHighWatermark(this.log.logEndOffset)
  }
}

/** Returns whether the log has begun anew. */
export function moveStart(log: PartitionLog, offset: bigint): boolean {
  if (offset <= log.logEndOffset) {
    log.deleteRecordsBefore(offset)
    return false
  }
  log.truncateFullyAndStartAt(offset)
  return true
}
