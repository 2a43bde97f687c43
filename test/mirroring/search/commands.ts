import fc from 'fast-check'
import type { OpenTransactionsMode } from '../../../src/index.ts'
import type { Cluster } from './cluster.ts'
import type { World } from './world.ts'

/** One step: what it does and to whom; it is left out of a run where it makes no sense. */
export class Step implements fc.Command<object, World> {
  readonly #name: string
  readonly #isPossible: (world: World) => boolean
  readonly #do: (world: World) => void
  readonly #touched: (world: World) => readonly Cluster[]

  constructor(
    name: string,
    isPossible: (world: World) => boolean,
    act: (world: World) => void,
    touched: (world: World) => readonly Cluster[] = ({ clusters }) => clusters,
  ) {
    this.#name = name
    this.#isPossible = isPossible
    this.#do = act
    this.#touched = touched
  }

  check(): boolean {
    return true
  }

  run(_: object, world: World): void {
    if (!this.#isPossible(world)) return
    this.#do(world)
    world.check(this.#touched(world))
  }

  toString(): string {
    return this.#name
  }
}

const NAMES = ['A', 'B', 'C']
const index = fc.nat({ max: 2 })

function onCluster<T>(
  argument: fc.Arbitrary<T>,
  describe: (name: string, argument: T) => string,
  isPossible: (cluster: Cluster, argument: T, world: World) => boolean,
  act: (cluster: Cluster, argument: T, world: World) => void,
): fc.Arbitrary<Step> {
  return fc.tuple(index, argument).map(([at, value]) => {
    const cluster = (world: World) => world.clusters[at]!
    return new Step(
      describe(NAMES[at]!, value),
      (world) => isPossible(cluster(world), value, world),
      (world) => act(cluster(world), value, world),
      (world) => [cluster(world)],
    )
  })
}

const nothing = fc.constant(null)
const mode = fc.constantFrom<OpenTransactionsMode>('abort', 'truncate')
const transactional = fc.constantFrom(1, 2)
const fetchSize = fc.constantFrom(1, 200, 1_000_000)
const hasAll = ({ replicas }: Cluster) => replicas.replicas.every(({ isAlive }) => isAlive)
const isActive = ({ mirror }: Cluster) => ['MIRRORING', 'PAUSED', 'STOPPING'].includes(mirror.state ?? '')

const replicates = fc.boolean()
const transactionOf = (which: number) => `the transaction of ${which === 1 ? 6 : 8}`
const andReplicates = (does: boolean) => (does ? ' and replicates' : '')

export const steps: readonly { weight: number; arbitrary: fc.Arbitrary<Step> }[] = [
  {
    weight: 5,
    arbitrary: onCluster(
      fc.tuple(fc.integer({ min: 1, max: 3 }), replicates),
      (name, [records, does]) => `${name} writes ${records}${andReplicates(does)}`,
      ({ isWritable }) => isWritable,
      (cluster, [records, does]) => {
        cluster.write(0, records)
        if (does) cluster.replicate()
      },
    ),
  },
  {
    weight: 7,
    arbitrary: onCluster(
      fc.tuple(transactional, replicates),
      (name, [which, does]) => `${name} writes in ${transactionOf(which)}${andReplicates(does)}`,
      ({ isWritable }) => isWritable,
      (cluster, [which, does]) => {
        cluster.write(which, 1)
        if (does) cluster.replicate()
      },
    ),
  },
  {
    weight: 5,
    arbitrary: onCluster(
      fc.tuple(transactional, fc.constantFrom('ABORT' as const, 'COMMIT' as const), replicates),
      (name, [which, type, does]) => `${name} ends ${transactionOf(which)}: ${type}${andReplicates(does)}`,
      (cluster, [which]) => cluster.isWritable && cluster.producers[which]!.transaction !== null,
      (cluster, [which, type, does]) => {
        cluster.end(which, type)
        if (does) cluster.replicate()
      },
    ),
  },
  {
    weight: 2,
    arbitrary: onCluster(
      nothing,
      (name) => `${name} replicates`,
      () => true,
      (cluster) => cluster.replicate(),
    ),
  },
  {
    weight: 1,
    arbitrary: onCluster(
      fetchSize,
      (name, size) => `${name}'s follower fetches up to ${size} bytes`,
      () => true,
      (cluster, size) => cluster.fetchReplica(size),
    ),
  },
  {
    weight: 4,
    arbitrary: onCluster(
      fc.tuple(fc.constantFrom(1, 2), fc.boolean(), fc.boolean()),
      (name, [by, fromStart, isWhole]) =>
        `${name} mirrors ${NAMES[(NAMES.indexOf(name) + by) % 3]}${fromStart ? ' from offset 0' : ''}` +
        (isWhole ? ' and catches up' : ''),
      ({ isWritable, mirror }) => isWritable || mirror.state === 'FAILED',
      (cluster, [by, fromStart, isWhole], world) => {
        const source = world.clusters[(world.clusters.indexOf(cluster) + by) % 3]!
        cluster.startMirror(source, fromStart)
        if (isWhole) cluster.catchUp()
      },
    ),
  },
  {
    weight: 5,
    arbitrary: onCluster(
      nothing,
      (name) => `${name} catches up`,
      ({ mirror }) => mirror.state === 'MIRRORING',
      (cluster) => cluster.catchUp(),
    ),
  },
  {
    weight: 5,
    arbitrary: onCluster(
      fetchSize,
      (name, size) => `${name} fetches up to ${size} bytes`,
      ({ mirror }) => mirror.state === 'MIRRORING',
      (cluster, size) => cluster.fetch(size),
    ),
  },
  {
    weight: 4,
    arbitrary: onCluster(
      fc.tuple(mode, replicates),
      (name, [how, does]) => `${name} stops (${how})${does ? ' and replicates' : ''}`,
      (cluster) => isActive(cluster) || cluster.mirror.state === 'STOPPED',
      (cluster, [how, does]) => {
        cluster.stop(how)
        if (!does) return
        cluster.replicate()
        cluster.stop(how)
      },
    ),
  },
  {
    weight: 1,
    arbitrary: onCluster(
      nothing,
      (name) => `${name} pauses or resumes`,
      ({ mirror }) => mirror.state === 'MIRRORING' || mirror.state === 'PAUSED',
      ({ mirror }) => (mirror.state === 'PAUSED' ? mirror.resume() : mirror.pause()),
    ),
  },
  {
    weight: 1,
    arbitrary: onCluster(
      nothing,
      (name) => `${name}'s mirror restarts`,
      () => true,
      (cluster) => cluster.restartMirror(),
    ),
  },
  {
    weight: 2,
    arbitrary: onCluster(
      nothing,
      (name) => `${name} elects another leader`,
      (cluster) => hasAll(cluster) && cluster.replicas.inSync.length > 1,
      (cluster) => cluster.elect(1 - cluster.replicas.leaderId),
    ),
  },
  {
    weight: 1,
    arbitrary: onCluster(
      nothing,
      (name) => `${name}'s follower crashes or comes back`,
      () => true,
      ({ replicas }) => {
        const id = 1 - replicas.leaderId
        if (replicas.replicas[id]!.isAlive) replicas.crash(id)
        else replicas.restart(id)
      },
    ),
  },
  {
    weight: 1,
    arbitrary: nothing.map(
      () =>
        new Step(
          'a day passes',
          () => true,
          (world) => world.expire(),
        ),
    ),
  },
]
