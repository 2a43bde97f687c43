import { decodeCheckpointFile, parseInt64 } from './checkpointFile.ts'
import { CorruptCheckpointError } from './logErrors.ts'
import type { LogStorage } from './storage.ts'

/** In a partition's own directory, where brokers leave a file of this name alone: they keep one beside the partitions. */
export const LOG_START_FILE = 'log-start-offset-checkpoint'

/**
 * The log start offset as a log has noted it: a file as Kafka's CheckpointFile writes them, with a version, a count, and the
 * offset alone. It is there once the log start was moved.
 */
export class LogStartFile {
  readonly #storage: LogStorage
  #offset: bigint | null

  /** @throws CorruptCheckpointError: a log start that cannot be read is never "none" */
  constructor(storage: LogStorage, file = LOG_START_FILE) {
    this.#storage = storage
    const bytes = storage.read(LOG_START_FILE)
    this.#offset = bytes === null ? null : decode(bytes, file)
  }

  /** Null where none was noted. */
  get offset(): bigint | null {
    return this.#offset
  }

  /** Returns whether that has changed anything. */
  note(offset: bigint): boolean {
    if (offset === this.#offset) return false
    this.#storage.write(LOG_START_FILE, new TextEncoder().encode(`0\n1\n${offset}\n`))
    this.#offset = offset
    return true
  }
}

function decode(content: Uint8Array, file: string): bigint {
  const offsets = decodeCheckpointFile(content, file, '<offset>', ([field]) => {
    const offset = parseInt64(field!)
    return offset === null || offset < 0n ? null : offset
  })
  const [offset] = offsets
  if (offset !== undefined && offsets.length === 1) return offset
  throw new CorruptCheckpointError(file, `it has ${offsets.length} entries, expected 1`, 2)
}
