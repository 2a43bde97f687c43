import { crc32c as nativeCrc32c } from '@node-rs/crc32'

/** What people write without this package: BigInt through a DataView, and a CRC over the whole batch. */

export type Rewrite = (records: Uint8Array, direction: 'map' | 'unmap') => void

const table = new Int32Array(256)
for (let byte = 0; byte < 256; byte++) {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0)
  table[byte] = crc
}

/** The usual byte-wise table in plain JavaScript. */
export function tableCrc32c(bytes: Uint8Array): number {
  let crc = -1
  for (let at = 0; at < bytes.length; at++) crc = (crc >>> 8) ^ table[(crc ^ bytes[at]!) & 255]!
  return ~crc >>> 0
}

function rewriteWith(crc32c: (bytes: Uint8Array) => number): Rewrite {
  return (records, direction) => {
    const view = new DataView(records.buffer, records.byteOffset, records.byteLength)
    for (let at = 0; at < records.length; at += 12 + view.getInt32(at + 8)) {
      const producerId = view.getBigInt64(at + 43)
      if (direction === 'map' ? producerId < 0n : producerId > -2n) continue
      view.setBigInt64(at + 43, -producerId - 2n)
      view.setUint32(at + 17, crc32c(records.subarray(at + 21, at + 12 + view.getInt32(at + 8))))
    }
  }
}

export const plainJsRecompute = rewriteWith(tableCrc32c)
export const nativeRecompute = rewriteWith((bytes) => nativeCrc32c(bytes))

/** Checks every CRC first, as `crc: 'verify'` does, then the same. */
export const nativeVerifyAndRecompute: Rewrite = (records, direction) => {
  nativeVerify(records)
  nativeRecompute(records, direction)
}

/** Throws at a batch with a wrong CRC. */
export function nativeVerify(records: Uint8Array): void {
  const view = new DataView(records.buffer, records.byteOffset, records.byteLength)
  for (let at = 0; at < records.length; at += 12 + view.getInt32(at + 8)) {
    const computed = nativeCrc32c(records.subarray(at + 21, at + 12 + view.getInt32(at + 8)))
    if (computed !== view.getUint32(at + 17)) throw new Error(`wrong CRC at byte ${at}`)
  }
}
