import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { SCENARIOS } from '../../../src/mirroring/simulate/scenarios.ts'
import {
  drawSimulation,
  type SimulationPolicy,
  type SimulationResult,
  simulate,
} from '../../../src/simulate.ts'

// What each policy makes of the chains that the draft of Cluster Mirroring draws.

const POLICIES: SimulationPolicy[] = ['legacy', 'guard', 'stop-only', 'default']

/** The ids that a cluster's state holds after the last of its steps of a kind. */
function idsAfter({ steps }: SimulationResult, cluster: string, kind: string): bigint[] {
  const step = steps.findLast((one) => one.cluster === cluster && one.step === kind)
  if (step === undefined) throw new Error(`no step ${kind} on ${cluster}`)
  return step.after.producers
}

const collisionsOn = ({ collisions }: SimulationResult, cluster: string) =>
  collisions.filter((collision) => collision.cluster === cluster)

/** Where a cluster's client was told that a batch is written which is not. */
const losses = ({ steps }: SimulationResult) => steps.filter(({ outcome }) => outcome === 'duplicate')

const lines = (text: string) => text.split('\n').map((line) => line.trimEnd())

describe('the tables of the draft', () => {
  const tables = {
    'draft-chain': `
 A           B           C           D
-1 -------> -1 -------> -1 -------> -1
 5 -------> -7 --------> 5 -------> -7
                         5 -------> -7 # collision`,
    'draft-local-collision': `
A           B           C
5 -------> -7 -------> -7
            5 -------> -7 # collision`,
  }

  it.each([
    ['draft-chain', 'legacy'],
    ['draft-local-collision', 'guard'],
  ] as const)('%s, policy %s', (name, policy) => {
    expect(lines(drawSimulation(simulate(name, { policy })))).toEqual(lines(tables[name]).slice(1))
  })
})

describe('A = 5 through B, C and D', () => {
  it.each([
    ['legacy', [-7n, 5n, -7n]],
    ['guard', [-7n, -7n, -7n]],
    ['stop-only', [-7n, -7n, -7n]],
    ['default', [-7n, -7n, -7n]],
  ] as const)('%s', (policy, ids) => {
    const { rows, steps } = simulate('chain', { policy })
    const row = rows.find(({ cells }) => cells[0]?.cluster === 'A' && cells[0].text === '5')
    expect(row?.cells.slice(1).map(({ text }) => BigInt(text))).toEqual(ids)
    const held = ['B', 'C', 'D'].map((cluster) => {
      const first = steps.find((one) => one.step === 'fetch' && one.cluster === cluster)
      return first?.after.producers
    })
    expect(held).toEqual(ids.map((id) => [id]))
  })
})

describe('C has its own local 5 while mirroring two hops', () => {
  it.each([
    ['legacy', true],
    ['guard', false],
    ['stop-only', false],
    ['default', false],
  ] as const)('%s: collides %s', (policy, collides) => {
    for (const name of ['chain', 'local-collision']) {
      const result = simulate(name, { policy })
      expect(result.collisions.length > 0, name).toBe(collides)
      expect(result.collisions).toEqual(collisionsOn(result, 'C'))
      expect(losses(result).length, name).toBe(collides ? 1 : 0)
    }
    if (!collides) return
    const [lost, shared] = simulate('local-collision', { policy }).collisions
    expect(lost).toMatchObject({ effect: 'duplicate', producerId: 5n, offset: 1n })
    expect(shared).toMatchObject({
      effect: 'shared',
      offset: 1n,
      producers: [
        { cluster: 'A', producerId: 5n },
        { cluster: 'C', producerId: 5n },
      ],
    })
  })
})

describe('B fails over, its own producer 5 writes, C still mirrors B', () => {
  it.each([
    ['guard', 1n],
    ['stop-only', 2n],
  ] as const)('%s: collides on C', (policy, offset) => {
    for (const name of ['draft-local-collision', 'downstream-failover']) {
      const result = simulate(name, { policy })
      expect(result.collisions).toMatchObject([
        {
          cluster: 'C',
          effect: 'shared',
          producerId: -7n,
          offset,
          producers: [{ cluster: 'A' }, { cluster: 'B' }],
        },
      ])
    }
  })

  it('legacy: C has A as 5 and B as -7, until its own 5 comes to that of A', () => {
    expect(simulate('draft-local-collision', { policy: 'legacy' }).collisions).toEqual([])
    const result = simulate('downstream-failover', { policy: 'legacy' })
    expect(result.collisions.map(({ cluster, producerId, effect }) => [cluster, producerId, effect])).toEqual(
      [
        ['C', 5n, 'duplicate'],
        ['C', 5n, 'shared'],
      ],
    )
  })

  it('default: the barrier that B wrote expires -7 on C', () => {
    const result = simulate('draft-local-collision')
    expect(result.collisions).toEqual([])
    expect(lines(drawSimulation(result))).toEqual(
      lines(`
A              B              C
5 ----------> -7 ----------> -7
           reset -------> reset
               5 ----------> -7`).slice(1),
    )
  })

  it('stop-only: the leader of C keeps what a replay of its log drops', () => {
    const { converged, divergences } = simulate('draft-local-collision', { policy: 'stop-only' })
    expect(converged).toBe(false)
    expect(divergences).toEqual([
      expect.stringMatching(/C, replica 0: the state is -7 .*; a replay of its log gives empty/),
    ])
  })
})

describe('C stops, its own producer 5 writes', () => {
  it.each([
    ['legacy', [-7n, 5n]],
    ['guard', [-7n]],
    ['stop-only', []],
    ['default', []],
  ] as const)('%s: after the stop its state holds %s', (policy, ids) => {
    const result = simulate('downstream-failover', { policy })
    expect(idsAfter(result, 'C', 'stop')).toEqual(ids)
    const written = result.steps.filter(({ step, cluster }) => step === 'produce' && cluster === 'C')
    // legacy: -7 is B's 5, and A's 5 is 5 again, so that the first write is lost
    const outcomes = policy === 'legacy' ? ['duplicate', 'done'] : ['done', 'done']
    expect(written.map(({ outcome }) => outcome)).toEqual(outcomes)
    expect(idsAfter(result, 'C', 'produce')).toEqual([...new Set([...ids, 5n])])
  })
})

describe('the failback', () => {
  it.each(POLICIES)('%s: nothing collides, all converge', (policy) => {
    const result = simulate('failback', { policy })
    expect(result.collisions).toEqual([])
    expect(result.converged).toBe(true)
    expect(result.steps.filter(({ outcome }) => outcome !== 'done')).toEqual([])
  })

  it("drops what A wrote alone, expires none of A's own producers, keeps offsets aligned", () => {
    const result = simulate('failback')
    const again = result.steps.find(({ step, cluster }) => step === 'mirror' && cluster === 'A')
    expect(again?.after).toMatchObject({ logEndOffset: 2n, producers: [5n, 6n] })
    expect(idsAfter(result, 'A', 'fetch')).toEqual([-7n, 5n, 6n])
    expect(idsAfter(result, 'A', 'stop')).toEqual([5n, 6n])
    expect(result.rows.filter(({ notes }) => notes.includes('dropped on A')).length).toBe(2)
    const ends = result.steps.map(({ after }) => after.logEndOffset)
    expect(ends.at(-1)).toBe(ends.at(-3))
    // the transaction that was open at the failover has ended at home too
    expect(result.steps.at(-1)?.after.lastStableOffset).toBe(ends.at(-1))
    expect(result.steps.findLast(({ cluster }) => cluster === 'A')?.after.lastStableOffset).toBe(ends.at(-3))
  })
})

it.each([...SCENARIOS.keys()])('%s, default: nothing collides', (name) => {
  const result = simulate(name)
  expect(result.collisions).toEqual([])
  expect(result.converged).toBe(true)
  expect(result.steps.filter(({ outcome }) => outcome !== 'done')).toEqual([])
})

it('the help of the command names every scenario and policy', () => {
  const help = readFileSync(
    fileURLToPath(new URL('../../../src/commands/simulate.ts', import.meta.url)),
    'utf8',
  )
  for (const word of [...POLICIES, ...SCENARIOS.keys()]) {
    expect(help).toContain(`\n  ${word} `)
  }
})
