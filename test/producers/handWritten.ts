import type { BatchOp } from './logBuilder.ts'
import type { Sequence, Step } from './sequences.ts'

const MAX = 2147483647

const data = (pid: number, seq: number, more: Partial<BatchOp> = {}): BatchOp => ({
  kind: 'data',
  pid,
  seq,
  ...more,
})
const txn = (pid: number, seq = 0, more: Partial<BatchOp> = {}): BatchOp => ({
  kind: 'txn',
  pid,
  seq,
  ...more,
})
const marker = (kind: 'ABORT' | 'COMMIT', pid: number, epoch = 0, coordinatorEpoch = 0): BatchOp => ({
  kind,
  pid,
  epoch,
  coordinatorEpoch,
})

const client = (...ops: BatchOp[]): Step[] => ops.map((op) => ({ append: [op], origin: 'client' }))
const coordinator = (version: number, ...ops: BatchOp[]): Step[] =>
  ops.map((op) => ({ append: [op], origin: 'coordinator', version }))

/** One appended set; offsets go on from `from`. */
function set(from: number, ...ops: BatchOp[]): Step {
  let offset = from
  const append = ops.map((op) => {
    const placed = { ...op, offset: op.offset ?? offset }
    offset = placed.offset + (op.delta ?? Math.max((op.count ?? 1) - 1, 0)) + 1
    return placed
  })
  return { append, origin: 'replication' }
}

const log = (name: string, steps: Step[], more: Partial<Sequence> = {}): Sequence => ({
  name,
  mode: 'log',
  steps,
  ...more,
})

/** Each rule of Kafka's producer state once, by hand. */
export const handWritten: Sequence[] = [
  log('sequences wrap', client(data(3, MAX - 2, { count: 3 }), data(3, 0), data(3, 0), data(3, 2))),
  log(
    'a batch wraps inside and comes again',
    client(data(3, MAX - 1, { count: 4 }), data(3, 2), data(3, MAX - 1, { count: 4 }), data(3, 1)),
  ),
  log('2147483646 -> 0 is a gap', client(data(3, MAX - 1), data(3, 0), data(3, MAX), data(3, 0))),
  log(
    'a new epoch starts at 0 and fences the old one',
    client(data(4, 0, { count: 10 }), data(4, 10, { epoch: 1 }), data(4, 0, { epoch: 1 }), data(4, 10)),
  ),
  log('an unknown producer starts anywhere', client(data(6, 100, { epoch: 5 }), data(6, 101, { epoch: 5 }))),
  log('or at 0 alone', client(data(6, 100), data(6, 0), txn(7, 1), txn(7, 0)), { zero: true }),
  log(
    'the last five batches are known',
    client(
      ...[0, 1, 2, 3, 4, 5, 6].map((seq) => data(5, seq)),
      ...[6, 2, 1].map((seq) => data(5, seq)),
      data(5, 1, { count: 2 }),
      data(5, 6, { epoch: 1 }),
    ),
  ),
  log('a duplicate of an older transaction', [
    ...client(txn(5, 0), txn(5, 1)),
    ...coordinator(1, marker('COMMIT', 5)),
    ...client(txn(5, 0), txn(5, 2)),
  ]),
  log('plain data in an open transaction', [
    ...client(txn(5, 0), data(5, 1)),
    ...coordinator(0, { kind: 'data', pid: 5, epoch: 0, seq: 1 }),
    set(1, data(5, 1)),
    ...coordinator(0, marker('ABORT', 5)),
    set(2, data(5, 1)),
  ]),
  log('markers of version 1', [
    ...client(txn(5, 0, { epoch: 2 })),
    ...coordinator(
      1,
      marker('COMMIT', 5, 1),
      marker('COMMIT', 5, 2),
      marker('COMMIT', 5, 2),
      marker('ABORT', 5, 4),
    ),
    ...client(txn(5, 1, { epoch: 2 }), txn(5, 0, { epoch: 4 })),
  ]),
  log('markers of version 2', [
    ...client(txn(5, 0, { epoch: 2 })),
    ...coordinator(
      2,
      marker('COMMIT', 5, 2),
      marker('COMMIT', 5, 1),
      marker('COMMIT', 5, 3),
      marker('COMMIT', 5, 3),
    ),
    ...client(txn(5, 1, { epoch: 3 }), txn(5, 0, { epoch: 3 })),
    ...coordinator(2, marker('ABORT', 5, 3), marker('ABORT', 5, 4)),
  ]),
  log('the last epoch of all', [
    ...client(txn(5, 0, { epoch: 32767 })),
    ...coordinator(2, marker('ABORT', 5, 32767), marker('ABORT', 5, 32767)),
  ]),
  log('coordinator epochs', [
    ...client(txn(5, 0)),
    ...coordinator(0, marker('COMMIT', 5, 0, 7), marker('COMMIT', 5, 0, 6)),
    set(2, marker('COMMIT', 5, 0, 3)),
    ...coordinator(0, marker('COMMIT', 5, 0, 4)),
  ]),
  log('markers without a transaction', [set(0, marker('ABORT', 3, 1, 9)), set(1, marker('COMMIT', 3, 1, 9))]),
  log('data behind the ABORT', [
    set(143, txn(2000), marker('ABORT', 2000), txn(2000, 1)),
    { highWatermark: 146 },
  ]),
  log('last stable offsets of aborts', [
    set(0, txn(1), txn(2), txn(3)),
    ...coordinator(0, marker('ABORT', 2), marker('ABORT', 1), marker('ABORT', 3)),
    { highWatermark: 4 },
    { highWatermark: 6 },
  ]),
  log('an abort knows the transactions of its whole set', [
    set(0, txn(1), marker('ABORT', 1), txn(1, 1), txn(2), marker('ABORT', 2)),
    set(10, txn(3), marker('ABORT', 3), txn(4, 0, { offset: 20 })),
  ]),
  log('epochs down and up within a set', [
    set(0, data(1, 0), data(1, 1)),
    set(2, data(1, 0, { epoch: 1 }), data(1, 2), data(1, 3)),
    set(5, data(1, 0, { epoch: 2 }), marker('COMMIT', 1, 1), data(1, 1, { epoch: 2 })),
    set(8, txn(1, 2, { epoch: 2 }), marker('ABORT', 1, 1), data(1, 3, { epoch: 2 })),
  ]),
  log('more than five batches of one producer in a set', [
    set(0, ...[0, 1, 2].map((seq) => data(1, seq))),
    set(3, ...[3, 4, 5, 6, 7, 8].map((seq) => data(1, seq))),
  ]),
  log('a set is refused whole', [
    set(0, data(1, 0), txn(2)),
    set(2, data(1, 1), txn(3), data(2, 1)),
    set(2, data(1, 1)),
  ]),
  log('what compaction leaves', [
    set(
      0,
      { kind: 'emptied', pid: 9, epoch: 4 },
      data(1, 0, { count: 0, delta: 6 }),
      txn(2, 0, { count: 1, delta: 3 }),
    ),
    set(20, { kind: 'emptied', pid: 2, epoch: 7 }, data(1, 7, { count: 2, delta: 2 })),
    ...client(data(1, 10), data(1, 7, { count: 3 }), data(9, 3)),
  ]),
  log(
    'expiry goes by the time of records; an open transaction stops it',
    [
      ...client(
        data(1, 0, { timestamp: 100 }),
        txn(2, 0, { timestamp: 100 }),
        data(3, 0, { timestamp: 900 }),
      ),
      set(3, { kind: 'emptied', pid: 4, epoch: 0 }),
      { expire: 599 },
      { expire: 600 },
      ...client(data(1, 5), data(3, 1)),
      ...coordinator(0, { ...marker('COMMIT', 2), timestamp: 150 }),
      { expire: 700 },
    ],
    { expirationMs: 500 },
  ),
  log('other control batches', [
    set(0, { kind: 'control', type: 3 }),
    set(1, data(1, 0), { kind: 'control', type: 7, pid: 1, epoch: 0 }),
    set(1, { kind: 'control', type: 9, pid: 1, epoch: 0 }),
    set(1, data(1, 0)),
  ]),
  log('clients write no control batch', [...client(marker('COMMIT', 1), { kind: 'control', type: 2 })]),
  log('mapped ids are not seen', [set(0, txn(-7), data(-7, 5), marker('ABORT', -7)), { highWatermark: 1 }]),
  {
    name: 'mapped ids, where they are',
    mode: 'direct',
    steps: [set(0, txn(-7), txn(-8), marker('ABORT', -7), data(-7, 5))],
  },
]
