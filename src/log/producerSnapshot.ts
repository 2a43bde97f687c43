import { bytesOf } from '../bytes/view.ts'
import { checkRewriteOptions } from '../core/arguments.ts'
import type { Core } from '../core/core.ts'
import { CorruptCompanionError } from '../errors.ts'
import { decrementSequence } from '../formats/sequence.ts'
import {
  type CompanionOptions,
  type CompanionReport,
  checkProducerIds,
  viewOf,
  writeProducerIds,
} from './companion.ts'

// Version 1, the only one; big-endian (Kafka: ProducerStateManager, ProducerSnapshot).
const VERSION_AT = 0 // i16
const CRC_AT = 2 // u32, CRC-32C of [COUNT_AT, end of file)
const COUNT_AT = 6 // i32
const ENTRIES_AT = 10
const ENTRY_SIZE = 46 // starts with the producer id, i64
const VERSION = 1

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
  const { direction } = checkRewriteOptions(options)
  const plain = bytesOf(bytes, 'bytes')
  const view = viewOf(plain)
  const file = options.file ?? null
  const count = checkSnapshot(core, plain, view, file)
  const report = checkProducerIds(view, idsAt(count), direction, file)
  if (report.rewritten > 0) {
    writeProducerIds(view, idsAt(count), direction)
    view.setUint32(CRC_AT, core.crc32c(plain.subarray(COUNT_AT)))
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
 * verifyProducerSnapshot(core, snapshot) // 12
 */
export function verifyProducerSnapshot(core: Core, bytes: Uint8Array, file: string | null = null): number {
  const plain = bytesOf(bytes, 'bytes')
  return checkSnapshot(core, plain, viewOf(plain), file)
}

function checkSnapshot(core: Core, bytes: Uint8Array, view: DataView, file: string | null): number {
  const corrupt = (fault: string, position: number) =>
    new CorruptCompanionError('CORRUPT_SNAPSHOT', fault, position, file)
  if (bytes.length < ENTRIES_AT) {
    throw corrupt(`${bytes.length} bytes, but the header alone has ${ENTRIES_AT}`, bytes.length)
  }
  const version = view.getInt16(VERSION_AT)
  if (version !== VERSION) throw corrupt(`version ${version}, expected ${VERSION}`, VERSION_AT)
  const stored = view.getUint32(CRC_AT)
  const computed = core.crc32c(bytes.subarray(COUNT_AT))
  if (stored !== computed) {
    throw corrupt(`stored CRC 0x${stored.toString(16)}, computed 0x${computed.toString(16)}`, CRC_AT)
  }
  const count = view.getInt32(COUNT_AT)
  const space = Math.floor((bytes.length - ENTRIES_AT) / ENTRY_SIZE)
  if (count < 0 || count > space) throw corrupt(`claims ${count} entries, has ${space}`, COUNT_AT)
  return count
}

function* idsAt(count: number): Iterable<number> {
  for (let entry = 0; entry < count; entry++) yield ENTRIES_AT + entry * ENTRY_SIZE
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
  const count = checkSnapshot(core, plain, view, file)
  return Array.from(idsAt(count), (at) => readEntry(view, at))
}

function readEntry(view: DataView, at: number): ProducerSnapshotEntry {
  const lastSequence = view.getInt32(at + 10)
  const lastOffset = view.getBigInt64(at + 14)
  const offsetDelta = view.getInt32(at + 22)
  const timestamp = view.getBigInt64(at + 26)
  const firstOffset = view.getBigInt64(at + 38)
  return {
    producerId: view.getBigInt64(at),
    producerEpoch: view.getInt16(at + 8),
    coordinatorEpoch: view.getInt32(at + 34),
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
