import {
  encodeRecordBatch,
  loadCoreSync,
  MirrorPartition,
  memoryStateStore,
  memoryStorage,
  PartitionLog,
  ProducerAudit,
  ProducerStateManager,
  ReplicaSet,
  recordBatches,
  rewriteStream,
  SoleReplica,
  SourceProducers,
} from '../../src/index.ts'
import { jsCore } from '../../src/js.ts'
import { simulate } from '../../src/simulate.ts'

/**
 * What each parameter of the public calls takes. A call that is exported and not listed here fails the test, so whoever
 * adds one decides what its parameters are.
 */
export type Kind =
  | 'bytes'
  /** An object with names that are known; may be left out. */
  | 'options'
  /** The same, and it must be there. */
  | 'request'
  /** Something of this package, such as a log or a batch. */
  | 'thing'
  /** Many of them. */
  | 'things'
  | 'paths'
  | 'text'
  | 'offset'
  | 'producerId'
  /** One of a few texts. */
  | 'choice'
  | 'module'
  /** Data with an error of its own, InvalidScenarioError. */
  | 'scenario'
  /** Not checked at the door: numbers that formulas take as they come. */
  | 'free'

export type Parameter = readonly [kind: Kind, valid: unknown]

const spec = {
  producerId: 5n,
  producerEpoch: 0,
  baseSequence: 0,
  records: [{ key: null, value: Buffer.from('v') }],
}
const marker = {
  baseOffset: 1n,
  timestamp: 0n,
  producerId: 5n,
  producerEpoch: 0,
  coordinatorEpoch: 0,
  type: 'ABORT',
} as const
const batchBytes = () => encodeRecordBatch(spec)
const batch = () => [...recordBatches(batchBytes())][0]!
const log = () => PartitionLog.open(memoryStorage())
const manager = () => new ProducerStateManager()
const replicas = () => new ReplicaSet([memoryStorage(), memoryStorage()])
const mirror = () => new MirrorPartition(new SoleReplica(log()), memoryStateStore())

function mirroring(): MirrorPartition {
  const partition = mirror()
  partition.prepare({ sourceClusterId: 'A' })
  partition.start()
  return partition
}

const snapshot = () => manager().takeSnapshot()
const view = () => new DataView(batchBytes().buffer)
const framed: () => Parameter[] = () => [
  ['thing', view()],
  ['free', 0],
  ['free', view().byteLength],
  ['free', 2],
]

/** What methods are called on, by the name of the class or, where that is not exported, of what gives it. */
export const receivers: Record<string, () => object> = {
  'loadCoreSync()': loadCoreSync,
  'jsCore()': jsCore,
  PartitionLog: log,
  ProducerStateManager: manager,
  MirrorPartition: mirror,
  SoleReplica: () => new SoleReplica(log()),
  ReplicaSet: replicas,
  ProducerAudit: () => new ProducerAudit(),
  SourceProducers: () => new SourceProducers('A'),
}

const nothing: () => Parameter[] = () => []
const offset: () => Parameter[] = () => [['offset', 0n]]
const producerId: () => Parameter[] = () => [['producerId', 5n]]
const append: () => Parameter[] = () => [
  ['bytes', batchBytes()],
  ['choice', 'client'],
  ['options', { transactionVersion: 0 }],
]
const core: Record<string, () => Parameter[]> = {
  crc32c: () => [
    ['bytes', batchBytes()],
    ['free', 0],
  ],
  rewrite: () => [
    ['bytes', batchBytes()],
    ['options', { crc: 'verify', direction: 'unmap' }],
  ],
  verify: () => [['bytes', batchBytes()]],
  allocate: () => [['free', 61]],
}
const coreDoors = (name: string) =>
  Object.fromEntries(Object.entries(core).map(([method, parameters]) => [`${name}#${method}`, parameters]))

/** The parameters of each: functions by name, `Class.new`, `Class.staticMethod`, `Class#method`. */
export const universalDoors: Record<string, () => Parameter[]> = {
  ...coreDoors('loadCoreSync()'),
  ...coreDoors('jsCore()'),
  jsCore: nothing,
  loadCore: () => [['module', undefined]],
  loadCoreSync: () => [['module', undefined]],
  mapProducerId: producerId,
  unmapProducerId: producerId,
  isMirroredProducerId: producerId,
  legacyMapProducerId: producerId,
  describeCorruptBatch: () => [
    ['thing', { position: 0, baseOffset: 0n, reason: 'size', stored: null, computed: null }],
  ],

  createCodecs: () => [['options', { gzip: () => new Uint8Array(0) }]],
  consumerView: () => [
    ['bytes', batchBytes()],
    ['options', { isolation: 'read_committed', abortedTransactions: [] }],
  ],
  decodeControlRecord: () => [
    ['thing', [...recordBatches(encodeRecordBatch({ isControl: true, records: [] }))][0]],
  ],
  decodeControlRecords: () => [
    ['thing', [...recordBatches(encodeRecordBatch({ isControl: true, records: [] }))][0]],
  ],
  decodeRecords: () => [
    ['thing', batch()],
    ['options', { maxDecompressedBytes: 100 }],
  ],
  encodeRecordBatch: () => [['request', spec]],
  encodeEndTransactionMarker: () => [['request', marker]],
  decodeMirrorPidReset: () => [['bytes', new Uint8Array(3)]],
  encodeMirrorPidReset: () => [
    ['request', { baseOffset: 0n, leaderEpoch: 0, timestamp: 0n, sourceClusterId: 'A' }],
  ],
  recordBatches: () => [['bytes', batchBytes()]],
  incrementSequence: () => [
    ['free', 0],
    ['free', 1],
  ],
  decrementSequence: () => [
    ['free', 0],
    ['free', 1],
  ],

  memoryStorage: () => [['things', [['a', new Uint8Array(1)]]]],
  overlayStorage: () => [
    ['thing', memoryStorage()],
    ['thing', memoryStorage()],
  ],
  rewriteProducerSnapshot: () => [
    ['thing', loadCoreSync()],
    ['bytes', snapshot()],
    ['options', { direction: 'map', file: null }],
  ],
  verifyProducerSnapshot: () => [
    ['thing', loadCoreSync()],
    ['bytes', snapshot()],
    ['free', null],
  ],
  rewriteTransactionIndex: () => [
    ['bytes', new Uint8Array(0)],
    ['options', { direction: 'map' }],
  ],
  verifyTransactionIndex: () => [
    ['bytes', new Uint8Array(0)],
    ['free', null],
  ],
  rewriteStream: () => [['options', { crc: 'verify', maxBatchBytes: 100, core: jsCore() }]],

  'PartitionLog.new': () => [
    ['thing', memoryStorage()],
    ['request', {}],
  ],
  'PartitionLog.open': () => [
    ['thing', memoryStorage()],
    ['options', { shutdown: 'clean', segmentBytes: 100, core: jsCore(), clusterId: 'B' }],
  ],
  'PartitionLog#endOffsetFor': () => [['free', 0]],
  'PartitionLog#append': () => [
    ['bytes', batchBytes()],
    ['choice', 'client'],
    ['options', { leaderEpoch: 1, transactionVersion: 0 }],
  ],
  'PartitionLog#read': () => [
    ['offset', 0n],
    ['options', { isolation: 'read_committed', maxBytes: 5 }],
  ],
  'PartitionLog#beginLeaderEpoch': () => [['free', 1]],
  'PartitionLog#updateHighWatermark': offset,
  'PartitionLog#roll': nothing,
  'PartitionLog#truncateTo': offset,
  'PartitionLog#truncateToLastStableOffset': nothing,
  'PartitionLog#truncateFullyAndStartAt': offset,
  'PartitionLog#deleteRecordsBefore': offset,
  'PartitionLog#flush': nothing,
  'PartitionLog#close': nothing,

  'ProducerStateManager.new': () => [['options', { clusterId: 'B', barrierPolicy: 'ignore' }]],
  'ProducerStateManager.fromSnapshot': () => [
    ['bytes', snapshot()],
    ['options', { offset: 5n, now: 0n, clusterId: 'B' }],
  ],
  'ProducerStateManager.fromState': () => [
    ['thing', manager().toState()],
    ['options', { clusterId: 'B' }],
  ],
  'ProducerStateManager#append': () => [
    ['thing', batch()],
    ['choice', 'client'],
    ['options', { transactionVersion: 0 }],
  ],
  'ProducerStateManager#appendAll': () => [
    ['things', [batch()]],
    ['choice', 'client'],
    ['options', { transactionVersion: 0 }],
  ],
  'ProducerStateManager#replay': () => [
    ['bytes', batchBytes()],
    ['choice', 'mirror'],
  ],
  'ProducerStateManager#lastStableOffset': offset,
  'ProducerStateManager#onHighWatermark': offset,
  'ProducerStateManager#onLogEndOffset': offset,
  'ProducerStateManager#onLogStartOffset': offset,
  'ProducerStateManager#expireMirrored': offset,
  'ProducerStateManager#removeExpired': () => [['free', 0n]],
  'ProducerStateManager#takeSnapshot': nothing,
  'ProducerStateManager#toState': nothing,

  'MirrorPartition.new': () => [
    ['thing', new SoleReplica(log())],
    ['thing', memoryStateStore()],
    ['options', { producerIds: 'none', core: jsCore(), now: () => 0n }],
  ],
  'MirrorPartition#prepare': () => [['request', { sourceClusterId: 'A', truncateTo: 0n }]],
  'MirrorPartition#start': nothing,
  'MirrorPartition#mirror': () => [['bytes', batchBytes()]],
  'MirrorPartition#append': append,
  'MirrorPartition#truncateTo': offset,
  'MirrorPartition#followLogStart': offset,
  'MirrorPartition#pause': nothing,
  'MirrorPartition#resume': nothing,
  'MirrorPartition#fail': () => [['text', 'the source is gone']],
  'MirrorPartition#stop': () => [['options', { sourceClusterId: 'A', openTransactions: 'abort' }]],
  'SoleReplica.new': () => [
    ['thing', log()],
    ['free', 5],
  ],
  'SoleReplica#append': append,
  'SoleReplica#truncateTo': offset,
  'SoleReplica#startAt': offset,
  'SoleReplica#onReplicated': nothing,
  'ReplicaSet.new': () => [
    ['things', [memoryStorage()]],
    ['options', { clusterId: 'B' }],
  ],
  'ReplicaSet#append': append,
  'ReplicaSet#truncateTo': offset,
  'ReplicaSet#startAt': offset,
  'ReplicaSet#fetch': () => [
    ['free', 1],
    ['free', 1000],
  ],
  'ReplicaSet#replicate': nothing,
  'ReplicaSet#elect': () => [['free', 0]],
  'ReplicaSet#crash': () => [['free', 1]],
  'ReplicaSet#restart': () => [['free', 1]],
  sharedEndOffset: () => [
    ['thing', log()],
    ['thing', log()],
  ],
  isAligned: () => [
    ['thing', log()],
    ['thing', log()],
  ],
  memoryStateStore: nothing,
  mirrorStateFile: () => [['thing', memoryStorage()]],
  stopLog: () => [
    ['thing', storageOfMirror()],
    ['request', { shutdown: 'unclean' }],
    ['request', { clusterId: 'B', sourceClusterId: 'A', openTransactions: 'abort' }],
  ],

  auditProducers: () => [
    ['things', [batch()]],
    ['options', { partition: 'orders-0', maxFindings: 5 }],
  ],
  'ProducerAudit.new': () => [['options', { isInternalTopic: false }]],
  'ProducerAudit#take': () => [['thing', batch()]],
  'ProducerAudit#framed': framed,
  'ProducerAudit#modifiedAt': () => [['free', 0]],
  'ProducerAudit#damaged': nothing,
  'ProducerAudit#finish': nothing,
  'SourceProducers.new': () => [['text', 'A']],
  'SourceProducers#framed': framed,
  'SourceProducers#damaged': nothing,
  'SourceProducers#mappedIds': nothing,
  'SourceProducers#rangeOf': () => [['free', -7n]],
  sourceOverlaps: () => [
    ['things', [new SourceProducers('A')]],
    ['request', { partition: null, maxFindings: 5 }],
  ],
  simulate: () => [
    ['scenario', 'chain'],
    ['options', { policy: 'guard' }],
  ],
  drawSimulation: () => [['thing', simulate('chain')]],
  readScenario: () => [['scenario', { clusters: ['A'], steps: [{ step: 'restart', cluster: 'A' }] }]],
}

function storageOfMirror() {
  const storage = memoryStorage()
  const written = PartitionLog.open(storage)
  written.append(encodeRecordBatch({ ...spec, producerId: -7n, partitionLeaderEpoch: 0 }), 'mirror')
  written.close()
  return storage
}

/** Methods that need another state of what they are called on. */
export const specialReceivers: Record<string, () => object> = {
  'MirrorPartition#start': () => {
    const partition = mirror()
    partition.prepare({ sourceClusterId: 'A' })
    return partition
  },
  'MirrorPartition#mirror': mirroring,
  'MirrorPartition#truncateTo': mirroring,
  'MirrorPartition#followLogStart': mirroring,
  'MirrorPartition#pause': mirroring,
  'MirrorPartition#resume': () => {
    const partition = mirroring()
    partition.pause()
    return partition
  },
  'MirrorPartition#fail': mirroring,
  'MirrorPartition#stop': mirroring,
}

/** The same for `mirrorpid/node`, on the files of a partition. */
export const nodeDoors = (
  directory: string,
  segment: string,
  out: string,
): Record<string, () => Parameter[]> => ({
  auditPaths: () => [
    ['paths', [directory]],
    ['options', { maxFindings: 5, windowSize: 100, sources: [{ name: 'A', path: directory }] }],
  ],
  directoryStorage: () => [
    ['text', directory],
    ['choice', 'read'],
  ],
  openPartitionDirectory: () => [
    ['text', directory],
    ['options', { write: false, shutdown: 'clean', core: jsCore() }],
  ],
  recoverPartition: () => [
    ['text', directory],
    ['options', { write: false, clusterId: 'B' }],
  ],
  stopPartition: () => [
    ['text', directory],
    ['request', { clusterId: 'B', sourceClusterId: 'A', unmarked: true, dryRun: true }],
  ],
  rewritePaths: () => [
    ['paths', [directory]],
    ['request', { outDirectory: `${out}/${count++}`, crc: 'verify', jobs: 1 }],
  ],
  rewriteSegmentFile: () => [
    ['text', segment],
    ['request', { out: `${out}-${count++}`, direction: 'map' }],
  ],
  verifyPaths: () => [
    ['paths', [directory]],
    ['options', { records: true, jobs: 1 }],
  ],
  verifySegmentFile: () => [
    ['text', segment],
    ['options', { records: false }],
  ],
})

let count = 0

/** What rewriteStream gives is a stream whose chunks are bytes. */
export async function writeChunk(chunk: unknown): Promise<void> {
  const { readable, writable } = rewriteStream()
  const written = writable.getWriter().write(chunk as Uint8Array)
  await Promise.all([written, readable.getReader().read()])
}
