import { CorruptCompanionError } from '../errors.ts'
import { readProducerSnapshot } from '../log/producerSnapshot.ts'
import { readTransactionIndex, verifyTransactionIndex } from '../log/transactionIndex.ts'
import type { DumpSession } from './dumpSession.ts'
import type { FileReport } from './fileReport.ts'

/** Prints a producer snapshot; of one that Kafka would not take, only what is wrong with it. */
export async function dumpSnapshot(
  bytes: Uint8Array,
  session: DumpSession,
  report: FileReport,
): Promise<void> {
  await noting(report, async () => {
    for (const entry of readProducerSnapshot(session.core, bytes)) {
      session.format.producer(entry)
      if (session.isFull) await session.flush()
    }
  })
}

/** Prints a transaction index up to an entry that cannot be. */
export async function dumpTransactionIndex(
  bytes: Uint8Array,
  session: DumpSession,
  report: FileReport,
): Promise<void> {
  await noting(report, async () => {
    for (const entry of readTransactionIndex(bytes)) {
      session.format.transaction(entry)
      if (session.isFull) await session.flush()
    }
    const { kind, bytes: left } = verifyTransactionIndex(bytes).trailing
    if (kind === 'zeros') report.note(`${left} trailing zero bytes`)
    if (kind === 'incomplete') report.note(`${left} trailing bytes are no entry; Kafka ignores them`)
  })
}

async function noting(report: FileReport, print: () => Promise<void>): Promise<void> {
  try {
    await print()
  } catch (error) {
    if (!(error instanceof CorruptCompanionError)) throw error
    report.finding('companion', error.message, error.position)
  }
}
