import { checkCrc, classify, finish, newCounts } from './batchChecks.ts'
import type { VerifyReport } from './core.ts'
import type { CrcEngine } from './crcEngine.ts'
import { RecordSetCursor } from './recordSetCursor.ts'
import { FRAME_BATCH } from './status.ts'

/** Checks framing and CRCs of a record set; reads every byte once. */
export function verifyRecords(bytes: Uint8Array, engine: CrcEngine): VerifyReport {
  const cursor = new RecordSetCursor(bytes)
  const report: VerifyReport = { ...newCounts(), corrupt: [] }
  let kind = cursor.frame()
  while (kind === FRAME_BATCH) {
    classify(cursor, report, 'map')
    const corrupt = checkCrc(cursor, engine)
    if (corrupt !== null) report.corrupt.push(corrupt)
    cursor.advance()
    kind = cursor.frame()
  }
  const unreadable = finish(cursor, report, kind)
  if (unreadable !== null) report.corrupt.push(unreadable)
  return report
}
