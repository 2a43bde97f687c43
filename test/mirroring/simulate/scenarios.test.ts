import { describe, expect, it } from 'vitest'
import { InvalidScenarioError, readScenario, type Scenario, simulate } from '../../../src/simulate.ts'

const MIRRORED = [
  { step: 'mirror', cluster: 'B', source: 'A' },
  { step: 'produce', cluster: 'A', producerId: 5 },
  { step: 'fetch', cluster: 'B' },
]

const play = (steps: unknown[], clusters: unknown = ['A', 'B']) => simulate(readScenario({ clusters, steps }))

const valid = { clusters: ['A', 'B'], steps: MIRRORED }
const withStep = (step: unknown) => ({ ...valid, steps: [...MIRRORED, step] })

describe('a scenario that cannot be simulated', () => {
  it.each([
    [null, '$', 'an object is needed; got null'],
    [[], '$', 'an object is needed'],
    ['chain', '$', 'an object is needed; got "chain"'],
    [{ ...valid, policy: 'guard' }, '$.policy', 'not known here; there are name, clusters, steps'],
    [{ ...valid, name: '' }, '$.name', 'a text is needed'],
    [{ steps: MIRRORED }, '$.clusters', 'a list of 1 to 26 is needed; got nothing'],
    [{ ...valid, clusters: [] }, '$.clusters', 'a list of 1 to 26 is needed; got 0'],
    [{ ...valid, clusters: Array(27).fill('A') }, '$.clusters', 'got 27'],
    [{ ...valid, clusters: ['A', 'B', 'A'] }, '$.clusters[2]', 'a second cluster "A"'],
    [{ ...valid, clusters: ['A', 'a cluster'] }, '$.clusters[1]', 'a name of 1 to 40 letters'],
    [{ ...valid, clusters: [{ name: 7 }] }, '$.clusters[0].name', 'got 7'],
    [
      { ...valid, clusters: [{ name: 'A', replicas: 0 }] },
      '$.clusters[0].replicas',
      'from 1 to 5 is needed; got 0',
    ],
    [{ ...valid, clusters: [{ name: 'A', brokers: 2 }] }, '$.clusters[0].brokers', 'not known here'],
    [{ ...valid, steps: 'all' }, '$.steps', 'a list of 1 to 1000 is needed; got "all"'],
    [withStep(7), '$.steps[3]', 'an object is needed; got 7'],
    [
      withStep({}),
      '$.steps[3].step',
      'one of produce, commit, abort, mirror, fetch, stop, pause, resume, restart',
    ],
    [withStep({ step: 'explode' }), '$.steps[3].step', 'got "explode"'],
    [withStep({ step: 'toString', cluster: 'A' }), '$.steps[3].step', 'got "toString"'],
    [withStep({ step: 'fetch' }), '$.steps[3].cluster', 'missing; a step "fetch" needs it'],
    [
      withStep({ step: 'fetch', cluster: 'C' }),
      '$.steps[3].cluster',
      '"C" is no cluster of this scenario: A, B',
    ],
    [withStep({ step: 'fetch', cluster: 'B', batches: 0 }), '$.steps[3].batches', 'got 0'],
    [
      withStep({ step: 'fetch', cluster: 'B', from: 'A' }),
      '$.steps[3].from',
      'there are step, cluster, batches',
    ],
    [withStep({ step: 'produce', cluster: 'A' }), '$.steps[3].producerId', 'missing'],
    [withStep({ step: 'produce', cluster: 'A', producerId: -7 }), '$.steps[3].producerId', 'got -7'],
    [
      withStep({ step: 'produce', cluster: 'A', producerId: 2 ** 60 }),
      '$.steps[3].producerId',
      'as a string',
    ],
    [
      withStep({ step: 'produce', cluster: 'A', producerId: '9223372036854775808' }),
      '$.steps[3].producerId',
      'got "9',
    ],
    [withStep({ step: 'produce', cluster: 'A', producerId: '5n' }), '$.steps[3].producerId', 'got "5n"'],
    [
      withStep({ step: 'produce', cluster: 'A', producerId: 5, records: 1001 }),
      '$.steps[3].records',
      'got 1001',
    ],
    [
      withStep({ step: 'produce', cluster: 'A', producerId: 5, epoch: 32768 }),
      '$.steps[3].epoch',
      'got 32768',
    ],
    [
      withStep({ step: 'produce', cluster: 'A', producerId: 5, transactional: 1 }),
      '$.steps[3].transactional',
      'got 1',
    ],
    [
      withStep({ step: 'produce', cluster: 'A', producerId: -1, epoch: 1 }),
      '$.steps[3].epoch',
      'without a producer',
    ],
    [withStep({ step: 'commit', cluster: 'A', producerId: -1 }), '$.steps[3].producerId', 'got -1'],
    [withStep({ step: 'mirror', cluster: 'A', source: 'A' }), '$.steps[3].source', 'cannot mirror itself'],
    [
      withStep({ step: 'mirror', cluster: 'A', source: 'B', truncateTo: '-1' }),
      '$.steps[3].truncateTo',
      'got "-1"',
    ],
    [
      withStep({ step: 'stop', cluster: 'B', openTransactions: 'ask' }),
      '$.steps[3].openTransactions',
      'got "ask"',
    ],
  ])('%j is told at its place', (value, path, words) => {
    const error = (() => {
      try {
        readScenario(value)
        return null
      } catch (thrown) {
        return thrown as InvalidScenarioError
      }
    })()
    expect(error).toBeInstanceOf(InvalidScenarioError)
    expect(error).toMatchObject({ code: 'INVALID_SCENARIO', path })
    expect(error?.message.startsWith(`${path}: `)).toBe(true)
    expect(error?.message).toContain(words)
  })

  it('an unknown name or policy names those that there are', () => {
    expect(() => simulate('ring')).toThrow(/chain, local-collision, downstream-failover, failback/)
    expect(() => simulate('chain', { policy: 'none' as 'guard' })).toThrow(
      /"legacy", "guard", "stop-only", "default"/,
    )
    expect(() => simulate(null as unknown as Scenario)).toThrow(InvalidScenarioError)
  })
})

describe('steps', () => {
  it('ids of 64 bits keep every digit', () => {
    const { steps } = play([
      ...MIRRORED,
      { step: 'produce', cluster: 'A', producerId: '9223372036854775806' },
      { step: 'fetch', cluster: 'B' },
    ])
    expect(steps.at(-1)?.after.producers).toEqual([-(2n ** 63n), -7n])
  })

  it('an id without an image is refused, and nothing is fetched', () => {
    const { steps } = play([
      { step: 'produce', cluster: 'A', producerId: '9223372036854775807' },
      { step: 'mirror', cluster: 'B', source: 'A' },
      { step: 'fetch', cluster: 'B' },
    ])
    expect(steps.at(-1)).toMatchObject({
      outcome: 'refused',
      code: 'UNMAPPABLE_PRODUCER_ID',
      after: { logEndOffset: 0n },
    })
  })

  it('what a step may not do is refused, and the scenario goes on', () => {
    const { steps, collisions } = play([
      ...MIRRORED,
      { step: 'produce', cluster: 'B', producerId: 5 },
      { step: 'stop', cluster: 'A' },
      { step: 'fetch', cluster: 'A' },
      { step: 'pause', cluster: 'B' },
      { step: 'fetch', cluster: 'B' },
      { step: 'resume', cluster: 'B' },
      { step: 'produce', cluster: 'A', producerId: 5 },
      { step: 'fetch', cluster: 'B' },
      { step: 'stop', cluster: 'B' },
      { step: 'stop', cluster: 'B' },
    ])
    expect(steps.slice(3).map(({ code }) => code)).toEqual([
      'APPEND_REFUSED',
      'INVALID_TRANSITION',
      'APPEND_REFUSED',
      null,
      'APPEND_REFUSED',
      null,
      null,
      null,
      null,
      null,
    ])
    expect(steps.at(-1)?.text).toBe('B is stopped already, at offset 2')
    expect(steps.at(-1)?.after).toMatchObject({ state: 'STOPPED', logEndOffset: 3n })
    expect(collisions).toEqual([])
  })

  it('a resend of the own batch is a duplicate, and no collision', () => {
    const { steps, collisions } = play([
      { step: 'produce', cluster: 'A', producerId: 5 },
      { step: 'produce', cluster: 'A', producerId: 5, sequence: 0 },
      { step: 'produce', cluster: 'A', producerId: 5 },
    ])
    expect(steps.map(({ outcome }) => outcome)).toEqual(['done', 'duplicate', 'done'])
    expect(collisions).toEqual([])
  })

  it('an id that a cluster gives out twice collides at home', () => {
    const { collisions } = play([
      { step: 'produce', cluster: 'A', producerId: 5, epoch: 3 },
      { step: 'produce', cluster: 'A', producerId: 5, incarnation: 1 },
      { step: 'produce', cluster: 'A', producerId: 5, incarnation: 1, epoch: 4 },
    ])
    expect(collisions.map(({ effect, step }) => [effect, step])).toEqual([
      ['refused', 2],
      ['shared', 3],
    ])
    expect(collisions[0]?.message).toContain('INVALID_PRODUCER_EPOCH')
  })

  it('what the state of a mirror forbids is no collision', () => {
    const scenario = readScenario({
      clusters: ['A', 'B', 'C'],
      steps: [
        ...MIRRORED,
        { step: 'mirror', cluster: 'C', source: 'B' },
        { step: 'fetch', cluster: 'C' },
        { step: 'produce', cluster: 'C', producerId: 5 },
      ],
    })
    const { steps, collisions } = simulate(scenario, { policy: 'legacy' })
    expect(steps.at(-1)).toMatchObject({ code: 'APPEND_REFUSED', after: { producers: [5n] } })
    expect(collisions).toEqual([])
  })

  it('fetches no more batches than told', () => {
    const { steps } = play([
      { step: 'mirror', cluster: 'B', source: 'A' },
      { step: 'produce', cluster: 'A', producerId: 5, records: 3 },
      { step: 'produce', cluster: 'A', producerId: 5 },
      { step: 'fetch', cluster: 'B', batches: 1 },
    ])
    expect(steps.at(-1)?.after.logEndOffset).toBe(3n)
  })

  it('a mirror further down cuts its log when its source was cut', () => {
    const result = play(
      [
        ...MIRRORED,
        { step: 'mirror', cluster: 'C', source: 'B' },
        { step: 'produce', cluster: 'A', producerId: 6, transactional: true },
        { step: 'produce', cluster: 'A', producerId: 5 },
        { step: 'fetch', cluster: 'B' },
        { step: 'fetch', cluster: 'C' },
        { step: 'stop', cluster: 'B', openTransactions: 'truncate' },
        { step: 'produce', cluster: 'B', producerId: 5 },
        { step: 'fetch', cluster: 'C' },
      ],
      ['A', 'B', { name: 'C', replicas: 3 }],
    )
    expect(result.steps.at(-1)?.text).toContain('cuts its log to 1, as B has')
    expect(result.steps.at(-1)?.after).toMatchObject({ logEndOffset: 3n, producers: [-7n] })
    expect(result.collisions).toEqual([])
    expect(result.converged).toBe(true)
    expect(result.rows.flatMap(({ notes }) => notes)).toEqual([
      'dropped on B',
      'dropped on C',
      'dropped on B',
      'dropped on C',
    ])
  })

  it("a marker of one producer in another's transaction is found", () => {
    const steps = [
      ...MIRRORED.slice(0, 1),
      { step: 'mirror', cluster: 'C', source: 'B' },
      { step: 'produce', cluster: 'A', producerId: 6, transactional: true },
      { step: 'fetch', cluster: 'B' },
      { step: 'fetch', cluster: 'C' },
      { step: 'stop', cluster: 'B' },
      { step: 'commit', cluster: 'B', producerId: 6 },
      { step: 'fetch', cluster: 'C' },
    ]
    const scenario = readScenario({ clusters: ['A', 'B', 'C'], steps })
    expect(simulate(scenario, { policy: 'guard' }).collisions).toMatchObject([
      { cluster: 'C', effect: 'marker', producerId: -8n },
    ])
    expect(simulate(scenario).collisions).toEqual([])
  })

  it('a mirror that has more than its source has not converged', () => {
    const { converged, divergences } = play([
      { step: 'mirror', cluster: 'B', source: 'A' },
      { step: 'produce', cluster: 'A', producerId: 6 },
      { step: 'fetch', cluster: 'B' },
      { step: 'mirror', cluster: 'A', source: 'B', truncateTo: 0 },
    ])
    expect(converged).toBe(false)
    expect(divergences).toEqual(['B: from offset 0 on it has batches that A, which it mirrors, has not'])
  })

  it('brokers that die recover the same state', () => {
    const { steps, converged } = play([
      ...MIRRORED,
      { step: 'produce', cluster: 'A', producerId: 6, transactional: true },
      { step: 'fetch', cluster: 'B' },
      { step: 'restart', cluster: 'B' },
      { step: 'stop', cluster: 'B' },
      { step: 'restart', cluster: 'B' },
      { step: 'produce', cluster: 'B', producerId: 5 },
      { step: 'restart', cluster: 'A' },
    ])
    expect(converged).toBe(true)
    expect(steps[5]?.after).toMatchObject({ state: 'MIRRORING', producers: [-8n, -7n], lastStableOffset: 1n })
    expect(steps[8]?.after).toMatchObject({ state: 'STOPPED', producers: [5n] })
  })

  it('a producer goes on in its new epoch at sequence 0', () => {
    const { steps } = play([
      { step: 'produce', cluster: 'A', producerId: 5, records: 3 },
      { step: 'produce', cluster: 'A', producerId: 5, epoch: 1 },
      { step: 'produce', cluster: 'A', producerId: 5 },
      { step: 'produce', cluster: 'A', producerId: 5, epoch: 0, sequence: 3 },
    ])
    expect(steps.map(({ code }) => code)).toEqual([null, null, null, 'INVALID_PRODUCER_EPOCH'])
  })
})
