import { logFileName } from '../log/fileNames.ts'
import type { Cut } from '../log/partition/recoveryChanges.ts'

/** @param was completes what happened: "was" or "would be" */
export function describeCut({ segment, position, bytes, fault, isZero }: Cut, was: string): string {
  const name = logFileName(segment, '.log')
  const what = isZero ? `${bytes} trailing zero bytes, as in a preallocated segment,` : `${bytes} bytes`
  const why = {
    incomplete: 'the last batch is incomplete',
    size: 'a batch has an impossible size',
    magic: 'a batch has an unknown magic',
    crc: 'the CRC of a batch does not match',
    offsets: 'offsets go back in it',
  }[fault]
  return `${name}: ${what} ${was} cut at position ${position}${isZero ? '' : `: ${why}`}`
}
