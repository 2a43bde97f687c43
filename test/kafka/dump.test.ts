// `mirrorpid dump` against Kafka's own DumpLogSegments, run on the same files: the fixtures, the fixtures rewritten, and
// files made here to be unlike anything a broker writes.
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { crc32 } from '@node-rs/crc32'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ByteWriter } from '../../src/bytes/byteWriter.ts'
import { encodeEndTransactionMarker } from '../../src/formats/endTransactionMarker.ts'
import { encodeMirrorPidReset } from '../../src/formats/mirrorPidReset.ts'
import { loadCoreSync } from '../../src/index.ts'
import { dump } from '../dump/cli.ts'
import { dataBatch } from '../dump/support.ts'
import { batch, hex, legacyEntry, pattern } from '../support/batches.ts'
import { partitions } from './expectations.js'
import { type DumpResult, kafkaDumps } from './judge.js'
import { committed } from './manifest.js'

const MAX = 2n ** 63n - 1n
const MIN = -(2n ** 63n)

/** What our tool adds begins with its name; paths are as given, or made absolute as Kafka makes them. */
const withoutOurs = (stderr: string) => stderr.replace(/^mirrorpid: .*\n/gm, '')

async function expectSame(kafka: DumpResult, args: readonly string[], cwd: string): Promise<void> {
  const ours = await dump(args, cwd)
  expect(kafka.status, kafka.stderr).toBe(0)
  expect(ours.stdout.split('\n'), args.join(' ')).toEqual(kafka.stdout.split('\n'))
  expect(withoutOurs(ours.stderr).split('\n'), args.join(' ')).toEqual(kafka.stderr.split('\n'))
}

/** Runs both tools over all the files with each set of options. */
async function compare(cwd: string, files: readonly string[], variants: readonly string[][]): Promise<void> {
  const jobs = files.flatMap((file) => variants.map((options) => [...options, '--files', file]))
  const results = await kafkaDumps(jobs, { cwd })
  for (const [index, args] of jobs.entries()) await expectSame(results[index]!, args, cwd)
}

const LOGS = [[], ['--deep-iteration'], ['--print-data-log'], ['--print-data-log', '--skip-record-metadata']]

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mirrorpid-dump-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

async function place(files: Record<string, Uint8Array>): Promise<string[]> {
  for (const [name, bytes] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true })
    await writeFile(join(directory, name), bytes)
  }
  return Object.keys(files)
}

describe('a fixture with all its ids mapped', () => {
  it.each(partitions)('%s', async (partition) => {
    const mapped = join(directory, 'mapped', partition)
    await cp(join(committed, partition), mapped, { recursive: true })
    const core = loadCoreSync()
    const names = (await readdir(mapped)).filter((name) => /\.(log|checkpoint)$/.test(name))
    for (const name of names) {
      const { readFile } = await import('node:fs/promises')
      const bytes = await readFile(join(mapped, name))
      core.rewrite(bytes)
      await writeFile(join(mapped, name), bytes)
    }
    const logs = names.map((name) => `mapped/${partition}/${name}`)
    await compare(directory, logs, [[], ['--deep-iteration']])
  })
})

const LOG = '00000000000000000000.log'

/** An entry of magic 0 or 1 that holds others, compressed. */
function wrapper(magic: 0 | 1, offset: bigint, inner: Buffer, attributes = 1): Buffer {
  const entry = legacyEntry({ magic, offset, value: gzipSync(inner) })
  entry.writeInt8(attributes, 17)
  entry.writeUInt32BE(crc32(entry.subarray(16)), 12)
  return entry
}

function records(...bodies: number[][]): Buffer {
  const writer = new ByteWriter()
  for (const body of bodies) writer.varint(body.length).bytes(Uint8Array.from(body))
  return Buffer.from(writer.finish())
}

/** Key and value as given, length and all else made for them. */
function oneRecord(
  key: Uint8Array | null,
  value: Uint8Array | null,
  headers: [Uint8Array, Uint8Array | null][] = [],
) {
  const writer = new ByteWriter().int8(0).varlong(0n).varint(0)
  writer.nullableBytes(key).nullableBytes(value).varint(headers.length)
  for (const [name, content] of headers) writer.nullableBytes(name).nullableBytes(content)
  return records([...writer.finish()])
}

describe('a log', () => {
  it('of ordinary batches, compressed and not, of all kinds of timestamps', async () => {
    const append = Buffer.from(
      dataBatch(4, 2, { timestampType: 'LogAppendTime', maxTimestamp: 1800000000000n }),
    )
    const files = await place({
      [`kinds/${LOG}`]: Buffer.concat([
        dataBatch(0),
        batch({ baseOffset: 2n, attributes: 0x40, payload: oneRecord(Buffer.from('k'), null) }),
        batch({ baseOffset: 3n, attributes: 0x7f80, payload: oneRecord(null, Buffer.from('v')) }),
        append,
        batch({ baseOffset: 6n, attributes: 1, payload: gzipSync(oneRecord(null, pattern(3000))) }),
        batch({ baseOffset: 7n, recordsCount: 0, lastOffsetDelta: 4, payload: Buffer.alloc(0) }),
        encodeEndTransactionMarker({
          baseOffset: 12n,
          timestamp: 5n,
          producerId: 7n,
          producerEpoch: 1,
          coordinatorEpoch: 9,
          type: 'ABORT',
        }),
      ]),
    })
    await compare(directory, files, LOGS)
  })

  it('with numbers at the ends of their ranges', async () => {
    const headers = [
      { baseOffset: MAX, lastOffsetDelta: 2147483647 },
      { baseOffset: MAX - 5n, lastOffsetDelta: -2147483648 },
      { baseOffset: 2n ** 53n - 1n, lastOffsetDelta: 1, maxTimestamp: MAX, baseTimestamp: MIN },
      { baseOffset: 2n ** 52n, lastOffsetDelta: 2147483647, maxTimestamp: MIN },
      { producerId: MAX, producerEpoch: 32767, baseSequence: 2147483647, lastOffsetDelta: 1 },
      { producerId: MIN, producerEpoch: -32768, baseSequence: -2147483648, lastOffsetDelta: 5 },
      { producerId: -2n, baseSequence: 5, lastOffsetDelta: -1, partitionLeaderEpoch: 2147483647 },
      { baseSequence: 2147483640, lastOffsetDelta: -2147483648, partitionLeaderEpoch: -2147483648 },
      { recordsCount: 0, attributes: 0x78, baseTimestamp: MIN, maxTimestamp: -1n },
      { recordsCount: 0, crc: 0xffffffff },
    ].map((spec) => batch({ recordsCount: 0, ...spec }))
    const wide = new ByteWriter().int8(0).varlong(MAX).varint(2147483647).varint(-1).varint(-5).varint(0)
    const low = new ByteWriter().int8(0).varlong(MIN).varint(-2147483648).varint(0).varint(0).varint(0)
    const far = (spec: object, writer: ByteWriter) =>
      batch({ payload: records([...writer.finish()]), ...spec })
    const files = await place({
      [`ends/${LOG}`]: Buffer.concat([
        ...headers,
        far({ baseOffset: MAX, baseTimestamp: 5n, baseSequence: 3 }, wide),
        far({ baseOffset: 0n, baseTimestamp: MIN, baseSequence: 2147483647 }, low),
        far({ baseOffset: 2n ** 53n, baseTimestamp: 2n ** 53n, baseSequence: -3 }, wide),
        far({ baseOffset: 7n, attributes: 0x08, maxTimestamp: MAX }, low),
      ]),
    })
    await compare(directory, files, LOGS)
  })

  it('with keys and values that are no text', async () => {
    const bytes = [
      Buffer.from('\ufeffa b\nc\u0000é漢😀'),
      hex('eda080'),
      hex('eda08041'),
      hex('eda0'),
      hex('ed'),
      hex('edb08061'),
      hex('c080c1bfe08080e0a041f08f8080f4908080f5808080'),
      hex('f09f98f09f9880'),
      hex('f09f98'),
      hex('f09f9841'),
      hex('f09f41'),
      hex('f041'),
      hex('e282e282ac'),
      hex('e2828041ff80'),
      hex('f8888080808041'),
      hex('80bf61c361'),
      ...Array.from({ length: 400 }, (_, seed) => {
        const noise = pattern(40, seed + 1)
        // mostly bytes that begin or go on with a sequence
        return seed % 2 ? noise : noise.map((byte) => (byte & 3 ? byte | 0x80 : byte))
      }),
    ]
    let offset = 0n
    const batches = bytes.map((value) =>
      batch({
        baseOffset: offset++,
        payload: oneRecord(value, value, [
          [value, null],
          [value, value],
        ]),
      }),
    )
    const files = await place({ [`text/${LOG}`]: Buffer.concat(batches) })
    await compare(directory, files, LOGS)
  })

  it('of entries of magic 0 and 1, in one another too', async () => {
    const inner = (magic: 0 | 1, first: bigint) =>
      Buffer.concat([0n, 1n, 2n].map((index) => legacyEntry({ magic, offset: first + index })))
    const damaged = legacyEntry({ magic: 1, offset: 21n, crc: 5 })
    const files = await place({
      [`legacy/${LOG}`]: Buffer.concat([
        legacyEntry({ magic: 0, offset: 0n }),
        legacyEntry({ magic: 1, offset: 1n, value: Buffer.alloc(0) }),
        wrapper(0, 4n, inner(0, 2n)),
        wrapper(1, 7n, inner(1, 0n)),
        wrapper(1, 10n, inner(1, 0n), 9),
        dataBatch(11),
        damaged,
        wrapper(1, 24n, Buffer.concat([inner(1, 0n), legacyEntry({ magic: 1, offset: 3n, crc: 1 })])),
      ]),
    })
    await compare(directory, files, LOGS)
  })

  it('with a wrong CRC, and one that is cut', async () => {
    const damaged = dataBatch(2)
    damaged[75]! ^= 1
    const whole = Buffer.concat([dataBatch(0), damaged, dataBatch(4)])
    const cuts = [1, 11, 12, 17, 18, 30, 61, 90].map((left) => whole.subarray(0, whole.length - left))
    const files = await place({
      [`damaged/${LOG}`]: whole,
      ...Object.fromEntries(cuts.map((bytes, index) => [`cut${index}/${LOG}`, bytes])),
      [`zeros/${LOG}`]: Buffer.concat([whole, Buffer.alloc(17)]),
      [`empty/${LOG}`]: Buffer.alloc(0),
      'numbers/7.log': whole,
      'numbers/-3.log': whole,
    })
    await compare(directory, files, LOGS)
  })

  it('read in part', async () => {
    const files = await place({ [`part/${LOG}`]: Buffer.concat([dataBatch(0), dataBatch(2), dataBatch(4)]) })
    const size = dataBatch(0).length
    const limits = [
      0,
      1,
      17,
      18,
      size - 1,
      size,
      size + 17,
      size + 18,
      size + 61,
      2 * size,
      10 * size,
      2147483647,
    ]
    await compare(
      directory,
      files,
      limits.map((limit) => ['--max-bytes', String(limit), '--print-data-log']),
    )
  })

  it('with control records of all kinds', async () => {
    const control = (offset: bigint, key: string, value: string | null, attributes = 0x20) =>
      batch({
        baseOffset: offset,
        attributes,
        payload: oneRecord(hex(key), value === null ? null : hex(value)),
      })
    const files = await place({
      [`control/${LOG}`]: Buffer.concat([
        control(0n, '00000000', '000000000009', 0x30),
        control(1n, '0001000100ff', '00010000000a0102030405', 0x30),
        control(2n, '00000009', '0102'),
        control(3n, '0000ffff', ''),
        control(4n, '00007fff', 'ff'.repeat(300)),
        batch({
          baseOffset: 5n,
          attributes: 0x20,
          recordsCount: 2,
          lastOffsetDelta: 1,
          payload: Buffer.concat([
            oneRecord(hex('00000003'), hex('0000000000000000000500')),
            oneRecord(hex('00000004'), hex('000000')),
          ]),
        }),
        control(7n, '00000005', '0000000100'),
      ]),
    })
    await compare(directory, files, LOGS)
  })

  it('with a barrier: Kafka 4.3 does not know its name', async () => {
    const barrier = { leaderEpoch: 3, timestamp: 7n }
    const id = 'YkX3tQ2mSGa0b1c2d3e4fA'
    const [file] = await place({
      [`barrier/${LOG}`]: Buffer.concat([
        encodeMirrorPidReset({ ...barrier, baseOffset: 0n, sourceClusterId: id }),
        encodeMirrorPidReset({ ...barrier, baseOffset: 1n, sourceClusterId: null }),
      ]),
    })
    const args = ['--deep-iteration', '--files', file!]
    const [kafka] = await kafkaDumps([args], { cwd: directory })
    const ours = await dump(args, directory)
    expect(ours.stdout).toContain(` MirrorPidReset {"version":0,"sourceClusterId":"${id}"}\n`)
    expect(ours.stdout).toContain(' MirrorPidReset {"version":0}\n')
    expect(ours.stdout.replace(/ MirrorPidReset .*/g, ' controlType: UNKNOWN(7)')).toBe(kafka!.stdout)
    expect(ours.status).toBe(0)
  })

  it('with decoders for keys and values', async () => {
    const long = hex('8000000000000001ff')
    const files = await place({
      [`decoders/${LOG}`]: Buffer.concat([
        batch({ baseOffset: 0n, payload: oneRecord(hex('fffffff6'), long) }),
        batch({ baseOffset: 1n, payload: oneRecord(null, hex('7fffffffffffffff')) }),
      ]),
    })
    const api = 'org.apache.kafka.tools.api'
    await compare(directory, files, [
      ['--key-decoder-class', `${api}.IntegerDecoder`, '--value-decoder-class', `${api}.LongDecoder`],
      ['--key-decoder-class', `${api}.StringDecoder`],
      ['--value-decoder-class', `${api}.StringDecoder`, '--skip-record-metadata'],
    ])
  })
})

describe('an index', () => {
  const log = Buffer.concat([dataBatch(0), dataBatch(2, 5), dataBatch(7), dataBatch(9)])
  const at = [0, dataBatch(0).length, dataBatch(0).length + dataBatch(2, 5).length]
  const offsetIndex = (...entries: [number, number][]) => {
    const bytes = Buffer.alloc(entries.length * 8)
    for (const [number, [offset, position]] of entries.entries()) {
      bytes.writeInt32BE(offset, number * 8)
      bytes.writeInt32BE(position, number * 8 + 4)
    }
    return bytes
  }
  const timeIndex = (...entries: [bigint, number][]) => {
    const bytes = Buffer.alloc(entries.length * 12)
    for (const [number, [timestamp, offset]] of entries.entries()) {
      bytes.writeBigInt64BE(timestamp, number * 12)
      bytes.writeInt32BE(offset, number * 12 + 8)
    }
    return bytes
  }
  const names = (base: string) =>
    ['log', 'index', 'timeindex'].map((suffix) => `${base}/${LOG.replace('log', suffix)}`)

  async function compareIndexes(
    base: string,
    index: Buffer,
    time: Buffer,
    variants: string[][],
  ): Promise<void> {
    const [logName, indexName, timeName] = names(base) as [string, string, string]
    await place({ [logName]: log, [indexName]: index, [timeName]: time })
    await compare(directory, [indexName, timeName], variants)
  }
  const time = 1700000000000n

  it('that fits', async () => {
    const index = offsetIndex([6, at[1]!], [8, at[2]!])
    await compareIndexes('fits', index, timeIndex([time + 4n, 6]), [
      [],
      ['--verify-index-only'],
      ['--index-sanity-check'],
      ['--max-message-size', '2000'],
    ])
  })

  it('with zeros behind', async () => {
    const index = Buffer.concat([offsetIndex([6, at[1]!], [8, at[2]!]), Buffer.alloc(800)])
    await compareIndexes(
      'zeros-behind',
      index,
      Buffer.concat([timeIndex([time + 4n, 6]), Buffer.alloc(600)]),
      [[], ['--verify-index-only']],
    )
  })

  it('that is empty, or zeros only', async () => {
    await compareIndexes('empty-index', Buffer.alloc(0), Buffer.alloc(0), [[], ['--index-sanity-check']])
    await compareIndexes('zero-index', Buffer.alloc(80), Buffer.alloc(120), [[], ['--verify-index-only']])
  })

  it('with offsets that are not those of the log', async () => {
    const index = offsetIndex([1, 0], [4, at[1]!], [7, at[2]!], [7, at[1]!], [5, at[2]!])
    await compareIndexes(
      'mismatches',
      index,
      timeIndex([time, 3], [time + 9n, 6], [time + 1n, 8], [time + 1n, 900]),
      [[], ['--verify-index-only']],
    )
  })

  it('with timestamps out of order', async () => {
    const index = offsetIndex([1, 0], [6, at[1]!])
    await compareIndexes(
      'order',
      index,
      timeIndex([time + 1n, 1], [time + 4n, 6], [time + 1n, 8], [time + 1n, 10]),
      [[]],
    )
  })
})

describe('other files', () => {
  it('a producer snapshot with all its kinds of entries', async () => {
    const entry = (id: bigint, lastOffset: bigint, first: bigint, lastSequence: number, delta: number) => {
      const bytes = Buffer.alloc(46)
      bytes.writeBigInt64BE(id, 0)
      bytes.writeInt16BE(3, 8)
      bytes.writeInt32BE(lastSequence, 10)
      bytes.writeBigInt64BE(lastOffset, 14)
      bytes.writeInt32BE(delta, 22)
      bytes.writeBigInt64BE(1700000000009n, 26)
      bytes.writeInt32BE(4, 34)
      bytes.writeBigInt64BE(first, 38)
      return bytes
    }
    const entries = [
      entry(1000n, 1n, -1n, 1, 1),
      entry(-7n, -1n, -1n, -1, 0),
      entry(5n, MAX, MAX, 2, 2147483647),
    ]
    const head = Buffer.alloc(10)
    head.writeInt16BE(1, 0)
    head.writeInt32BE(entries.length, 6)
    const bytes = Buffer.concat([head, ...entries])
    bytes.writeUInt32BE(loadCoreSync().crc32c(bytes.subarray(6)), 2)
    const vector = hex(
      '0001418d07fe0000000100000000000003e80003000000010000000000000001000000010000018bcfe5680900000004ffffffffffffffff',
    )
    await compare(
      directory,
      await place({ 's/00000000000000000007.snapshot': bytes, 's/00000000000000000009.snapshot': vector }),
      [[]],
    )
  })

  it('a transaction index, with a fragment behind', async () => {
    const one = '000000000000000003e8000000000000000000000000000000020000000000000003'
    const files = await place({
      't/00000000000000000000.txnindex': hex(`${one}${one}0000000000`),
      't/00000000000000000001.txnindex': Buffer.alloc(0),
    })
    await compare(directory, files, [[]])
  })

  it('names: of checkpoints, and of files of no known kind', async () => {
    const files = await place({
      'n/00000000000000000123-0000000045.checkpoint': dataBatch(123),
      'n/bootstrap.checkpoint': dataBatch(0),
      'n/other.txt': Buffer.from('x'),
      'n/leader-epoch-checkpoint': Buffer.from('x'),
    })
    await compare(directory, [...files, './/n///bootstrap.checkpoint'], [[], ['--deep-iteration']])
  })

  it('many files in one run', async () => {
    const files = [`damaged/${LOG}`, 'n/bootstrap.checkpoint', 't/00000000000000000000.txnindex'].join(',')
    await compare(directory, [files], [['--print-data-log']])
  })
})

describe('options', () => {
  it('are to be written in full: an abbreviation that fits one only is a usage error too', async () => {
    const file = `n/${LOG}`
    await place({ [file]: dataBatch(0) })
    const jobs = [['--print-data'], ['--deep'], ['--skip'], ['--max-by', '500']].map((options) => [
      ...options,
      '--files',
      file,
    ])
    const results = await kafkaDumps(jobs, { cwd: directory })
    for (const [index, args] of jobs.entries()) {
      expect(results[index], args[0]).toMatchObject({ status: 1, stdout: '' })
      expect(results[index]!.stderr).toContain(`${args[0]!.slice(2)} is not a recognized option`)
      const ours = await dump(args, directory)
      expect(ours, args[0]).toMatchObject({ status: 2, stdout: '' })
      expect(ours.stderr).toContain(`unknown option '${args[0]}'`)
    }
  })
})
