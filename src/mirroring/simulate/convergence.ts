import type { PartitionLog } from '../../log/partition/partitionLog.ts'
import { ProducerStateManager } from '../../producers/producerStateManager.ts'
import type { AbortedTransactionEntry } from '../../producers/transactions.ts'
import { batchesFrom, sharedEndOffset } from '../sharedLog.ts'
import type { PolicyRules } from './policies.ts'
import type { SimulatedCluster } from './simulatedCluster.ts'

/**
 * Looks whether states are what they should be: that of each replica what a full replay of its log gives, whenever it has
 * changed; and no mirror has what its source has not.
 */
export class Convergence {
  /** In words; of each replica the first. */
  readonly divergences: string[] = []
  readonly #barrierPolicy: PolicyRules['barrierPolicy']
  readonly #replays = new Map<string, ProducerStateManager>()
  readonly #diverged = new Set<string>()

  constructor({ barrierPolicy }: PolicyRules) {
    this.#barrierPolicy = barrierPolicy
  }

  /** A cluster's log may have been cut: it is replayed from its start. */
  forget({ name, logs }: SimulatedCluster): void {
    for (const id of logs.keys()) this.#replays.delete(`${name} ${id}`)
  }

  checkReplicas({ name, logs }: SimulatedCluster, step: number): void {
    for (const [id, log] of logs.entries()) {
      const key = `${name} ${id}`
      if (this.#diverged.has(key)) continue
      const replay = this.#replay(key, name, log)
      const expected = describe(replay, replay.abortedTransactions)
      const actual = describe(log.producerState, log.abortedTransactions)
      if (actual === expected) continue
      this.#diverged.add(key)
      this.divergences.push(
        `step ${step}, ${name}, replica ${id}: the state is ${actual}; a replay of its log gives ${expected}`,
      )
    }
  }

  checkMirrors(clusters: ReadonlyMap<string, SimulatedCluster>): void {
    for (const { name, log, partition } of clusters.values()) {
      const source = clusters.get(partition.sourceClusterId ?? '')
      if (source === undefined || (partition.state !== 'MIRRORING' && partition.state !== 'PAUSED')) continue
      const shared = sharedEndOffset(log, source.log)
      if (shared === log.logEndOffset) continue
      this.divergences.push(
        `${name}: from offset ${shared} on it has batches that ${source.name}, which it mirrors, has not`,
      )
    }
  }

  #replay(key: string, clusterId: string, log: PartitionLog): ProducerStateManager {
    const { logStartOffset } = log
    const known = this.#replays.get(key)
    const replay =
      known ?? new ProducerStateManager({ clusterId, barrierPolicy: this.#barrierPolicy, logStartOffset })
    for (const batch of batchesFrom(log, replay.mapEndOffset)) replay.append(batch, 'replication')
    this.#replays.set(key, replay)
    return replay
  }
}

/** What a snapshot would hold of a state, and the aborted transactions. */
function describe(state: ProducerStateManager, aborted: readonly AbortedTransactionEntry[]): string {
  const producers = [...state.producers.values()]
    .sort((a, b) => (a.producerId < b.producerId ? -1 : 1))
    .map(
      ({ producerId, producerEpoch, lastSequence, lastOffset, currentTxnFirstOffset, coordinatorEpoch }) => {
        const open = currentTxnFirstOffset === null ? '' : `, in a transaction from ${currentTxnFirstOffset}`
        const coordinator = coordinatorEpoch < 0 ? '' : `, coordinator ${coordinatorEpoch}`
        return `${producerId} (epoch ${producerEpoch}, sequence ${lastSequence} at ${lastOffset}${open}${coordinator})`
      },
    )
  const parts = [...producers, ...aborted.map(describeAborted)]
  return parts.length === 0 ? 'empty' : parts.join(', ')
}

function describeAborted({ producerId, firstOffset, lastOffset }: AbortedTransactionEntry): string {
  return `aborted ${producerId} from ${firstOffset} to ${lastOffset}`
}
