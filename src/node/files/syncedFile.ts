import type { FileHandle } from 'node:fs/promises'
import { atFile } from './ioErrors.ts'
import { writeFully } from './wholeTransfers.ts'

/** After so many bytes the disk starts on them while more are written, so that the sync at the end is short. */
const SYNC_EVERY = 32 * 1024 * 1024

/** A file that is written at once and made to last by the way. */
export class SyncedFile {
  readonly path: string
  protected readonly handle: FileHandle
  #unsynced = 0
  #syncing: Promise<void> | null = null
  #syncFailure: unknown = null

  constructor(path: string, handle: FileHandle) {
    this.path = path
    this.handle = handle
  }

  /** Writes all the bytes at a position, at once. */
  write(bytes: Uint8Array, position: number): void {
    atFile('write it', this.path, () => {
      this.#requireSynced()
      writeFully(this.handle.fd, bytes, position)
    })
    this.#unsynced += bytes.length
    if (this.#unsynced >= SYNC_EVERY && this.#syncing === null) this.#syncAhead()
  }

  #syncAhead(): void {
    this.#unsynced = 0
    this.#syncing = this.handle
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

  /** Makes all that was written last. Fails with errors of the system. */
  protected async sync(): Promise<void> {
    await this.#syncing
    this.#requireSynced()
    await this.handle.sync()
  }

  /** Closes the file as it is; an error here would only hide the one that led here. */
  async abandon(): Promise<void> {
    await this.#syncing
    await this.handle.close().catch(() => {})
  }
}
