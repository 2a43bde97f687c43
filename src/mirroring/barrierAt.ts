import { decodeControlRecord } from '../formats/controlRecord.ts'
import type { MirrorPidReset } from '../formats/mirrorPidReset.ts'
import { recordBatches } from '../formats/recordBatches.ts'
import type { PartitionLog } from '../log/partition/partitionLog.ts'

/** The barrier at an offset of a log; null where something else is there, or nothing. */
export function barrierAt(log: PartitionLog, offset: bigint): MirrorPidReset | null {
  if (offset < log.logStartOffset || offset >= log.logEndOffset) return null
  const [batch] = recordBatches(log.read(offset, { maxBytes: 0 }).records)
  if (batch === undefined || !batch.isControl || batch.baseOffset !== offset) return null
  const record = decodeControlRecord(batch)
  return record?.name === 'MIRROR_PID_RESET' ? record : null
}
