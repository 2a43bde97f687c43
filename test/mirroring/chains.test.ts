import { describe, expect, it } from 'vitest'
import { isMirroredProducerId, type OpenTransactionsMode, sharedEndOffset } from '../../src/index.ts'
import type { Cluster } from './search/cluster.ts'
import { policies } from './search/policy.ts'
import { batchesOf } from './search/truth.ts'
import { World } from './search/world.ts'

/** Some of everything: records without transaction, a transaction that ends, one that stays open. */
function writeSome(cluster: Cluster): void {
  cluster.write(0, 2)
  cluster.write(1, 1)
  cluster.write(2, 3)
  cluster.write(0, 1)
  cluster.end(1, 'COMMIT')
  cluster.write(1, 1)
  cluster.end(2, 'ABORT')
  cluster.replicate()
}

function failOver(cluster: Cluster, mode: OpenTransactionsMode): void {
  cluster.stop(mode)
  cluster.replicate()
  cluster.stop(mode)
  expect(cluster.mirror.state).toBe('STOPPED')
}

const barriersOf = ({ log }: Cluster) => log.producerState.barriers.length

describe.each<OpenTransactionsMode>(['abort', 'truncate'])(
  'a chain A -> B -> C -> D, open transactions: %s',
  (mode) => {
    const newChain = () => {
      const world = new World(policies.default, ['A', 'B', 'C', 'D'])
      const chain = [...world.clusters]
      const connect = () => {
        for (const [at, cluster] of chain.entries()) {
          if (at === 0) continue
          if (cluster.mirror.state !== 'MIRRORING') cluster.startMirror(chain[at - 1]!, false)
          cluster.catchUp()
        }
        world.check()
      }
      connect()
      return { world, chain, connect }
    }

    it('stores at every hop what the first one wrote, under one id each', () => {
      const { chain, connect } = newChain()
      writeSome(chain[0]!)
      connect()
      const [a, b, c, d] = chain.map(({ log }) => batchesOf(log))
      for (const mirrored of [b!, c!, d!]) {
        expect(mirrored.map(({ producerId }) => producerId)).toEqual(
          a!.map(({ producerId }) => -(producerId + 2n)),
        )
        expect(mirrored.map(({ baseOffset }) => baseOffset)).toEqual(a!.map(({ baseOffset }) => baseOffset))
      }
    })

    it.each([1, 2, 3])('a failover at hop %i leaves those behind it with one producer an id', (hop) => {
      const { world, chain, connect } = newChain()
      writeSome(chain[0]!)
      connect()
      const stopped = chain[hop]!
      failOver(stopped, mode)
      world.check()
      writeSome(stopped)
      // what comes behind goes on mirroring it; those before it are on their own
      for (const cluster of chain.slice(hop + 1)) cluster.catchUp()
      world.check()
      writeSome(chain[0]!)
      for (const cluster of chain.slice(hop + 1)) {
        cluster.catchUp()
        expect(sharedEndOffset(cluster.log, stopped.log)).toBe(stopped.log.logEndOffset)
      }
      world.check()
      world.checkAudit()
    })

    it('goes round again and again: failover, local producers, failback, in both directions', () => {
      const world = new World(policies.default, ['A', 'B'])
      let [active, standby] = world.clusters as [Cluster, Cluster]
      for (let round = 1; round <= 6; round++) {
        standby.startMirror(active, false)
        // no negative id stands before the other's barrier, so nothing of the cluster's own expires
        writeSome(active)
        standby.catchUp()
        world.check()
        // the active one writes on, alone: lost with the failover
        writeSome(active)
        failOver(standby, mode)
        expect([...standby.log.producerState.producers.keys()].filter(isMirroredProducerId)).toEqual([])
        writeSome(standby)
        world.check()
        active.replicate()
        ;[active, standby] = [standby, active]
      }
      standby.startMirror(active, false)
      standby.catchUp()
      expect(sharedEndOffset(standby.log, active.log)).toBe(active.log.logEndOffset)
      expect(barriersOf(standby)).toBeGreaterThan(0)
      world.check()
      world.checkAudit()
    })

    it('every cluster of a ring takes over once, and what comes home ends as it ended there', () => {
      const { world, chain, connect } = newChain()
      for (let round = 0; round < 8; round++) {
        writeSome(chain[0]!)
        connect()
        const next = chain[1]!
        failOver(next, mode)
        // the first becomes the last: it cuts what it alone has, and fetches the rest
        chain.push(chain.shift()!)
        writeSome(next)
        connect()
        world.checkAudit()
      }
      const ends = new Set(chain.map(({ log }) => log.logEndOffset))
      expect(ends.size).toBe(1)
    })
  },
)
