import type { Core } from '../core/core.ts'
import { type CrcEngine, engineOf } from '../core/crcEngine.ts'
import { ATTRIBUTES, CRC, CURRENT_MAGIC, HEADER_SIZE, LEGACY_CRC, MAGIC } from '../core/layout.ts'
import { RecordSetCursor } from '../core/recordSetCursor.ts'
import { type CorruptBatchFacts, MirrorPidError } from '../errors.ts'

/** A cursor on a batch of which only the first bytes, at least its header, are at hand. */
export function cursorAtHeader(header: Uint8Array, size: number): RecordSetCursor {
  const cursor = new RecordSetCursor(header)
  cursor.size = size
  cursor.magic = cursor.view.getInt8(MAGIC)
  return cursor
}

/** The CRC that the framed batch holds. */
export function storedCrc(cursor: RecordSetCursor): number {
  return cursor.view.getUint32(cursor.position + (cursor.magic === CURRENT_MAGIC ? CRC : LEGACY_CRC))
}

/** The CRC of a batch whose bytes come in pieces, by the rule of its magic. */
export class BatchCrc {
  /** What the batch holds. */
  readonly stored: number
  readonly #engine: CrcEngine
  readonly #isLegacy: boolean
  #uncovered: number
  #crc = 0

  constructor(engine: CrcEngine, cursor: RecordSetCursor) {
    this.#engine = engine
    this.#isLegacy = cursor.magic !== CURRENT_MAGIC
    this.#uncovered = this.#isLegacy ? MAGIC : ATTRIBUTES
    this.stored = storedCrc(cursor)
  }

  /** Takes the next bytes of the batch; the first come with its header. */
  update(piece: Uint8Array): void {
    const start = this.#uncovered
    this.#uncovered = 0
    this.#crc = this.#isLegacy
      ? this.#engine.crc32(piece, start, piece.length, this.#crc)
      : this.#engine.crc32c(piece, start, piece.length, this.#crc)
  }

  /** The CRC of what came so far. */
  get computed(): number {
    return this.#crc
  }
}

/** Up to this size batches are put together in the same memory, one after another: less becomes garbage. */
const GATHERING_ROOM = 4 * 1024 * 1024

/** Puts a batch together from its pieces, one batch after another. */
export class BatchGatherer {
  #room: Uint8Array | null = null
  /** The batch at work; null for none. */
  #bytes: Uint8Array | null = null
  #length = 0

  /**
   * @param size is held to a limit by the caller
   * @throws MirrorPidError OUT_OF_MEMORY
   */
  begin(size: number): void {
    this.#length = 0
    if (size <= GATHERING_ROOM) {
      this.#room ??= allocate(GATHERING_ROOM)
      this.#bytes = this.#room.subarray(0, size)
    } else {
      this.#bytes = allocate(size)
    }
  }

  /** The next bytes of the batch at work, where there is one. */
  update(piece: Uint8Array): void {
    this.#bytes?.set(piece, this.#length)
    this.#length += piece.length
  }

  /** The batch, until the next one begins; null where none was at work. */
  end(): Uint8Array | null {
    const bytes = this.#bytes
    this.#bytes = null
    return bytes
  }
}

function allocate(size: number): Uint8Array {
  try {
    return new Uint8Array(size)
  } catch (cause) {
    throw new MirrorPidError('OUT_OF_MEMORY', `no memory for a batch of ${size} bytes`, { cause })
  }
}

/** A batch that is checked while it passes in pieces. */
export class PassingBatch {
  /** On its header alone. */
  readonly cursor: RecordSetCursor
  readonly position: number
  readonly #crc: BatchCrc

  /** @param header the batch's first bytes, its header at least; they come again as a piece */
  constructor(core: Core, header: Uint8Array, position: number, size: number) {
    // windows are used again, so what is asked of the header at the end is kept
    this.cursor = cursorAtHeader(header.slice(0, HEADER_SIZE), size)
    this.position = position
    this.#crc = new BatchCrc(engineOf(core), this.cursor)
  }

  update(piece: Uint8Array): void {
    this.#crc.update(piece)
  }

  /** What is wrong with its CRC, once it has passed; null for nothing. */
  get fault(): CorruptBatchFacts | null {
    const { stored, computed } = this.#crc
    if (stored === computed) return null
    const { position, cursor } = this
    return { position, baseOffset: cursor.baseOffset, reason: 'crc', stored, computed }
  }
}
