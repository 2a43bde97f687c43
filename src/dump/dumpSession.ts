import type { Core } from '../core/core.ts'
import type { DumpFormat } from './dumpFormat.ts'
import type { DumpOptions } from './dumpOptions.ts'

/** Where the text goes. */
export interface DumpSink {
  /** Settles when the memory may be used again. */
  write(chunk: Uint8Array): Promise<void>
}

const FLUSH_AT = 128 * 1024
/** A buffer that one large value has made larger than this is not kept. */
const LARGEST_KEPT = 1024 * 1024

/** What the dumps of all files have in common. Text is handed on in large pieces, one of them while the next is made. */
export class DumpSession {
  readonly core: Core
  readonly format: DumpFormat
  readonly options: DumpOptions
  readonly signal: AbortSignal | undefined
  /** Whether it was said already what stock brokers make of mapped ids. */
  hasNotedMapped = false
  readonly #sink: DumpSink
  #spare = new Uint8Array(FLUSH_AT * 2)
  #writing: Promise<void> = Promise.resolve()

  constructor(core: Core, format: DumpFormat, options: DumpOptions, sink: DumpSink, signal?: AbortSignal) {
    this.core = core
    this.format = format
    this.options = options
    this.signal = signal
    this.#sink = sink
  }

  /** Whether it is time to await `flush`. */
  get isFull(): boolean {
    return this.format.out.length >= FLUSH_AT
  }

  /** Hands the text on. Rejects when the one before could not be written. */
  async flush(): Promise<void> {
    await this.#writing
    const { out } = this.format
    const { length } = out
    if (length === 0) return
    const bytes = out.swap(this.#spare)
    this.#writing = this.#sink.write(bytes.subarray(0, length))
    // awaited by the next flush
    this.#writing.catch(() => {})
    this.#spare = bytes.length > LARGEST_KEPT ? new Uint8Array(FLUSH_AT * 2) : bytes
  }

  /** Hands on all the text and waits until it is written. */
  async drain(): Promise<void> {
    await this.flush()
    await this.#writing
  }
}
