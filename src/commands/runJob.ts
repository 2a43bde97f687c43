import type { Core } from '../core/core.ts'
import { MirrorPidError } from '../errors.ts'
import type { JobProgress } from '../node/index.ts'
import { commandCore } from './commandCore.ts'
import { Interrupted, interruptible, type Left } from './interrupts.ts'
import { writeJson } from './output.ts'
import { startProgress } from './progress.ts'

/** What a job on files is given, besides its own options. */
export interface JobHooks {
  signal: AbortSignal
  onProgress: (progress: JobProgress) => void
  /** Where the default is not to be had. It belongs to one thread. */
  core?: Core
}

const nothingChanged = async (): Promise<Left> => ({ text: 'nothing was changed' })

/**
 * Runs a job with bars on the terminal until it ends or a signal does so. With `json` an error that ends all of it is a
 * result too.
 *
 * @param failed makes that result
 * @param left tells what a signal leaves on disk; default nothing, as of a job that only reads
 */
export async function runJob<T extends object>(
  { json, quiet }: { json?: true; quiet?: true },
  job: (hooks: JobHooks) => Promise<T>,
  failed: (error: MirrorPidError) => T,
  left: () => Promise<Left> = nothingChanged,
): Promise<T> {
  const core = commandCore()
  const bars = await startProgress(!json && !quiet)
  try {
    return await interruptible((signal) => job({ signal, onProgress: bars.show, ...core }), left)
  } catch (error) {
    if (!json || !MirrorPidError.is(error)) throw error
    const result = failed(error)
    if (!(error instanceof Interrupted)) return result
    // it dies of the signal, and the document is complete before
    writeJson(result)
    throw error
  } finally {
    bars.stop()
  }
}
