import { type FileHandle, open } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import type { RecordBuffer } from '../../core/core.ts'
import { CRC, HEADER_SIZE, PRODUCER_EPOCH } from '../../core/layout.ts'
import { CHANGE_SIZE } from '../../log/headerChanges.ts'
import { HeaderChange } from '../../log/headerPatch.ts'
import type { JournalHeader } from '../../log/journalFormat.ts'
import { setFileTimes } from '../files/fileTimes.ts'
import { onFile } from '../files/ioErrors.ts'
import { changedMeanwhile, readWhole, requireNoLink } from '../files/sourceFile.ts'
import { SyncedFile } from '../files/syncedFile.ts'
import type { FileProgress, Job } from '../jobs/job.ts'
import { invalidJournal } from './journalErrors.ts'
import { type JournalBlock, JournalReader } from './journalReader.ts'

/**
 * Headers nearer to each other than this are written in one go with what lies between, unchanged: a write of its own
 * for each was measured to take longer, the system's part as well as the disk's.
 */
const NEAR = 32 * 1024
const MAX_SPAN = 256 * 1024

/**
 * Does what a journal says, and makes it last: a second time it changes nothing. Once begun it goes on to its end, as
 * the file is neither old nor new in between.
 * @throws LogFileError INVALID_JOURNAL, IO_ERROR
 */
export async function applyJournal(segment: string, journal: string, job: Job): Promise<{ seconds: number }> {
  const began = performance.now()
  await requireNoLink(segment)
  await JournalReader.use(journal, job.core, async (reader) => {
    const room = job.core.allocate(MAX_SPAN)
    try {
      const file = await PatchedFile.open(segment, reader.header, journal, room)
      const progress = job.track(segment, reader.header.segmentSize)
      try {
        for (const block of reader.blocks()) await file.patchAll(block, progress)
        await file.finish()
      } catch (error) {
        await file.abandon()
        throw error
      }
      progress.end()
    } finally {
      room.free()
    }
  })
  return { seconds: (performance.now() - began) / 1000 }
}

class PatchedFile extends SyncedFile {
  readonly #header: JournalHeader
  readonly #journal: string
  readonly #room: RecordBuffer
  readonly #first = new HeaderChange()
  readonly #change = new HeaderChange()
  #reached = 0
  #times: Pick<JournalHeader, 'atimeMs' | 'mtimeMs'>

  private constructor(
    path: string,
    handle: FileHandle,
    header: JournalHeader,
    journal: string,
    room: RecordBuffer,
  ) {
    super(path, handle)
    this.#room = room
    this.#header = header
    this.#times = header
    this.#journal = journal
  }

  static async open(
    path: string,
    header: JournalHeader,
    journal: string,
    room: RecordBuffer,
  ): Promise<PatchedFile> {
    const handle = await onFile('write it', path, () => open(path, 'r+'))
    const file = new PatchedFile(path, handle, header, journal, room)
    try {
      const { size, atimeMs, mtimeMs } = await onFile('read it', path, () => handle.stat())
      if (size < header.segmentSize) {
        throw invalidJournal(journal, `its segment had ${header.segmentSize} bytes and has ${size}`)
      }
      // what a broker has added since is younger than the journal
      if (size > header.segmentSize) file.#times = { atimeMs, mtimeMs }
      return file
    } catch (error) {
      await file.abandon()
      throw error
    }
  }

  async patchAll(block: JournalBlock, progress: FileProgress): Promise<void> {
    for (let at = 0; at < block.byteLength; ) {
      const { view } = block
      const next = this.#spanEnd(view, at)
      this.#patchSpan(view, at, next)
      at = next
      if (progress.reach(this.#reached)) await setImmediate()
    }
  }

  /** Where in the block the changes end that are written in one go with the one at `at`. */
  #spanEnd(block: DataView, at: number): number {
    const [first, change] = [this.#first, this.#change]
    first.read(block, at)
    if (first.position < this.#reached || first.position + HEADER_SIZE > this.#header.segmentSize) {
      throw invalidJournal(this.#journal, `it names byte ${first.position}, where no batch can be`)
    }
    let end = first.position + HEADER_SIZE
    for (at += CHANGE_SIZE; at < block.byteLength; at += CHANGE_SIZE) {
      change.read(block, at)
      const { position } = change
      // what is out of place here is refused as the first of a span
      if (position < end || position > end + NEAR || position + HEADER_SIZE > this.#header.segmentSize) break
      if (position + PRODUCER_EPOCH - first.position > MAX_SPAN) break
      end = position + HEADER_SIZE
    }
    this.#reached = end
    return at
  }

  /** Reads from the first CRC to the last producer id, changes the headers, and writes it where anything changed. */
  #patchSpan(block: DataView, from: number, to: number): void {
    const change = this.#change
    const start = this.#first.position + CRC
    const span = this.#room.bytes.subarray(0, this.#reached - HEADER_SIZE + PRODUCER_EPOCH - start)
    readWhole({ path: this.path, handle: this.handle }, span, start)
    const view = new DataView(span.buffer, span.byteOffset, span.length)
    let isChanged = false
    for (let at = from; at < to; at += CHANGE_SIZE) {
      change.read(block, at)
      const state = change.stateOf(view, change.position - start)
      if (state === null) throw changedMeanwhile(this.path)
      if (state === 'new') continue
      change.write(view, change.position - start)
      isChanged = true
    }
    if (isChanged) this.write(span, start)
  }

  /** The times are those from before. */
  async finish(): Promise<void> {
    const { atimeMs, mtimeMs } = this.#times
    await onFile('finish it', this.path, async () => {
      await setFileTimes(this.handle, { atimeMs, mtimeMs })
      await this.sync()
      await this.handle.close()
    })
  }
}
