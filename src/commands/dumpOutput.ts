import type { DumpSink } from '../dump/dumpSession.ts'

/** stdout takes no more. */
export class OutputFailed extends Error {
  /** Whether whoever reads it has gone away. */
  readonly isReaderGone: boolean

  constructor(cause: NodeJS.ErrnoException) {
    super(`cannot write the output: ${cause.message}`, { cause })
    this.isReaderGone = cause.code === 'EPIPE' || cause.code === 'ERR_STREAM_DESTROYED'
  }
}

/** Writes to stdout, and waits for slow readers. */
export class StdoutSink implements DumpSink {
  write(chunk: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      process.stdout.write(chunk, (error) => {
        if (error) reject(new OutputFailed(error))
        else resolve()
      })
    })
  }
}
