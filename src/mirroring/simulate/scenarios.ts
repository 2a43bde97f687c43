import type { ProduceStep, Scenario, ScenarioStep } from './scenario.ts'

const clusters = (names: string) => [...names].map((name) => ({ name }))

const produce = (cluster: string, producerId: bigint): ProduceStep => ({
  step: 'produce',
  cluster,
  producerId,
})

/** A chain is set up: each cluster mirrors the one before it. */
function chained(names: string): ScenarioStep[] {
  return [...names].slice(1).map((cluster, at) => ({ step: 'mirror', cluster, source: names[at]! }))
}

const fetched = (names: string): ScenarioStep[] => [...names].map((cluster) => ({ step: 'fetch', cluster }))

/**
 * What is fetched passes three hops. Then C fails over, and its own producer 5 writes twice while D goes on mirroring it.
 */
const chain: Scenario = {
  name: 'chain',
  clusters: clusters('ABCD'),
  steps: [
    ...chained('ABCD'),
    produce('A', -1n),
    produce('A', 5n),
    ...fetched('BCD'),
    { step: 'stop', cluster: 'C' },
    produce('C', 5n),
    produce('C', 5n),
    { step: 'fetch', cluster: 'D' },
  ],
}

/** B fails over, and its own producer 5 writes while C goes on mirroring it. */
const localCollision: Scenario = {
  name: 'local-collision',
  clusters: clusters('ABC'),
  steps: [
    ...chained('ABC'),
    produce('A', 5n),
    ...fetched('BC'),
    { step: 'stop', cluster: 'B' },
    produce('B', 5n),
    { step: 'fetch', cluster: 'C' },
  ],
}

/** The same, and then C fails over too, and its own producer 5 writes. */
const downstreamFailover: Scenario = {
  name: 'downstream-failover',
  clusters: clusters('ABC'),
  steps: [...localCollision.steps, { step: 'stop', cluster: 'C' }, produce('C', 5n), produce('C', 5n)],
}

/** B fails over, and A, which has written alone meanwhile, mirrors it; then back the same way. */
const failback: Scenario = {
  name: 'failback',
  clusters: clusters('AB'),
  steps: [
    { step: 'mirror', cluster: 'B', source: 'A' },
    produce('A', 5n),
    { ...produce('A', 6n), transactional: true },
    { step: 'fetch', cluster: 'B' },
    { step: 'stop', cluster: 'B' },
    produce('A', 9n),
    produce('A', 9n),
    produce('B', 5n),
    { step: 'mirror', cluster: 'A', source: 'B' },
    { step: 'fetch', cluster: 'A' },
    { step: 'stop', cluster: 'A' },
    produce('A', 5n),
    { step: 'mirror', cluster: 'B', source: 'A' },
    { step: 'fetch', cluster: 'B' },
  ],
}

/** The scenarios that have a name. */
export const SCENARIOS: ReadonlyMap<string, Scenario> = new Map(
  [chain, localCollision, downstreamFailover, failback].map((scenario) => [scenario.name!, scenario]),
)
