import { ByteReader, MalformedBytes } from '../../bytes/byteReader.ts'
import type { DecodedMessage } from '../dumpFormat.ts'
import { kafkaJson } from '../kafkaJson.ts'
import type { MessageDecoder } from './messageDecoder.ts'
import { readMessage } from './messageReader.ts'
import type { Schema } from './schema.ts'

/** A kind of record of a coordinator's topic: its key says which, its value in which version. */
export interface CoordinatorRecordType {
  key: Schema
  value: Schema
  /** Changes what was read of a value, as Kafka's tool does before it prints it. */
  refine?: (value: Record<string, unknown>) => Record<string, unknown>
}

/** Shows the records of a coordinator's topic. Source: Kafka's CoordinatorRecordSerde and DumpLogSegments. */
export class CoordinatorDecoder implements MessageDecoder {
  readonly #types: ReadonlyMap<number, CoordinatorRecordType>

  constructor(types: ReadonlyMap<number, CoordinatorRecordType>) {
    this.#types = types
  }

  decode(key: Uint8Array | null, value: Uint8Array | null, offset: bigint): DecodedMessage | null {
    if (key === null) return null
    try {
      const reader = new ByteReader(key)
      const type = readVersion(reader, 'key')
      const found = this.#types.get(type)
      if (found === undefined) return alone(`Unknown record type ${type} at offset ${offset}, skipping.`)
      const data = readPart(found.key, reader, 0, 'key')
      return {
        key: kafkaJson({ type: String(type), data }),
        value: value === null ? '<DELETE>' : readValue(found, new ByteReader(value), type),
      }
    } catch (error) {
      if (!(error instanceof MalformedBytes)) throw error
      return alone(`Error at offset ${offset}, skipping. ${error.message}`)
    }
  }
}

function alone(key: string): DecodedMessage {
  return { key, value: null }
}

function readValue({ value, refine }: CoordinatorRecordType, reader: ByteReader, type: number): string {
  const version = readVersion(reader, 'value')
  if (version < 0 || version > value.highest) {
    throw new MalformedBytes(`Found an unknown record version ${version} for ${type} type`, 0)
  }
  const data = readPart(value, reader, version, 'value')
  return kafkaJson({ version: String(version), data: refine?.(data) ?? data })
}

function readVersion(reader: ByteReader, part: 'key' | 'value'): number {
  try {
    return reader.int16()
  } catch (error) {
    if (!(error instanceof MalformedBytes)) throw error
    throw new MalformedBytes(`Could not read version from ${part}'s buffer.`, error.position)
  }
}

function readPart(
  schema: Schema,
  reader: ByteReader,
  version: number,
  part: 'key' | 'value',
): Record<string, unknown> {
  try {
    return readMessage(schema, reader, version)
  } catch (error) {
    if (!(error instanceof MalformedBytes)) throw error
    const message = `Could not read record with version ${version} from ${part}'s buffer due to: ${error.message}.`
    throw new MalformedBytes(message, error.position)
  }
}
