import { workerData } from 'node:worker_threads'
import { MirrorPidError } from '../../errors.ts'
import { loadCoreSync } from '../../wasm/load.ts'
import { Job } from '../jobs/job.ts'
import { transferError } from './errorTransfer.ts'
import { runHere } from './runTask.ts'
import type { FileStep, WorkerAnswer, WorkerSettings, WorkerTask } from './workers.ts'

/** A thread of Workers. The pool puts its own data before ours. */
const { module, windowSize, isEnded } = workerData[1] as WorkerSettings

class Ended extends Error {}

const signal = {
  throwIfAborted() {
    if (Atomics.load(isEnded, 0) === 1) throw new Ended()
  },
}

export default async function work({ name, input, port }: WorkerTask): Promise<WorkerAnswer> {
  const onProgress =
    port === null
      ? undefined
      : ({ file, fileBytes, fileSize }: FileStep) => port.postMessage({ file, fileBytes, fileSize })
  const core = loadCoreSync(module)
  const job = Job.start({ core, windowSize, signal, ...(onProgress && { onProgress }) })
  try {
    return { kind: 'done', result: await runHere(name, input, job) }
  } catch (error) {
    if (error instanceof Ended) return { kind: 'ended' }
    if (MirrorPidError.is(error)) return { kind: 'failed', error: transferError(error) }
    throw error
  } finally {
    port?.close()
  }
}
