import { ByteReader, MalformedBytes } from '../bytes/byteReader.ts'
import { ByteWriter } from '../bytes/byteWriter.ts'
import { bytesOf } from '../bytes/view.ts'
import { type OptionKinds, requireOptions } from '../core/arguments.ts'
import { InvalidArgumentError, InvalidRecordError } from '../errors.ts'
import { ControlRecordType, encodeControlKey } from './controlRecordType.ts'
import { encodeRecordBatch } from './encodeRecordBatch.ts'
import { readTaggedFields, type TaggedField, writeTaggedFields } from './taggedFields.ts'

/**
 * The value of the barrier, MIRROR_PID_RESET. `sourceClusterId` is null in the shape of the later draft, which drops it.
 * Source: KIP-1279, MirrorPidResetRecord version 0.
 */
export interface MirrorPidReset {
  version: number
  sourceClusterId: string | null
  /** Tagged fields that this version does not know. */
  taggedFields: TaggedField[]
}

/** A barrier to write. Source: KIP-1279. */
export interface MirrorPidResetSpec {
  /** Where the barrier stands: the log end offset of the partition. */
  baseOffset: bigint
  /** The leader's epoch. */
  leaderEpoch: number
  /** Milliseconds since the epoch. */
  timestamp: bigint
  /** The cluster that the partition was mirrored from; null for the later draft's shape, which has none. */
  sourceClusterId: string | null
  taggedFields?: readonly TaggedField[]
}

const BARRIER: OptionKinds<MirrorPidResetSpec> = {
  baseOffset: 'any',
  leaderEpoch: 'any',
  timestamp: 'any',
  sourceClusterId: 'any',
  taggedFields: 'list',
}

const VERSION = 0
const MAX_STRING_BYTES = 32767 // Kafka's limit for a string

/**
 * The barrier as a whole batch: one control record, not transactional, without a producer.
 *
 * @throws InvalidArgumentError for an empty id, one of more than 32,767 bytes, or a lone surrogate; for tagged fields
 * without an id that would be read as an id and others
 * @see KIP-1279 (Cluster Mirroring)
 * @example
 * const barrier = { baseOffset: 42n, leaderEpoch: 7, timestamp: 1700000000000n, sourceClusterId: 'YkX3tQ2mSGa0b1c2d3e4fA' }
 * encodeMirrorPidReset(barrier).length // 98
 */
export function encodeMirrorPidReset(spec: MirrorPidResetSpec): Uint8Array<ArrayBuffer> {
  requireOptions('spec of encodeMirrorPidReset', spec, BARRIER)
  return encodeRecordBatch({
    baseOffset: spec.baseOffset,
    partitionLeaderEpoch: spec.leaderEpoch,
    isControl: true,
    records: [
      {
        timestamp: spec.timestamp,
        key: encodeControlKey(ControlRecordType.MIRROR_PID_RESET),
        value: encodeValue(spec.sourceClusterId, spec.taggedFields ?? []),
      },
    ],
  })
}

function encodeValue(sourceClusterId: string | null, taggedFields: readonly TaggedField[]): Uint8Array {
  const writer = new ByteWriter().int16(VERSION)
  if (sourceClusterId !== null) {
    const id = encodeClusterId(sourceClusterId)
    writer.unsignedVarint(id.length + 1).bytes(id)
  }
  writeTaggedFields(writer, taggedFields)
  const value = writer.finish()
  // only fields can be taken for an id
  if (sourceClusterId === null && parse(value).sourceClusterId !== null) {
    throw new InvalidArgumentError(
      'taggedFields without a sourceClusterId would be read as one, and as other fields; leave some out',
    )
  }
  return value
}

function encodeClusterId(sourceClusterId: string): Uint8Array {
  if (typeof sourceClusterId !== 'string' || sourceClusterId === '') {
    throw new InvalidArgumentError(
      `sourceClusterId must be a cluster's id, or null for the shape without one; got ${JSON.stringify(sourceClusterId)}`,
    )
  }
  const id = new TextEncoder().encode(sourceClusterId)
  if (id.length > MAX_STRING_BYTES) {
    throw new InvalidArgumentError(
      `sourceClusterId has ${id.length} bytes; Kafka's limit is ${MAX_STRING_BYTES}`,
    )
  }
  if (new TextDecoder('utf-8', { ignoreBOM: true }).decode(id) !== sourceClusterId) {
    throw new InvalidArgumentError(
      'sourceClusterId holds half of a surrogate pair, which UTF-8 cannot express',
    )
  }
  return id
}

/**
 * Reads the value of a MIRROR_PID_RESET record, in either shape: with the source cluster's id, or without.
 *
 * @throws InvalidRecordError when it is cut, has a version other than 0, an empty id, or bytes behind its end
 * @example
 * decodeMirrorPidReset(new Uint8Array([0, 0, 0])).sourceClusterId // null
 */
export function decodeMirrorPidReset(value: Uint8Array | DataView): MirrorPidReset {
  const bytes = bytesOf(value, 'value')
  try {
    return parse(bytes)
  } catch (error) {
    if (!(error instanceof MalformedBytes)) throw error
    throw new InvalidRecordError(`a MIRROR_PID_RESET value of ${bytes.length} bytes: ${error.message}`, {
      position: error.position,
    })
  }
}

function parse(bytes: Uint8Array): MirrorPidReset {
  const reader = new ByteReader(bytes)
  const version = reader.int16()
  if (version !== VERSION) throw new MalformedBytes(`its version is ${version}; only 0 is known`, 0)
  const start = reader.position
  try {
    return { version, sourceClusterId: readClusterId(reader), taggedFields: readToEnd(reader) }
  } catch (error) {
    // The shape without an id goes straight on to its tagged fields. No id has a length of zero or null, so a value of
    // the first shape is never taken for the second, but for some fields the other way round, which the encoder refuses.
    // What fits neither is reported as the first.
    const short = new ByteReader(bytes, start)
    try {
      return { version, sourceClusterId: null, taggedFields: readToEnd(short) }
    } catch {
      throw error
    }
  }
}

function readClusterId(reader: ByteReader): string {
  const start = reader.position
  const lengthPlusOne = reader.unsignedVarint()
  if (lengthPlusOne <= 1) throw new MalformedBytes('its source cluster id is empty', start)
  if (lengthPlusOne - 1 > MAX_STRING_BYTES) {
    throw new MalformedBytes(`its source cluster id claims ${lengthPlusOne - 1} bytes`, start)
  }
  const id = reader.slice(lengthPlusOne - 1)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(id)
  } catch {
    throw new MalformedBytes('its source cluster id is not UTF-8', start)
  }
}

function readToEnd(reader: ByteReader): TaggedField[] {
  const fields = readTaggedFields(reader)
  if (reader.remaining > 0)
    throw new MalformedBytes(`${reader.remaining} bytes are left behind it`, reader.position)
  return fields
}
