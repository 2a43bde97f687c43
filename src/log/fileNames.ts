/**
 * Names in a log directory (Kafka: LogFileUtils, LocalLog). `.swap` is finished output of the cleaner or of a split
 * that a broker moves into place when it starts, so it counts as the file it replaces; `.cleaned` and `.deleted` are
 * removed then, so they are nobody's data.
 */

/** What a file of a partition directory is to a rewrite. */
export type LogFileKind = 'segment' | 'snapshot' | 'txnindex' | 'other'

/** What a file is, by its name alone. */
export function kindOfLogFile(name: string): LogFileKind {
  if (/\.log(\.swap)?$/.test(name)) return 'segment'
  if (/\.txnindex(\.swap)?$/.test(name)) return 'txnindex'
  if (/\.snapshot$/.test(name)) return 'snapshot'
  return 'other'
}

/** Whether a broker would have given a segment this name, so that a directory with it is a partition's. */
export function isNumberedSegment(name: string): boolean {
  return /^\d{20}\.log(\.swap)?$/.test(name)
}

/** The offset in the name of a segment, which no batch in it goes below; null where the name holds none. */
export function baseOffsetOfName(name: string): bigint | null {
  const digits = /^(\d{20})\./.exec(name)?.[1]
  return digits === undefined ? null : BigInt(digits)
}

/** Whether a directory has a partition's name: `<topic>-<partition>`, also while it is moved or about to be deleted. */
export function isPartitionName(name: string): boolean {
  return /-\d+(\.[0-9a-f]{32}-(delete|future|stray))?$/.test(name)
}

/** The name that a broker gives to a file of a segment: its base offset in 20 digits, and a suffix such as `.log`. */
export function logFileName(baseOffset: bigint, suffix: string): string {
  return baseOffset.toString().padStart(20, '0') + suffix
}

/**
 * Whether a broker builds a file of this name anew from its segment: producer snapshots and indexes. They go together: a
 * broker that finds one without the other takes it for right.
 */
export function isRebuilt(name: string): boolean {
  return /^\d{20}\.(snapshot|(index|timeindex|txnindex)(\.swap)?)$/.test(name)
}

/** Whether a partition of this name is of a topic whose record values hold producer ids. */
export function holdsIdsInValues(partitionName: string): boolean {
  return /^__(transaction_state|cluster_metadata)-\d/.test(partitionName) && isPartitionName(partitionName)
}
