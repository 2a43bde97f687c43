/** @typedef {import('./judge.js').JudgedLog} Log */
/** @typedef {import('./judge.js').JudgedSnapshot} Snapshot */
/** @typedef {import('./judge.js').JudgedTransactionIndex} TransactionIndex */
/** @typedef {{ logs: Log[], batches: import('./judge.js').JudgedBatch[], snapshots: Snapshot[], indexes: TransactionIndex[] }} Partition */
/** @typedef {[what: string, holds: (partition: Partition) => boolean]} Expectation */

const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd']

/** @param {Partition} p */
const producerIds = (p) => new Set(p.batches.map((batch) => batch.producerId))
/** @param {Partition} p */
const transactionalIds = (p) => new Set(p.batches.filter((b) => b.isTransactional).map((b) => b.producerId))
/** @param {Partition} p */
const changesOfProducer = (p) =>
  p.batches.filter((b, i) => i > 0 && b.producerId !== p.batches[i - 1]?.producerId)
/** @param {Partition} p @param {string} type */
const controls = (p, type) => p.batches.filter((batch) => batch.controlTypes.includes(type))
/** @param {Partition} p @param {'gapsBetweenBatches' | 'gapsInsideBatches' | 'deleteHorizonBatches'} name */
const sum = (p, name) => p.logs.reduce((total, log) => total + log.facts[name], 0)
/** @param {string} path */
const baseOffset = (path) => BigInt(path.slice(path.lastIndexOf('/') + 1).split(/[-.]/, 1)[0] ?? '')
/** @param {Snapshot | undefined} snapshot */
const openTransactions = (snapshot) =>
  snapshot?.entries.filter((e) => e.currentTxnFirstOffset !== null).length ?? 0
/** @param {Partition} p */
const endOffset = (p) => BigInt(p.batches.at(-1)?.lastOffset ?? -1) + 1n

/** @type {(epochs: number) => Expectation} */
const markersRaiseEpoch = (epochs) => [
  `a marker's epoch is that of its data plus ${epochs}`,
  (p) => {
    /** @type {Map<string, number>} */
    const data = new Map()
    return p.batches.every((batch) => {
      if (!batch.isControl) data.set(batch.producerId, batch.producerEpoch)
      return !batch.isControl || batch.producerEpoch === (data.get(batch.producerId) ?? 0) + epochs
    })
  },
]

/** @type {Expectation[]} */
const INTERLEAVED = [
  ['three transactional producers', (p) => transactionalIds(p).size === 3],
  ['a producer outside of transactions', (p) => producerIds(p).size === 4],
  ['interleaved', (p) => changesOfProducer(p).length > 15],
  ['committed transactions', (p) => controls(p, 'COMMIT').length >= 3],
  ['aborted transactions, all of them indexed', (p) => abortsIndexed(p, 3)],
  ['one transaction left open', (p) => openTransactions(p.snapshots.at(-1)) === 1],
  ['a snapshot at the end', (p) => p.snapshots.some((s) => baseOffset(s.path) === endOffset(p))],
]

/** @type {Expectation[]} */
const SPANNING = [
  ['four segments', (p) => p.logs.length === 4],
  ['three transactional producers, an idempotent and a plain one', (p) => producerIds(p).size === 5],
  ['aborted transactions, all of them indexed', (p) => abortsIndexed(p, 3)],
  ['an aborted transaction that spans segments', (p) => p.indexes.some(spansSegments)],
  ['snapshots with open transactions', (p) => p.snapshots.filter((s) => openTransactions(s) > 0).length >= 3],
]

/** @type {Expectation[]} */
const COMPACTED = [
  ['gaps between batches', (p) => sum(p, 'gapsBetweenBatches') > 0],
  ['gaps inside batches', (p) => sum(p, 'gapsInsideBatches') > 0],
  ['a delete horizon', (p) => sum(p, 'deleteHorizonBatches') > 0],
  [
    'committed data with its marker',
    (p) => controls(p, 'COMMIT').length === 1 && transactionalIds(p).size === 1,
  ],
  [
    "the empty batch of a producer's last sequence",
    (p) =>
      p.batches.some(
        (b) => b.count === 0 && !b.isControl && b.sizeInBytes === 61 && Number(b.producerId) >= 0,
      ),
  ],
]

/** @param {Partition} p @param {number} least */
function abortsIndexed(p, least) {
  const markers = controls(p, 'ABORT').map((batch) => `${batch.producerId} ${batch.baseOffset}`)
  const indexed = p.indexes.flatMap((index) =>
    index.entries.map((entry) => `${entry.producerId} ${entry.lastOffset}`),
  )
  return markers.length >= least && markers.join() === indexed.join()
}

/** @param {TransactionIndex} index */
function spansSegments(index) {
  return index.entries.some((entry) => BigInt(entry.firstOffset) < baseOffset(index.path))
}

/** @type {Record<string, Expectation[]>} */
const EXPECTED = {
  'plain-0': [['no producer ids', (p) => [...producerIds(p)].join() === '-1']],
  'append-time-0': [
    ['all times are the log append time', (p) => p.batches.every((b) => b.timestampType === 'LogAppendTime')],
  ],
  'producers-0': [
    [
      'three idempotent producers and a plain one',
      (p) => producerIds(p).size === 4 && producerIds(p).has('-1'),
    ],
    ['interleaved', (p) => changesOfProducer(p).length > 10],
  ],
  'transactions-0': [...INTERLEAVED, markersRaiseEpoch(1)],
  'transactions-v1-0': [...INTERLEAVED, markersRaiseEpoch(0)],
  'segments-0': [
    ...SPANNING,
    ['a snapshot at the end', (p) => p.snapshots.some((s) => baseOffset(s.path) === endOffset(p))],
  ],
  'crashed-0': [
    ...SPANNING,
    ['no snapshot at the end', (p) => p.snapshots.every((s) => baseOffset(s.path) < endOffset(p))],
  ],
  'restarted-0': [
    ['three leader epochs', (p) => new Set(p.batches.map((b) => b.partitionLeaderEpoch)).size === 3],
    [
      'a committed and an aborted transaction',
      (p) => controls(p, 'COMMIT').length === 1 && abortsIndexed(p, 1),
    ],
  ],
  'compacted-0': [
    ...COMPACTED,
    ['a tombstone', (p) => p.batches.some((b) => b.deleteHorizonMs !== null && !b.isControl)],
    ['an abort marker whose data is gone', (p) => abortsIndexed(p, 1)],
  ],
  'compacted-thrice-0': [
    ...COMPACTED,
    [
      'an empty control batch',
      (p) => p.batches.some((b) => b.count === 0 && b.isControl && b.isTransactional),
    ],
  ],
  '__cluster_metadata-0': [
    ['a leader change', (p) => controls(p, 'LEADER_CHANGE').length === 1],
    [
      "the checkpoint's control records",
      (p) =>
        ['SNAPSHOT_HEADER', 'KRAFT_VERSION', 'KRAFT_VOTERS', 'SNAPSHOT_FOOTER'].every(
          (t) => controls(p, t).length > 0,
        ),
    ],
  ],
  '__consumer_offsets-0': [
    ['offsets in transactions', (p) => controls(p, 'COMMIT').length >= 2 && controls(p, 'ABORT').length >= 1],
    [
      'a sequence without a producer',
      (p) => p.batches.some((b) => b.producerId === '-1' && b.baseSequence === 0),
    ],
    ['sequence 0 twice for one producer and epoch', repeatsSequence],
    ['a transaction left open', (p) => openTransactions(p.snapshots.at(-1)) === 1],
  ],
  '__transaction_state-0': [['batches', (p) => p.batches.length > 10]],
}

/** Two batches of one producer and epoch that both start at 0, which only coordinators write. @param {Partition} p */
function repeatsSequence(p) {
  const seen = p.batches
    .filter((batch) => batch.isTransactional && batch.baseSequence === 0)
    .map((batch) => `${batch.producerId} ${batch.producerEpoch}`)
  return new Set(seen).size < seen.length
}

for (const codec of CODECS) {
  EXPECTED[`idempotent-${codec}-0`] = [
    [
      `all batches ${codec}`,
      (p) => p.batches.length >= 5 && p.batches.every((b) => b.compressionType === codec),
    ],
    ['one producer, with an id', (p) => producerIds(p).size === 1 && p.batches.every((b) => b.hasProducerId)],
  ]
}

export const partitions = Object.keys(EXPECTED)

/** @type {typeof import('./expectations.js').findProblems} */
export function findProblems(partition, judged) {
  /** @type {Log[]} */
  const logs = []
  /** @type {Snapshot[]} */
  const snapshots = []
  /** @type {TransactionIndex[]} */
  const indexes = []
  for (const file of judged) {
    if (file.kind === 'snapshot') snapshots.push(file)
    else if (file.kind === 'txnindex') indexes.push(file)
    else logs.push(file)
  }
  const unsound = [
    ...logs.flatMap(unsoundLog),
    ...snapshots.flatMap(unreadable),
    ...indexes.flatMap(unreadable),
  ]
  // The rest would trip over what could not be read.
  if (unsound.length > 0) return unsound
  const whole = { logs, batches: logs.flatMap((log) => log.batches), snapshots, indexes }
  const expected = EXPECTED[partition]
  if (!expected) return [`${partition}: nobody has said what it should hold`]
  return expected.filter(([, holds]) => !holds(whole)).map(([what]) => `${partition}: expected ${what}`)
}

/** @param {import('./judge.js').JudgedFile} file */
function unreadable(file) {
  return file.error === undefined ? [] : [`${file.path}: ${file.error}`]
}

/** @param {Log} log */
function unsoundLog(log) {
  const bad = log.batches.filter((b) => b.error !== undefined || b.recordsError !== undefined || !b.isValid)
  const problems = bad.map(
    (b) => `${log.path}: batch at ${b.position}: ${b.error ?? b.recordsError ?? 'not valid'}`,
  )
  if (log.facts.validBytes !== log.bytes)
    problems.push(`${log.path}: only ${log.facts.validBytes} valid bytes`)
  return [...unreadable(log), ...problems]
}
