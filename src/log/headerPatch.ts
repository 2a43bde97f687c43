import { CRC, PRODUCER_ID } from '../core/layout.ts'
import { CHANGE_NEW_CRC, CHANGE_OLD_CRC, CHANGE_POSITION, CHANGE_PRODUCER_ID } from './headerChanges.ts'

/** One change of a journal's block, as 32-bit words; -(p + 2) = ~p - 1 on two halves, as rewriteRecords.ts has it. */
export class HeaderChange {
  position = 0
  oldHigh = 0
  oldLow = 0
  newHigh = 0
  newLow = 0
  oldCrc = 0
  newCrc = 0

  /** Takes the change that stands at a byte of a block. */
  read(block: DataView, at: number): void {
    this.position =
      block.getUint32(at + CHANGE_POSITION) * 2 ** 32 + block.getUint32(at + CHANGE_POSITION + 4)
    this.oldHigh = block.getInt32(at + CHANGE_PRODUCER_ID)
    this.oldLow = block.getInt32(at + CHANGE_PRODUCER_ID + 4)
    this.newLow = (~this.oldLow - 1) | 0
    this.newHigh = this.oldLow === -1 ? (~this.oldHigh - 1) | 0 : ~this.oldHigh
    this.oldCrc = block.getUint32(at + CHANGE_OLD_CRC)
    this.newCrc = block.getUint32(at + CHANGE_NEW_CRC)
  }

  /**
   * What stands in the batch whose first byte is at `at`: its old bytes, its new ones, or some of both where an
   * interruption cut through; null where any byte is neither, so that this is not the batch.
   */
  stateOf(bytes: DataView, at: number): 'old' | 'new' | 'torn' | null {
    const crc = bytes.getUint32(at + CRC) | 0
    const high = bytes.getInt32(at + PRODUCER_ID)
    const low = bytes.getInt32(at + PRODUCER_ID + 4)
    const { oldHigh, oldLow, newHigh, newLow } = this
    const [oldCrc, newCrc] = [this.oldCrc | 0, this.newCrc | 0]
    if (crc === oldCrc && high === oldHigh && low === oldLow) return 'old'
    if (crc === newCrc && high === newHigh && low === newLow) return 'new'
    const isTorn = isMix(crc, oldCrc, newCrc) && isMix(high, oldHigh, newHigh) && isMix(low, oldLow, newLow)
    return isTorn ? 'torn' : null
  }

  write(bytes: DataView, at: number): void {
    bytes.setUint32(at + CRC, this.newCrc)
    bytes.setInt32(at + PRODUCER_ID, this.newHigh)
    bytes.setInt32(at + PRODUCER_ID + 4, this.newLow)
  }
}

/** Whether each byte of a word is that of one word or that of the other. */
function isMix(word: number, one: number, other: number): boolean {
  for (let shift = 0; shift < 32; shift += 8) {
    if (((word ^ one) >>> shift) & 255 && ((word ^ other) >>> shift) & 255) return false
  }
  return true
}
