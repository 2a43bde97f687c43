import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  CorruptBatchError,
  loadCoreSync,
  type MirrorPidError,
  type RewriteStreamOptions,
  rewriteStream,
} from '../../src/index.ts'
import { jsCore } from '../../src/js.ts'
import { recordSets, rewriteOptions } from '../support/arbitraries.ts'
import { batch, pattern } from '../support/batches.ts'

const js = jsCore()

/** Cuts bytes at the given places, in any order and number. */
function chunksOf(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
  return places.slice(1).map((end, index) => bytes.slice(places[index], end))
}

/** Runs chunks through a stream: what came out before it ended or failed. */
async function pass(chunks: readonly Uint8Array[], options: RewriteStreamOptions) {
  const stream = rewriteStream(options)
  const out: Uint8Array[] = []
  let error: unknown
  const feed = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })
  try {
    for await (const chunk of feed.pipeThrough(stream) as unknown as AsyncIterable<Uint8Array>)
      out.push(chunk)
  } catch (failure) {
    error = failure
  }
  const report = await stream.report.catch((failure) => {
    expect(failure).toBe(error)
  })
  return { out: Buffer.concat(out), report, error }
}

/** All that an error tells in fields. */
function factsOf(error: unknown) {
  const { message: _, ...facts } = (error as MirrorPidError).toJSON()
  return facts
}

const good = batch({ producerId: 5n, payload: pattern(40) })
const damage: Record<string, [Uint8Array, RewriteStreamOptions?]> = {
  'a wrong CRC': [batch({ producerId: 6n, crc: 1 })],
  'an impossible size': [batch({ producerId: 6n, batchLength: 3 })],
  'an unknown magic': [batch({ producerId: 6n, magic: 7 })],
  'an id without an image': [batch({ producerId: 2n ** 63n - 1n })],
  'a batch above the limit': [
    batch({ producerId: 6n, batchLength: 900, payload: pattern(200) }),
    { maxBatchBytes: 250 },
  ],
  'bytes behind zeros': [Buffer.concat([Buffer.alloc(70), pattern(9)])],
}

describe('an error of a stream', () => {
  for (const core of [js, loadCoreSync()]) {
    describe.each(Object.entries(damage))(`for %s, ${core.backend}`, (_, [bad, options]) => {
      it.each([
        ['in a chunk of its own', 3 * good.length, [good, good, good, bad]],
        ['with batches before it', good.length, [good, Buffer.concat([good, good, bad])]],
        ['in pieces', 3 * good.length, [good, good, good, ...chunksOf(bad, [1, 30, 60])]],
        ['at the start', 0, [bad]],
      ])('says how much was passed on: %s', async (_, leastPassed, chunks) => {
        const { out, error } = await pass(chunks, { core, crc: 'verify', ...options })
        const { message, stack, position, passedBytes } = error as CorruptBatchError
        const before = Buffer.concat(chunks).length - bad.length
        expect(position).toBe(before)
        expect(passedBytes).toBe(out.length)
        expect(out.length).toBeGreaterThanOrEqual(leastPassed)
        expect(message).toContain(`at byte ${before}`)
        expect(message).not.toContain('was changed')
        expect(message).toContain(
          out.length === 0
            ? 'Nothing was passed on'
            : `The first ${out.length} bytes of the stream were passed on`,
        )
        expect(stack).toContain(message)
      })
    })
  }

  it('is the same, told once, for streams that fail with one error', async () => {
    const failure = new CorruptBatchError({
      position: 0,
      baseOffset: 0n,
      reason: 'size',
      stored: null,
      computed: null,
    })
    const core = {
      ...js,
      rewrite: () => {
        throw failure
      },
    }
    const first = await pass([good], { core })
    const second = await pass([good], { core })
    expect([first.error, second.error].map((error) => (error as Error).message.match(/passed on/g))).toEqual([
      ['passed on'],
      ['passed on'],
    ])
  })

  it('of a chunk that is no bytes says it too', async () => {
    const { error } = await pass([good, 'text' as unknown as Uint8Array], { core: js })
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', passedBytes: good.length })
    expect((error as Error).message).toContain(`The first ${good.length} bytes of the stream were passed on`)
  })
})

describe('rewriteStream', () => {
  it('gives what one call over the whole gives, however the chunks are cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        recordSets,
        rewriteOptions,
        fc.array(fc.nat(10_000), { maxLength: 30 }),
        async (records, options, cuts) => {
          const whole = Buffer.from(records)
          let expected: { report?: unknown; error?: unknown }
          try {
            expected = { report: js.rewrite(whole, options) }
          } catch (error) {
            expected = { error }
          }
          const chunks = chunksOf(records, cuts)
          const { out, report, error } = await pass(chunks, { ...options, force: true, core: js })
          expect(report).toEqual(expected.report)
          expect(Buffer.concat(chunks).equals(records), 'chunks are not changed').toBe(true)
          if (error === undefined) expect(out.equals(whole)).toBe(true)
          else expect(factsOf(error)).toEqual({ ...factsOf(expected.error), passedBytes: out.length })
        },
      ),
      { numRuns: 500 },
    )
  })

  it('loads the wasm core by itself', async () => {
    const records = batch({ producerId: 5n, payload: pattern(100) })
    const { out, report } = await pass([records], {})
    expect(report?.rewritten).toBe(1)
    expect(out.readBigInt64BE(43)).toBe(-7n)
  })

  it('lets whole batches go before the end comes', async () => {
    const stream = rewriteStream({ core: loadCoreSync() })
    const writer = stream.writable.getWriter()
    const reader = stream.readable.getReader()
    const records = Buffer.concat([batch({ producerId: 5n }), batch({ producerId: 6n }).subarray(0, 20)])
    void writer.write(records)
    expect((await reader.read()).value?.length).toBe(61)
    void writer.write(batch({ producerId: 6n }).subarray(20))
    expect((await reader.read()).value?.length).toBe(61)
    await writer.close()
    expect((await reader.read()).done).toBe(true)
    expect(await stream.report).toMatchObject({ batches: 2, trailing: { kind: 'none' } })
  })

  it('gives batches before a damaged one, then fails with its place in the stream', async () => {
    const good = batch({ producerId: 5n, payload: pattern(40) })
    const bad = batch({ producerId: 6n, baseOffset: 9n, crc: 1 })
    const { out, error } = await pass([good, good, bad, good], { core: js, crc: 'verify' })
    expect(out.length).toBe(2 * good.length)
    expect(error).toMatchObject({ code: 'CORRUPT_BATCH', position: 2 * good.length, baseOffset: 9n })
  })

  it('takes no more than its reader asks for', async () => {
    const stream = rewriteStream({ core: js })
    const writer = stream.writable.getWriter()
    let written = 0
    const writing = (async () => {
      for (let index = 0; index < 50; index++) {
        await writer.ready
        written++
        void writer.write(batch({ producerId: 5n }))
      }
      await writer.close()
    })()
    // all of it is in memory, so many turns of the event loop are enough for whatever would go on
    for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect(written).toBeLessThan(5)
    let read = 0
    for await (const chunk of stream.readable as unknown as AsyncIterable<Uint8Array>) read += chunk.length
    await writing
    expect(read).toBe(50 * 61)
  })

  it('holds what came of a batch up to the limit, whatever the batch claims', async () => {
    const huge = batch({ producerId: 5n, batchLength: 2147483647, payload: pattern(939) })
    const cut = await pass(chunksOf(huge, [100]), { core: js, maxBatchBytes: 1000 })
    expect(cut.report?.trailing).toEqual({ kind: 'incomplete', bytes: 1000 })
    expect(cut.out.equals(huge)).toBe(true)
    const { error } = await pass([huge, pattern(1)], { core: js, maxBatchBytes: 1000 })
    expect(error).toMatchObject({ code: 'BATCH_TOO_LARGE', position: 0, size: 2147483659, limit: 1000 })
    const whole = batch({ producerId: 5n, payload: pattern(1000) })
    expect((await pass(chunksOf(whole, [1010]), { core: js, maxBatchBytes: 1000 })).error).toMatchObject({
      code: 'BATCH_TOO_LARGE',
      size: 1061,
    })
    expect((await pass(chunksOf(whole, [1010]), { core: js, maxBatchBytes: 1061 })).error).toBeUndefined()
  })

  it('joins a large batch of many small chunks once, not each time', async () => {
    const large = batch({ producerId: 5n, payload: pattern(4_000_000) })
    const chunks = Array.from({ length: 40_000 }, (_, index) =>
      large.subarray(index * 101, (index + 1) * 101),
    )
    const { out, report } = await pass(chunks, { core: js })
    expect(report).toMatchObject({ batches: 1, rewritten: 1, validBytes: large.length })
    expect(out.length).toBe(large.length)
  })

  it.each([{ crc: 'fast' }, { direction: 'sideways' }, { maxBatchBytes: 0 }, { maxBatchBytes: Number.NaN }])(
    'refuses %j at once',
    (options) => {
      expect(() => rewriteStream(options as RewriteStreamOptions)).toThrow(
        expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
      )
    },
  )

  it('fails on a chunk that is no bytes', async () => {
    const { error } = await pass(['text' as unknown as Uint8Array], { core: js })
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT' })
  })
})
