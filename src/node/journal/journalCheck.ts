import { setImmediate } from 'node:timers/promises'
import { engineOf } from '../../core/crcEngine.ts'
import {
  BATCH_LENGTH,
  CURRENT_MAGIC,
  HEADER_SIZE,
  HEADER_SIZE_UP_TO_MAGIC,
  LOG_OVERHEAD,
  MAGIC,
  MIN_BATCH_LENGTH,
  MIN_BATCH_LENGTH_V2,
  PRODUCER_EPOCH,
} from '../../core/layout.ts'
import { CHANGE_SIZE } from '../../log/headerChanges.ts'
import { HeaderChange } from '../../log/headerPatch.ts'
import type { JournalHeader } from '../../log/journalFormat.ts'
import { atFile } from '../files/ioErrors.ts'
import { requireNoLink, type SourceFile, withSource } from '../files/sourceFile.ts'
import { readFully } from '../files/wholeTransfers.ts'
import type { Job } from '../jobs/job.ts'
import { invalidJournal } from './journalErrors.ts'
import { JournalReader } from './journalReader.ts'

const ROOM = 64 * 1024

export interface CheckedJournal {
  header: JournalHeader
  grownBy: number
  isDone: boolean
}

/**
 * Checks a journal that an interrupted run left, against its segment: each change must be that of a batch which stands
 * there with its old bytes, its new ones or a cut through both, and make a right CRC of a right one. Other files have the
 * same size or the same name; none passes this.
 * A segment may have grown since, by a broker that was started on it: what is behind is not the journal's.
 *
 * @returns how the interrupted run went about it, by how many bytes the segment has grown, and whether all that the journal
 *   says is done
 * @throws LogFileError INVALID_JOURNAL, IO_ERROR
 */
export async function checkJournal(segment: string, journal: string, job: Job): Promise<CheckedJournal> {
  await requireNoLink(segment)
  return withSource(segment, (source) =>
    JournalReader.use(journal, job.core, async (reader) => {
      const { header } = reader
      if (source.size < header.segmentSize) {
        throw invalidJournal(journal, `its segment had ${header.segmentSize} bytes and has ${source.size}`)
      }
      const batches = new Batches(source, header.segmentSize)
      const change = new HeaderChange()
      let isDone = true
      for (const block of reader.blocks()) {
        await setImmediate()
        job.signal?.throwIfAborted()
        const { view } = block
        for (let at = 0; at < view.byteLength; at += CHANGE_SIZE) {
          change.read(view, at)
          if (!isOfBatch(change, batches, header, job)) {
            throw invalidJournal(journal, `it is not of this segment: see byte ${change.position}`)
          }
          if (isDone) isDone = change.stateOf(batches.header, 0) === 'new'
        }
      }
      return { header, grownBy: source.size - header.segmentSize, isDone }
    }),
  )
}

function isOfBatch(
  change: HeaderChange,
  batches: Batches,
  { crc, direction }: JournalHeader,
  job: Job,
): boolean {
  const { oldHigh, oldLow, newHigh, newLow } = change
  if (oldHigh >= 0 !== (direction === 'map')) return false
  const size = batches.sizeAt(change.position)
  if (size === null || change.stateOf(batches.header, 0) === null) return false
  if (crc === 'recompute') return true
  const tail = size - PRODUCER_EPOCH
  const { patchCrc } = engineOf(job.core)
  return patchCrc(change.oldCrc, oldHigh ^ newHigh, oldLow ^ newLow, tail) === change.newCrc
}

/** The batches of a segment from its start, by their headers alone, which a cut through ids and CRCs leaves readable. */
class Batches {
  readonly #source: SourceFile
  readonly #end: number
  readonly #room = new Uint8Array(ROOM)
  #roomAt = 0
  #roomEnd = 0
  #position = 0
  #asked = -1

  constructor(source: SourceFile, end: number) {
    this.#source = source
    this.#end = end
  }

  /** Size of the batch of magic 2 at a position; null where none begins, or where it was asked for already. */
  sizeAt(position: number): number | null {
    if (position <= this.#asked) return null
    this.#asked = position
    while (this.#position < position) {
      const size = this.#frame()
      if (size === null) return null
      this.#position += size
    }
    if (this.#position > position) return null
    const size = this.#frame()
    return size !== null &&
      this.header.byteLength === HEADER_SIZE &&
      this.header.getInt8(MAGIC) === CURRENT_MAGIC
      ? size
      : null
  }

  /** The header of the batch that was asked for last. */
  get header(): DataView {
    const at = this.#position - this.#roomAt
    return new DataView(
      this.#room.buffer,
      at,
      Math.max(0, Math.min(HEADER_SIZE, this.#roomEnd - this.#position)),
    )
  }

  #frame(): number | null {
    if (this.#position + HEADER_SIZE > this.#roomEnd) this.#fill()
    const { header } = this
    if (header.byteLength < HEADER_SIZE_UP_TO_MAGIC) return null
    const batchLength = header.getInt32(BATCH_LENGTH)
    const magic = header.getInt8(MAGIC)
    if (magic < 0 || magic > CURRENT_MAGIC) return null
    if (batchLength < (magic === CURRENT_MAGIC ? MIN_BATCH_LENGTH_V2 : MIN_BATCH_LENGTH)) return null
    const size = LOG_OVERHEAD + batchLength
    return this.#position + size <= this.#end ? size : null
  }

  #fill(): void {
    const { path, handle } = this.#source
    this.#roomAt = this.#position
    this.#roomEnd =
      this.#roomAt + atFile('read it', path, () => readFully(handle.fd, this.#room, this.#roomAt))
  }
}
