// Every public call refuses what it does not know, before anything else: the exports are walked, and one that is not listed
// here fails. Each entry has arguments that are fine, and says what each of them is.
import { describe, expect, it } from 'vitest'
import { MirrorPidError } from '../../src/errors.ts'
import * as root from '../../src/index.ts'
import * as js from '../../src/js.ts'
import * as node from '../../src/node/index.ts'
import { temporaryDirectories, writeTree } from '../node/support.ts'

type Kind =
  /** An object of known names. */
  | 'options'
  /** The same, which must not be left out. */
  | 'request'
  | 'paths'
  | 'bytes'
  | 'text'
  /** An object of this package. */
  | 'thing'
  /** An int64. */
  | 'id'
  | 'offset'
  | 'mode'
  /** Anything will do, or the return type says what it was. */
  | 'free'

const WRONG: Record<Kind, readonly unknown[]> = {
  options: ['text', 7, null, [], new Map(), true],
  request: [undefined, 'text', 7, null, [], new Map(), true],
  paths: ['/a/path', undefined, null, {}, [7], [''], new Set(['/a/path'])],
  bytes: ['text', undefined, null, 7, [1, 2, 3], {}],
  text: [undefined, null, 7, '', {}],
  thing: ['text', undefined, null, 7, {}],
  id: ['5', 5, undefined, null],
  offset: ['5', 5, undefined, null, -1n, 2n ** 63n],
  mode: ['text', 7, {}],
  free: [],
}

interface Door {
  call: (...args: never[]) => unknown
  kinds: readonly Kind[]
  args: () => readonly unknown[]
}

const newDirectory = temporaryDirectories()
const sound = root.encodeRecordBatch({
  partitionLeaderEpoch: 0,
  producerId: 5n,
  producerEpoch: 0,
  baseSequence: 0,
  records: [{ value: Buffer.from('x') }],
})
const good = Buffer.from(sound)
const NAME = '00000000000000000000.log'
const core = js.jsCore()
const newLog = () => root.PartitionLog.open(root.memoryStorage())
const newReplica = () => new root.SoleReplica(newLog())
const newMirror = () => new root.MirrorPartition(newReplica(), root.memoryStateStore())
const newManager = () => new root.ProducerStateManager()
const newSet = () => new root.ReplicaSet([root.memoryStorage()])
const oneBatch = () => [...root.recordBatches(sound)][0]!
const barrier = root.encodeMirrorPidReset({
  baseOffset: 0n,
  leaderEpoch: 0,
  timestamp: 0n,
  sourceClusterId: 'A',
})
const oneControl = () => [...root.recordBatches(barrier)][0]!
const spec = () => ({ records: [{ value: Buffer.from('x') }] })
const clusters = { clusterId: 'B', sourceClusterId: 'A' }
const partition = () => writeTree(newDirectory(), { 'orders-0': { [NAME]: good } })
const scenario = () => ({
  name: 'x',
  clusters: ['A', 'B'],
  steps: [{ step: 'mirror', cluster: 'B', source: 'A' }],
})

const door = (call: unknown, kinds: readonly Kind[], args: () => readonly unknown[]): Door => ({
  call: call as Door['call'],
  kinds,
  args,
})

const DOORS: Record<string, Door> = {
  auditProducers: door(root.auditProducers, ['free', 'options'], () => [[oneBatch()], {}]),
  consumerView: door(root.consumerView, ['bytes', 'options'], () => [good, {}]),
  createCodecs: door(root.createCodecs, ['options'], () => [{}]),
  decodeControlRecord: door(root.decodeControlRecord, ['thing'], () => [oneControl()]),
  decodeControlRecords: door(root.decodeControlRecords, ['thing'], () => [oneControl()]),
  decodeMirrorPidReset: door(root.decodeMirrorPidReset, ['bytes'], () => [Buffer.alloc(3)]),
  decodeRecords: door(root.decodeRecords, ['thing', 'options'], () => [oneBatch(), {}]),
  encodeEndTransactionMarker: door(root.encodeEndTransactionMarker, ['request'], () => [
    {
      type: 'ABORT',
      baseOffset: 0n,
      leaderEpoch: 0,
      timestamp: 0n,
      producerId: 5n,
      producerEpoch: 0,
      coordinatorEpoch: 0,
    },
  ]),
  encodeMirrorPidReset: door(root.encodeMirrorPidReset, ['request'], () => [
    { baseOffset: 0n, leaderEpoch: 0, timestamp: 0n, sourceClusterId: 'A' },
  ]),
  encodeRecordBatch: door(root.encodeRecordBatch, ['request'], () => [spec()]),
  mapProducerId: door(root.mapProducerId, ['id'], () => [5n]),
  unmapProducerId: door(root.unmapProducerId, ['id'], () => [5n]),
  isMirroredProducerId: door(root.isMirroredProducerId, ['id'], () => [5n]),
  legacyMapProducerId: door(root.legacyMapProducerId, ['id'], () => [5n]),
  memoryStorage: door(root.memoryStorage, ['free'], () => []),
  memoryStateStore: door(root.memoryStateStore, [], () => []),
  mirrorStateFile: door(root.mirrorStateFile, ['thing'], () => [root.memoryStorage()]),
  overlayStorage: door(root.overlayStorage, ['thing', 'thing'], () => [
    root.memoryStorage(),
    root.memoryStorage(),
  ]),
  recordBatches: door(
    (bytes: Uint8Array) => [...root.recordBatches(bytes)],
    ['bytes'],
    () => [good],
  ),
  rewriteProducerSnapshot: door(root.rewriteProducerSnapshot, ['thing', 'bytes', 'options'], () => [
    core,
    newManager().takeSnapshot(),
    {},
  ]),
  rewriteStream: door(root.rewriteStream, ['options'], () => [{}]),
  rewriteTransactionIndex: door(root.rewriteTransactionIndex, ['bytes', 'options'], () => [
    Buffer.alloc(0),
    {},
  ]),
  sharedEndOffset: door(root.sharedEndOffset, ['thing', 'thing'], () => [newLog(), newLog()]),
  simulate: door(root.simulate, ['free', 'options'], () => [scenario(), {}]),
  sourceOverlaps: door(root.sourceOverlaps, ['free', 'request'], () => [
    [],
    { partition: 'orders-0', maxFindings: 5 },
  ]),
  stopLog: door(root.stopLog, ['thing', 'options', 'request'], () => [
    root.memoryStorage([[NAME, good]]),
    {},
    { ...clusters, unmarked: true },
  ]),
  verifyProducerSnapshot: door(root.verifyProducerSnapshot, ['thing', 'bytes'], () => [
    core,
    newManager().takeSnapshot(),
  ]),
  verifyTransactionIndex: door(root.verifyTransactionIndex, ['bytes'], () => [Buffer.alloc(0)]),

  'new MirrorPartition': door(
    (...args: [never, never, never]) => new root.MirrorPartition(...args),
    ['thing', 'thing', 'options'],
    () => [newReplica(), root.memoryStateStore(), {}],
  ),
  'MirrorPartition.prepare': door(
    (r: never) => newMirror().prepare(r),
    ['request'],
    () => [{ sourceClusterId: 'A' }],
  ),
  'MirrorPartition.stop': door(
    (r: never) => prepared().stop(r),
    ['options'],
    () => [{}],
  ),
  'MirrorPartition.mirror': door(
    (r: never) => prepared().mirror(r),
    ['bytes'],
    () => [good],
  ),
  'MirrorPartition.truncateTo': door(
    (r: never) => prepared().truncateTo(r),
    ['offset'],
    () => [0n],
  ),
  'MirrorPartition.followLogStart': door(
    (r: never) => prepared().followLogStart(r),
    ['offset'],
    () => [0n],
  ),
  'MirrorPartition.fail': door(
    (r: never) => prepared().fail(r),
    ['text'],
    () => ['why'],
  ),
  'MirrorPartition.append': door(
    (...args: [never, never, never]) => newMirror().append(...args),
    ['bytes', 'mode', 'options'],
    () => [good, 'client', {}],
  ),
  'PartitionLog.open': door(root.PartitionLog.open, ['thing', 'options'], () => [root.memoryStorage(), {}]),
  'PartitionLog.append': door(
    (...args: [never, never, never]) => newLog().append(...args),
    ['bytes', 'mode', 'options'],
    () => [good, 'replication', {}],
  ),
  'PartitionLog.read': door(
    (...args: [never, never]) => newLog().read(...args),
    ['offset', 'options'],
    () => [0n, {}],
  ),
  'PartitionLog.truncateTo': door(
    (o: never) => newLog().truncateTo(o),
    ['offset'],
    () => [0n],
  ),
  'PartitionLog.truncateFullyAndStartAt': door(
    (o: never) => newLog().truncateFullyAndStartAt(o),
    ['offset'],
    () => [0n],
  ),
  'PartitionLog.deleteRecordsBefore': door(
    (o: never) => newLog().deleteRecordsBefore(o),
    ['offset'],
    () => [0n],
  ),
  'PartitionLog.updateHighWatermark': door(
    (o: never) => newLog().updateHighWatermark(o),
    ['offset'],
    () => [0n],
  ),
  'new ProducerAudit': door(
    (o: never) => new root.ProducerAudit(o),
    ['options'],
    () => [{}],
  ),
  'ProducerAudit.take': door(
    (b: never) => new root.ProducerAudit().take(b),
    ['thing'],
    () => [oneBatch()],
  ),
  'new ProducerStateManager': door(
    (o: never) => new root.ProducerStateManager(o),
    ['options'],
    () => [{}],
  ),
  'ProducerStateManager.append': door(
    (...args: [never, never, never]) => newManager().append(...args),
    ['thing', 'mode', 'options'],
    () => [oneBatch(), 'replication', {}],
  ),
  'ProducerStateManager.fromSnapshot': door(
    root.ProducerStateManager.fromSnapshot,
    ['bytes', 'options'],
    () => [newManager().takeSnapshot(), {}],
  ),
  'ProducerStateManager.expireMirrored': door(
    (o: never) => newManager().expireMirrored(o),
    ['offset'],
    () => [0n],
  ),
  'new ReplicaSet': door(
    (...args: [never, never]) => new root.ReplicaSet(...args),
    ['free', 'options'],
    () => [[root.memoryStorage()], {}],
  ),
  'ReplicaSet.append': door(
    (...args: [never, never, never]) => newSet().append(...args),
    ['bytes', 'mode', 'options'],
    () => [good, 'replication', {}],
  ),
  'new SoleReplica': door(
    (l: never) => new root.SoleReplica(l),
    ['thing'],
    () => [newLog()],
  ),
  'SoleReplica.append': door(
    (...args: [never, never, never]) => newReplica().append(...args),
    ['bytes', 'mode', 'options'],
    () => [good, 'replication', {}],
  ),
  'core.rewrite': door(core.rewrite.bind(core), ['bytes', 'options'], () => [Buffer.from(good), {}]),
  'core.verify': door(core.verify.bind(core), ['bytes'], () => [good]),
  'core.crc32c': door(core.crc32c.bind(core), ['bytes'], () => [good]),

  auditPaths: door(node.auditPaths, ['paths', 'options'], () => [[partition()], {}]),
  directoryStorage: door(node.directoryStorage, ['text', 'mode'], () => [partition(), 'read']),
  openPartitionDirectory: door(node.openPartitionDirectory, ['text', 'options'], () => [
    `${partition()}/orders-0`,
    {},
  ]),
  recoverPartition: door(node.recoverPartition, ['text', 'options'], () => [`${partition()}/orders-0`, {}]),
  rewritePaths: door(node.rewritePaths, ['paths', 'request'], () => [[partition()], { inPlace: true }]),
  rewriteSegmentFile: door(node.rewriteSegmentFile, ['text', 'request'], () => [
    `${partition()}/orders-0/${NAME}`,
    { inPlace: true },
  ]),
  stopPartition: door(node.stopPartition, ['text', 'request'], () => [
    `${partition()}/orders-0`,
    { ...clusters, unmarked: true, dryRun: true },
  ]),
  verifyPaths: door(node.verifyPaths, ['paths', 'options'], () => [[partition()], {}]),
  verifySegmentFile: door(node.verifySegmentFile, ['text', 'options'], () => [
    `${partition()}/orders-0/${NAME}`,
    {},
  ]),
}

/** Take nothing that could be misspelt, or are pure arithmetic. */
const WITHOUT_DOORS = [
  'loadCore', // a module, which WebAssembly checks
  'loadCoreSync',
  'jsCore',
  'describeCorruptBatch',
  'incrementSequence',
  'decrementSequence',
  'isAligned',
  'drawSimulation', // of what simulate gave
  'readScenario', // of any JSON, with errors of its own
  'SourceProducers', // is given batches by sourceOverlaps
]

function prepared(): root.MirrorPartition {
  const mirror = newMirror()
  mirror.prepare({ sourceClusterId: 'A' })
  mirror.start()
  return mirror
}

async function outcomeOf({ call }: Door, args: readonly unknown[]): Promise<unknown> {
  try {
    return await (call as (...all: readonly unknown[]) => unknown)(...args)
  } catch (error) {
    return error
  }
}

const isError = (value: unknown) => typeof value === 'function' && value.prototype instanceof MirrorPidError
const names = [...new Set([root, node, js].flatMap((entry) => Object.entries(entry)))]
  .filter(([, value]) => typeof value === 'function' && !isError(value) && value !== MirrorPidError)
  .map(([name]) => name)

describe('every public function and class', () => {
  it.each([...new Set(names)])('%s is listed', (name) => {
    const listed = [...Object.keys(DOORS).map((door) => door.replace(/^new |\..*/g, '')), ...WITHOUT_DOORS]
    expect(listed).toContain(name)
  })
})

describe.each(Object.entries(DOORS))('%s', (_, door) => {
  it('takes what is fine', async () => {
    const outcome = await outcomeOf(door, door.args())
    expect(outcome).not.toBeInstanceOf(Error)
  })

  for (const [at, kind] of door.kinds.entries()) {
    it(`refuses what is no ${kind}, as argument ${at + 1}`, async () => {
      for (const wrong of WRONG[kind]) {
        const args = [...door.args()]
        args[at] = wrong
        const outcome = await outcomeOf(door, args)
        const name = typeof wrong === 'bigint' ? `${wrong}n` : `${JSON.stringify(wrong)} (${typeof wrong})`
        expect(outcome, name).toBeInstanceOf(MirrorPidError)
        expect((outcome as MirrorPidError).code, name).toMatch(/^(INVALID_ARGUMENT|UNMAPPABLE_PRODUCER_ID)$/)
      }
    })

    if (kind !== 'options' && kind !== 'request') continue
    it(`refuses a name that it does not know, in argument ${at + 1}, and says which it knows`, async () => {
      for (const name of ['noSuchName', 'dry_run', 'toString']) {
        const args = [...door.args()]
        args[at] = { ...(args[at] as object), [name]: true }
        const outcome = await outcomeOf(door, args)
        expect(outcome, name).toMatchObject({
          code: 'INVALID_ARGUMENT',
          message: expect.stringMatching(new RegExp(`"${name}" is not known; known are \\w+`)),
        })
      }
    })
  }
})
