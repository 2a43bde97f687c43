import { existsSync } from 'node:fs'
import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import type { Tinypool } from 'tinypool'
import { compileEmbedded } from '../../wasm/load.ts'
import type { FileProgress, Job, TaskRunner } from '../jobs/job.ts'
import type { SegmentTasks, TaskName } from '../jobs/segmentTasks.ts'
import type { LogUnit } from '../paths/logPaths.ts'
import { isAddressSpaceLimited } from './addressSpace.ts'
import { receiveError, type TransferredError } from './errorTransfer.ts'

/** No command is to take more than 120 MB, and a thread takes 12 (Node 20) to 20 (Node 24). */
const MAX_THREADS = 2
/** To start threads takes as long as to pass over so many bytes, about. */
const WORTH_THREADS = 256 * 1024 * 1024
/** As fast as the usual window of one thread. */
const MAX_WINDOW_SIZE = 256 * 1024
/** Little becomes garbage here, so there is no need for the usual 16 MB of room for it. */
const YOUNG_GENERATION_MB = 2

/** What all threads are given when they start. */
export interface WorkerSettings {
  module: WebAssembly.Module
  windowSize: number
  /** One number, 1 once the job is to end. */
  isEnded: Int32Array<SharedArrayBuffer>
}

/** What a thread is given for one pass. */
export interface WorkerTask<Name extends TaskName = TaskName> {
  name: Name
  input: SegmentTasks[Name]['input']
  /** Takes a FileStep for each step. */
  port: MessagePort | null
}

export interface FileStep {
  file: string
  fileBytes: number
  fileSize: number
}

export type WorkerAnswer =
  | { kind: 'done'; result: unknown }
  | { kind: 'failed'; error: TransferredError }
  | { kind: 'ended' }

/**
 * The program of a thread; null in a bundle, which has no file for it. Bundlers would take `new URL('./worker.js',
 * import.meta.url)` for an asset, and copy it without what it imports.
 */
function threadProgram(): string | null {
  // a bundle in CommonJS has no such place
  const here = import.meta.url as string | undefined
  if (!here?.endsWith('/node/threads/workers.js')) return null
  const program = new URL('worker.js', here)
  return existsSync(program) ? program.href : null
}

/** Threads that pass over segments, each with a core of its own from one compiled module. */
export class Workers implements TaskRunner {
  readonly #pool: Tinypool

  private constructor(pool: Tinypool) {
    this.#pool = pool
  }

  /**
   * Runs a job with as many threads as it has jobs, but no more than it has segments; none in place of one, and none
   * where threads have no program or the address space is limited.
   */
  static async employ<T>(
    job: Job,
    units: readonly LogUnit[],
    signal: AbortSignal | undefined,
    run: () => Promise<T>,
  ): Promise<T> {
    const segments = units.flatMap((unit) => unit.files).filter(({ kind }) => kind === 'segment')
    const bytes = segments.reduce((sum, { size }) => sum + size, 0)
    const isWorth = !job.isAuto || bytes >= WORTH_THREADS
    const filename = isWorth && job.jobs > 1 && !isAddressSpaceLimited() ? threadProgram() : null
    job.limit(filename === null ? 1 : Math.max(1, Math.min(segments.length, MAX_THREADS)))
    if (filename === null || job.jobs === 1) return run()
    const { Tinypool } = await import('tinypool')
    const isEnded = new Int32Array(new SharedArrayBuffer(4))
    const windowSize = Math.min(job.windowSize, MAX_WINDOW_SIZE)
    const workerData: WorkerSettings = { module: compileEmbedded(), windowSize, isEnded }
    const pool = new Tinypool({
      filename,
      runtime: 'worker_threads',
      minThreads: job.jobs,
      maxThreads: job.jobs,
      // a thread of Deno that blocks between passes never sends its answer
      useAtomics: false,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
      workerData,
    })
    const end = () => Atomics.store(isEnded, 0, 1)
    signal?.addEventListener('abort', end)
    if (signal?.aborted) end()
    job.employ(new Workers(pool))
    try {
      return await run()
    } finally {
      signal?.removeEventListener('abort', end)
      await pool.destroy()
    }
  }

  /** Does one pass on a thread. Fails as it would on this one. */
  async run<Name extends TaskName>(
    name: Name,
    input: SegmentTasks[Name]['input'],
    job: Job,
  ): Promise<SegmentTasks[Name]['result']> {
    const channel = job.wantsProgress ? new MessageChannel() : null
    let progress: FileProgress | null = null
    const tell = ({ file, fileBytes, fileSize }: FileStep) => {
      progress ??= job.track(file, fileSize)
      progress.reach(fileBytes, 1)
    }
    channel?.port1.on('message', tell)
    const task: WorkerTask<Name> = { name, input, port: channel?.port2 ?? null }
    try {
      const answer: WorkerAnswer = await this.#pool.run(task, {
        transferList: channel === null ? [] : [channel.port2],
      })
      // the answer comes by another way, and may be here before steps that were told of earlier
      if (channel !== null) for (const step of waiting(channel.port1)) tell(step)
      if (answer.kind === 'failed') throw receiveError(answer.error)
      if (answer.kind === 'ended') job.signal?.throwIfAborted()
      const done = answer as WorkerAnswer & { kind: 'done' }
      ;(progress as FileProgress | null)?.end()
      return done.result as SegmentTasks[Name]['result']
    } finally {
      channel?.port1.close()
    }
  }
}

function* waiting(port: MessagePort): Generator<FileStep> {
  for (let step = receiveMessageOnPort(port); step !== undefined; step = receiveMessageOnPort(port)) {
    yield step.message
  }
}
