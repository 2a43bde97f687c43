import { closeSync, openSync, writeSync } from 'node:fs'
import { crc32c } from '@node-rs/crc32'
import { compressFrameSync } from 'lz4-napi'
import { encodeRecordBatch } from 'mirrorpid'
import { random, recordSet } from './records.ts'

export const GIBIBYTE = 1 << 30

const HEADER_SIZE = 61
const LZ4 = 3
const TEMPLATES = 64
const WORDS = 'order customer price amount paid sent open closed item stock city street euro dollar'.split(
  ' ',
)

/**
 * Writes a segment with a write for each batch, as a broker appends them: how a file was written decides what later
 * writes to it cost.
 *
 * @returns the offset behind its last batch
 */
export function makeSegment(path: string, batchSize: number, byteLength: number, baseOffset: bigint): bigint {
  const piece = recordSet(batchSize, (64 * 1024 * 1024) / batchSize)
  const file = openSync(path, 'w')
  let nextOffset = baseOffset
  for (let written = 0; written < byteLength; ) {
    for (let at = 0; at < piece.length && written < byteLength; ) {
      const size = 12 + piece.readInt32BE(at + 8)
      piece.writeBigInt64BE(nextOffset++, at) // not covered by the CRC
      writeSync(file, piece, at, size)
      at += size
      written += size
    }
  }
  closeSync(file)
  return nextOffset
}

/** Writes a segment of 16 KiB batches (before compression) with records of about 100 bytes, of text. */
export function writeDataSegment(path: string, size: number, codec: 'none' | 'lz4'): void {
  const next = random(16)
  const templates = Array.from({ length: TEMPLATES }, () => makeBatch(next, codec))
  const file = openSync(path, 'w')
  let baseOffset = 0n
  for (let written = 0, index = 0; written < size; index++) {
    const batch = templates[index % TEMPLATES]!
    batch.writeBigInt64BE(baseOffset) // not covered by the CRC
    baseOffset += BigInt(batch.readInt32BE(57))
    writeSync(file, batch)
    written += batch.length
  }
  closeSync(file)
}

function makeBatch(next: () => number, codec: 'none' | 'lz4'): Buffer {
  const count = 145 + Math.floor(next() * 20)
  const records = Array.from({ length: count }, (_, index) => ({
    timestamp: 1700000000000n + BigInt(index * 3),
    key: Buffer.from(`key-${Math.floor(next() * 1e6)}`),
    value: Buffer.from(makeText(next, 70 + next() * 40)),
  }))
  const producer = { producerId: BigInt(1000 + Math.floor(next() * 50)), producerEpoch: 0, baseSequence: 0 }
  const plain = Buffer.from(encodeRecordBatch({ ...producer, partitionLeaderEpoch: 0, records }))
  if (codec === 'none') return plain
  const bytes = Buffer.concat([
    plain.subarray(0, HEADER_SIZE),
    compressFrameSync(plain.subarray(HEADER_SIZE)),
  ])
  bytes.writeInt32BE(bytes.length - 12, 8)
  bytes.writeInt16BE(LZ4, 21)
  bytes.writeUInt32BE(crc32c(bytes.subarray(21)), 17)
  return bytes
}

function makeText(next: () => number, length: number): string {
  let text = ''
  while (text.length < length) {
    text += `${WORDS[Math.floor(next() * WORDS.length)]} ${Math.floor(next() * 1e5).toString(36)} `
  }
  return text.slice(0, length)
}
