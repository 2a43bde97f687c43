import { NO_PRODUCER_ID } from '../../core/producerId.ts'
import { MirrorPidError } from '../../errors.ts'
import { minOffset } from '../../log/partition/offsets.ts'
import { batchesFrom } from '../sharedLog.ts'
import { Collisions, type Meeting } from './collisions.ts'
import { Convergence } from './convergence.ts'
import { Ledger, nameOf, placeOf } from './ledger.ts'
import { type PolicyRules, rulesOf, type SimulationPolicy } from './policies.ts'
import { oneBatch, Route } from './route.ts'
import type {
  EndTransactionStep,
  FetchStep,
  MirrorStep,
  ProduceStep,
  Scenario,
  ScenarioStep,
  StopStep,
} from './scenario.ts'
import { SimulatedCluster } from './simulatedCluster.ts'
import { SimulatedProducers } from './simulatedProducers.ts'
import type { SimulatedPartition, SimulatedStep, SimulationResult } from './simulationResult.ts'

const START_MS = 1_700_000_000_000n

type Outcome = Partial<Pick<SimulatedStep, 'outcome' | 'code'>> & { text: string }

/** A scenario while it is played. */
export class Simulation {
  readonly #name: string
  readonly #policy: SimulationPolicy
  readonly #rules: PolicyRules
  readonly #clusters: ReadonlyMap<string, SimulatedCluster>
  readonly #producers = new SimulatedProducers()
  readonly #ledger = new Ledger()
  readonly #collisions = new Collisions(this.#ledger)
  readonly #route = new Route()
  readonly #convergence: Convergence
  readonly #steps: SimulatedStep[] = []
  #time = START_MS

  constructor({ name = 'scenario', clusters }: Scenario, policy: SimulationPolicy) {
    this.#name = name
    this.#policy = policy
    this.#rules = rulesOf(policy)
    this.#convergence = new Convergence(this.#rules)
    const now = () => ++this.#time
    this.#clusters = new Map(
      clusters.map((spec) => [spec.name, new SimulatedCluster(spec.name, this.#rules, now, spec.replicas)]),
    )
  }

  take(step: ScenarioStep): void {
    const cluster = this.#cluster(step.cluster)
    const { text, outcome = 'done', code = null } = this.#attempt(step, cluster)
    this.#convergence.checkReplicas(cluster, this.#number)
    const after = viewOf(cluster)
    this.#steps.push({
      number: this.#number,
      step: step.step,
      cluster: cluster.name,
      text,
      outcome,
      code,
      after,
    })
  }

  result(): SimulationResult {
    this.#convergence.checkMirrors(this.#clusters)
    const { divergences } = this.#convergence
    return {
      name: this.#name,
      policy: this.#policy,
      clusters: [...this.#clusters.keys()],
      steps: this.#steps,
      collisions: this.#collisions.found,
      converged: divergences.length === 0,
      divergences,
      rows: this.#route.rows,
    }
  }

  /** Of the step that is being taken. */
  get #number(): number {
    return this.#steps.length + 1
  }

  #cluster(name: string): SimulatedCluster {
    return this.#clusters.get(name)!
  }

  #attempt(step: ScenarioStep, cluster: SimulatedCluster): Outcome {
    try {
      switch (step.step) {
        case 'produce':
          return this.#write(cluster, step, 'client')
        case 'commit':
        case 'abort':
          return this.#write(cluster, step, 'coordinator')
        case 'mirror':
          return this.#mirror(cluster, step)
        case 'fetch':
          return this.#fetch(cluster, step)
        case 'stop':
          return this.#stop(cluster, step)
        case 'restart':
          cluster.restart()
          this.#convergence.forget(cluster)
          return { text: `all brokers of ${cluster.name} die and recover from their files` }
        default:
          cluster.partition[step.step]()
          return { text: `${cluster.name}'s mirror is ${cluster.partition.state}` }
      }
    } catch (error) {
      if (!MirrorPidError.is(error)) throw error
      return {
        text: `${step.step} on ${cluster.name} is refused: ${error.message}`,
        outcome: 'refused',
        code: error.code,
      }
    }
  }

  #write(
    cluster: SimulatedCluster,
    step: ProduceStep | EndTransactionStep,
    origin: 'client' | 'coordinator',
  ): Outcome {
    const { name } = cluster
    const write = this.#producers.next(step, cluster.log.logEndOffset, cluster.leaderEpoch, ++this.#time)
    const batch = oneBatch(write.bytes)
    if (step.producerId !== NO_PRODUCER_ID) this.#ledger.announce(this.#time, write.writer)
    const meeting = this.#collisions.meeting(cluster, batch)
    const who =
      step.producerId === NO_PRODUCER_ID ? `${name}: a plain batch` : `${nameOf(write.writer)}: ${write.what}`
    try {
      const { firstOffset, duplicate } = cluster.append(write.bytes, origin)
      write.acknowledged()
      if (duplicate !== null) {
        if (meeting !== null) this.#collisions.add(this.#number, meeting, 'duplicate')
        const text = `${who} is acknowledged as the batch at offset ${firstOffset}, and not written`
        return { text, outcome: 'duplicate' }
      }
      this.#route.reached(batch, name, null)
      if (meeting !== null) {
        this.#collisions.add(this.#number, meeting, origin === 'client' ? 'shared' : 'marker')
        this.#route.note(batch, 'collision')
      }
      return { text: `${who} is written at offset ${firstOffset}` }
    } catch (error) {
      this.#noteRefusal(meeting, error)
      throw error
    }
  }

  /** What the mirror's state forbids is no collision. */
  #noteRefusal(meeting: Meeting | null, error: unknown): void {
    if (meeting === null || !MirrorPidError.is(error) || error.code === 'APPEND_REFUSED') return
    this.#collisions.add(this.#number, meeting, 'refused', ` (${error.code})`)
  }

  #mirror(cluster: SimulatedCluster, { source, truncateTo }: MirrorStep): Outcome {
    const before = cluster.log.logEndOffset
    const offset = cluster.mirrorFrom(this.#cluster(source), truncateTo)
    this.#cut(cluster, offset)
    const cut = offset < before ? `; what it alone had up to ${before} is dropped` : ''
    return { text: `${cluster.name} mirrors ${source} from offset ${offset} on${cut}` }
  }

  #fetch(cluster: SimulatedCluster, { batches = Number.POSITIVE_INFINITY }: FetchStep): Outcome {
    const { name, partition } = cluster
    const source = this.#clusters.get(partition.sourceClusterId ?? '')
    if (source === undefined) {
      const text = `fetch on ${name} is refused: it mirrors no cluster of this scenario`
      return { text, outcome: 'refused', code: 'APPEND_REFUSED' }
    }
    const isCut = partition.state === 'MIRRORING' && cluster.realign(source)
    if (isCut) this.#cut(cluster, cluster.log.logEndOffset)
    const cut = isCut ? `cuts its log to ${cluster.log.logEndOffset}, as ${source.name} has, and ` : ''
    let fetched = 0
    for (; fetched < batches; fetched++) {
      const records = cluster.nextBatch(source)
      if (records.length > 0) this.#append(cluster, source.name, records)
      else if (partition.state === 'MIRRORING') break
      // a mirror that does not fetch says so
      else cluster.mirror(records)
    }
    return {
      text: `${name} ${cut}fetches ${fetched === 1 ? '1 batch' : `${fetched} batches`} from ${source.name}`,
    }
  }

  /** One batch at a time, so that each is looked at before it meets the state. */
  #append(cluster: SimulatedCluster, source: string, records: Uint8Array): void {
    const mapped = records.slice()
    this.#rules.core.rewrite(mapped)
    const batch = oneBatch(mapped)
    const meeting = this.#collisions.meeting(cluster, batch)
    try {
      cluster.mirror(records)
    } catch (error) {
      this.#noteRefusal(meeting, error)
      throw error
    }
    this.#route.reached(batch, cluster.name, source)
    // what a barrier has not done may be hidden by the next batch
    if (batch.isControl) this.#convergence.checkReplicas(cluster, this.#number)
    if (meeting === null) return
    this.#collisions.add(this.#number, meeting, batch.isControl ? 'marker' : 'shared')
    this.#route.note(batch, 'collision')
  }

  #stop(cluster: SimulatedCluster, { openTransactions = 'abort' }: StopStep): Outcome {
    const { log, name, partition } = cluster
    const end = log.logEndOffset
    const isStopped = partition.state === 'STOPPED'
    const open = log.producerState.ongoingTransactions.map(({ producerId }) => producerId)
    const holders = new Map(
      open.map((id) => [id, this.#ledger.holderOf(log, log.producerState.producers.get(id)!)]),
    )
    cluster.stop(openTransactions)
    if (isStopped)
      return { text: `${name} is stopped already, at offset ${cluster.partition.lastMirroredOffset}` }
    const from = minOffset(end, cluster.partition.mirroredEndOffset ?? end)
    this.#cut(cluster, from)
    for (const batch of batchesFrom(cluster.log, from)) {
      const holder = holders.get(batch.producerId)
      if (holder) this.#ledger.attribute(batch, holder)
      this.#route.reached(batch, name, null)
    }
    const settled = open.length === 0 ? '' : `, ${describeCount(open.length)} ${SETTLED[openTransactions]}`
    const at = this.#rules.hasBarrier
      ? `, barrier at offset ${cluster.partition.lastMirroredOffset}`
      : ', no barrier'
    return { text: `${name} stops mirroring${settled}${at}` }
  }

  #cut(cluster: SimulatedCluster, offset: bigint): void {
    this.#convergence.forget(cluster)
    const places = new Set<string>()
    for (const batch of batchesFrom(cluster.log, offset)) places.add(placeOf(batch))
    this.#route.cut(cluster.name, offset, (place) => places.has(place))
  }
}

const SETTLED = { abort: 'aborted', truncate: 'cut off' }

function viewOf({ name, log, partition }: SimulatedCluster): SimulatedPartition {
  return {
    cluster: name,
    state: partition.state,
    logEndOffset: log.logEndOffset,
    lastStableOffset: log.lastStableOffset,
    producers: [...log.producerState.producers.keys()].sort((a, b) => (a < b ? -1 : 1)),
  }
}

function describeCount(transactions: number): string {
  return transactions === 1 ? '1 open transaction' : `${transactions} open transactions`
}
