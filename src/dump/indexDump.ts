import type { ByteSource } from '../log/byteSource.ts'
import { OffsetIndex } from '../log/offsetIndex.ts'
import type { DumpSession } from './dumpSession.ts'
import type { FileReport } from './fileReport.ts'
import { HeaderReader } from './headerReader.ts'

/** Prints an offset index, and checks each entry against the batch in the log that it points to. */
export async function dumpOffsetIndex(
  source: ByteSource,
  log: ByteSource,
  session: DumpSession,
  report: FileReport,
  baseOffset: bigint,
): Promise<void> {
  const { format, options } = session
  const index = new OffsetIndex(source, baseOffset)
  if (index.count === 0) {
    format.emptyIndex(report.path)
    return
  }
  if (options.checksIndexSanity) {
    const fault = index.fault(report.absolutePath)
    if (fault === null) format.passedSanityCheck(report.path)
    else report.finding('index', fault)
    return
  }
  const headers = new HeaderReader(log)
  for (let number = 0; number < index.count && !index.isZeroTail(number); number++) {
    const entry = index.entry(number)
    const isBatch = entry.position >= 0 && headers.read(entry.position)
    if (!isBatch) {
      const place = `byte ${entry.position}, where no batch of the log is`
      report.finding('index', `the entry for offset ${entry.offset} points to ${place}`)
    } else if (headers.lastOffset !== entry.offset) {
      report.mismatches.add(entry.offset, headers.lastOffset)
      report.count('index')
    }
    if (!options.verifiesIndexOnly) format.indexEntry(entry)
    if (session.isFull) {
      session.signal?.throwIfAborted()
      await session.flush()
    }
  }
}
