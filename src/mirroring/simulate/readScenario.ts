import { MirrorPidError } from '../../errors.ts'
import {
  type ClusterSpec,
  MAX_CLUSTERS,
  MAX_RECORDS,
  MAX_REPLICAS,
  MAX_STEPS,
  type Scenario,
  type ScenarioStep,
} from './scenario.ts'

/**
 * A scenario that cannot be simulated: something in it is missing, unknown or out of range.
 *
 * @example
 * readScenario({ clusters: [], steps: [] }) // throws InvalidScenarioError
 */
export class InvalidScenarioError extends MirrorPidError {
  /** Where, as `$.steps[3].cluster`. */
  readonly path: string

  constructor(path: string, fault: string) {
    super('INVALID_SCENARIO', `${path}: ${fault}`)
    this.path = path
  }
}

/** Reads one field of an object. */
type Field = (value: unknown, path: string) => unknown

const MAX_INT64 = 2n ** 63n - 1n

/**
 * Checks a scenario, as it comes from `JSON.parse` or from a caller.
 *
 * @throws InvalidScenarioError
 * @example
 * readScenario({
 *   clusters: ['A', 'B'],
 *   steps: [{ step: 'mirror', cluster: 'B', source: 'A' }, { step: 'produce', cluster: 'A', producerId: 5 }],
 * })
 */
export function readScenario(value: unknown): Scenario {
  const fields = object(value, '$', ['name', 'clusters', 'steps'])
  const clusters = list(fields.clusters, '$.clusters', MAX_CLUSTERS).map(readCluster)
  const names = clusters.map(({ name }) => name)
  for (const [at, name] of names.entries()) {
    if (names.indexOf(name) < at)
      throw new InvalidScenarioError(`$.clusters[${at}]`, `a second cluster "${name}"`)
  }
  const steps = list(fields.steps, '$.steps', MAX_STEPS).map((step, at) =>
    readStep(step, `$.steps[${at}]`, names),
  )
  const name = fields.name === undefined ? {} : { name: text(fields.name, '$.name') }
  return { ...name, clusters, steps }
}

function readCluster(value: unknown, at: number): ClusterSpec {
  const path = `$.clusters[${at}]`
  if (typeof value === 'string') return { name: clusterName(value, path) }
  const fields = object(value, path, ['name', 'replicas'])
  const name = clusterName(fields.name, `${path}.name`)
  if (fields.replicas === undefined) return { name }
  return { name, replicas: whole(1, MAX_REPLICAS)(fields.replicas, `${path}.replicas`) }
}

function readStep(value: unknown, path: string, clusters: readonly string[]): ScenarioStep {
  const cluster: Field = (name, at) => {
    if (typeof name === 'string' && clusters.includes(name)) return name
    throw new InvalidScenarioError(at, `${show(name)} is no cluster of this scenario: ${clusters.join(', ')}`)
  }
  const producer = { producerId: int64(0n), 'epoch?': whole(0, 32767), 'incarnation?': whole(0, MAX_RECORDS) }
  const kinds: Record<ScenarioStep['step'], Record<string, Field>> = {
    produce: {
      ...producer,
      producerId: int64(-1n),
      'sequence?': whole(0, 2147483647),
      'records?': whole(1, MAX_RECORDS),
      'transactional?': boolean,
    },
    commit: { ...producer, 'coordinatorEpoch?': whole(0, 2147483647) },
    abort: { ...producer, 'coordinatorEpoch?': whole(0, 2147483647) },
    mirror: { source: cluster, 'truncateTo?': int64(0n) },
    fetch: { 'batches?': whole(1, 1_000_000) },
    stop: { 'openTransactions?': oneOf('abort', 'truncate') },
    pause: {},
    resume: {},
    restart: {},
  }
  const given = object(value, path, null)
  const kind = oneOf(...Object.keys(kinds))(given.step, `${path}.step`) as ScenarioStep['step']
  const fields: Record<string, Field> = { cluster, ...kinds[kind] }
  object(value, path, ['step', ...Object.keys(fields).map((name) => name.replace('?', ''))])
  const step: Record<string, unknown> = { step: kind }
  for (const [key, read] of Object.entries(fields)) {
    const name = key.replace('?', '')
    if (given[name] === undefined) {
      if (key === name)
        throw new InvalidScenarioError(`${path}.${name}`, `missing; a step "${kind}" needs it`)
    } else step[name] = read(given[name], `${path}.${name}`)
  }
  if (kind === 'mirror' && step.source === step.cluster) {
    throw new InvalidScenarioError(`${path}.source`, 'a cluster cannot mirror itself')
  }
  if (step.producerId === -1n) {
    for (const name of ['epoch', 'sequence', 'transactional', 'incarnation']) {
      if (step[name] !== undefined)
        throw new InvalidScenarioError(`${path}.${name}`, 'a batch without a producer has none')
    }
  }
  return step as unknown as ScenarioStep
}

function object(value: unknown, path: string, known: readonly string[] | null): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidScenarioError(path, `an object is needed; got ${show(value)}`)
  }
  const unknown = known === null ? undefined : Object.keys(value).find((name) => !known.includes(name))
  if (unknown !== undefined) {
    throw new InvalidScenarioError(`${path}.${unknown}`, `not known here; there are ${known!.join(', ')}`)
  }
  return value as Record<string, unknown>
}

function list(value: unknown, path: string, most: number): unknown[] {
  if (Array.isArray(value) && value.length > 0 && value.length <= most) return value
  const got = Array.isArray(value) ? `${value.length}` : show(value)
  throw new InvalidScenarioError(path, `a list of 1 to ${most} is needed; got ${got}`)
}

function text(value: unknown, path: string): string {
  if (typeof value === 'string' && value !== '') return value
  throw new InvalidScenarioError(path, `a text is needed; got ${show(value)}`)
}

function clusterName(value: unknown, path: string): string {
  if (typeof value === 'string' && /^[\w.-]{1,40}$/.test(value)) return value
  throw new InvalidScenarioError(
    path,
    `a name of 1 to 40 letters, digits, "_", "." and "-" is needed; got ${show(value)}`,
  )
}

function boolean(value: unknown, path: string): boolean {
  if (typeof value === 'boolean') return value
  throw new InvalidScenarioError(path, `true or false is needed; got ${show(value)}`)
}

function oneOf(...allowed: string[]): Field {
  return (value, path) => {
    if (typeof value === 'string' && allowed.includes(value)) return value
    throw new InvalidScenarioError(path, `one of ${allowed.join(', ')} is needed; got ${show(value)}`)
  }
}

function whole(least: number, most: number): (value: unknown, path: string) => number {
  return (value, path) => {
    if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most)
      return value as number
    throw new InvalidScenarioError(
      path,
      `a whole number from ${least} to ${most} is needed; got ${show(value)}`,
    )
  }
}

/** A bigint, a number that is exact, or a decimal string. */
function int64(least: bigint): Field {
  return (value, path) => {
    const isExact = typeof value === 'bigint' || Number.isSafeInteger(value)
    if (isExact || (typeof value === 'string' && /^-?\d{1,19}$/.test(value))) {
      const number = BigInt(value as string)
      if (number >= least && number <= MAX_INT64) return number
    }
    const form = `a whole number from ${least} to ${MAX_INT64}, above ${Number.MAX_SAFE_INTEGER} as a string,`
    throw new InvalidScenarioError(path, `${form} is needed; got ${show(value)}`)
  }
}

function show(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (typeof value === 'bigint') return value.toString()
  const shown = JSON.stringify(value) ?? String(value)
  return shown.length > 60 ? `${shown.slice(0, 57)}...` : shown
}
