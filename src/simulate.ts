/**
 * Chains of mirrors played in memory: what each policy makes of them.
 *
 * @module mirrorpid/simulate
 */

export type { DrawnCell, DrawnRow } from './mirroring/simulate/drawing.ts'
export type { SimulationPolicy } from './mirroring/simulate/policies.ts'
export { InvalidScenarioError, readScenario } from './mirroring/simulate/readScenario.ts'
export type {
  ClusterSpec,
  EndTransactionStep,
  FetchStep,
  MirrorStep,
  OtherStep,
  ProduceStep,
  RealProducer,
  Scenario,
  ScenarioStep,
  StopStep,
} from './mirroring/simulate/scenario.ts'
export { drawSimulation, type SimulateOptions, simulate } from './mirroring/simulate/simulate.ts'
export type {
  Collision,
  SimulatedPartition,
  SimulatedStep,
  SimulationResult,
} from './mirroring/simulate/simulationResult.ts'
