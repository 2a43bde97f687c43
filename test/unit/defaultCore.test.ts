// Where no core is given, the wasm one is loaded when it is first needed; where there is none, that is said.
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { readTree, temporaryDirectories, writeTree } from '../node/support.ts'
import { batch } from '../support/batches.ts'

const newDirectory = temporaryDirectories()
const unavailable = expect.objectContaining({ code: 'WASM_UNAVAILABLE' })
const SEGMENT = '00000000000000000000.log'
const mapped = () => batch({ producerId: -7n, payload: Buffer.from([14, 0, 0, 0, 1, 2, 65, 0]) })
const ids = { clusterId: 'B', sourceClusterId: 'A' }

/** The entries, loaded anew: no core has been loaded yet. */
const load = async () => ({
  ...(await import('../../src/index.ts')),
  ...(await import('../../src/js.ts')),
  ...(await import('../../src/simulate.ts')),
  node: await import('../../src/node/index.ts'),
})

beforeEach(() => {
  vi.resetModules()
})

afterEach(() => {
  vi.unstubAllGlobals()
})

describe('where there is WebAssembly', () => {
  it('nothing is compiled at import, and one core at the first use', async () => {
    const used: PropertyKey[] = []
    vi.stubGlobal(
      'WebAssembly',
      new Proxy(WebAssembly, {
        get(target, name) {
          used.push(name)
          return Reflect.get(target, name)
        },
      }),
    )
    const { PartitionLog, MirrorPartition, SoleReplica, memoryStorage, memoryStateStore, loadCoreSync } =
      await load()
    expect(used).toEqual([])
    const log = PartitionLog.open(memoryStorage())
    expect(used.filter((name) => name === 'Instance')).toHaveLength(1)
    const mirror = new MirrorPartition(new SoleReplica(log), memoryStateStore())
    mirror.prepare({ sourceClusterId: 'A' })
    mirror.start()
    expect(mirror.mirror(batch({ producerId: 5n })).batches).toBe(1)
    expect(PartitionLog.open(memoryStorage()).core).toBe(log.core)
    expect(log.core).toBe(loadCoreSync())
    expect(log.core.backend).toBe('wasm')
    expect(used.filter((name) => name === 'Instance')).toHaveLength(1)
  })
})

describe('where there is no WebAssembly', () => {
  beforeEach(() => {
    vi.stubGlobal('WebAssembly', undefined)
  })

  it('all that needs a core says so, before anything else, and works with the plain one', async () => {
    const { PartitionLog, ReplicaSet, memoryStorage, stopLog, jsCore, node } = await load()
    const directory = join(newDirectory(), 'orders-0')
    writeTree(directory, { [SEGMENT]: mapped() })
    const files = readTree(directory)
    const segment = join(directory, SEGMENT)
    const out = join(newDirectory(), 'out')
    const storage = () => memoryStorage([[SEGMENT, mapped()]])
    const calls: Record<string, (core: { core?: ReturnType<typeof jsCore> }) => unknown> = {
      open: (core) => PartitionLog.open(storage(), core),
      replicas: (core) => new ReplicaSet([storage()], core),
      stopLog: (core) => stopLog(storage(), core, ids),
      openPartitionDirectory: (core) => node.openPartitionDirectory(directory, core),
      recoverPartition: (core) => node.recoverPartition(directory, core),
      stopDryRun: (core) => node.stopPartition(directory, { ...ids, ...core, dryRun: true }),
      verifyPaths: (core) => node.verifyPaths([directory], core),
      verifySegmentFile: (core) => node.verifySegmentFile(segment, core),
      rewritePaths: (core) => node.rewritePaths([directory], { outDirectory: out, ...core }),
      rewriteSegmentFile: (core) => node.rewriteSegmentFile(segment, { out: `${out}.log`, ...core }),
      auditPaths: (core) => node.auditPaths([directory], core),
      stopPartition: (core) => node.stopPartition(directory, { ...ids, ...core }),
    }
    for (const [name, call] of Object.entries(calls)) {
      const answer = await Promise.resolve({})
        .then(call)
        .catch((error) => error)
      expect([name, answer]).toEqual([name, unavailable])
    }
    expect(readTree(directory)).toEqual(files)
    for (const call of Object.values(calls)) await call({ core: jsCore() })
    expect(Object.keys(readTree(directory))).toContain('mirror-state.json')
  })

  it('a mirror works with the core of its log: it is given once', async () => {
    const { PartitionLog, MirrorPartition, SoleReplica, memoryStorage, memoryStateStore, jsCore } =
      await load()
    const log = PartitionLog.open(memoryStorage(), { core: jsCore() })
    const mirror = new MirrorPartition(new SoleReplica(log), memoryStateStore())
    mirror.prepare({ sourceClusterId: 'A' })
    mirror.start()
    mirror.mirror(batch({ producerId: 5n }))
    expect([...log.producerState.producers.keys()]).toEqual([-7n])
  })

  it('a simulation needs none', async () => {
    const { simulate } = await load()
    expect(simulate('chain').converged).toBe(true)
  })

  it('a command goes on with the plain core, and says so', async () => {
    const { commandCore } = await import('../../src/commands/commandCore.ts')
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    try {
      expect(commandCore().core?.backend).toBe('js')
      expect(write.mock.calls.join('')).toMatch(/^mirrorpid: warning: .*no WebAssembly.*\n$/)
    } finally {
      write.mockRestore()
    }
  })
})

it('a command leaves the core to the default where there is one', async () => {
  const { commandCore } = await import('../../src/commands/commandCore.ts')
  expect(commandCore()).toEqual({})
})
