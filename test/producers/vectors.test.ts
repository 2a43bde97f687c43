import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Answer, answer } from './answers.ts'
import { type PackedSequence, pack, recordedSequences, unpack } from './vectors.ts'

/** What Kafka answered when they were recorded; see test/kafka/producerState.test.ts. */
interface Vectors {
  version: string
  vectors: { sequence: PackedSequence; answer: Answer }[]
}

const path = new URL('../vectors/producer-state.json', import.meta.url)
const { vectors, version }: Vectors = JSON.parse(readFileSync(path, 'utf8'))

describe(`the recorded answers of Kafka ${version}`, () => {
  it('are those of the sequences that the generator and the hand give today', () => {
    expect(vectors.map((vector) => vector.sequence)).toEqual(recordedSequences().map(pack))
  })

  it.each(vectors.map((vector) => [vector.sequence.name, vector] as const))('%s', (_name, vector) => {
    expect(answer(unpack(vector.sequence))).toEqual(vector.answer)
  })
})
