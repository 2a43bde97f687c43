import { availableParallelism } from 'node:os'
import type { OptionKinds } from '../../core/arguments.ts'
import type { Core } from '../../core/core.ts'
import { InvalidArgumentError } from '../../errors.ts'
import { coreOf } from '../../wasm/load.ts'
import type { SegmentTasks, TaskName } from './segmentTasks.ts'

/** How far a job is. In-place work passes over each file twice, and counts both. */
export interface JobProgress {
  /** The file at work; with several jobs, the one of them that got further. */
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
  /**
   * Ends the job early, and the call rejects with the signal's reason. Output that is unfinished is removed. In place, the
   * journals of what is half rewritten stay, for the next run.
   */
  signal?: AbortSignal
  /** Told of the progress, every few windows of a file and at its ends. */
  onProgress?: (progress: JobProgress) => void
  /**
   * Bytes read at a time, from 61 to 64 MiB, default 1 MiB; threads read 256 KiB at most. A batch larger than this is
   * streamed. The event loop has its turn every few windows.
   */
  windowSize?: number
}

export const JOB_OPTIONS: OptionKinds<JobOptions> = {
  core: 'object',
  signal: 'object',
  onProgress: 'function',
  windowSize: 'any',
}

/** What the functions on several files take besides. */
export interface JobsOptions extends JobOptions {
  /**
   * The most segments that are worked on at a time, from 1 to 64, each by a thread of its own; default 1, which is this
   * thread. More than 2 are not, so that memory stays below 120 MB. The result is the same. Not together with `core`,
   * which belongs to one thread. `auto` takes as many as there are cores where the segments are large enough to gain. In a
   * bundle, which has no file for a thread to run, and under a limit of address space it is this thread whatever the number.
   */
  jobs?: number | 'auto'
}

export const JOBS_OPTIONS: OptionKinds<JobsOptions> = { ...JOB_OPTIONS, jobs: 'any' }

const DEFAULT_WINDOW_SIZE = 1024 * 1024
const MAX_WINDOW_SIZE = 64 * 1024 * 1024
const MIN_WINDOW_SIZE = 61 // a header
const MAX_JOBS = 64

/** What passes over segments on threads of its own. */
export interface TaskRunner {
  run<Name extends TaskName>(
    name: Name,
    input: SegmentTasks[Name]['input'],
    job: Job,
  ): Promise<SegmentTasks[Name]['result']>
}

/** What all parts of a job have in common. */
interface Shared {
  readonly core: Core
  readonly signal: Pick<AbortSignal, 'throwIfAborted'> | undefined
  readonly windowSize: number
  jobs: number
  readonly isAuto: boolean
  readonly onProgress: ((progress: JobProgress) => void) | undefined
  readonly progress: JobProgress
  workers: TaskRunner | null
}

/** The options with their defaults, and the progress so far: of a whole job, or of a part of it. */
export class Job {
  readonly #shared: Shared
  /** What is still to be counted of this part. */
  #left: number

  private constructor(shared: Shared, size: number) {
    this.#shared = shared
    this.#left = size
  }

  /** @throws InvalidArgumentError */
  static start(options: Omit<JobsOptions, 'signal'> & { signal?: Shared['signal'] }): Job {
    const { core, jobs = 1, signal, onProgress, windowSize = DEFAULT_WINDOW_SIZE } = options
    const isAuto = jobs === 'auto'
    if (core !== undefined && jobs !== 1) {
      throw new InvalidArgumentError('a core belongs to one thread: leave out either core or jobs')
    }
    const shared: Shared = {
      core: coreOf(core),
      jobs: checkInteger('jobs', isAuto ? Math.min(availableParallelism(), MAX_JOBS) : jobs, 1, MAX_JOBS),
      isAuto,
      signal,
      windowSize: checkInteger('windowSize', windowSize, MIN_WINDOW_SIZE, MAX_WINDOW_SIZE),
      onProgress,
      progress: { file: '', fileBytes: 0, fileSize: 0, bytes: 0, size: 0 },
      workers: null,
    }
    return new Job(shared, Number.POSITIVE_INFINITY)
  }

  get core(): Core {
    return this.#shared.core
  }

  get signal(): Shared['signal'] {
    return this.#shared.signal
  }

  get windowSize(): number {
    return this.#shared.windowSize
  }

  get jobs(): number {
    return this.#shared.jobs
  }

  /** Whether the number of jobs was left to us. */
  get isAuto(): boolean {
    return this.#shared.isAuto
  }

  /** There is not enough to do for more. */
  limit(jobs: number): void {
    this.#shared.jobs = Math.min(this.jobs, jobs)
  }

  get wantsProgress(): boolean {
    return this.#shared.onProgress !== undefined
  }

  /** The threads that segments are worked on by; null where that is this one. */
  get workers(): TaskRunner | null {
    return this.#shared.workers
  }

  /** Takes the threads into use, for all its parts. */
  employ(workers: TaskRunner): void {
    this.#shared.workers = workers
  }

  /** So many bytes are to be passed over. */
  plan(size: number): void {
    this.#shared.progress.size = size
  }

  /** A part of the job, with so many bytes of its own. */
  part(size: number): Job {
    return new Job(this.#shared, size)
  }

  /** The part is behind, whatever became of it. */
  end(): void {
    this.#count(this.#left, {})
  }

  /** A file's turn begins. Throws when the job was ended. */
  begin(file: string, size: number): FileProgress {
    this.signal?.throwIfAborted()
    return this.track(file, size)
  }

  /** The same for what is not to be ended in between. */
  track(file: string, size: number): FileProgress {
    return new FileProgress(size, (advanced, fileBytes) =>
      this.#count(advanced, { file, fileBytes, fileSize: size }),
    )
  }

  #count(bytes: number, file: Partial<JobProgress>): void {
    const { progress, onProgress } = this.#shared
    const counted = Math.min(bytes, this.#left)
    this.#left -= counted
    Object.assign(progress, file).bytes += counted
    onProgress?.({ ...progress })
  }

  /**
   * Does something for each item, as many at a time as there are jobs, and gives the results in the order of the items.
   * Fails as one after another would: with the failure of the first item that has one, once nothing is at work.
   */
  async each<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<R[]> {
    const results: R[] = []
    const failures = new Map<number, unknown>()
    let next = 0
    const turns = Array.from({ length: Math.min(this.jobs, items.length) }, async () => {
      while (next < items.length && failures.size === 0) {
        const index = next++
        try {
          results[index] = await run(items[index]!)
        } catch (error) {
          failures.set(index, error)
        }
      }
    })
    await Promise.all(turns)
    // items begin in order, so all before the first of these had their turn
    if (failures.size > 0) throw failures.get(Math.min(...failures.keys()))
    return results
  }
}

const STEP = 4 * 1024 * 1024

/** How far one pass over a file is; told about every few windows. */
export class FileProgress {
  readonly #size: number
  readonly #tell: (advanced: number, fileBytes: number) => void
  #told = 0

  constructor(size: number, tell: (advanced: number, fileBytes: number) => void) {
    this.#size = size
    this.#tell = tell
    tell(0, 0)
  }

  /** So many bytes of the file are behind; returns whether that was worth telling. */
  reach(bytes: number, step = STEP): boolean {
    if (bytes - this.#told < step) return false
    const advanced = bytes - this.#told
    this.#told = bytes
    this.#tell(advanced, bytes)
    return true
  }

  end(): void {
    this.reach(this.#size, 1)
  }
}

function checkInteger(name: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value
  const unit = name === 'windowSize' ? ' of bytes' : ''
  throw new InvalidArgumentError(
    `${name} must be a whole number${unit} from ${min} to ${max}; got ${String(value)}`,
  )
}
