import * as layout from '../core/layout.ts'
import { isMirroredProducerId, unmapProducerId } from '../core/producerId.ts'
import { InvalidRecordError } from '../errors.ts'
import { decodeControlRecords } from '../formats/controlRecord.ts'
import { RecordBatch } from '../formats/recordBatch.ts'
import { attributesOf, type FramedBatch } from './batchLine.ts'
import type { BatchNotes } from './dumpFormat.ts'

/** A barrier takes a few hundred bytes. */
const LARGEST_BARRIER = 64 * 1024

/**
 * What `--explain` says of a batch.
 * @param bytes the whole batch; null where it is too large to be at hand
 */
export function notesOf(batch: FramedBatch, bytes: Uint8Array | null): BatchNotes | null {
  if (batch.magic !== layout.CURRENT_MAGIC) return null
  const producerId = batch.view.getBigInt64(batch.at + layout.PRODUCER_ID)
  const sourceProducerId = isMirroredProducerId(producerId) ? unmapProducerId(producerId) : null
  const isControl = (attributesOf(batch) & layout.CONTROL_FLAG) !== 0
  const barrier = isControl && bytes !== null && bytes.length <= LARGEST_BARRIER ? barrierOf(bytes) : null
  return { sourceProducerId, barrier }
}

function barrierOf(bytes: Uint8Array): BatchNotes['barrier'] {
  try {
    for (const control of decodeControlRecords(new RecordBatch(bytes, 0, layout.CURRENT_MAGIC))) {
      if (control.name === 'MIRROR_PID_RESET') return { sourceClusterId: control.sourceClusterId }
    }
  } catch (error) {
    // damage is for those who print the records
    if (!(error instanceof InvalidRecordError)) throw error
  }
  return null
}
