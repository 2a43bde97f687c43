import { type FileHandle, open } from 'node:fs/promises'
import type { Core, RecordBuffer } from '../../core/core.ts'
import { CHANGE_SIZE } from '../../log/headerChanges.ts'
import {
  BLOCK_HEADER_SIZE,
  decodeJournalHeader,
  JOURNAL_HEADER_SIZE,
  type JournalHeader,
  MAX_BLOCK_CHANGES,
} from '../../log/journalFormat.ts'
import { atFile, onFile } from '../files/ioErrors.ts'
import { readFully } from '../files/wholeTransfers.ts'
import { invalidJournal } from './journalErrors.ts'

/** Some of a journal's changes. */
export class JournalBlock {
  /** Bytes. */
  readonly byteLength: number
  readonly #region: RecordBuffer
  #view: DataView

  constructor(region: RecordBuffer, byteLength: number) {
    this.byteLength = byteLength
    this.#region = region
    this.#view = this.#viewNow()
  }

  /** To be taken anew after each await: another part of the job may allocate meanwhile, and the core's memory move. */
  get view(): DataView {
    if (this.#view.buffer !== this.#region.bytes.buffer) this.#view = this.#viewNow()
    return this.#view
  }

  #viewNow(): DataView {
    const { buffer, byteOffset } = this.#region.bytes
    return new DataView(buffer, byteOffset, this.byteLength)
  }
}

/** A journal that is read block by block; each read checks what it reads. */
export class JournalReader {
  readonly path: string
  readonly header: JournalHeader
  readonly #handle: FileHandle
  readonly #size: number
  readonly #core: Core

  private constructor(path: string, handle: FileHandle, size: number, header: JournalHeader, core: Core) {
    this.path = path
    this.header = header
    this.#handle = handle
    this.#size = size
    this.#core = core
  }

  /**
   * Opens a journal, uses it, and closes it whatever happens.
   * @throws LogFileError INVALID_JOURNAL, IO_ERROR
   */
  static async use<T>(path: string, core: Core, use: (journal: JournalReader) => Promise<T>): Promise<T> {
    const handle = await onFile('open it', path, () => open(path, 'r'))
    try {
      const { size } = await onFile('read it', path, () => handle.stat())
      const bytes = new Uint8Array(JOURNAL_HEADER_SIZE)
      const read = await onFile('read it', path, () => handle.read(bytes, 0, bytes.length, 0))
      const header = decodeJournalHeader(bytes.subarray(0, read.bytesRead), core)
      if (typeof header === 'string') throw invalidJournal(path, header)
      return await use(new JournalReader(path, handle, size, header, core))
    } finally {
      await handle.close().catch(() => {})
    }
  }

  /**
   * The changes, block by block; each block holds until the next is asked for.
   * @throws LogFileError INVALID_JOURNAL where a block is torn or damaged, and at the end where one is missing
   */
  *blocks(): Generator<JournalBlock> {
    // in the core's memory, which is used again, while the heap would fill up from segment to segment
    const region = this.#core.allocate(MAX_BLOCK_CHANGES * CHANGE_SIZE)
    try {
      yield* this.#blocksIn(region)
    } finally {
      region.free()
    }
  }

  *#blocksIn(region: RecordBuffer): Generator<JournalBlock> {
    const head = new DataView(new ArrayBuffer(BLOCK_HEADER_SIZE))
    let changes = 0
    for (let at = JOURNAL_HEADER_SIZE; at < this.#size; ) {
      if (!this.#read(new Uint8Array(head.buffer), at)) throw this.#torn(at)
      const count = head.getUint32(0)
      if (count === 0 || count > MAX_BLOCK_CHANGES) throw this.#torn(at)
      const block = region.bytes.subarray(0, count * CHANGE_SIZE)
      if (!this.#read(block, at + BLOCK_HEADER_SIZE)) throw this.#torn(at)
      if (this.#core.crc32c(block) !== head.getUint32(4)) throw this.#torn(at)
      yield new JournalBlock(region, block.length)
      changes += count
      at += BLOCK_HEADER_SIZE + count * CHANGE_SIZE
    }
    if (changes === this.header.changes) return
    throw invalidJournal(this.path, `it holds ${changes} changes instead of ${this.header.changes}`)
  }

  #read(room: Uint8Array, position: number): boolean {
    return atFile('read it', this.path, () => readFully(this.#handle.fd, room, position)) === room.length
  }

  #torn(position: number): Error {
    return invalidJournal(this.path, `it is torn or damaged at byte ${position}`)
  }
}
