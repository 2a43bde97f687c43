import { MirrorPidError } from '../errors.ts'
import { writeNote } from './output.ts'

/** What an interrupted job leaves on disk. */
export interface Left {
  /** And how to go on, as the end of a sentence. */
  text: string
  /** Segments that are half rewritten, whose journals are there. */
  unfinished?: readonly string[]
}

/** The job was ended by a signal. */
export class Interrupted extends MirrorPidError {
  readonly signal: NodeJS.Signals
  readonly unfinished: readonly string[]

  constructor(signal: NodeJS.Signals, { text, unfinished = [] }: Left) {
    super('INTERRUPTED', `interrupted by ${signal}: ${text}`)
    this.signal = signal
    this.unfinished = unfinished
  }
}

/**
 * Of work that changes a partition and never pauses, so that a signal ends the process at once and nothing can be said any more:
 * said before, to who may press Ctrl-C.
 */
export function forewarn(directory: string, { json, quiet }: { json?: true; quiet?: true }): void {
  if (json || quiet || !process.stderr.isTTY) return
  writeNote(
    `should this be interrupted, run it again before a broker starts on ${directory}: it does the rest`,
  )
}

const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP']

/**
 * Runs a job that a signal ends early, so that it can remove what is unfinished; the call rejects with Interrupted. A
 * second signal ends the process at once.
 *
 * @param left looks at what is on disk then
 */
export async function interruptible<T>(
  run: (signal: AbortSignal) => Promise<T>,
  left: () => Promise<Left>,
): Promise<T> {
  const controller = new AbortController()
  let received: NodeJS.Signals | null = null
  const stopListening = () => {
    for (const signal of SIGNALS) process.off(signal, onSignal)
  }
  const onSignal = (signal: NodeJS.Signals) => {
    stopListening()
    received = signal
    // no error of ours, which would be one part's
    controller.abort(new Error(`interrupted by ${signal}`))
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  try {
    return await run(controller.signal)
  } catch (error) {
    if (received === null || error !== controller.signal.reason) throw error
    throw new Interrupted(received, await left())
  } finally {
    stopListening()
  }
}
