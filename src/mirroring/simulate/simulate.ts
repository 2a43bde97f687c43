import { type OptionKinds, oneOf, requireOptions, requireThing } from '../../core/arguments.ts'
import { InvalidArgumentError } from '../../errors.ts'
import { drawRows } from './drawing.ts'
import { POLICIES, type SimulationPolicy } from './policies.ts'
import { readScenario } from './readScenario.ts'
import type { Scenario } from './scenario.ts'
import { SCENARIOS } from './scenarios.ts'
import { Simulation } from './simulation.ts'
import type { SimulationResult } from './simulationResult.ts'

/** How the clusters of a simulation behave. */
export interface SimulateOptions {
  /** Default `default`: what this package does. The others are for comparison. */
  policy?: SimulationPolicy
}

const SIMULATE_OPTIONS: OptionKinds<SimulateOptions> = { policy: 'any' }

/**
 * Plays a scenario on real partition logs, in memory: what is written, mirrored and stopped goes through `MirrorPartition`
 * and `ReplicaSet`, so that what comes out is what their state says. Who really wrote each batch is known beside that, so
 * two producers under one id are found whether anything of them shows or not.
 *
 * @param scenario one of the names `chain`, `local-collision`, `downstream-failover`, `failback`, `draft-chain`,
 *   `draft-local-collision`, or one of the caller's
 * @throws InvalidScenarioError, InvalidArgumentError
 * @example
 * simulate('downstream-failover', { policy: 'guard' }).collisions[0].cluster // 'C'
 * simulate('downstream-failover').collisions // []
 */
export function simulate(scenario: string | Scenario, options: SimulateOptions = {}): SimulationResult {
  const { policy = 'default' } = requireOptions('options of simulate', options, SIMULATE_OPTIONS)
  oneOf('policy', policy, POLICIES)
  const checked = typeof scenario === 'string' ? SCENARIOS.get(scenario) : readScenario(scenario)
  if (checked === undefined) {
    throw new InvalidArgumentError(
      `there is no scenario "${scenario}"; there are ${[...SCENARIOS.keys()].join(', ')}`,
    )
  }
  const simulation = new Simulation(checked, policy)
  for (const step of checked.steps) simulation.take(step)
  return simulation.result()
}

/**
 * Draws what a simulation gives, as the draft does: a column for each cluster, a row for each batch.
 *
 * @throws InvalidArgumentError
 * @example
 * console.log(drawSimulation(simulate('chain', { policy: 'legacy' })))
 */
export function drawSimulation(result: SimulationResult): string {
  const { clusters, rows } = requireThing('result', result, 'rows', 'what simulate() gives')
  return drawRows(clusters, rows)
}
