import * as layout from '../core/layout.ts'
import { CompressionType, RecordBatch } from '../formats/recordBatch.ts'
import { incrementSequence } from '../formats/sequence.ts'
import type { FramedBatch } from './batchLine.ts'
import { hex } from './controlText.ts'
import type { BatchNotes } from './dumpFormat.ts'
import { type FieldDecoder, numberAt, numberSize } from './fieldDecoders.ts'
import type { RecordPlace } from './recordPlace.ts'

/** The objects of a dump in JSON. Names are those of Kafka's lines. */

const CODECS = Object.keys(CompressionType)

/** 64-bit numbers as decimal strings, so that no reader loses a digit. */
export function json(value: unknown): string {
  return JSON.stringify(value, (_name, field) => (typeof field === 'bigint' ? field.toString() : field))
}

export function batchFields({
  view,
  at,
  position,
  size,
  magic,
  isValid,
}: FramedBatch): Record<string, unknown> {
  const header = new Uint8Array(view.buffer, view.byteOffset + at, Math.min(size, layout.HEADER_SIZE))
  const batch = new RecordBatch(header, position, magic)
  const { baseOffset, lastOffset, baseSequence, lastOffsetDelta, compressionType } = batch
  const common = {
    position,
    timestampType: batch.timestampType,
    maxTimestamp: batch.maxTimestamp,
    size,
    magic,
    compresscodec: CODECS[compressionType] ?? compressionType,
    crc: batch.crc,
    isvalid: isValid,
  }
  if (batch.isLegacy) return { offset: baseOffset, ...common }
  return {
    baseOffset,
    lastOffset: BigInt.asIntN(64, lastOffset),
    count: batch.recordsCount,
    baseSequence,
    lastSequence: baseSequence === -1 ? -1 : incrementSequence(baseSequence, lastOffsetDelta),
    producerId: batch.producerId,
    producerEpoch: batch.producerEpoch,
    partitionLeaderEpoch: batch.partitionLeaderEpoch,
    isTransactional: batch.isTransactional,
    isControl: batch.isControl,
    deleteHorizonMs: batch.deleteHorizonMs,
    ...common,
  }
}

export function notesFields(notes: BatchNotes | null): Record<string, unknown> {
  if (notes === null) return {}
  const { sourceProducerId, barrier } = notes
  return {
    ...(sourceProducerId === null ? {} : { sourceProducerId }),
    ...(barrier === null ? {} : { barrier }),
  }
}

export function placeFields(place: RecordPlace): Record<string, unknown> {
  return { offset: place.exactOffset, timestamp: place.exactTimestamp }
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
export const lossy = new TextDecoder('utf-8', { ignoreBOM: true })

/** A key or value as its decoder shows it; what is no text, or too short for a number, as base64. */
export function field(
  name: string,
  decoder: FieldDecoder,
  bytes: Uint8Array | null,
): Record<string, unknown> {
  if (bytes === null) return { [name]: null }
  const size = numberSize(decoder)
  if (size > 0 && bytes.length >= size) {
    const number = numberAt(bytes, 0, size)
    return { [name]: decoder === 'integer' ? Number(number) : number }
  }
  if (decoder === 'string') {
    try {
      return { [name]: strict.decode(bytes) }
    } catch {
      // no text
    }
  }
  return { [`${name}Base64`]: base64(bytes) }
}

export function rawField(bytes: Uint8Array, start: number, length: number): string | null {
  return length < 0 ? null : hex(bytes.subarray(start, start + length))
}

export function slice(bytes: Uint8Array, start: number, length: number): Uint8Array | null {
  return length < 0 ? null : bytes.subarray(start, start + length)
}

function base64(bytes: Uint8Array): string {
  let binary = ''
  // as many arguments as a call may have
  for (let at = 0; at < bytes.length; at += 0x2000) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 0x2000))
  }
  return btoa(binary)
}
