import { mapProducerId } from '../core/producerId.ts'
import { recordBatches } from '../formats/recordBatches.ts'
import { MeetingIds } from '../log/meetingIds.ts'
import type { PartitionLog } from '../log/partition/partitionLog.ts'
import { ProducerIdsMeetError } from '../log/producerIdsMeetError.ts'
import { mergingOf } from '../log/seenIds.ts'

const FIRST_SWEEP = 10_000

/** The ids under which a source's producers came into a mirror, so that two that the mapping makes one are told. */
export class SourceIds {
  #meeting = new MeetingIds(mergingOf('map'), true)
  /** End of the log when it held what was taken; null until it does. */
  #endOffset: bigint | null = null
  #sweepAt = FIRST_SWEEP

  /** Another source may bring the same producers under other ids. */
  forget(): void {
    this.#endOffset = null
  }

  /**
   * Takes what is to be appended next, before it is mapped. What was taken before counts as long as it is the end of the log:
   * not after a cut, nor after an append that failed. What the log has already is not taken again: a fetch that was repeated
   * tells nothing new, and the ids of before a barrier are in it.
   */
  take(records: Uint8Array, log: PartitionLog): ProducerIdsMeetError | null {
    const end = log.logEndOffset
    if (this.#endOffset !== end) this.#meeting = new MeetingIds(mergingOf('map'), true)
    const fresh = records.subarray(sizeBelow(end, records))
    this.#endOffset = fresh.length === 0 ? end : null
    this.#meeting.takeWhole(fresh)
    const { met } = this.#meeting
    if (met === null) return null
    const consequence =
      'No barrier (MIRROR_PID_RESET) stands between them in the source, where a local producer wrote to a log that was mapped. ' +
      'Nothing of this append was written; repair the source, or store its ids as they are (producerIds: "none").'
    return new ProducerIdsMeetError(met, { file: null, consequence })
  }

  /** It is in the log. */
  appended(log: PartitionLog): void {
    this.#endOffset = log.logEndOffset
    if (this.#meeting.size < this.#sweepAt) return
    // what the log's own state has forgotten harms nobody any more
    const { producers } = log.producerState
    this.#meeting.keepOnly((producerId) => producers.has(mapProducerId(producerId)))
    this.#sweepAt = Math.max(FIRST_SWEEP, 2 * this.#meeting.size)
  }
}

/** How many bytes the batches take that end below an offset. */
function sizeBelow(offset: bigint, records: Uint8Array): number {
  let size = 0
  for (const { lastOffset, sizeInBytes } of recordBatches(records)) {
    if (lastOffset >= offset) break
    size += sizeInBytes
  }
  return size
}
