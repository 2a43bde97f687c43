import type { FileReport } from '../dump/fileReport.ts'
import type { Int64Pairs } from '../dump/int64Pairs.ts'
import { writeError } from './output.ts'

/** So many lines are handed to stderr at a time. */
const LINES = 1000

/**
 * What Kafka's tool writes to stderr at its end, file by file in the order of the dump.
 * @param withGaps whether offsets that are not consecutive are listed too, which are no findings
 */
export function writeGroups(reports: readonly FileReport[], withGaps: boolean): void {
  for (const { mismatches, absolutePath } of reports) {
    const lines = mapped(mismatches.sorted('descending'), (a, b) => `  Index offset: ${a}, log offset: ${b}`)
    writeGroup(`Mismatches in :${absolutePath}`, mismatches, lines)
  }
  for (const { timestampMismatches: pairs, absolutePath } of reports) {
    const lines = mapped(pairs.inOrder(), (a, b) => `  Index timestamp: ${a}, log timestamp: ${b}`)
    writeGroup(`Found timestamp mismatch in :${absolutePath}`, pairs, lines)
  }
  for (const { outOfOrderTimestamps: pairs, absolutePath } of reports) {
    const lines = mapped(
      pairs.inOrder(),
      (a, b) => `  Index timestamp: ${a}, Previously indexed timestamp: ${b}`,
    )
    writeGroup(`Found out of order timestamp in :${absolutePath}`, pairs, lines)
  }
  for (const { offsetsNotFound: pairs, absolutePath } of reports) {
    const lines = mapped(pairs.inOrder(), (a, b) => `Indexed offset: ${a}, found log offset: ${b}`)
    writeGroup(`The following indexed offsets are not found in :${absolutePath}`, pairs, lines)
  }
  if (!withGaps) return
  for (const { gaps, absolutePath } of reports) {
    const lines = mapped(gaps.pairs.sorted('ascending'), (a, b) => `  ${a} is followed by ${b}`)
    writeGroup(`Non-consecutive offsets in ${absolutePath}`, gaps.pairs, lines)
  }
}

function* mapped(
  pairs: Iterable<readonly [bigint, bigint]>,
  line: (first: bigint, second: bigint) => string,
): Generator<string> {
  for (const [first, second] of pairs) yield line(first, second)
}

function writeGroup(title: string, pairs: Int64Pairs, lines: Iterable<string>): void {
  if (pairs.count === 0) return
  let text = [title]
  for (const line of lines) {
    text.push(line)
    if (text.length < LINES) continue
    process.stderr.write(`${text.join('\n')}\n`)
    text = []
  }
  if (text.length > 0) process.stderr.write(`${text.join('\n')}\n`)
  if (pairs.left > 0) writeError(`and ${pairs.left} more`)
}
