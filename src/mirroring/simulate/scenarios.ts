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

/** What A writes passes three hops. D then stays behind; C fails over, and its own producer 5 writes twice. */
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
  ],
}

/** The draft's first table: the same, and D goes on mirroring C. */
const draftChain: Scenario = {
  ...chain,
  name: 'draft-chain',
  steps: [...chain.steps, { step: 'fetch', cluster: 'D' }],
}

/** C, two hops behind A, fails over and has its own producer 5. */
const localCollision: Scenario = {
  name: 'local-collision',
  clusters: clusters('ABC'),
  steps: [
    ...chained('ABC'),
    produce('A', 5n),
    ...fetched('BC'),
    { step: 'stop', cluster: 'C' },
    produce('C', 5n),
    produce('C', 5n),
  ],
}

/** The draft's second table: B fails over, and its own producer 5 writes while C goes on mirroring it. */
const draftLocalCollision: Scenario = {
  name: 'draft-local-collision',
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
  steps: [...draftLocalCollision.steps, { step: 'stop', cluster: 'C' }, produce('C', 5n), produce('C', 5n)],
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
  [chain, localCollision, downstreamFailover, failback, draftChain, draftLocalCollision].map((scenario) => [
    scenario.name!,
    scenario,
  ]),
)
