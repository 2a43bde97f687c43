import type { Core } from '../core/core.ts'
import { InvalidArgumentError } from '../errors.ts'
import { loadCoreSync } from '../wasm/load.ts'

/** How far a job is. In-place work passes over each file twice, and counts both. */
export interface JobProgress {
  /** The file at work. */
  file: string
  fileBytes: number
  fileSize: number
  /** Of the whole job. */
  bytes: number
  size: number
}

/** What all the functions on files take. */
export interface JobOptions {
  /** Default: the wasm core, loaded at the first call. */
  core?: Core
  /** Ends the job early: what is unfinished is removed, and the call rejects with the signal's reason. */
  signal?: AbortSignal
  onProgress?: (progress: JobProgress) => void
  /**
   * Bytes read at a time, from 61 to 64 MiB, default 1 MiB. A batch larger than this is streamed. The event loop has its
   * turn between windows.
   */
  windowSize?: number
}

const DEFAULT_WINDOW_SIZE = 1024 * 1024
const MAX_WINDOW_SIZE = 64 * 1024 * 1024
const MIN_WINDOW_SIZE = 61 // a header

/** The options with their defaults, and the progress so far. */
export class Job {
  readonly core: Core
  readonly signal: AbortSignal | undefined
  readonly windowSize: number
  readonly #onProgress: ((progress: JobProgress) => void) | undefined
  readonly #progress: JobProgress = { file: '', fileBytes: 0, fileSize: 0, bytes: 0, size: 0 }

  constructor(options: JobOptions) {
    this.core = options.core ?? loadCoreSync()
    this.signal = options.signal
    this.windowSize = checkWindowSize(options.windowSize ?? DEFAULT_WINDOW_SIZE)
    this.#onProgress = options.onProgress
  }

  /** So many bytes are to be passed over. */
  plan(size: number): void {
    this.#progress.size = size
  }

  /** A file's turn begins. Throws when the job was ended. */
  begin(file: string, size: number): void {
    this.signal?.throwIfAborted()
    this.#progress.file = file
    this.#progress.fileSize = size
    this.#progress.fileBytes = 0
    this.advance(0)
  }

  advance(bytes: number): void {
    this.#progress.fileBytes += bytes
    this.reach(this.#progress.bytes + bytes)
  }

  /** So much of the job is behind, whatever became of it. */
  reach(bytes: number): void {
    this.#progress.bytes = bytes
    this.#onProgress?.({ ...this.#progress })
  }
}

function checkWindowSize(size: number): number {
  if (Number.isInteger(size) && size >= MIN_WINDOW_SIZE && size <= MAX_WINDOW_SIZE) return size
  throw new InvalidArgumentError(
    `windowSize must be a whole number of bytes from ${MIN_WINDOW_SIZE} to ${MAX_WINDOW_SIZE}; got ${String(size)}`,
  )
}
