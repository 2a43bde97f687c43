import { ByteReader, MalformedBytes } from '../../bytes/byteReader.ts'
import { readMessage } from './messageReader.ts'
import type { Schema } from './schema.ts'

/** A record that says itself what it is. */
export interface ApiMessage {
  type: number
  version: number
  /** Its fields, as `readMessage` gives them. */
  data: Record<string, unknown>
}

const FRAME_VERSION = 1
const MAX_INT16 = 32767
const UNPARSABLE = 'Could not deserialize metadata record'
const UNSUPPORTED = 'org.apache.kafka.common.errors.UnsupportedVersionException'

/**
 * Reads a framed message: frame version, type and version, each an unsigned varint, then the fields. A version newer than
 * the schema is read as far as this one knows, as by Kafka. Source: Kafka's AbstractApiMessageSerde, the messages too.
 *
 * @param schemaOf the fields of a type; undefined for a type that is not known
 * @throws MalformedBytes
 */
export function readApiMessage(
  value: Uint8Array | null,
  schemaOf: (type: number) => Schema | undefined,
): ApiMessage {
  if (value === null) throw new MalformedBytes('The record has no value', 0)
  const reader = new ByteReader(value)
  const frame = readInt16(reader, 'frame version')
  if (frame !== FRAME_VERSION) throw new MalformedBytes(unknownFrame(frame), 0)
  const type = readInt16(reader, 'type')
  const version = readInt16(reader, 'version')
  const schema = schemaOf(type)
  if (schema === undefined) throw new MalformedBytes(`${UNSUPPORTED}: Unknown metadata id ${type}`, 0)
  const data = readData(reader, schema, type, version)
  if (reader.remaining > 0) {
    throw new MalformedBytes(`Found ${reader.remaining} byte(s) of garbage after ${type}`, reader.position)
  }
  return { type, version, data }
}

function unknownFrame(frame: number): string {
  return frame === 0
    ? `${UNPARSABLE} with frame version 0. Note that upgrades from the preview release of KRaft in 2.8 to newer ` +
        'versions are not supported.'
    : `${UNPARSABLE} due to unknown frame version ${frame}(only frame version ${FRAME_VERSION} is supported)`
}

/** An unsigned varint as Java narrows it to a short. */
function readInt16(reader: ByteReader, name: string): number {
  const { position } = reader
  const number = orFault(() => reader.unsignedVarint() | 0, `Error while reading ${name}`)
  if (number > MAX_INT16) throw new MalformedBytes(`Value for ${name} was too large.`, position)
  return (number << 16) >> 16
}

function readData(reader: ByteReader, schema: Schema, type: number, version: number): ApiMessage['data'] {
  return orFault(() => readMessage(schema, reader, version), `Failed to deserialize record with type ${type}`)
}

/** Reads; bytes that cannot be read are told in Kafka's words, which say no more. */
function orFault<T>(read: () => T, fault: string): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof MalformedBytes)) throw error
    throw new MalformedBytes(fault, error.position)
  }
}
