export interface DumpJob {
  /** The dumped file, relative to the fixture directory, with `/`. */
  path: string
  variant: string
  /** For DumpLogSegments, with the fixture directory as working directory. */
  args: string[]
  /** Where its stdout is stored, relative to the fixture directory. */
  stored: string
}

/** The dumps that are stored for a partition's files. */
export function dumpJobs(partition: string, files: readonly string[]): DumpJob[]

/** Where a dump's stderr is stored; the file is there only if the tool wrote to it. */
export function errorsOf(stored: string): string
