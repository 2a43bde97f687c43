import { stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join } from 'node:path'
import type { DumpKind, LogHead } from '../../dump/dumpFormat.ts'
import { readLogPath } from '../paths/logPaths.ts'

/** A file to be dumped. */
export interface DumpedFile {
  /** As Java's File would print what was given. */
  path: string
  name: string
  kind: DumpKind
}

const KINDS: readonly DumpKind[] = ['log', 'checkpoint', 'index', 'timeindex', 'txnindex', 'snapshot']
const SWAP = '.swap'

/**
 * The files that paths name: of a partition directory or a log directory all that can be dumped, in the order of their
 * names.
 * @param failed is told of a directory that is neither, and of pipes and the like: LogFileError NOT_A_LOG
 */
export async function dumpedFiles(
  paths: readonly string[],
  failed: (error: unknown) => void,
): Promise<DumpedFile[]> {
  const files: DumpedFile[] = []
  for (const path of paths) {
    // what cannot be looked at is an error when its turn comes
    const isFile = await stat(path).then(
      (stats) => stats.isFile(),
      () => true,
    )
    if (isFile) {
      files.push(dumpedFile(path))
      continue
    }
    try {
      const { units, errors } = await readLogPath(path)
      for (const error of errors) failed(error)
      const inside = units.flatMap((unit) => unit.files).map((file) => dumpedFile(file.path))
      files.push(...inside.filter((file) => file.kind !== 'unknown'))
    } catch (error) {
      failed(error)
    }
  }
  return files
}

function dumpedFile(given: string): DumpedFile {
  const path = given.replace(/\/+/g, '/').replace(/(.)\/$/, '$1')
  const name = basename(path)
  // a finished output of the cleaner, which a broker moves into place when it starts
  const plain = name.endsWith(SWAP) ? name.slice(0, -SWAP.length) : name
  const dot = plain.lastIndexOf('.')
  const suffix = dot < 0 ? '' : plain.slice(dot + 1)
  return { path, name, kind: KINDS.find((kind) => kind === suffix) ?? 'unknown' }
}

/** A relative path as Java makes it absolute: nothing is resolved. */
export function absolutePathOf(path: string): string {
  return isAbsolute(path) ? path : `${process.cwd()}/${path}`
}

const MAX_INT64 = 2n ** 63n - 1n

/** The offset in a file's name, before its first dot; null where there is none. */
export function baseOffsetOf(name: string): bigint | null {
  const digits = /^[+-]?(\d+)(?=\.)/.exec(name)?.[0]
  if (digits === undefined) return null
  const offset = BigInt(digits.replace('+', ''))
  return offset <= MAX_INT64 && offset >= -MAX_INT64 - 1n ? offset : null
}

/** What the name of a log or a checkpoint says; null where it says nothing. */
export function logHeadOf({ name, kind }: DumpedFile): LogHead | null {
  if (kind === 'log') {
    const baseOffset = baseOffsetOf(name)
    return baseOffset === null ? null : { kind, baseOffset }
  }
  if (name === 'bootstrap.checkpoint') return { kind: 'bootstrap' }
  const numbers = /^(\d{20})-(\d{10})\./.exec(name)
  if (numbers === null) return null
  return { kind: 'checkpoint', endOffset: BigInt(numbers[1]!), epoch: Number(numbers[2]) }
}

/** The file of the same segment with another suffix. */
export function siblingOf({ path, name }: DumpedFile, suffix: string): string {
  const swap = name.endsWith(SWAP) ? SWAP : ''
  return join(dirname(path), `${name.split('.', 1)[0]}.${suffix}${swap}`)
}
