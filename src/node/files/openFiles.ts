import { closeSync, openSync } from 'node:fs'
import { atFile } from './ioErrors.ts'

/** However many segments a partition has, few of its files are open: those that were used last. */
const MAX_OPEN = 64

/** Descriptors of files, opened when they are needed. */
export class OpenFiles {
  readonly #flags: 'r' | 'r+'
  /** In the order of their last use. */
  readonly #descriptors = new Map<string, number>()

  constructor(flags: 'r' | 'r+') {
    this.#flags = flags
  }

  descriptor(path: string): number {
    let descriptor = this.#descriptors.get(path)
    if (descriptor === undefined) {
      const [oldest] = this.#descriptors.keys()
      if (oldest !== undefined && this.#descriptors.size >= MAX_OPEN) this.close(oldest)
      descriptor = atFile('open it', path, () => openSync(path, this.#flags))
    } else {
      this.#descriptors.delete(path)
    }
    this.#descriptors.set(path, descriptor)
    return descriptor
  }

  close(path: string): void {
    const descriptor = this.#descriptors.get(path)
    if (descriptor === undefined) return
    this.#descriptors.delete(path)
    atFile('close it', path, () => closeSync(descriptor))
  }

  closeAll(): void {
    for (const path of [...this.#descriptors.keys()]) this.close(path)
  }
}
