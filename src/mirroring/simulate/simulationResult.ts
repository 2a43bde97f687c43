import type { MirrorStateName } from '../mirrorState.ts'
import type { DrawnRow } from './drawing.ts'
import type { SimulationPolicy } from './policies.ts'
import type { RealProducer, ScenarioStep } from './scenario.ts'

/** A cluster's partition after a step, on its leader. */
export interface SimulatedPartition {
  cluster: string
  /** Of its mirror; null where it never mirrored. */
  state: MirrorStateName | null
  logEndOffset: bigint
  lastStableOffset: bigint
  /** The ids that its producer state holds, ascending. */
  producers: bigint[]
}

/** A step that was played, and what came of it. */
export interface SimulatedStep {
  /** From 1 on. */
  number: number
  step: ScenarioStep['step']
  cluster: string
  /** What happened, in words. */
  text: string
  /** `duplicate`: acknowledged as a batch that was there already, and not written. `refused`: nothing was changed. */
  outcome: 'done' | 'duplicate' | 'refused'
  /** Why it was refused: an error's code. */
  code: string | null
  /** The partition of the step's cluster after it. */
  after: SimulatedPartition
}

/** Two producers under one id: where it came to that first, and what it did. */
export interface Collision {
  /** Number of the step. */
  step: number
  cluster: string
  /** Of the batch that met the other's state; for a client's that was not written, where it would have been. */
  offset: bigint
  producerId: bigint
  /** Who had the id before, and who has come to it. */
  producers: [RealProducer, RealProducer]
  /**
   * `shared`: the second's batch stands under the state of the first; `duplicate`: it was acknowledged as one of the
   * first's, and not written; `refused`: it was refused because of the first; `marker`: a marker of the second meets the
   * state of the first.
   */
  effect: 'shared' | 'duplicate' | 'refused' | 'marker'
  message: string
}

/** What a simulation has shown; `drawSimulation` draws it. */
export interface SimulationResult {
  /** Of the scenario. */
  name: string
  policy: SimulationPolicy
  clusters: string[]
  steps: SimulatedStep[]
  /** For each cluster, id, pair of producers and effect the first. */
  collisions: Collision[]
  /**
   * Whether each replica's state is what a full replay of its log gives, and no mirror has what its source has not.
   */
  converged: boolean
  /** Where it is not so, in words. */
  divergences: string[]
  /** The batches and the way that they took; `drawSimulation` draws them. */
  rows: DrawnRow[]
}
