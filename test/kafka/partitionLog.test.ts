import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { recordBatches } from '../../src/index.ts'
import { decodeLeaderEpochs } from '../../src/log/partition/leaderEpochs.ts'
import { LOG_START_FILE } from '../../src/log/partition/logStartFile.ts'
import { memoryStorage } from '../../src/log/partition/memoryStorage.ts'
import { directoryStorage } from '../../src/node/storage/directoryStorage.ts'
import { handWrittenLogs } from '../log/handWrittenLogs.ts'
import { filesOf, type LogStep, type StepResult } from '../log/logRun.ts'
import { type LogSequence, randomLogSequence, SequenceMaker } from '../log/logSequences.ts'
import { ERROR_NAMES } from '../producers/answers.ts'
import { storedFiles } from '../support/storedFiles.ts'
import { partitions } from './expectations.js'
import { type LogOracleAnswer, type LogOracleSequence, logOracle } from './judge.js'
import { committed } from './manifest.js'

// What stays out, since Kafka and this project differ on purpose (where in Kafka's sources: OracleLog, SequenceMaker):
// - a clean start without any snapshot: a broker takes the log to hold no producers, we replay it
// - a high watermark, or a last stable offset, in a gap that truncation has left: a broker moves it to the next batch
// - a truncated segment whose time index was lost, or not read: a broker forgets the timestamps before the cut
// - damage in the middle of a log whose indexes are lost too: a broker cuts it, and keeps what follows the hole
// - snapshots that a broker takes on the way when it first rebuilds lost indexes, and then recovers the tail again
// - a refused append has left its leader epoch with a broker, where no batch may ever have it
// - a broker begins a new segment, and takes a snapshot, for a batch that it then refuses or finds to be a duplicate; we do
//   for what is appended alone. The sequences roll after such an append, so that both go on alike
// - sets that span more offsets than a segment can: a broker refuses them, after it has rolled; we append them in parts
// - the log start offset is in a file of the partition too: a crash that takes it is that of an older checkpoint
// - a batch that holds the offset to which the log was cut, of which nothing is stored: a broker takes it for an empty log alone
// - a batch that begins within the one before; magics above 2; sets larger than a segment (which a broker of 4.3 refuses)

const SEED = 1279
const SEQUENCES = Number(process.env.MIRRORPID_LOG_SEQUENCES ?? 2500)

const stock = { producerIdTest: 'stock', barrierPolicy: 'ignore' } as const
const EMPTY_SNAPSHOT = Buffer.from('000148674bc700000000', 'hex').toString('base64')
const EPOCHS = 'leader-epoch-checkpoint'

const LOG_ERROR_NAMES: Record<string, string> = {
  ...ERROR_NAMES,
  UnexpectedAppendOffsetException: 'UnexpectedAppendOffsetError',
  OffsetsOutOfOrderException: 'UnexpectedAppendOffsetError',
  CorruptRecordException: 'CorruptBatchError',
  OffsetOutOfRangeException: 'OffsetOutOfRangeError',
  RecordBatchTooLargeException: 'RecordTooLargeError',
  KafkaStorageException: 'CorruptCheckpointError',
}

interface Outcome {
  results: StepResult[]
  files: Record<string, string>
  epochs: string[]
}

function oracleOf({ settings, steps }: LogSequence, files?: Record<string, string>): LogOracleSequence {
  return {
    settings: {
      'internal.segment.bytes': settings.segmentBytes,
      'index.interval.bytes': settings.indexIntervalBytes,
      'segment.index.bytes': settings.maxIndexBytes,
      'segment.ms': settings.segmentMs,
    },
    steps,
    ...(files === undefined ? {} : { files }),
  }
}

function outcomeOf(results: StepResult[], files: Record<string, string> = {}): Outcome {
  // an empty transaction index is as good as none, and so is a snapshot without producers
  const kept = Object.entries(files).filter(
    ([name, bytes]) =>
      name !== EPOCHS &&
      name !== LOG_START_FILE &&
      bytes !== EMPTY_SNAPSHOT &&
      !(name.endsWith('.txnindex') && bytes === ''),
  )
  return { results, files: Object.fromEntries(kept), epochs: epochsOf(files) }
}

/** The epochs of the checkpoint, each with the first batch that follows its start. */
function epochsOf(files: Record<string, string>): string[] {
  const starts = Object.entries(files)
    .filter(([name]) => name.endsWith('.log'))
    .flatMap(([, bytes]) =>
      Array.from(recordBatches(Buffer.from(bytes, 'base64')), ({ baseOffset }) => baseOffset),
    )
  // a broker begins it empty
  const known = files[EPOCHS] ? decodeLeaderEpochs(Buffer.from(files[EPOCHS], 'base64')) : []
  return known.flatMap((entry) => {
    const start = starts.find((offset) => offset >= entry.startOffset)
    return start === undefined ? [] : [`${entry.epoch} ${start}`]
  })
}

/** Kafka's answer in our words. */
function inOurWords({ results, files }: LogOracleAnswer, steps: readonly LogStep[]): Outcome {
  const translated = results.map(([first = '', ...rest], at): StepResult => {
    const step = steps[at]!
    if (step.op === 'read' && first === 'ok') {
      const [records, aborted, ...offsets] = rest
      return ['ok', ...wholeBatches(records as string, aborted as string[]), ...offsets]
    }
    return [LOG_ERROR_NAMES[String(first)] ?? first, ...rest]
  })
  return outcomeOf(translated, files)
}

/** Without the snapshots that only a broker takes, where it goes over the log twice. */
function comparable(kafka: Outcome, { steps, files }: LogSequence): Outcome {
  const isTwice = steps.some(
    (step) => step.op === 'crash' && step.damage.some(({ file }) => file.endsWith('index')),
  )
  if (!isTwice) return kafka
  const kept = Object.entries(kafka.files).filter(([name]) => !name.endsWith('.snapshot') || name in files)
  return { ...kafka, files: Object.fromEntries(kept) }
}

/**
 * A broker may cut the last batch, and names every aborted transaction up to the next entry of the offset index; we stop at
 * the last batch, and name none where there is no batch (in a gap below the last stable offset).
 */
function wholeBatches(records: string, aborted: string[]): [string, string[]] {
  const bytes = Buffer.from(records, 'base64')
  let end = 0
  let next = 0n
  for (const batch of recordBatches(bytes)) {
    end = batch.position + batch.sizeInBytes
    next = batch.nextOffset
  }
  return [
    bytes.subarray(0, end).toString('base64'),
    aborted.filter((line) => BigInt(line.split(' ')[1]!) < next),
  ]
}

describe("PartitionLog against Kafka's own log", () => {
  it('answers the sequences by hand as Kafka does, and leaves the same bytes', async () => {
    const kafka = await logOracle(handWrittenLogs.map((sequence) => oracleOf(sequence)))
    for (const [index, { name, steps, results, files }] of handWrittenLogs.entries()) {
      expect(outcomeOf(results, files), name).toEqual(inOurWords(kafka[index]!, steps))
    }
  })

  it(`answers ${SEQUENCES} random sequences as Kafka does, and leaves the same bytes`, async () => {
    const sequences = Array.from({ length: SEQUENCES }, (_, index) =>
      randomLogSequence(SEED * 1_000_000 + index, stock),
    )
    const kafka = await logOracle(sequences.map((sequence) => oracleOf(sequence)))
    const kinds = new Map<string, number>()
    for (const [index, sequence] of sequences.entries()) {
      const { name, steps, results, files } = sequence
      expect(outcomeOf(results, files), name).toEqual(comparable(inOurWords(kafka[index]!, steps), sequence))
      for (const [at, [result]] of results.entries()) {
        const kind = `${steps[at]!.op} ${String(result).split(' ')[0]}`
        kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
      }
    }
    const wanted = [
      'append ok',
      'append duplicate',
      'truncate true',
      'restart ok',
      'logStart ok',
      'close ok',
      'crash ok',
    ]
    for (const kind of wanted) expect(kinds.get(kind) ?? 0, kind).toBeGreaterThan(SEQUENCES / 50)
    for (const error of [
      'OutOfOrderSequence',
      'InvalidTxnState',
      'UnexpectedAppendOffset',
      'CorruptBatch',
      'RecordTooLarge',
    ])
      expect(kinds.get(`append ${error}Error`) ?? 0, error).toBeGreaterThan(SEQUENCES / 100)
  })

  it('goes on from what a broker has written, as Kafka does', async () => {
    const runs = partitions.map((partition, index) => {
      const files = filesOf(directoryStorage(join(committed, partition), 'read'))
      const maker = new SequenceMaker(SEED + index, stock)
      maker.run.storage = memoryStorage(
        [...storedFiles(directoryStorage(join(committed, partition), 'read'))].map(([name, bytes]) => [
          name,
          bytes,
        ]),
      )
      maker.take({
        op: 'open',
        damage: [],
        logStartOffset: 0,
        recoveryPoint: 0,
        clean: index % 2 === 0 && partition !== 'crashed-0',
      })
      for (let step = 0; step < 25; step++) maker.step()
      return { sequence: maker.finish(partition), files }
    })
    const kafka = await logOracle(runs.map(({ sequence, files }) => oracleOf(sequence, files)))
    for (const [index, { sequence }] of runs.entries()) {
      const { name, steps, results, files } = sequence
      expect(outcomeOf(results, files), name).toEqual(comparable(inOurWords(kafka[index]!, steps), sequence))
    }
  })
})
