import { MirrorPidError } from '../errors.ts'
import type { JobProgress } from '../node/index.ts'
import { interruptible } from './interrupts.ts'
import { startProgress } from './progress.ts'

/** What a job on files is given, besides its own options. */
export interface JobHooks {
  signal: AbortSignal
  onProgress: (progress: JobProgress) => void
}

/**
 * Runs a job with bars on the terminal until it ends or a signal does so. With `json` an error that ends all of it is a
 * result too.
 *
 * @param failed makes that result
 */
export async function runJob<T>(
  { json, quiet }: { json?: true; quiet?: true },
  job: (hooks: JobHooks) => Promise<T>,
  failed: (error: MirrorPidError) => T,
): Promise<T> {
  const bars = await startProgress(!json && !quiet)
  try {
    return await interruptible((signal) => job({ signal, onProgress: bars.show }))
  } catch (error) {
    if (!json || !MirrorPidError.is(error)) throw error
    return failed(error)
  } finally {
    bars.stop()
  }
}
