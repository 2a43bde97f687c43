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
import { remoteLogMetadataTypes } from '../../src/dump/messages/remoteLogMetadata.ts'
import { shareGroupStateTypes } from '../../src/dump/messages/shareGroupState.ts'
import { transactionLogTypes } from '../../src/dump/messages/transactionLog.ts'
import { encodeRecordBatch } from '../../src/index.ts'
import { dump } from '../dump/cli.ts'
import {
  clusterMetadataMessages,
  framed,
  generator,
  type Message,
  MessageWriter,
} from '../support/messages.ts'
import { kafkaDump } from './judge.js'

const LOG = '00000000000000000000.log'
const EACH = 60

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mirrorpid-dump-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

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

describe('members of consumer groups', () => {
  it('of any version of their protocol, newer ones too', async () => {
    const string = (writer: ByteWriter, text: string) => {
      const bytes = new TextEncoder().encode(text)
      return writer.int16(bytes.length).bytes(bytes)
    }
    const partitions = (writer: ByteWriter, count: number) => {
      writer.int32(count)
      for (let index = 0; index < count; index++) string(writer, 't').int32(1).int32(index)
      return writer
    }
    const members = [-1, 0, 1, 2, 3, 4, 9].flatMap((version) => [0, 2].map((count) => ({ version, count })))
    const messages = members.map(({ version, count }) => {
      const topics = string(new ByteWriter().int16(version).int32(1), 't').int32(-1)
      const subscription = string(partitions(topics, count).int32(7), 'rack').finish()
      const assignment = partitions(new ByteWriter().int16(version), count).int32(-1).finish()
      const value = string(new ByteWriter().int16(0), 'consumer').int32(1).int16(-1).int16(-1).int32(1)
      for (const text of ['member', 'client', 'host']) string(value, text)
      value.int32(1000).int32(subscription.length).bytes(subscription)
      value.int32(assignment.length).bytes(assignment)
      return { key: string(new ByteWriter().int16(2), 'group').finish(), value: value.finish() }
    })
    const [ours, kafka] = await bothDump('--offsets-decoder', messages)
    expect(kafka.filter((line) => line.includes('"subscription":{')).length).toBeGreaterThan(6)
    expect(kafka.filter((line) => line.includes('"subscription":"')).length).toBeGreaterThan(0)
    expect(ours).toEqual(kafka)
  })
})

const decoders = {
  '--cluster-metadata-decoder': { type: 2, known: metadataTypes().get(2)!.form, unknown: 6 },
  '--remote-log-metadata-decoder': { type: 2, known: remoteLogMetadataTypes().get(2)!, unknown: 4 },
}

describe.each(Object.entries(decoders))('%s', (option, { type, known, unknown }) => {
  it('says what it cannot read', async () => {
    const bytes = MessageWriter.write(known, 0, generator(3))
    const value = (...numbers: number[]) => ({ key: null, value: Uint8Array.from(numbers) })
    const cuts = Array.from({ length: bytes.length }, (_, end) => framed(type, 0, bytes.subarray(0, end)))
    const [ours, kafka] = await bothDump(option, [
      framed(type, 0, bytes, 0),
      framed(type, 0, bytes, 2),
      framed(type, 0, new Uint8Array([...bytes, 1, 2])),
      framed(unknown, 0, bytes),
      framed(99, 0, bytes),
      framed(type, 7, bytes),
      framed(32768, 0, bytes),
      framed(type, 32768, bytes),
      // a varint with the top bit set is a negative int to Java, and what is left of it as a short
      framed(type, 0, bytes, 0x80000001),
      framed(type, 0, bytes, 0xffffffff),
      framed(0xffff8002, 0, bytes),
      value(),
      value(1),
      value(1, 2),
      value(0x80, 0x80, 0x80, 0x80, 0x80, 1),
      ...cuts,
    ])
    expect(ours).toEqual(kafka)
  })
})

describe('--cluster-metadata-decoder', () => {
  it('shows messages of each type and version', async () => {
    const messages = clusterMetadataMessages(EACH, 5)
    const [ours, kafka] = await bothDump('--cluster-metadata-decoder', messages)
    expect(kafka.filter((line) => / payload: \{/.test(line)).length).toBeGreaterThan(messages.length * 0.9)
    expect(ours).toEqual(kafka)
  })
})

describe('--remote-log-metadata-decoder', () => {
  it('shows what Kafka makes of messages of each type, and what it refuses', async () => {
    const next = generator(13)
    const messages: Message[] = []
    for (let count = 0; count < EACH * 5; count++) {
      for (const type of remoteLogMetadataTypes().keys()) {
        messages.push(framed(type, 0, remoteLogMetadata(type, next)))
      }
    }
    const [ours, kafka] = await bothDump('--remote-log-metadata-decoder', messages)
    const texts = kafka.map(
      (line) => / payload: (\w+(?:\{| at offset \d+, skipping\. \w+))/.exec(line)?.[1] ?? '',
    )
    const kinds = new Set(texts.map((text) => text.replace(/ at offset \d+, skipping\./, ':')))
    expect([...kinds].sort()).toEqual([
      '',
      'Error: Unexpected',
      'Error: null',
      'Error: segmentLeaderEpochs',
      'Error: state',
      'RemoteLogSegmentMetadataSnapshot{',
      'RemoteLogSegmentMetadataUpdate{',
      'RemoteLogSegmentMetadata{',
      'RemotePartitionDeleteMetadata{',
    ])
    expect(ours).toEqual(kafka)
  })

  it('shows messages of any content', async () => {
    const next = generator(17)
    const messages: Message[] = []
    for (const [type, form] of remoteLogMetadataTypes()) {
      for (let count = 0; count < EACH; count++) {
        messages.push(framed(type, count % 3, MessageWriter.write(form, 0, next)))
      }
    }
    const [ours, kafka] = await bothDump('--remote-log-metadata-decoder', messages)
    expect(ours).toEqual(kafka)
  })
})

/** Fields that mostly go together: of random ones Kafka refuses nearly all. */
function remoteLogMetadata(type: number, next: (below: number) => number): Uint8Array {
  const writer = new ByteWriter()
  const uuid = () => writer.int64(BigInt(next(1000)) * 0x123456789abn).int64(-BigInt(next(1000)))
  const partition = () => {
    const name = new TextEncoder().encode(['orders', 'é漢😀', ''][next(3)]!)
    writer.unsignedVarint(name.length + 1).bytes(name)
    uuid()
    writer.int32(next(50) - 1).unsignedVarint(0)
  }
  const segmentId = () => {
    partition()
    uuid()
    writer.unsignedVarint(0)
  }
  const event = () => writer.int32(next(9)).int64(1700000000000n + BigInt(next(1000)))
  const customAndState = () => {
    const custom = next(3) === 0 ? null : new Uint8Array(next(9))
    writer.unsignedVarint(custom === null ? 0 : custom.length + 1).bytes(custom ?? new Uint8Array(0))
    writer.int8(next(6) - 1)
  }
  if (type === 0) segmentId()
  else if (type === 1) segmentId()
  else if (type === 2) partition()
  else uuid()
  if (type === 1 || type === 2) event()
  if (type === 1) customAndState()
  else if (type === 2) writer.int8(next(5) - 1)
  else {
    const startOffset = BigInt(next(100) - 10)
    writer
      .int64(startOffset)
      .int64(startOffset + BigInt(next(50) - 5))
      .int32(next(9))
    writer.int64(BigInt(next(2)) - 1n).int64(1700000000000n)
    const epochs = next(6)
    writer.unsignedVarint(epochs + 1)
    for (let count = 0; count < epochs; count++) {
      writer
        .int32(next(20) - 5)
        .int64(BigInt(next(100)))
        .unsignedVarint(0)
    }
    writer.int32(next(2 ** 20))
    customAndState()
    const isEmpty = next(3)
    if (isEmpty < 2)
      return writer.unsignedVarint(1).unsignedVarint(0).unsignedVarint(1).int8(isEmpty).finish()
  }
  return writer.unsignedVarint(0).finish()
}
