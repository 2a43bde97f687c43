import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type LogStorage, PartitionLog, type PartitionLogOptions, stopLog } from '../../src/index.ts'
import { encodeOp } from '../producers/logBuilder.ts'
import { copyOf, filesOf } from './faultyStorage.ts'
import { contentOf, END, expectSoundFiles, mirrored, OPS, REQUEST, SEGMENTED } from './mirroredLog.ts'

const SEGMENTS = /^\d{20}\.log$/
const segmentsOf = (storage: LogStorage) =>
  storage
    .list()
    .filter((name) => SEGMENTS.test(name))
    .sort()

/** Where each batch lies, by a walk of its own. */
function batchesOf(storage: LogStorage) {
  return segmentsOf(storage).flatMap((name) => {
    const bytes = storage.read(name)!
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    const batches: { name: string; at: number; size: number }[] = []
    for (let at = 0; at < bytes.length; at += batches.at(-1)!.size) {
      batches.push({ name, at, size: 12 + view.getInt32(at + 8) })
    }
    return batches
  })
}

function change(storage: LogStorage, name: string, by: (bytes: Uint8Array, view: DataView) => unknown) {
  const bytes = storage.read(name)!.slice()
  const changed = by(bytes, new DataView(bytes.buffer))
  storage.write(name, changed instanceof Uint8Array ? changed : bytes)
}

/** Returns the error; no file may have changed. */
function refusal(storage: LogStorage, options: PartitionLogOptions, request = {}) {
  const before = filesOf(storage, '')
  let error: unknown
  try {
    stopLog(storage, options, { ...REQUEST, ...request })
  } catch (caught) {
    error = caught
  }
  expect(filesOf(storage, '')).toEqual(before)
  return error as { code: string; reason?: string; message: string } | undefined
}

const DAMAGES: [string, (bytes: Uint8Array, view: DataView, at: number, size: number) => void][] = [
  ['batchLength beyond the file', (_, view, at) => view.setInt32(at + 8, 0x40000031)],
  ['batchLength somewhat larger', (_, view, at) => view.setInt32(at + 8, 4000)],
  ['batchLength zero', (_, view, at) => view.setInt32(at + 8, 0)],
  ['batchLength negative', (_, view, at) => view.setInt32(at + 8, -5)],
  ['zeros for the batch', (bytes, _, at, size) => bytes.fill(0, at, at + size)],
  ['zeros for the header', (bytes, _, at) => bytes.fill(0, at, at + 61)],
  ['zeros to the end of the segment', (bytes, _, at) => bytes.fill(0, at)],
  ['another magic', (_, view, at) => view.setInt8(at + 16, 9)],
  ['a flipped bit', (_, view, at) => view.setUint8(at + 60, view.getUint8(at + 60) ^ 1)],
]

describe.each([
  ['clean', { ...SEGMENTED, shutdown: 'clean' }],
  ['killed', { ...SEGMENTED, highWatermark: END }],
  ['killed, with no checkpoint', SEGMENTED],
  ['killed, one segment, with no checkpoint', {}],
] as const)('damage anywhere: %s', (_, options) => {
  it.each(DAMAGES)('%s: refused, and every byte stays', (what, damage) => {
    const whole = mirrored(options)
    const batches = batchesOf(whole)
    for (const { name, at, size } of batches) {
      const storage = copyOf(whole)
      change(storage, name, (bytes, view) => damage(bytes, view, at, size))
      const isLast = name === segmentsOf(whole).at(-1)
      const isLastBatch = isLast && at === batches.at(-1)!.at
      const isZeroEnd =
        (what === 'zeros to the end of the segment' && isLast) ||
        (what === 'zeros for the batch' && isLastBatch)
      // without any checkpoint, room that was allocated for more looks the same
      const isUnknown = isZeroEnd && !('shutdown' in options) && !('highWatermark' in options)
      if (isUnknown) {
        expect(stopLog(storage, options, REQUEST).cut).toMatchObject([{ position: at, isZero: true }])
      } else {
        expect(refusal(storage, options), `${name} at ${at}`).toMatchObject({ code: 'CORRUPT_BATCH' })
      }
    }
  })
})

it('a segment that is cut short in the middle of the log is refused', () => {
  const whole = mirrored(SEGMENTED)
  for (const name of segmentsOf(whole).slice(0, -1)) {
    const storage = copyOf(whole)
    change(storage, name, (bytes) => bytes.slice(0, bytes.length - 7))
    expect(refusal(storage, SEGMENTED)).toMatchObject({ code: 'CORRUPT_BATCH' })
  }
})

describe('a torn last write', () => {
  const next = encodeOp({ kind: 'data', pid: -7, seq: 4, bytes: 300 }, END)
  const torn = (bytes: Uint8Array, options: PartitionLogOptions = {}) => {
    const storage = mirrored(options)
    const [name] = segmentsOf(storage).slice(-1)
    storage.open(name!).append(bytes)
    return storage
  }

  it('is cut at any length, and said; the files are those of a log without it', () => {
    const expected = mirrored({})
    stopLog(expected, {}, REQUEST)
    for (let length = 1; length < next.length; length++) {
      const storage = torn(next.subarray(0, length))
      const report = stopLog(storage, { highWatermark: END, recoveryPoint: END }, REQUEST)
      const position = mirrored({}).open('00000000000000000000.log').size
      // the upper bytes of an offset are zeros
      const isZero = next.subarray(0, length).every((byte) => byte === 0)
      expect(report).toMatchObject({
        cut: [{ segment: 0n, position, bytes: length, isZero }],
        removedSegments: [],
        leftovers: [],
        warnings: isZero
          ? []
          : [expect.stringMatching(/0\.log: \d+ bytes of a batch .* are cut, at byte \d+$/)],
      })
      expect(filesOf(storage, '')).toEqual(filesOf(expected, ''))
    }
  })

  it('room that was allocated for more is cut, with no warning', () => {
    const storage = torn(new Uint8Array(3000))
    expect(stopLog(storage, {}, REQUEST)).toMatchObject({
      cut: [{ bytes: 3000, isZero: true }],
      warnings: [],
    })
    expectSoundFiles(storage, {})
  })

  it('below what is known of the log, it is damage', () => {
    const half = next.subarray(0, 100)
    for (const [options, what] of [
      [{ recoveryPoint: END + 1n }, 'the recovery point is 13, and the log would end at 12'],
      [{ highWatermark: END + 1n }, 'the high watermark is 13, and'],
      [{ shutdown: 'clean' }, '(incomplete)'],
    ] as const) {
      expect(refusal(torn(half), options)?.message).toContain(what)
    }
    const storage = torn(half)
    storage.write('00000000000000000013.snapshot', new Uint8Array(0))
    expect(refusal(storage, {})?.message).toContain('the newest producer snapshot is 13')
    const zeros = torn(new Uint8Array(100))
    expect(refusal(zeros, { highWatermark: END + 1n })).toMatchObject({ code: 'CORRUPT_BATCH' })
  })

  it('with a whole batch behind it, it is damage, wherever that begins', () => {
    const after = encodeOp({ kind: 'data', pid: -7, seq: 5 }, END + 1n)
    fc.assert(
      fc.property(fc.integer({ min: 17, max: next.length }), fc.nat(400_000), (kept, between) => {
        const head = next.slice(0, kept)
        new DataView(head.buffer).setInt32(8, 0x7fff0000)
        const storage = torn(Buffer.concat([head, new Uint8Array(between).fill(1), after]))
        expect(refusal(storage, {})).toMatchObject({ code: 'CORRUPT_BATCH' })
      }),
      { numRuns: 20 },
    )
  })

  it('a batch in its records is none behind it: that goes below the end of the log', () => {
    const inner = encodeOp({ kind: 'data', pid: 3, seq: 1 }, 4n)
    const storage = torn(Buffer.concat([next.subarray(0, 80), inner, new Uint8Array(9).fill(1)]))
    expect(stopLog(storage, {}, REQUEST).cut).toHaveLength(1)
  })

  it('bytes that look like ever more batches are not looked at for ever', () => {
    const fake = new Uint8Array(1_000_000)
    const view = new DataView(fake.buffer)
    for (let at = 0; at + 61 < fake.length; at += 61) {
      view.setInt32(at + 8, fake.length - at - 12)
      view.setInt8(at + 16, 2)
    }
    view.setInt32(8, 0x7fff0000)
    expect(refusal(torn(fake), {})).toMatchObject({ code: 'CORRUPT_BATCH' })
  })
})

describe('what opening would remove', () => {
  it.each([END + 1n, 10n ** 15n])('a log start offset above the end (%d) is refused', (logStartOffset) => {
    for (const options of [{}, SEGMENTED]) {
      const storage = mirrored(options)
      const error = refusal(storage, { ...options, logStartOffset })
      expect(error).toMatchObject({ code: 'STOP_REFUSED', reason: 'records' })
      expect(error?.message).toContain(
        `the log start offset ${logStartOffset}, of a checkpoint, lies above the end`,
      )
    }
  })

  it('one in the log, or at its end, is none of it', () => {
    for (const logStartOffset of [5n, END]) {
      const storage = mirrored(SEGMENTED)
      const { lastMirroredOffset } = stopLog(storage, { ...SEGMENTED, logStartOffset }, REQUEST)
      expect(lastMirroredOffset).toBeGreaterThanOrEqual(END)
    }
  })

  it('an unfinished compaction, or a removed segment behind the end, is refused', () => {
    const whole = mirrored(SEGMENTED)
    const [first, ...others] = segmentsOf(whole)
    const last = others.at(-1)!
    for (const [from, to] of [
      [first!, `${first}.swap`],
      [last, `${last}.swap`],
      [last, `${last}.deleted`],
    ] as const) {
      const storage = copyOf(whole)
      if (to.endsWith('.swap')) storage.write(to, storage.read(from)!)
      else storage.rename(from, to)
      expect(refusal(storage, SEGMENTED)).toMatchObject({ code: 'STOP_REFUSED', reason: 'records' })
    }
  })

  it('what is nobody’s data is removed, and said', () => {
    const storage = mirrored(SEGMENTED)
    const [first] = segmentsOf(storage)
    const names = [`${first}.cleaned`, `${first}.deleted`]
    for (const name of names) storage.write(name, storage.read(first!)!)
    expect(stopLog(storage, SEGMENTED, REQUEST).leftovers.sort()).toEqual(names)
    expectSoundFiles(storage, SEGMENTED)
  })
})

describe('producer snapshots of a broker', () => {
  const STOCK = { producerIdTest: 'stock', barrierPolicy: 'ignore' } as const

  it.each([
    ['one segment', {}],
    ['several', SEGMENTED],
  ])('%s: what they do not know is found, and the files are those of a fresh recovery', (_, size) => {
    for (const openTransactions of ['abort', 'truncate'] as const) {
      const options: PartitionLogOptions = { ...size, shutdown: 'clean', recoveryPoint: END }
      const storage = mirrored({ ...options, ...STOCK })
      // the broker's own knows no mapped id
      expect([...PartitionLog.open(copyOf(storage), options).producerState.producers.keys()]).toEqual([
        3n,
        4n,
      ])
      const report = stopLog(storage, options, { ...REQUEST, openTransactions })
      expect(report.settled.map(({ producerId }) => producerId)).toEqual([-8n, 4n])
      const expected = mirrored(size)
      stopLog(expected, size, { ...REQUEST, openTransactions })
      expect(filesOf(storage, '')).toEqual(filesOf(expected, ''))
      expectSoundFiles(storage, size)
    }
  })

  it('one at the first segment is not believed either: who has no batch left is forgotten', () => {
    const known = PartitionLog.open(mirrored({}, OPS.slice(0, 4))).producerState.takeSnapshot()
    const storage = mirrored({}, [])
    for (const name of storage.list()) storage.remove(name)
    const log = PartitionLog.open(storage, { logStartOffset: 20n })
    log.append(encodeOp({ kind: 'data', pid: -11, seq: 0 }, 20n), 'replication')
    log.close()
    storage.write('00000000000000000020.snapshot', known)
    expect(stopLog(storage, { shutdown: 'clean' }, REQUEST).expiredProducers).toBe(1)
    expect(contentOf(PartitionLog.open(copyOf(storage), { shutdown: 'clean' })).producers).toEqual([])
    expectSoundFiles(storage, {})
  })
})
