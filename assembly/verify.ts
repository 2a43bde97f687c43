import { checkCrc, classify, finish } from './checks'
import { frame, frameSize } from './frame'
import { resetReport } from './report'
import { DIRECTION_MAP, FRAME_BATCH, STATUS_OK } from './status'

/**
 * Verifies from byte `from` of a record set on; `from` 0 starts a new report, anything else continues the last one.
 * Stops behind each batch with a wrong CRC (STATUS_BAD_CRC): the caller notes it and goes on at `verifyNext`, so
 * that a list of any length needs no memory here.
 */
export function verify(start: usize, byteLength: usize, from: usize): i32 {
  if (from == 0) resetReport()
  const end = start + byteLength
  let position = start + from
  let kind = frame(position, end)
  while (kind == FRAME_BATCH) {
    classify(position, DIRECTION_MAP)
    const status = checkCrc(start, position)
    position += frameSize
    if (status != STATUS_OK) {
      verifyNext = position - start
      return status
    }
    kind = frame(position, end)
  }
  return finish(start, position, end, kind)
}

/** Where to go on after STATUS_BAD_CRC, in bytes from the start of the record set. */
export let verifyNext: usize = 0
