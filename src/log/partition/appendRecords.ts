import type { Core } from '../../core/core.ts'
import { BASE_OFFSET, CURRENT_MAGIC, PARTITION_LEADER_EPOCH } from '../../core/layout.ts'
import { CorruptBatchError, InvalidArgumentError, InvalidRecordError } from '../../errors.ts'
import type { RecordBatch } from '../../formats/recordBatch.ts'
import { recordBatches } from '../../formats/recordBatches.ts'
import { type AppendOrigin, isLeaderAppend } from '../../producers/appendOrigin.ts'
import { RecordTooLargeError, UnexpectedAppendOffsetError } from './logErrors.ts'
import { MAX_OFFSET } from './offsets.ts'

/** Batches that are fit to be written. */
export interface CheckedRecords {
  /** Whole batches, back to back, with the offsets and epochs that they get. */
  bytes: Uint8Array
  batches: RecordBatch[]
}

export interface AppendPlace {
  logEndOffset: bigint
  /** Where the last batch that is stored ends: below the log end offset where a cut went through a batch, or the log is empty. */
  storedEndOffset: () => bigint
  /** The leader's; null where batches keep theirs. */
  leaderEpoch: number | null
  /** For a leader's batches. */
  maxBatchBytes: number
}

/**
 * What is checked of an append before anything changes: CRCs, offsets, sizes. A client's and a coordinator's batch gets
 * the log end offset and the leader's epoch; a mirror's get the epoch, since the source's means nothing here. Neither is
 * covered by the CRC. The caller's bytes stay as they are. Source: Kafka's UnifiedLog.analyzeAndValidateRecords,
 * LogValidator.
 *
 * @throws CorruptBatchError, InvalidRecordError, RecordTooLargeError, UnexpectedAppendOffsetError
 */
export function checkRecords(
  core: Core,
  records: Uint8Array,
  origin: AppendOrigin,
  place: AppendPlace,
): CheckedRecords {
  const report = core.verify(records)
  const [corrupt] = report.corrupt
  if (corrupt !== undefined) throw new CorruptBatchError(corrupt)
  const given = records.subarray(0, report.validBytes)
  if (isLeaderAppend(origin)) return leaderBatch(given, origin, place)
  const { leaderEpoch } = place
  if (origin === 'mirror' && leaderEpoch !== null) {
    const bytes = given.slice()
    const batches = [...recordBatches(bytes)]
    for (const batch of batches) setLeaderEpoch(batch, leaderEpoch)
    checkOffsets(batches, place)
    return { bytes, batches }
  }
  const batches = upToEpoch([...recordBatches(given)], leaderEpoch)
  checkOffsets(batches, place)
  const length = batches.reduce((sum, batch) => sum + batch.sizeInBytes, 0)
  return { bytes: given.subarray(0, length), batches }
}

function leaderBatch(given: Uint8Array, origin: AppendOrigin, place: AppendPlace): CheckedRecords {
  const bytes = given.slice()
  const batches = [...recordBatches(bytes)]
  const [batch] = batches
  if (batch === undefined) return { bytes, batches }
  const { logEndOffset, leaderEpoch, maxBatchBytes } = place
  const refuse = (fault: string) =>
    new InvalidRecordError(`${fault}. Nothing was changed.`, { baseOffset: logEndOffset })
  if (batches.length > 1) {
    throw refuse(`${batches.length} batches in one append of origin ${origin}; a leader takes one at a time`)
  }
  if (batch.magic !== CURRENT_MAGIC) throw refuse(`a batch of magic ${batch.magic}; a leader writes magic 2`)
  if (batch.sizeInBytes > maxBatchBytes) {
    throw new RecordTooLargeError(logEndOffset, batch.sizeInBytes, maxBatchBytes)
  }
  const { recordsCount, lastOffsetDelta } = batch
  if (recordsCount === null || recordsCount < 1 || lastOffsetDelta !== recordsCount - 1) {
    throw refuse(`a batch of ${recordsCount} records with the last offset delta ${lastOffsetDelta}`)
  }
  if (logEndOffset + BigInt(recordsCount) > MAX_OFFSET) {
    throw noOffsetsLeft(logEndOffset, logEndOffset + BigInt(lastOffsetDelta))
  }
  viewOf(batch).setBigInt64(BASE_OFFSET, logEndOffset)
  if (leaderEpoch === null)
    throw new InvalidArgumentError(`an append of origin ${origin} needs a leader epoch`)
  setLeaderEpoch(batch, leaderEpoch)
  return { bytes, batches }
}

function checkOffsets(batches: readonly RecordBatch[], place: AppendPlace): void {
  let expected = leastOffset(batches, place)
  for (const { baseOffset, lastOffset, magic, partitionLeaderEpoch } of batches) {
    // of a compressed entry of magic 0 and 1 the header has the last offset alone
    if (baseOffset < expected || lastOffset < baseOffset) {
      throw new UnexpectedAppendOffsetError(baseOffset, lastOffset, expected)
    }
    if (lastOffset >= MAX_OFFSET) throw noOffsetsLeft(baseOffset, lastOffset)
    if (magic === CURRENT_MAGIC && partitionLeaderEpoch < 0) {
      throw new InvalidRecordError(
        `the batch at offset ${baseOffset} has the leader epoch ${partitionLeaderEpoch}; a log's batches have one from 0 ` +
          'on. Nothing was changed.',
        { baseOffset },
      )
    }
    expected = lastOffset + 1n
  }
}

/**
 * A log may end within a batch, whose rest is then fetched with its beginning: a source hands out whole batches. What is below
 * the end of the log is stored again, as long as nothing that is stored is there too.
 */
function leastOffset(
  batches: readonly RecordBatch[],
  { logEndOffset, storedEndOffset }: AppendPlace,
): bigint {
  const [first] = batches
  const last = batches.at(-1)
  if (first === undefined || last === undefined || first.baseOffset >= logEndOffset) return logEndOffset
  const isRest = last.lastOffset >= logEndOffset && first.baseOffset >= storedEndOffset()
  return isRest ? first.baseOffset : logEndOffset
}

function noOffsetsLeft(baseOffset: bigint, lastOffset: bigint): InvalidRecordError {
  return new InvalidRecordError(
    `the batch at offset ${baseOffset} would end at ${lastOffset}, and the last offset that a record can have is ` +
      `${MAX_OFFSET - 1n}. Nothing was changed.`,
    { baseOffset },
  )
}

/**
 * The batches before the first one that is newer than the leader that was asked: a fetch may race with a change of
 * leaders (KAFKA-18723).
 */
function upToEpoch(batches: RecordBatch[], leaderEpoch: number | null): RecordBatch[] {
  if (leaderEpoch === null) return batches
  const newer = batches.findIndex((batch) => batch.partitionLeaderEpoch > leaderEpoch)
  return newer < 0 ? batches : batches.slice(0, newer)
}

function setLeaderEpoch(batch: RecordBatch, leaderEpoch: number): void {
  // an entry of magic 0 or 1 has its CRC there
  if (batch.magic === CURRENT_MAGIC) viewOf(batch).setInt32(PARTITION_LEADER_EPOCH, leaderEpoch)
}

function viewOf({ bytes }: RecordBatch): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
