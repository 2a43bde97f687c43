import { MirrorPidError } from '../../errors.ts'

/** Why a log refuses an append, a read or a file. Names and rules are those of Kafka's exceptions. */

/**
 * An offset that the log does not hold: below its start, or above its end; or, where records are to be deleted, one that is
 * not replicated yet.
 *
 * @example
 * log.read(log.logEndOffset + 1n) // throws OffsetOutOfRangeError
 */
export class OffsetOutOfRangeError extends MirrorPidError {
  readonly offset: bigint
  readonly logStartOffset: bigint
  readonly logEndOffset: bigint

  constructor(
    offset: bigint,
    logStartOffset: bigint,
    logEndOffset: bigint,
    highWatermark: bigint | null = null,
  ) {
    super(
      'OFFSET_OUT_OF_RANGE',
      highWatermark === null
        ? `offset ${offset} is not in this log, which goes from ${logStartOffset} to ${logEndOffset}. Read from the log ` +
            'start offset, or wait until the log has grown.'
        : `records up to offset ${offset} cannot be deleted: it is above the high watermark ${highWatermark}. Nothing was ` +
            'changed; raise the high watermark first (updateHighWatermark), once they are replicated.',
    )
    this.offset = offset
    this.logStartOffset = logStartOffset
    this.logEndOffset = logEndOffset
  }
}

/**
 * Batches from another log whose offsets do not go on where this log ends, or do not rise.
 *
 * @example
 * log.append(fetched, 'replication')
 * log.append(fetched, 'replication') // throws UnexpectedAppendOffsetError
 */
export class UnexpectedAppendOffsetError extends MirrorPidError {
  /** Of the batch that does not fit. */
  readonly baseOffset: bigint
  /** What it may not be below. */
  readonly expectedOffset: bigint

  constructor(baseOffset: bigint, lastOffset: bigint, expectedOffset: bigint) {
    super(
      'UNEXPECTED_APPEND_OFFSET',
      `the batch with the offsets ${baseOffset} to ${lastOffset} cannot follow: ${expectedOffset} is the least offset ` +
        'that can. Nothing was changed; truncate this log to the last offset that it shares with its leader, then fetch ' +
        'from there.',
    )
    this.baseOffset = baseOffset
    this.expectedOffset = expectedOffset
  }
}

/**
 * A batch above `maxMessageBytes`, or larger than a segment may be.
 *
 * @example
 * const log = PartitionLog.open(memoryStorage(), { maxMessageBytes: 61 })
 * log.append(encodeRecordBatch({ records: [{ value }] }), 'client') // throws RecordTooLargeError
 */
export class RecordTooLargeError extends MirrorPidError {
  readonly baseOffset: bigint
  readonly size: number
  readonly limit: number

  constructor(baseOffset: bigint, size: number, limit: number) {
    super(
      'RECORD_TOO_LARGE',
      `the batch at offset ${baseOffset} has ${size} bytes, above the limit of ${limit}. Nothing was changed; write ` +
        'smaller batches, or raise maxMessageBytes and segmentBytes.',
    )
    this.baseOffset = baseOffset
    this.size = size
    this.limit = limit
  }
}

/**
 * A log that was closed, or that a failed write has left unusable until it is opened anew.
 *
 * @example
 * log.close()
 * log.read(0n) // throws LogClosedError
 */
export class LogClosedError extends MirrorPidError {
  constructor(cause: unknown = null) {
    super(
      'LOG_CLOSED',
      cause === null
        ? 'this log was closed; open it again.'
        : 'a write to this log has failed, so its state may be ahead of its files; open it again, which recovers it.',
      cause === null ? undefined : { cause },
    )
  }
}

/**
 * A small file that a broker keeps (a checkpoint, `meta.properties`, `partition.metadata`), which is there and cannot be
 * read. What it says is not known, and that is not the same as nothing.
 *
 * @example
 * const checkpoint = new TextEncoder().encode('9\n0\n') // version 9
 * PartitionLog.open(memoryStorage([['leader-epoch-checkpoint', checkpoint]])) // throws CorruptCheckpointError
 */
export class CorruptCheckpointError extends MirrorPidError {
  readonly file: string
  /** From 1 on; null where it is not in one line. */
  readonly line: number | null

  constructor(file: string, fault: string, line: number | null = null) {
    super(
      'CORRUPT_CHECKPOINT',
      `${file}${line === null ? '' : `, line ${line}`}: ${fault}. A broker wrote more than that, and what cannot be read must ` +
        'not count as nothing known; restore the file, or remove it where what it said may be forgotten.',
    )
    this.file = file
    this.line = line
  }
}
