import { type Stats, writeSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { LogFileError } from '../errors.ts'
import { atFile, onFile } from './ioErrors.ts'

/** After so many bytes the disk starts on them while more are written, so that the sync at the end is short. */
const SYNC_EVERY = 32 * 1024 * 1024

/** A new file that is being written: to be finished, or abandoned. */
export class OutputFile {
  readonly path: string
  readonly #handle: FileHandle
  #unsynced = 0
  #syncing: Promise<void> | null = null
  #syncFailure: unknown = null

  private constructor(path: string, handle: FileHandle) {
    this.path = path
    this.#handle = handle
  }

  /** Creates the file, for its owner alone until it is finished. It must not be there. */
  static async create(path: string): Promise<OutputFile> {
    return new OutputFile(path, await onFile('create it', path, () => open(path, 'wx', 0o600)))
  }

  /** Writes all the bytes at a position, at once. */
  write(bytes: Uint8Array, position: number): void {
    atFile('write it', this.path, () => {
      this.#requireSynced()
      let written = 0
      while (written < bytes.length) {
        const left = bytes.length - written
        written += writeSync(this.#handle.fd, bytes, written, left, position + written)
      }
    })
    this.#unsynced += bytes.length
    if (this.#unsynced >= SYNC_EVERY && this.#syncing === null) this.#syncAhead()
  }

  #syncAhead(): void {
    this.#unsynced = 0
    this.#syncing = this.#handle
      .datasync()
      .catch((error) => {
        this.#syncFailure = error
      })
      .finally(() => {
        this.#syncing = null
      })
  }

  /** The system tells of bytes that it lost once, and the next sync succeeds: so no failure may be forgotten. */
  #requireSynced(): void {
    if (this.#syncFailure !== null) throw this.#syncFailure
  }

  /**
   * Gives the file its model's mode and times (a broker without timestamps goes by a segment's age), and its owner where
   * asked, makes it last, and closes it.
   */
  async finish(model: Stats, owner: 'mine' | 'kept'): Promise<void> {
    await onFile('finish it', this.path, async () => {
      if (owner === 'kept') await this.#keepOwner(model)
      await this.#handle.chmod(model.mode & 0o7777)
      await this.#handle.utimes(model.atimeMs / 1000, model.mtimeMs / 1000)
      await this.#syncing
      this.#requireSynced()
      await this.#handle.sync()
      await this.#requireSize(model.size)
      await this.#handle.close()
    })
  }

  /** A rewrite moves no byte, so anything else than the same size means a fault of the system or of ours. */
  async #requireSize(size: number): Promise<void> {
    const { size: written } = await this.#handle.stat()
    if (written === size) return
    throw new LogFileError(
      'IO_ERROR',
      `${this.path}: ${written} bytes were written instead of ${size}; the output was dropped, the original is as it was`,
      this.path,
    )
  }

  async #keepOwner(model: Stats): Promise<void> {
    const { uid, gid } = await this.#handle.stat()
    // fails where it is not permitted: a broker that cannot open the file is worse
    if (uid !== model.uid || gid !== model.gid) await this.#handle.chown(model.uid, model.gid)
  }

  /** Closes the file as it is; an error here would only hide the one that led here. */
  async abandon(): Promise<void> {
    await this.#syncing
    await this.#handle.close().catch(() => {})
  }
}
