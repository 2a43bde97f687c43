import { readFileSync, statSync } from 'node:fs'
import { InvalidArgumentError, MirrorPidError } from '../errors.ts'
import { InvalidScenarioError, readScenario } from '../mirroring/simulate/readScenario.ts'
import type { Scenario } from '../mirroring/simulate/scenario.ts'
import { SCENARIOS } from '../mirroring/simulate/scenarios.ts'
import { drawSimulation, simulate } from '../mirroring/simulate/simulate.ts'
import type { SimulatedStep, SimulationResult } from '../mirroring/simulate/simulationResult.ts'
import { atFile } from '../node/files/ioErrors.ts'
import { count, EXIT_FINDINGS, EXIT_FINE, writeJson, writeLine } from './output.ts'
import type { SimulateFlags } from './simulate.ts'

const MAX_FILE_BYTES = 16 * 1024 * 1024

export function runSimulate(nameOrFile: string, flags: SimulateFlags): void {
  try {
    play(nameOrFile, flags)
  } catch (error) {
    if (flags.json && MirrorPidError.is(error)) {
      writeJson({ scenario: nameOrFile, policy: flags.policy, errors: [error] })
    }
    throw error
  }
}

function play(nameOrFile: string, { policy, json, quiet }: SimulateFlags): void {
  const result = simulate(SCENARIOS.get(nameOrFile) ?? readScenarioFile(nameOrFile), { policy })
  if (json) writeJson(result)
  else if (quiet) for (const line of findingsOf(result)) writeLine(line)
  else print(result)
  const isFine = result.collisions.length === 0 && result.converged
  process.exitCode = isFine ? EXIT_FINE : EXIT_FINDINGS
}

/** Faults are told with the file's name and the place in it. */
function readScenarioFile(file: string): Scenario {
  const stats = atFile('read it', file, () => statSync(file, { throwIfNoEntry: false }))
  if (stats === undefined) {
    const names = [...SCENARIOS.keys()].join(', ')
    throw new InvalidArgumentError(
      `there is no file "${file}", and no scenario of this name; there are ${names}`,
    )
  }
  if (stats.size > MAX_FILE_BYTES) {
    throw new InvalidArgumentError(`${file}: ${stats.size} bytes; a scenario has at most ${MAX_FILE_BYTES}`)
  }
  const text = atFile('read it', file, () => readFileSync(file, 'utf8'))
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new InvalidArgumentError(`${file}: it is not JSON: ${(error as Error).message}`)
  }
  try {
    const scenario = readScenario(value)
    return { ...scenario, name: scenario.name ?? file }
  } catch (error) {
    if (!(error instanceof InvalidScenarioError)) throw error
    throw new InvalidArgumentError(`${file}: ${error.message}. See "mirrorpid simulate --help".`)
  }
}

function print(result: SimulationResult): void {
  const { name, policy, steps } = result
  writeLine(`${name}, policy ${policy}\n`)
  writeLine(`${drawSimulation(result)}\n`)
  const width = `${steps.length}`.length
  for (const step of steps) writeLine(`${`${step.number}`.padStart(width)}. ${step.text}${stateOf(step)}`)
  writeLine('')
  for (const line of findingsOf(result)) writeLine(line)
  const collisions = count(result.collisions.length, 'collision', 'collisions')
  const states = result.converged
    ? 'every replica has the state of its log'
    : 'not every replica has the state of its log'
  writeLine(`${collisions}; ${states}`)
}

function stateOf({ after }: SimulatedStep): string {
  const { cluster, producers } = after
  return `  [${cluster}: ${producers.length === 0 ? 'no producers' : producers.join(', ')}]`
}

function findingsOf({ collisions, divergences }: SimulationResult): string[] {
  return [...collisions.map(({ step, message }) => `step ${step}, ${message}`), ...divergences]
}
