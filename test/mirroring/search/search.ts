import fc from 'fast-check'
import { steps } from './commands.ts'
import type { Policy } from './policy.ts'
import { World } from './world.ts'

export interface SearchOptions {
  runs: number
  seed: number
  maxSteps?: number
  /** Ends the search, or the shrinking of what it found. Milliseconds. */
  timeLimit?: number
}

export interface Found {
  /** Null where nothing was found. */
  example: string[] | null
  message: string | null
  runs: number
  shrinks: number
}

/** Looks for a history that breaks an invariant, and then for a short one. */
export function search(policy: Policy, { runs, seed, maxSteps = 60, timeLimit }: SearchOptions): Found {
  const step = fc.oneof(...steps)
  const property = fc.property(fc.commands([step], { maxCommands: maxSteps, size: 'max' }), (commands) => {
    const world = new World(policy)
    fc.modelRun(() => ({ model: {}, real: world }), commands)
    world.check()
    if (policy.name === 'default') world.checkAudit()
  })
  const result = fc.check(property, {
    numRuns: runs,
    seed,
    ...(timeLimit === undefined ? {} : { interruptAfterTimeLimit: timeLimit, markInterruptAsFailure: false }),
  })
  const [commands] = result.counterexample ?? []
  return {
    example: commands === undefined ? null : stepsOf(String(commands)),
    message: result.failed ? String((result.errorInstance as Error | null)?.message) : null,
    runs: result.numRuns,
    shrinks: result.numShrinks,
  }
}

/** fast-check shows the steps that were run, with commas between them and how to replay them at the end. */
function stepsOf(text: string): string[] {
  return text.replace(/ \/\*.*\*\/$/, '').split(',')
}
