// The records of Kafka's own topics, as `mirrorpid dump` and Kafka's DumpLogSegments show them: messages of any content,
// of each type and version, and damaged ones.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ByteWriter } from '../../src/bytes/byteWriter.ts'
import { metadataTypes } from '../../src/dump/messages/clusterMetadata.ts'
import type { CoordinatorRecordType } from '../../src/dump/messages/coordinatorDecoder.ts'
import { offsetsTypes } from '../../src/dump/messages/offsets.ts'
import { shareGroupStateTypes } from '../../src/dump/messages/shareGroupState.ts'
import { transactionLogTypes } from '../../src/dump/messages/transactionLog.ts'
import { encodeRecordBatch } from '../../src/index.ts'
import { dump } from '../dump/cli.ts'
import { generator, MessageWriter } from '../support/messages.ts'
import { kafkaDump } from './judge.js'

const LOG = '00000000000000000000.log'
const EACH = 60

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mirrorpid-dump-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

type Message = { key: Uint8Array | null; value: Uint8Array | null }

const prefixed = (version: number, bytes: Uint8Array) => new ByteWriter().int16(version).bytes(bytes).finish()

function coordinatorMessages(types: ReadonlyMap<number, CoordinatorRecordType>, seed: number): Message[] {
  const next = generator(seed)
  const messages: Message[] = []
  for (const [type, { key, value }] of types) {
    for (let version = 0; version <= value.highest; version++) {
      for (let count = 0; count < EACH; count++) {
        messages.push({
          key: prefixed(type, MessageWriter.write(key, 0, next)),
          value: count % 10 === 9 ? null : prefixed(version, MessageWriter.write(value, version, next)),
        })
      }
    }
  }
  return messages
}

async function bothDump(option: string, messages: readonly Message[]): Promise<[string[], string[]]> {
  const records = messages.map((message, index) => ({ ...message, timestamp: BigInt(index) }))
  await writeFile(join(directory, LOG), encodeRecordBatch({ records }))
  const args = [option, '--files', LOG]
  const kafka = await kafkaDump(args, { cwd: directory })
  expect(kafka.status, kafka.stderr).toBe(0)
  const ours = await dump(args, directory)
  return [ours.stdout.split('\n'), kafka.stdout.split('\n')]
}

const coordinators = {
  '--offsets-decoder': offsetsTypes,
  '--transaction-log-decoder': transactionLogTypes,
  '--share-group-state-decoder': shareGroupStateTypes,
}

describe.each(Object.entries(coordinators))('%s', (option, types) => {
  it('shows messages of each type and version', async () => {
    const messages = coordinatorMessages(types(), 7)
    const [ours, kafka] = await bothDump(option, messages)
    expect(kafka.filter((line) => / payload: \{/.test(line)).length).toBeGreaterThan(messages.length * 0.8)
    expect(ours).toEqual(kafka)
  })

  it('says what it cannot read', async () => {
    const [first] = coordinatorMessages(types(), 9) as [Message]
    const [ours, kafka] = await bothDump(option, [
      { key: prefixed(77, new Uint8Array(3)), value: null },
      { key: prefixed(-1, new Uint8Array(3)), value: new Uint8Array(9) },
      { key: new Uint8Array(1), value: null },
      { key: first.key, value: new Uint8Array(1) },
      { key: first.key, value: prefixed(9, new Uint8Array(50)) },
      { key: first.key, value: prefixed(-3, new Uint8Array(50)) },
    ])
    expect(ours).toEqual(kafka)
  })

  it('says where a message is cut, each in its own words', async () => {
    const cut = coordinatorMessages(types(), 11).map(({ key, value }) => ({
      key,
      value: value?.subarray(0, value.length - 1) ?? null,
    }))
    const [ours, kafka] = await bothDump(option, cut)
    const plain = (line: string) => line.replace(/(due to: ).*/, '$1')
    expect(ours.map(plain)).toEqual(kafka.map(plain))
  })
})

describe('--cluster-metadata-decoder', () => {
  const message = (type: number, version: number, bytes: Uint8Array, frame = 1) => ({
    key: null,
    value: new ByteWriter()
      .unsignedVarint(frame)
      .unsignedVarint(type)
      .unsignedVarint(version)
      .bytes(bytes)
      .finish(),
  })

  it('shows messages of each type and version', async () => {
    const next = generator(5)
    const messages: Message[] = []
    for (const [type, { form }] of metadataTypes()) {
      for (let version = 0; version <= form.highest; version++) {
        for (let count = 0; count < EACH; count++) {
          messages.push(message(type, version, MessageWriter.write(form, version, next)))
        }
      }
    }
    const [ours, kafka] = await bothDump('--cluster-metadata-decoder', messages)
    expect(kafka.filter((line) => / payload: \{/.test(line)).length).toBeGreaterThan(messages.length * 0.9)
    expect(ours).toEqual(kafka)
  })

  it('says what it cannot read', async () => {
    const topic = MessageWriter.write(metadataTypes().get(2)!.form, 0, generator(3))
    const [ours, kafka] = await bothDump('--cluster-metadata-decoder', [
      message(2, 0, topic, 2),
      message(2, 0, new Uint8Array([...topic, 1, 2])),
      message(6, 0, topic),
      message(99, 0, topic),
      message(2, 7, topic),
    ])
    expect(ours).toEqual(kafka)
  })
})
