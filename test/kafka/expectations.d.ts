import type { JudgedFile } from './judge.js'

/** The partitions of a complete fixture set. */
export const partitions: string[]

/**
 * Whether a partition holds what its fixture is there for (an empty batch, an open transaction, ...), and every file
 * of it is sound. Takes what the judge says of all its files; answers with one line for each thing that is missing.
 */
export function findProblems(partition: string, judged: readonly JudgedFile[]): string[]
