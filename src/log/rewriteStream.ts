import { bytesOf, viewOf } from '../bytes/view.ts'
import { checkRewriteOptions, type OptionKinds, REWRITE_OPTIONS, requireOptions } from '../core/arguments.ts'
import type { Core, RewriteOptions, RewriteReport } from '../core/core.ts'
import { engineOf } from '../core/crcEngine.ts'
import { BATCH_LENGTH, LOG_OVERHEAD } from '../core/layout.ts'
import { baseOffsetAt } from '../core/recordSetCursor.ts'
import { BatchTooLargeError, CorruptBatchError, InvalidArgumentError } from '../errors.ts'
import { loadCore } from '../wasm/load.ts'
import { MeetingIds } from './meetingIds.ts'
import { ProducerIdsMeetError } from './producerIdsMeetError.ts'
import { RewriteWork } from './rewriteWork.ts'
import { mergingOf } from './seenIds.ts'
import { tellPassed } from './streamError.ts'

declare global {
  // TypeScript knows it with the library of browsers or the types of Node; ours are to be good without
  interface TransformStream<I, O> {}
}

/** What `rewriteStream` takes besides what a rewrite does. */
export interface RewriteStreamOptions extends RewriteOptions {
  /** Default the wasm core, loaded when the stream starts. */
  core?: Core
  /** The most that is held back of one batch until it is whole; default 256 MiB. More is an error. */
  maxBatchBytes?: number
  /** Go on where the mapping puts two producers under one id. Default false. */
  force?: boolean
}

const STREAM_OPTIONS: OptionKinds<RewriteStreamOptions> = {
  ...REWRITE_OPTIONS,
  core: 'object',
  maxBatchBytes: 'any',
  force: 'boolean',
}

/** A transform of record-set bytes; `report` is settled when all of them have passed, or one could not. */
export interface RewriteStream extends TransformStream<Uint8Array, Uint8Array<ArrayBuffer>> {
  readonly report: Promise<RewriteReport>
}

const DEFAULT_MAX_BATCH_BYTES = 256 * 1024 * 1024

/**
 * Rewrites producer ids in a stream of record-set bytes, for the place between a fetch and an append. Chunks may be cut
 * anywhere; what comes out has the same bytes in the same order, in chunks of whole batches. Nothing is read ahead of
 * what is asked for, and a chunk that was written is not changed.
 *
 * A batch leaves when all that came with it is whole (and, with `crc: 'verify'`, checked), so an error comes behind batches
 * that were passed on: its `passedBytes` says how many bytes they are. A last batch that stays incomplete leaves as it
 * came, and so does a zero tail.
 *
 * @throws InvalidArgumentError
 * The stream fails with CorruptBatchError, UnmappableProducerIdError, BatchTooLargeError (all with positions in the whole
 * stream) or WasmUnavailableError; and with ProducerIdsMeetError at the second of two ids that the mapping makes
 * one, unless `force`, or a barrier stands between them.
 * @example
 * const mapped = response.body.pipeThrough(rewriteStream({ crc: 'verify' }))
 */
export function rewriteStream(options: RewriteStreamOptions = {}): RewriteStream {
  requireOptions('options of rewriteStream', options, STREAM_OPTIONS)
  checkRewriteOptions(options)
  if (options.core !== undefined) engineOf(options.core)
  const { maxBatchBytes = DEFAULT_MAX_BATCH_BYTES } = options
  if (!Number.isSafeInteger(maxBatchBytes) || maxBatchBytes < LOG_OVERHEAD) {
    throw new InvalidArgumentError(
      `maxBatchBytes must be a whole number from 12 on; got ${String(maxBatchBytes)}`,
    )
  }
  let passage: Passage
  let settle: { resolve: (report: RewriteReport) => void; reject: (error: unknown) => void }
  const report = new Promise<RewriteReport>((resolve, reject) => {
    settle = { resolve, reject }
  })
  // the stream itself fails as well: nobody has to look at both
  report.catch(() => {})
  let passedBytes = 0
  const passOn =
    (controller: { enqueue(bytes: Uint8Array<ArrayBuffer>): void }) => (bytes: Uint8Array<ArrayBuffer>) => {
      controller.enqueue(bytes)
      passedBytes += bytes.length
    }
  const guarded = async (step: () => void | Promise<void>) => {
    try {
      await step()
    } catch (failure) {
      const error = tellPassed(failure, passedBytes)
      settle.reject(error)
      throw error
    }
  }
  const stream = new TransformStream<Uint8Array, Uint8Array<ArrayBuffer>>({
    start: () =>
      guarded(async () => {
        passage = new Passage(options.core ?? (await loadCore()), options, maxBatchBytes)
      }),
    transform: (chunk, controller) =>
      guarded(() => passage.take(bytesOf(chunk, 'chunk'), passOn(controller))),
    flush: (controller) =>
      guarded(() => {
        passage.end(passOn(controller))
        settle.resolve(passage.report)
      }),
  })
  return Object.assign(stream, { report })
}

type Emit = (bytes: Uint8Array<ArrayBuffer>) => void

/** What the bytes pass through: whole batches at once, the start of the next held back. */
class Passage {
  readonly #work: RewriteWork
  readonly #maxBatchBytes: number
  /** Null where nobody asks. */
  readonly #meeting: MeetingIds | null
  /** Of the first byte held back, or of the next to come. */
  #position = 0
  #held: Uint8Array[] = []
  #heldBytes = 0
  /** How many bytes tell more than those held back. */
  #wanted = 0
  /** Where a run of zeros began that is longer than any length field: a preallocated tail. */
  #zerosFrom: number | null = null

  constructor(core: Core, options: RewriteStreamOptions, maxBatchBytes: number) {
    const { direction } = checkRewriteOptions(options)
    this.#meeting = options.force ? null : new MeetingIds(mergingOf(direction))
    this.#work = new RewriteWork(core, options, null)
    this.#maxBatchBytes = maxBatchBytes
  }

  get report(): RewriteReport {
    return this.#work.counts
  }

  take(chunk: Uint8Array, emit: Emit): void {
    if (this.#zerosFrom !== null) {
      this.#passZeros(chunk, this.#zerosFrom, emit)
      return
    }
    this.#held.push(chunk)
    this.#heldBytes += chunk.length
    if (this.#heldBytes < this.#wanted) {
      this.#requireRoom()
      // kept beyond this call, so a copy: the caller may use the chunk's memory again
      this.#held[this.#held.length - 1] = chunk.slice()
      return
    }
    this.#rewrite(this.#join(), emit)
  }

  end(emit: Emit): void {
    const { counts } = this.#work
    if (this.#zerosFrom !== null) {
      counts.trailing = { kind: 'zeros', bytes: this.#position - this.#zerosFrom }
      return
    }
    const rest = this.#join()
    if (rest.length === 0) return
    counts.trailing = this.#work.wholeBatches(rest, this.#position).trailing ?? counts.trailing
    emit(rest)
  }

  /** What is held back, as bytes of our own. */
  #join(): Uint8Array<ArrayBuffer> {
    const joined = new Uint8Array(this.#heldBytes)
    let at = 0
    for (const piece of this.#held) {
      joined.set(piece, at)
      at += piece.length
    }
    this.#held = []
    this.#heldBytes = 0
    this.#wanted = 0
    return joined
  }

  #rewrite(bytes: Uint8Array<ArrayBuffer>, emit: Emit): void {
    this.#requireNoneMeet(bytes)
    const { validBytes, trailing } = this.#work.wholeBatches(bytes, this.#position)
    this.#work.counts.validBytes += validBytes
    this.#position += validBytes
    if (validBytes > 0) emit(bytes.subarray(0, validBytes))
    const rest = bytes.subarray(validBytes)
    if (trailing?.kind === 'zeros' && rest.length >= LOG_OVERHEAD) {
      this.#zerosFrom = this.#position
      this.#position += rest.length
      emit(rest)
    } else if (rest.length > 0) {
      this.#hold(rest)
    }
  }

  /** @throws ProducerIdsMeetError */
  #requireNoneMeet(bytes: Uint8Array): void {
    this.#meeting?.takeWhole(bytes)
    const met = this.#meeting?.met ?? null
    if (met === null) return
    // the stream says instead how much it had passed on
    const consequence = 'Nothing was changed; force: true goes on all the same.'
    throw new ProducerIdsMeetError(met, { file: null, consequence })
  }

  #hold(rest: Uint8Array): void {
    this.#held = [rest]
    this.#heldBytes = rest.length
    this.#wanted = LOG_OVERHEAD
    if (rest.length >= LOG_OVERHEAD) this.#wanted += viewOf(rest).getInt32(BATCH_LENGTH)
    this.#requireRoom()
  }

  /** By what is held, not by the claim: that cannot be told from a batch that the end of the stream cuts. */
  #requireRoom(): void {
    if (this.#heldBytes <= this.#maxBatchBytes) return
    const wanted = this.#wanted
    const baseOffset = baseOffsetAt(viewOf(this.#join()), 0)
    throw new BatchTooLargeError(this.#position, baseOffset, wanted, this.#maxBatchBytes)
  }

  #passZeros(chunk: Uint8Array, from: number, emit: Emit): void {
    if (chunk.some((byte) => byte !== 0)) {
      throw new CorruptBatchError({
        position: from,
        baseOffset: 0n,
        reason: 'size',
        stored: null,
        computed: null,
      })
    }
    this.#position += chunk.length
    emit(chunk.slice())
  }
}
