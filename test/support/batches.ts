import { crc32, crc32c } from '@node-rs/crc32'

/** Fields of a test batch; all have defaults. CRCs come from a native library, not from the code under test. */
export interface BatchSpec {
  baseOffset?: bigint
  partitionLeaderEpoch?: number
  attributes?: number
  lastOffsetDelta?: number
  baseTimestamp?: bigint
  maxTimestamp?: bigint
  producerId?: bigint
  producerEpoch?: number
  baseSequence?: number
  recordsCount?: number
  payload?: Uint8Array
  /** Stored instead of the right CRC. */
  crc?: number
  /** Stored instead of the right length. */
  batchLength?: number
  magic?: number
}

/** A magic 2 batch as bytes; the payload need not be records. */
export function batch(spec: BatchSpec = {}): Buffer {
  const payload = spec.payload ?? Buffer.alloc(0)
  const bytes = Buffer.alloc(61 + payload.length)
  bytes.writeBigInt64BE(spec.baseOffset ?? 0n, 0)
  bytes.writeInt32BE(spec.batchLength ?? bytes.length - 12, 8)
  bytes.writeInt32BE(spec.partitionLeaderEpoch ?? 0, 12)
  bytes.writeInt8(spec.magic ?? 2, 16)
  bytes.writeInt16BE(spec.attributes ?? 0, 21)
  bytes.writeInt32BE(spec.lastOffsetDelta ?? 0, 23)
  bytes.writeBigInt64BE(spec.baseTimestamp ?? 1700000000000n, 27)
  bytes.writeBigInt64BE(spec.maxTimestamp ?? 1700000000000n, 35)
  bytes.writeBigInt64BE(spec.producerId ?? -1n, 43)
  bytes.writeInt16BE(spec.producerEpoch ?? 0, 51)
  bytes.writeInt32BE(spec.baseSequence ?? 0, 53)
  bytes.writeInt32BE(spec.recordsCount ?? 1, 57)
  bytes.set(payload, 61)
  bytes.writeUInt32BE(spec.crc ?? crc32c(bytes.subarray(21)), 17)
  return bytes
}

/** A magic 0 or 1 entry with a null key. */
export function legacyEntry(spec: {
  magic: 0 | 1
  offset?: bigint
  value?: Uint8Array
  crc?: number
}): Buffer {
  const value = spec.value ?? Buffer.from('x')
  const valueAt = spec.magic === 0 ? 26 : 34
  const bytes = Buffer.alloc(valueAt + value.length)
  bytes.writeBigInt64BE(spec.offset ?? 0n, 0)
  bytes.writeInt32BE(bytes.length - 12, 8)
  bytes.writeInt8(spec.magic, 16)
  if (spec.magic === 1) bytes.writeBigInt64BE(1700000000000n, 18)
  bytes.writeInt32BE(-1, valueAt - 8)
  bytes.writeInt32BE(value.length, valueAt - 4)
  bytes.set(value, valueAt)
  bytes.writeUInt32BE(spec.crc ?? crc32(bytes.subarray(16)), 12)
  return bytes
}

/** Whether the CRC of a magic 2 batch is right, by the native library. */
export function hasValidCrc(bytes: Buffer): boolean {
  return bytes.readUInt32BE(17) === crc32c(bytes.subarray(21))
}

/** Bytes in which nothing repeats soon, so that a byte read or written in the wrong place shows. */
export function pattern(byteLength: number, seed = 1): Buffer {
  const bytes = Buffer.alloc(byteLength)
  let state = seed
  for (let at = 0; at < byteLength; at++) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    bytes[at] = state >>> 16
  }
  return bytes
}

export function hex(text: string): Buffer {
  return Buffer.from(text.replace(/\s/g, ''), 'hex')
}
