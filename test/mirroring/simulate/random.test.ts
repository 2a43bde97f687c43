import fc from 'fast-check'
import { expect, it } from 'vitest'
import { drawSimulation, type ScenarioStep, type SimulationPolicy, simulate } from '../../../src/simulate.ts'
import { quickOrLong } from '../../support/counts.ts'

const CLUSTERS = ['A', 'B', 'C']

const cluster = fc.constantFrom(...CLUSTERS)
const producerId = fc.constantFrom(-1n, 5n, 6n)
const step: fc.Arbitrary<ScenarioStep> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ step: fc.constant('produce' as const), cluster, producerId }) },
  {
    weight: 3,
    arbitrary: fc.record({
      step: fc.constant('produce' as const),
      cluster,
      producerId: fc.constant(7n),
      transactional: fc.constant(true),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      step: fc.constantFrom('commit' as const, 'abort' as const),
      cluster,
      producerId: fc.constant(7n),
    }),
  },
  {
    weight: 4,
    arbitrary: fc
      .record({ step: fc.constant('mirror' as const), cluster, source: cluster })
      .filter((one) => one.cluster !== one.source),
  },
  { weight: 8, arbitrary: fc.record({ step: fc.constant('fetch' as const), cluster }) },
  {
    weight: 3,
    arbitrary: fc.record({
      step: fc.constant('stop' as const),
      cluster,
      openTransactions: fc.constantFrom('abort' as const, 'truncate' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      step: fc.constantFrom('pause' as const, 'resume' as const, 'restart' as const),
      cluster,
    }),
  },
)
const fetches = CLUSTERS.map((name): ScenarioStep => ({ step: 'fetch', cluster: name }))
/** What is written gets round; and what is often done one after the other. */
const turn: fc.Arbitrary<ScenarioStep[]> = fc.oneof(
  step.map((one) => [one]),
  step.map((one) => [one, ...fetches]),
  fc
    .tuple(cluster, producerId)
    .map(([name, id]): ScenarioStep[] => [
      { step: 'stop', cluster: name },
      { step: 'produce', cluster: name, producerId: id },
      ...fetches,
    ]),
)
const steps = fc.array(turn, { minLength: 3, maxLength: 20 }).map((turns) => turns.flat())
/** In a chain, so that most of the steps can be made. */
const CHAIN: ScenarioStep[] = [
  { step: 'mirror', cluster: 'B', source: 'A' },
  { step: 'mirror', cluster: 'C', source: 'B' },
]
const play = (all: ScenarioStep[], policy: SimulationPolicy) =>
  simulate({ clusters: CLUSTERS.map((name) => ({ name })), steps: [...CHAIN, ...all] }, { policy })

it('whatever happens, the default policy has no collision, and every replica has the state of its log', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const result = play(all, 'default')
      expect(result.collisions).toEqual([])
      // a mirror that has not fetched since its source was cut has more than that
      expect(result.divergences.filter((one) => one.includes('replica'))).toEqual([])
    }),
    { numRuns: quickOrLong(75, 300) },
  )
})

it('every policy plays and draws everything', () => {
  const policies = fc.constantFrom<SimulationPolicy[]>('legacy', 'guard', 'stop-only')
  fc.assert(
    fc.property(steps, policies, (all, policy) => {
      const result = play(all, policy)
      expect(result.steps.length).toBe(all.length + CHAIN.length)
      expect(drawSimulation(result).split('\n').length).toBe(result.rows.length + 1)
    }),
    { numRuns: quickOrLong(50, 200) },
  )
})

it('the other policies collide in some of the same histories', () => {
  const sample = fc.sample(steps, { numRuns: 300, seed: 1279 })
  for (const policy of ['legacy', 'guard', 'stop-only'] as const) {
    expect(
      sample.some((all) => play(all, policy).collisions.length > 0),
      policy,
    ).toBe(true)
  }
})
