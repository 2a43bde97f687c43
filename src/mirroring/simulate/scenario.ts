/** What happens in a simulation, step by step. JSON files have this form; ids of 64 bits may be decimal strings there. */
export interface Scenario {
  /** Default: the file's or the scenario's own. */
  name?: string
  /** From left to right in the drawing. */
  clusters: readonly ClusterSpec[]
  steps: readonly ScenarioStep[]
}

/** A cluster of a scenario, with one partition. */
export interface ClusterSpec {
  name: string
  /** How many replicas its partition has. Default 2. */
  replicas?: number
}

/** A real producer: who wrote a batch, whatever id it has where it has got to. */
export interface RealProducer {
  /** The cluster that gave out the id. */
  cluster: string
  producerId: bigint
  /** Counts how often the cluster has given out the id, which it should do once. */
  incarnation: number
}

/** A producer writes a batch; without an id it is a plain one. */
export interface ProduceStep {
  step: 'produce'
  cluster: string
  /** -1 for none. */
  producerId: bigint
  /** Default: that of the producer's last batch, 0 at first. */
  epoch?: number
  /** Default: what follows the producer's last batch that was acknowledged; 0 in a new epoch. */
  sequence?: number
  /** Number of records. Default 1. */
  records?: number
  /** Default false. The first one begins the transaction. */
  transactional?: boolean
  /** Default 0. */
  incarnation?: number
}

/** The coordinator ends a transaction. */
export interface EndTransactionStep {
  step: 'commit' | 'abort'
  cluster: string
  producerId: bigint
  /** Default: that of the producer's last batch. */
  epoch?: number
  /** Default 0. */
  coordinatorEpoch?: number
  incarnation?: number
}

/** A cluster begins to mirror another; for a failback, the one that mirrored it. */
export interface MirrorStep {
  step: 'mirror'
  cluster: string
  source: string
  /** The log is cut to it. Default: where it parts from the source's. */
  truncateTo?: bigint
}

/** A mirror fetches what its source has; cut first where it has more than the source, which was cut itself. */
export interface FetchStep {
  step: 'fetch'
  cluster: string
  /** The most batches to fetch. Default: all. */
  batches?: number
}

/** The failover. */
export interface StopStep {
  step: 'stop'
  cluster: string
  /** Default `abort`. */
  openTransactions?: 'abort' | 'truncate'
}

/** A mirror is held, or goes on; all brokers of a cluster die and recover from their files. */
export interface OtherStep {
  step: 'pause' | 'resume' | 'restart'
  cluster: string
}

/** One thing that happens to one cluster. */
export type ScenarioStep = ProduceStep | EndTransactionStep | MirrorStep | FetchStep | StopStep | OtherStep

export const MAX_CLUSTERS = 26
export const MAX_STEPS = 1000
export const MAX_RECORDS = 1000
export const MAX_REPLICAS = 5
