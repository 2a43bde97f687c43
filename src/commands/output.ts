import type { Trailing } from '../core/core.ts'
import { LogFileError, MirrorPidError } from '../errors.ts'
import type { IncompleteBatch, RewriteResult, VerifyResult } from '../node/index.ts'

export const EXIT_FINE = 0
/** The input has findings. */
export const EXIT_FINDINGS = 1
/** Usage or I/O error. */
export const EXIT_FAILED = 2

const FINDINGS: readonly string[] = [
  'CORRUPT_BATCH',
  'UNMAPPABLE_PRODUCER_ID',
  'CORRUPT_SNAPSHOT',
  'CORRUPT_TRANSACTION_INDEX',
  'PRODUCER_IDS_MEET',
]

/** The exit status that errors call for: a failure of the system outweighs findings in the input. */
export function exitStatusOf(errors: readonly MirrorPidError[]): number {
  if (errors.length === 0) return EXIT_FINE
  return errors.every((error) => FINDINGS.includes(error.code)) ? EXIT_FINDINGS : EXIT_FAILED
}

export function writeLine(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** One JSON document; 64-bit numbers as decimal strings, so that no reader loses a digit. */
export function writeJson(document: object): void {
  writeLine(
    JSON.stringify(document, (_key, value) => (typeof value === 'bigint' ? value.toString() : value), 2),
  )
}

export function writeError(message: string): void {
  process.stderr.write(`mirrorpid: ${message}\n`)
}

export function writeWarning(message: string): void {
  writeError(`warning: ${message}`)
}

export function writeNote(message: string): void {
  writeError(`note: ${message}`)
}

/** What to say of an error that ended everything. */
export function describeFailure(error: unknown): string {
  if (MirrorPidError.is(error)) return error.message
  return `unexpected ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}; please report it`
}

/** The same of an error met in a directory, which messages about a file name themselves. */
export function describeFailureIn(directory: string, error: MirrorPidError, meaning = ''): string {
  const message = `${meaning}${describeFailure(error)}`
  return error instanceof LogFileError ? message : `${directory}: ${message}`
}

/** Says what was met and belongs to no log. */
export function warnOfLeftOut({ leftOut }: Pick<RewriteResult | VerifyResult, 'leftOut'>): void {
  for (const { path, reason } of leftOut) writeWarning(`${path} was left out: ${reason}`)
}

export function describeIncomplete({ position, wants, has }: IncompleteBatch): string {
  return `incomplete batch: wants ${wants ?? 'at least 12'} bytes, has ${has} at position ${position}`
}

export function describeZeros({ bytes }: Trailing): string {
  return `${bytes} trailing zero bytes, looks preallocated`
}

/** "1 batch", "2 batches". */
export function count(number: number, one: string, many: string): string {
  return `${number} ${number === 1 ? one : many}`
}

/** Bytes for people: "12 B", "3.4 MiB". */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  const units = ['KiB', 'MiB', 'GiB', 'TiB']
  let value = bytes / 1024
  let unit = 0
  for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024
  return `${value.toFixed(1)} ${units[unit]}`
}
