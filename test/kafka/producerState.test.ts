import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { recordBatches } from '../../src/index.ts'
import { ProducerStateManager } from '../../src/producers/producerStateManager.ts'
import {
  type Answer,
  abortedLine,
  answer,
  describeState,
  ERROR_NAMES,
  entryLine,
} from '../producers/answers.ts'
import { encodeOp } from '../producers/logBuilder.ts'
import type { Sequence } from '../producers/sequences.ts'
import { pack, recordedSequences, seeded } from '../producers/vectors.ts'
import { kafkaVersion } from './build.js'
import { partitions } from './expectations.js'
import { type OracleSequence, type Replayed, replay, stateOracle } from './judge.js'
import { committed } from './manifest.js'

const SEQUENCES = 20_000
/** Records the answers anew. */
const COMMAND = 'npx vitest run --project kafka test/kafka/producerState.test.ts -t recorded -u'
const vectors = fileURLToPath(new URL('../vectors/producer-state.json', import.meta.url))

describe("producer state against Kafka's own", () => {
  it('answers the recorded sequences as Kafka does, and as it did', async () => {
    const sequences = recordedSequences()
    const kafka = await kafkaAnswers(sequences)
    const lines = sequences.map((sequence, index) => {
      expect(answer(sequence), sequence.name).toEqual(kafka[index])
      return JSON.stringify({ sequence: pack(sequence), answer: kafka[index] })
    })
    const head = {
      tool: "Kafka's UnifiedLog and ProducerStateManager",
      version: await kafkaVersion(),
      command: COMMAND,
    }
    const text = `${JSON.stringify(head).slice(0, -1)},"vectors":[\n${lines.join(',\n')}\n]}\n`
    await expect(text).toMatchFileSnapshot(vectors)
  })

  it(`answers ${SEQUENCES} random sequences as Kafka does`, async () => {
    const sequences = Array.from({ length: SEQUENCES }, (_, index) => seeded(index))
    const kafka = await kafkaAnswers(sequences)
    const kinds = new Map<string, number>()
    for (const [index, sequence] of sequences.entries()) {
      expect(answer(sequence), JSON.stringify(sequence)).toEqual(kafka[index])
      for (const [kind = ''] of kafka[index]?.results ?? [])
        kinds.set(kind ?? '', (kinds.get(kind ?? '') ?? 0) + 1)
    }
    for (const kind of ['ok', 'duplicate', ...Object.values(ERROR_NAMES)]) {
      expect(kinds.get(kind), kind).toBeGreaterThan(100)
    }
  })
})

describe('snapshots of thousands of producers', () => {
  const patterns: [string, (index: number) => number][] = [
    ['in a row', (index) => index + 4000],
    ['of several brokers, blocks of 1000', (index) => (index % 7) * 50_000 + Math.floor(index / 7)],
    ['of a large cluster', (index) => index * 7919 + (index % 5) * 2 ** 33],
  ]

  it.each(patterns)('%s: the same bytes', async (name, idOf) => {
    const append = Array.from({ length: 3000 }, (_, index) => ({
      kind: 'data' as const,
      offset: index,
      pid: idOf(index),
      epoch: 0,
      seq: 0,
    }))
    const sets = Array.from({ length: 300 }, (_, index) => append.slice(index * 10, index * 10 + 10))
    const steps = sets.map((set) => ({ append: set, origin: 'replication' as const }))
    const sequence: Sequence = { name, mode: 'log', steps }
    const [kafka] = await kafkaAnswers([sequence])
    expect(answer(sequence).snapshot === kafka?.snapshot).toBe(true)
  })
})

describe('the fixtures', () => {
  const names = partitions.map((partition, index) => [partition, index] as const)
  const logs = partitions.map((partition) => {
    const directory = join(committed, partition)
    const segments = readdirSync(directory).filter((name) => name.endsWith('.log'))
    return segments.sort().map((name) => readFileSync(join(directory, name)))
  })
  let loaded: Replayed[]
  let followed: Answer[]
  beforeAll(async () => {
    loaded = await replay(partitions.map((partition) => join(committed, partition)))
    followed = await ask(
      logs.map((segments) => ({
        mode: 'log',
        zero: false,
        expirationMs: 86_400_000,
        steps: segments.flatMap((segment) =>
          Array.from(recordBatches(segment), ({ bytes }) => {
            return { origin: 'replication', version: -1, records: Buffer.from(bytes).toString('base64') }
          }),
        ),
      })),
    )
  })

  const replayed = (index: number) => {
    const manager = new ProducerStateManager({ producerIdTest: 'stock', barrierPolicy: 'ignore' })
    for (const segment of logs[index]!) manager.replay(segment)
    return manager
  }

  it.each(names)('%s, followed batch by batch: the same state, the same snapshot', (_partition, index) => {
    const { results, ...state } = followed[index]!
    expect(describeState(replayed(index))).toEqual(state)
    expect(new Set(results.map(([result]) => result))).toEqual(new Set(['ok']))
  })

  it.each(names)('%s, as recovery loads it', (_partition, index) => {
    const manager = replayed(index)
    const state = loaded[index]!
    const end = BigInt(state.logEndOffset)
    // recovery goes by snapshots of its own: one batch of each producer is left, with the time of the entry
    const reloaded = ProducerStateManager.fromSnapshot(manager.takeSnapshot(), { offset: end })
    const lastOnly = state.producers.map((producer) => ({
      ...producer,
      batches: producer.batches.slice(-1).map((batch) => ({ ...batch, timestamp: producer.lastTimestamp })),
    }))
    expect(describeState(reloaded).producers).toEqual(lastOnly.map(entryLine))
    expect(manager.abortedTransactions.map(abortedLine)).toEqual(state.abortedTransactions.map(abortedLine))
    expect(manager.mapEndOffset).toBe(end)
    expect(manager.lastStableOffset(end)).toBe(BigInt(state.lastStableOffset))
  })
})

async function kafkaAnswers(sequences: Sequence[]): Promise<Answer[]> {
  return ask(
    sequences.map(({ mode, zero = false, expirationMs = 86_400_000, steps }) => ({
      mode,
      zero,
      expirationMs,
      steps: steps.map((step) => {
        if (!('append' in step)) return step
        // what a follower does not know, Kafka calls -1
        const version = step.version ?? (step.origin === 'replication' ? -1 : 0)
        const records = Buffer.concat(step.append.map((op) => encodeOp(op))).toString('base64')
        return { origin: step.origin, version, records }
      }),
    })),
  )
}

async function ask(sequences: OracleSequence[]): Promise<Answer[]> {
  return (await stateOracle(sequences)).map((kafka) => ({
    ...kafka,
    producers: kafka.producers.map(entryLine),
    aborted: kafka.aborted.map(abortedLine),
    results: kafka.results.map(([result = null, ...rest]) => [ERROR_NAMES[result ?? ''] ?? result, ...rest]),
  }))
}
