import { auditProducers, type PartitionLog, sharedEndOffset } from '../../../src/index.ts'
import { Cluster } from './cluster.ts'
import { Replay, stateDifference } from './invariants.ts'
import type { Policy } from './policy.ts'
import { batchesOf, Truth } from './truth.ts'
import { Violation } from './violation.ts'

const DAY = 86_400_000n

/** Clusters that mirror one partition to each other in any direction, and what must hold whatever they do. */
export class World {
  readonly truth = new Truth()
  readonly clusters: readonly Cluster[]
  readonly #policy: Policy
  /** Producers last heard of up to then have expired somewhere. */
  #expiredUpTo = -1n

  constructor(policy: Policy, names: readonly string[] = ['A', 'B', 'C']) {
    this.#policy = policy
    this.clusters = names.map((name, index) => new Cluster(name, index, policy, this.truth))
  }

  /** A day passes, and all brokers forget the producers that were silent. */
  expire(): void {
    this.#expiredUpTo = this.truth.now
    this.truth.pass(DAY)
    for (const { replicas } of this.clusters) {
      for (const replica of replicas.replicas) {
        if (replica.isAlive) replica.log.producerState.removeExpired(this.truth.now)
      }
    }
  }

  /**
   * Looks at the clusters that a step has touched.
   * @throws Violation
   */
  check(clusters: readonly Cluster[] = this.clusters): void {
    for (const cluster of clusters) {
      for (const replica of cluster.replicas.replicas) {
        if (replica.isAlive) this.#checkLog(cluster, replica.log, `${cluster.name}${replica.id}`)
      }
      cluster.checkAcknowledged()
      this.#checkBarrier(cluster)
      if (cluster.mirror.state === 'MIRRORING') this.#checkFates(cluster, cluster.source!)
    }
  }

  /**
   * `audit` finds nothing in what these clusters have written, but for what is true of it: a transaction that a barrier
   * ended, since the cut of a stop had taken its marker, and one that was open for a day.
   * @throws Violation
   */
  checkAudit(): void {
    for (const { name, log } of this.clusters) {
      for (const finding of auditProducers(batchesOf(log)).findings) {
        const isAtBarrier = finding.kind === 'transaction' && /barrier/.test(finding.message)
        if (isAtBarrier || finding.kind === 'hanging-transaction') continue
        throw new Violation(
          `audit of ${name}: ${finding.kind} at offset ${finding.offset}: ${finding.message}`,
        )
      }
    }
  }

  #checkLog(cluster: Cluster, log: PartitionLog, where: string): void {
    const replay = this.#replay(cluster, log, log.logEndOffset, where)
    replay.fates(where)
    const difference = stateDifference(log.producerState, replay, this.#expiredUpTo)
    if (difference !== null) throw new Violation(`${where} has not the state of its log:\n  ${difference}`)
    const barrier = replay.state.barriers.at(-1)?.offset ?? -1n
    const undecided = log.producerState.firstUndecidedOffset
    if (undecided !== null && undecided < barrier) {
      throw new Violation(
        `${where}: the last stable offset stays at ${undecided}, behind the barrier at ${barrier}`,
      )
    }
  }

  /** A writable partition that was mirrored has its barrier. */
  #checkBarrier({ mirror, log, name }: Cluster): void {
    if (mirror.state !== 'STOPPED') return
    const barriers = log.producerState.barriers.map(({ offset }) => offset)
    const known = barriers.includes(mirror.lastMirroredOffset!)
    // a state that came from a snapshot does not know the barriers before it
    if (!known && barriers.length > 0) throw new Violation(`${name} is writable without its barrier`)
  }

  /** A transaction ends on a mirror as on its source, over what both have. */
  #checkFates(mirror: Cluster, source: Cluster): void {
    const end = sharedEndOffset(mirror.log, source.log)
    const ours = this.#replay(mirror, mirror.log, end, mirror.name).fates(mirror.name)
    const theirs = this.#replay(source, source.log, end, source.name).fates(source.name)
    for (const [transaction, fate] of ours) {
      const there = theirs.get(transaction)
      if (there === undefined || there === fate) continue
      throw new Violation(
        `transaction ${transaction} is ${fate} on ${mirror.name}, and ${there} on its source ${source.name}, in the ` +
          `same batches up to offset ${end}`,
      )
    }
  }

  #replay(cluster: Cluster, log: PartitionLog, end: bigint, where: string): Replay {
    const { barrierPolicy, withoutRules } = this.#policy
    return new Replay(log, end, { clusterId: cluster.name, barrierPolicy, withoutRules }, this.truth, where)
  }
}
