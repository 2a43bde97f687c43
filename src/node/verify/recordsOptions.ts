import type { OptionKinds } from '../../core/arguments.ts'
import { InvalidArgumentError } from '../../errors.ts'
import type { VerifyMode } from '../jobs/segmentTasks.ts'

/** What a verification of segments looks at besides sizes, CRCs and offsets. */
export interface RecordsOptions {
  /**
   * Looks at the records of each batch of magic 2 whose CRC is right, which needs them decompressed and is far slower;
   * default false. All damage on disk is found without: what this finds are batches that a broken writer has made, with
   * the reason `records` and a `fault` that says what is wrong. Checked are the number of records, that nothing is left
   * behind them, lengths and varints, that offset deltas rise up to the batch's last at most, and keys of control records.
   */
  records?: boolean
  /**
   * With `records`: the most bytes that the records of one batch may take, compressed or not; default 128 MiB. A batch of
   * more is listed with the reason `records` too, and takes no memory.
   */
  maxBatchBytes?: number
}

export const RECORDS_OPTIONS: OptionKinds<RecordsOptions> = { records: 'any', maxBatchBytes: 'any' }

const DEFAULT_BATCH_BYTES = 128 * 1024 * 1024
/** No batch is larger. */
const MAX_BATCH_BYTES = 2147483647

/** @throws InvalidArgumentError */
export function verifyModeOf({ records = false, maxBatchBytes }: RecordsOptions): VerifyMode {
  const limit = maxBatchBytes ?? DEFAULT_BATCH_BYTES
  if (typeof records !== 'boolean') {
    throw new InvalidArgumentError(`records must be true or false; got ${String(records)}`)
  }
  if (!Number.isInteger(limit) || limit < 0 || limit > MAX_BATCH_BYTES) {
    throw new InvalidArgumentError(
      `maxBatchBytes must be a whole number of bytes from 0 to ${MAX_BATCH_BYTES}; got ${String(limit)}`,
    )
  }
  return { maxBatchBytes: records ? limit : null }
}
