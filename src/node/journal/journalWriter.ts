import { constants } from 'node:fs'
import { access, open } from 'node:fs/promises'
import type { Core } from '../../core/core.ts'
import { CHANGE_SIZE, type HeaderChanges } from '../../log/headerChanges.ts'
import {
  BLOCK_HEADER_SIZE,
  encodeBlockHeader,
  encodeJournalHeader,
  JOURNAL_HEADER_SIZE,
  type JournalMode,
  MAX_BLOCK_CHANGES,
} from '../../log/journalFormat.ts'
import { onFile } from '../files/ioErrors.ts'
import { giveLike } from '../files/ownership.ts'
import type { SourceFile } from '../files/sourceFile.ts'
import { SyncedFile } from '../files/syncedFile.ts'

const MAX_BLOCK = MAX_BLOCK_CHANGES * CHANGE_SIZE

/** A journal that is being written, under a temporary name: it counts once it is renamed. */
export class JournalWriter extends SyncedFile {
  readonly #core: Core
  #end = JOURNAL_HEADER_SIZE
  #changes = 0

  private constructor(path: string, handle: SyncedFile['handle'], core: Core) {
    super(path, handle)
    this.#core = core
  }

  /** @throws LogFileError IO_ERROR, also where the segment could not be written to later */
  static async create(path: string, segment: string, core: Core): Promise<JournalWriter> {
    await onFile('write it', segment, () => access(segment, constants.W_OK))
    return new JournalWriter(path, await onFile('create it', path, () => open(path, 'wx', 0o600)), core)
  }

  take(changes: HeaderChanges): void {
    const bytes = changes.take()
    for (let at = 0; at < bytes.length; at += MAX_BLOCK) {
      const block = bytes.subarray(at, at + MAX_BLOCK)
      this.write(encodeBlockHeader(block, this.#core), this.#end)
      this.write(block, this.#end + BLOCK_HEADER_SIZE)
      this.#end += BLOCK_HEADER_SIZE + block.length
      this.#changes += block.length / CHANGE_SIZE
    }
  }

  /** Makes it last and closes it. */
  async finish({ stats, size }: SourceFile, mode: JournalMode): Promise<void> {
    const { atimeMs, mtimeMs } = stats
    const header = { ...mode, segmentSize: size, atimeMs, mtimeMs, changes: this.#changes }
    this.write(encodeJournalHeader(header, this.#core), 0)
    await onFile('finish it', this.path, async () => {
      // whoever may change the segment may finish this run
      giveLike(stats, this.handle.fd, this.path)
      await this.sync()
      await this.handle.close()
    })
  }
}
