import { logFileName } from '../../src/log/fileNames.ts'
import { type BatchOp, encodeOp } from '../producers/logBuilder.ts'
import { type Damage, LogRun, type LogSettings, type LogStep, type OpenStep } from './logRun.ts'
import { base64, type LogSequence } from './logSequences.ts'

const SETTINGS: LogSettings = {
  segmentBytes: 400,
  indexIntervalBytes: 100,
  maxIndexBytes: 1024,
  segmentMs: 604_800_000,
}

const log = (base: number) => logFileName(BigInt(base), '.log')

/** A client's, or a coordinator's. */
function lead(leaderEpoch: number, op: BatchOp, version = 0): LogStep {
  const isMarker = op.kind === 'ABORT' || op.kind === 'COMMIT'
  return {
    op: 'append',
    origin: isMarker ? 'coordinator' : 'client',
    version,
    leaderEpoch,
    records: base64(encodeOp(op)),
  }
}

function follow(...ops: BatchOp[]): LogStep {
  const records = base64(Buffer.concat(ops.map((op) => encodeOp(op))))
  return { op: 'append', origin: 'replication', version: 0, leaderEpoch: 2 ** 31 - 1, records }
}

const open = (op: OpenStep['op'], more: Partial<OpenStep> = {}): OpenStep => ({
  op,
  damage: [],
  logStartOffset: 0,
  recoveryPoint: 0,
  clean: op === 'close',
  ...more,
})

const txn = (pid: number, seq: number, more: Partial<BatchOp> = {}): BatchOp => ({
  kind: 'txn',
  pid,
  seq,
  ...more,
})
const data = (pid: number, seq: number, more: Partial<BatchOp> = {}): BatchOp => ({
  kind: 'data',
  pid,
  seq,
  ...more,
})
const abort = (pid: number): BatchOp => ({ kind: 'ABORT', pid, epoch: 0 })
const epochs = [0, 1, 2, 3, 5, 6, 9].map((epoch): LogStep => ({ op: 'endOffsetFor', epoch }))

const six: LogStep[] = [0, 1, 2, 3, 4, 5].map((seq) => lead(seq >> 1, data(1, seq, { bytes: 60 })))

const written: [string, LogStep[]][] = [
  [
    'leader epochs and where they end',
    [...six, lead(5, data(1, 6)), ...epochs, { op: 'truncate', offset: 3 }, ...epochs],
  ],
  [
    'epochs behind the log start',
    [
      ...six,
      { op: 'highWatermark', offset: 5 },
      { op: 'logStart', offset: 3 },
      ...epochs,
      open('crash', { logStartOffset: 3 }),
      ...epochs,
    ],
  ],
  [
    'a tail of zeros',
    [...six, open('crash', { damage: [{ file: log(3), kind: 'add', bytes: base64(Buffer.alloc(300)) }] })],
  ],
  [
    'a file of zeros alone',
    [open('crash', { damage: [{ file: log(0), kind: 'add', bytes: base64(Buffer.alloc(300)) }] }), ...six],
  ],
  ['an empty last segment', [...six, { op: 'roll' }, open('crash'), open('close'), lead(2, data(1, 6))]],
  [
    'a damaged batch in the middle takes the rest with it',
    [
      ...six,
      open('crash', { damage: [{ file: log(0), kind: 'flip', position: 40, mask: 1 }] }),
      lead(2, data(1, 0)),
    ],
  ],
  [
    'a claimed length beyond the file',
    [...six, open('crash', { damage: [{ file: log(3), kind: 'flip', position: 8, mask: 64 }] })],
  ],
  [
    'a negative length',
    [...six, open('crash', { damage: [{ file: log(3), kind: 'flip', position: 8, mask: 128 }] })],
  ],
  [
    'all snapshots lost',
    [
      ...six,
      open('crash', {
        damage: [3].map((offset) => ({
          file: logFileName(BigInt(offset), '.snapshot'),
          kind: 'remove' as const,
        })),
      }),
    ],
  ],
  [
    'an epoch checkpoint with CR LF at the ends of its lines',
    [
      ...six,
      open('crash', {
        damage: [
          {
            file: 'leader-epoch-checkpoint',
            kind: 'write',
            bytes: base64(Buffer.from('0\r\n1\r\n0 \t0\r\n')),
          },
        ],
      }),
      ...epochs,
    ],
  ],
  [
    'swapped in: a cleaned segment in place of two',
    [
      ...six,
      open('close', {
        damage: [
          ...['.log', '.index', '.timeindex'].map((suffix): Damage => {
            const file = logFileName(0n, suffix)
            return { file, kind: 'rename', to: `${file}.swap` }
          }),
          { file: log(3), kind: 'rename', to: `${log(3)}.deleted` },
        ],
      }),
      ...epochs,
    ],
  ],
  [
    'a swap that was not finished',
    [
      ...six,
      { op: 'roll' },
      open('close', {
        damage: [
          { file: `${log(3)}.swap`, kind: 'write', bytes: base64(encodeOp(data(1, 0, { offset: 3 }))) },
          { file: `${log(0)}.cleaned`, kind: 'write', bytes: '' },
        ],
      }),
    ],
  ],
  [
    'an index without a segment',
    [
      ...six,
      open('close', {
        damage: [{ file: logFileName(99n, '.index'), kind: 'write', bytes: base64(new Uint8Array(8)) }],
      }),
    ],
  ],
  [
    'the log start is beyond the end',
    [...six, open('crash', { logStartOffset: 40 }), lead(2, data(1, 6)), ...epochs],
  ],
  [
    'aborted transactions over segments',
    [
      lead(0, txn(1, 0, { bytes: 100 })),
      lead(0, txn(2, 0, { bytes: 100 })),
      lead(0, txn(1, 1, { bytes: 200 })),
      lead(0, abort(2)),
      lead(0, abort(1)),
      lead(0, txn(1, 2, { bytes: 200 })),
      lead(0, abort(1)),
      { op: 'highWatermark', offset: 7 },
      ...[0, 1, 2, 3, 5, 6].flatMap((offset): LogStep[] => [
        { op: 'read', offset, isolation: 'read_committed', maxBytes: 0 },
        { op: 'read', offset, isolation: 'read_committed', maxBytes: 100_000 },
      ]),
      { op: 'truncate', offset: 4 },
      { op: 'read', offset: 0, isolation: 'read_committed', maxBytes: 100_000 },
    ],
  ],
  [
    'offsets that go back within a set',
    [follow(data(1, 0, { offset: 5 }), data(1, 1, { offset: 3 })), follow(data(1, 0, { offset: 5 }))],
  ],
  ['a negative leader epoch', [follow(data(1, 0, { leaderEpoch: -1 })), follow(data(1, 0))]],
  [
    'appends that are refused, or duplicates, where a segment is full',
    [
      lead(0, txn(1, 0, { bytes: 200 })),
      lead(0, data(2, 0, { bytes: 50 })),
      // a broker has rolled for it
      lead(0, data(1, 1, { bytes: 200 })),
      { op: 'roll' },
      lead(0, txn(1, 1, { bytes: 250 })),
      lead(0, data(2, 0, { bytes: 50 })),
      { op: 'roll' },
      lead(0, abort(1)),
      open('crash'),
    ],
  ],
  [
    'a gap before a new segment, in an open transaction',
    [follow(txn(1, 0, { bytes: 250 })), follow(txn(1, 1, { offset: 10, bytes: 250 })), open('crash')],
  ],
  [
    'a gap of more than an index can hold',
    [follow(data(1, 0)), follow(data(1, 1, { offset: 2 ** 31 + 5 })), open('crash')],
  ],
]

/** What Kafka's log does, once each; with this project's answers. */
export const handWrittenLogs: LogSequence[] = written.map(([name, steps]) => {
  const run = new LogRun({ ...SETTINGS, producerIdTest: 'stock', barrierPolicy: 'ignore' })
  const results = steps.map((step) => run.run(step))
  return { name, settings: SETTINGS, steps, results, files: run.finish() }
})
