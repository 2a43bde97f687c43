import type { Stats } from 'node:fs'
import { open } from 'node:fs/promises'
import { LogFileError } from '../../errors.ts'
import { setFileTimes } from './fileTimes.ts'
import { onFile } from './ioErrors.ts'
import { giveLike } from './ownership.ts'
import { SyncedFile } from './syncedFile.ts'

/** A new file that is being written: to be finished, or abandoned. */
export class OutputFile extends SyncedFile {
  /** Creates the file, for its owner alone until it is finished. It must not be there. */
  static async create(path: string): Promise<OutputFile> {
    return new OutputFile(path, await onFile('create it', path, () => open(path, 'wx', 0o600)))
  }

  /**
   * Gives the file its model's mode and times, and its owner where asked and permitted, makes it last, and closes it.
   */
  async finish(model: Stats, owner: 'mine' | 'kept'): Promise<void> {
    await onFile('finish it', this.path, async () => {
      if (owner === 'kept') giveLike(model, this.handle.fd, this.path)
      else await this.handle.chmod(model.mode & 0o7777)
      await setFileTimes(this.handle, model)
      await this.sync()
      await this.#requireSize(model.size)
      await this.handle.close()
    })
  }

  /** A rewrite moves no byte, so anything else than the same size means a fault of the system or of ours. */
  async #requireSize(size: number): Promise<void> {
    const { size: written } = await this.handle.stat()
    if (written === size) return
    throw new LogFileError(
      'IO_ERROR',
      `${this.path}: ${written} bytes were written instead of ${size}; the output was dropped, the original is as it was`,
      this.path,
    )
  }
}
