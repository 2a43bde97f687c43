import { describe, expect, it } from 'vitest'
import { quickOrLong } from '../../support/counts.ts'
import { policies } from './policy.ts'
import { search } from './search.ts'

// npm run search has more runs; MIRRORPID_SEARCH_SEED chooses others
const runs = Number(process.env.MIRRORPID_SEARCH_RUNS ?? quickOrLong(60, 400))
const seed = Number(process.env.MIRRORPID_SEARCH_SEED ?? 20260101)
const timeout = 3_600_000

/** What breaks, as mirroring.md lists it: which of the invariants the search must see violated. */
const HARMS = {
  // A's 5 is 5 again two hops further, where a local 5 writes
  legacy: /writes as \d+, which is known as|as a duplicate of|refused its own producer/,
  // a stale mirrored id meets the same id of a producer that came later
  guard: /writes as -\d+, which is known as/,
  // the same, and replicas that do not converge: the leader met the barrier as a mirror, its follower as a replica
  'stop-only': /writes as -\d+, which is known as|has not the state of its log/,
  'without-R1': /writes as -\d+, which is known as/,
  'without-R2': /the last stable offset stays at|is open on/,
  'without-R3': /is open on|is aborted on|some is/,
} as const

describe('a search for a history that breaks the semantics', () => {
  it(`finds none under the default policy, in ${runs} runs from seed ${seed}`, { timeout }, () => {
    const found = search(policies.default, { runs, seed })
    expect(found.message, `seed ${seed}:\n${found.example?.join('\n')}`).toBeNull()
    expect(found.runs).toBe(runs)
  })

  it.each(Object.entries(HARMS).slice(0, quickOrLong(3, Number.POSITIVE_INFINITY)))(
    'finds what breaks under %s, and a short example',
    { timeout },
    (name, harm) => {
      const found = search(policies[name as keyof typeof HARMS], { runs: 20_000, seed })
      console.log(`${name}, found in run ${found.runs} from seed ${seed}:`)
      console.log(`${found.example?.map((step) => `  ${step}`).join('\n')}\n${found.message}\n`)
      expect(found.message).toMatch(harm)
      expect(found.example?.length).toBeLessThanOrEqual(16)
    },
  )
})
