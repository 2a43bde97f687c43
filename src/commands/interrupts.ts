/** The job was ended by a signal. */
export class Interrupted extends Error {
  readonly signal: NodeJS.Signals

  constructor(signal: NodeJS.Signals) {
    super(
      `interrupted by ${signal}: unfinished output was removed, what was finished stays; run it again for the rest`,
    )
    this.signal = signal
  }
}

const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP']

/**
 * Runs a job that a signal ends early, so that it can remove what is unfinished; the call rejects with Interrupted. A
 * second signal ends the process at once.
 */
export async function interruptible<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const stopListening = () => {
    for (const signal of SIGNALS) process.off(signal, onSignal)
  }
  const onSignal = (signal: NodeJS.Signals) => {
    stopListening()
    controller.abort(new Interrupted(signal))
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  try {
    return await run(controller.signal)
  } finally {
    stopListening()
  }
}
