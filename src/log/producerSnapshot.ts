import { bytesOf, viewOf } from '../bytes/view.ts'
import { checkRewriteOptions, requireOptions } from '../core/arguments.ts'
import type { Core } from '../core/core.ts'
import { engineOf } from '../core/crcEngine.ts'
import { decrementSequence } from '../formats/sequence.ts'
import * as format from '../producers/producerSnapshotFormat.ts'
import {
  COMPANION_OPTIONS,
  type CompanionOptions,
  type CompanionReport,
  checkProducerIds,
  requireNoneMeet,
  writeProducerIds,
} from './companion.ts'

/** What a broker knows of a producer, as a snapshot keeps it. */
export interface ProducerSnapshotEntry {
  producerId: bigint
  producerEpoch: number
  coordinatorEpoch: number
  lastTimestamp: bigint
  /** Of the open transaction; null where none is open. */
  currentTxnFirstOffset: bigint | null
  /** The producer's last batch; null where only markers are known of it. */
  lastBatch: {
    firstSequence: number
    lastSequence: number
    lastOffset: bigint
    offsetDelta: number
    timestamp: bigint
  } | null
}

/**
 * Rewrites the producer ids of a `.snapshot` file (a broker's producer state up to the offset in its name) in place.
 * Its segments must be rewritten with it, or a broker takes their producers for strangers. Checks everything, its CRC
 * first, then writes: a call that throws has changed nothing, and a second call changes nothing.
 *
 * @param core gives the CRC
 * @param bytes the whole file; bytes behind the last entry stay, as long as the CRC covers them
 * @throws CorruptCompanionError CORRUPT_SNAPSHOT where Kafka would not take the file
 * @throws UnmappableProducerIdError on producer id 2^63 - 1
 * @throws ProducerIdsMeetError where two of its ids become one, unless `force`
 * @throws InvalidArgumentError
 * @see Kafka's ProducerStateManager.readSnapshot
 * @example
 * const mapped = snapshot.slice()
 * rewriteProducerSnapshot(core, mapped).rewritten // entries that changed
 */
export function rewriteProducerSnapshot(
  core: Core,
  bytes: Uint8Array,
  options: CompanionOptions = {},
): CompanionReport {
  const { direction } = checkRewriteOptions(
    requireOptions('options of rewriteProducerSnapshot', options, COMPANION_OPTIONS),
  )
  const plain = bytesOf(bytes, 'bytes')
  const view = viewOf(plain)
  const file = options.file ?? null
  const engine = engineOf(core)
  const count = format.checkSnapshot(plain, engine, file)
  const report = checkProducerIds(view, entriesAt(count), direction, file)
  requireNoneMeet(idsOf(view, count), options)
  if (report.rewritten > 0) {
    writeProducerIds(view, entriesAt(count), direction)
    format.sealSnapshot(plain, engine)
  }
  return report
}

/**
 * Checks a `.snapshot` file as a broker does before it trusts it.
 *
 * @param core gives the CRC
 * @param bytes the whole file
 * @param file named in errors
 * @returns the number of entries
 * @throws CorruptCompanionError CORRUPT_SNAPSHOT
 * @example
 * verifyProducerSnapshot(core, snapshot) // 4
 */
export function verifyProducerSnapshot(core: Core, bytes: Uint8Array, file: string | null = null): number {
  return format.checkSnapshot(bytesOf(bytes, 'bytes'), engineOf(core), file)
}

function* idsOf(view: DataView, count: number): Iterable<{ producerId: bigint; offset: bigint | null }> {
  for (const at of entriesAt(count)) {
    const { producerId, currentTxnFirstOffset, lastBatch } = readEntry(view, at)
    yield { producerId, offset: currentTxnFirstOffset ?? lastBatch?.lastOffset ?? null }
  }
}

/** Where entries begin; each begins with its producer id. */
function* entriesAt(count: number): Iterable<number> {
  const { SNAPSHOT_ENTRIES_AT, SNAPSHOT_ENTRY_SIZE, ENTRY_PRODUCER_ID } = format
  for (let entry = 0; entry < count; entry++) {
    yield SNAPSHOT_ENTRIES_AT + entry * SNAPSHOT_ENTRY_SIZE + ENTRY_PRODUCER_ID
  }
}

/**
 * Reads a `.snapshot` file.
 *
 * @param core gives the CRC
 * @param bytes the whole file
 * @param file named in errors
 * @throws CorruptCompanionError CORRUPT_SNAPSHOT where Kafka would not take the file
 * @see Kafka's ProducerStateManager.readSnapshot
 * @example
 * readProducerSnapshot(core, snapshot).filter((entry) => entry.currentTxnFirstOffset !== null)
 */
export function readProducerSnapshot(
  core: Core,
  bytes: Uint8Array,
  file: string | null = null,
): ProducerSnapshotEntry[] {
  const plain = bytesOf(bytes, 'bytes')
  const view = viewOf(plain)
  const count = format.checkSnapshot(plain, engineOf(core), file)
  return Array.from(entriesAt(count), (at) => readEntry(view, at))
}

function readEntry(view: DataView, at: number): ProducerSnapshotEntry {
  const lastSequence = view.getInt32(at + format.ENTRY_LAST_SEQUENCE)
  const lastOffset = view.getBigInt64(at + format.ENTRY_LAST_OFFSET)
  const offsetDelta = view.getInt32(at + format.ENTRY_OFFSET_DELTA)
  const timestamp = view.getBigInt64(at + format.ENTRY_TIMESTAMP)
  const firstOffset = view.getBigInt64(at + format.ENTRY_TXN_FIRST_OFFSET)
  return {
    producerId: view.getBigInt64(at + format.ENTRY_PRODUCER_ID),
    producerEpoch: view.getInt16(at + format.ENTRY_PRODUCER_EPOCH),
    coordinatorEpoch: view.getInt32(at + format.ENTRY_COORDINATOR_EPOCH),
    lastTimestamp: timestamp,
    currentTxnFirstOffset: firstOffset < 0n ? null : firstOffset,
    lastBatch:
      lastOffset < 0n
        ? null
        : {
            firstSequence: decrementSequence(lastSequence, offsetDelta),
            lastSequence,
            lastOffset,
            offsetDelta,
            timestamp,
          },
  }
}
