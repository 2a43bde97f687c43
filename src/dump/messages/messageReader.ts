import { type ByteReader, MalformedBytes } from '../../bytes/byteReader.ts'
import { RawJson } from '../kafkaJson.ts'
import type { Field, FieldType, PrimitiveType, Schema } from './schema.ts'

const ZERO_UUID = 'AAAAAAAAAAAAAAAAAAAAAA'
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

/**
 * Reads a message as Kafka's JSON converters would write it: fields in the order of the schema; tagged ones only where
 * they differ from their defaults.
 * @throws MalformedBytes
 */
export function readMessage(schema: Schema, reader: ByteReader, version: number): Record<string, unknown> {
  return new MessageReader(reader, version, schema).struct(schema.fields)
}

class MessageReader {
  readonly #reader: ByteReader
  readonly #version: number
  readonly #isFlexible: boolean
  readonly #isKnown: boolean

  constructor(reader: ByteReader, version: number, { flexibleFrom, highest }: Schema) {
    this.#reader = reader
    this.#version = version
    this.#isFlexible = version >= flexibleFrom
    this.#isKnown = version <= highest
  }

  struct(fields: readonly Field[]): Record<string, unknown> {
    // what is there from version 0 on is read whatever the version says, as by Kafka
    const present = fields.filter(
      ({ from, to }) => (from === 0 || this.#version >= from) && this.#version <= to,
    )
    const values = new Map<Field, unknown>()
    for (const field of present) if (field.tag === null) values.set(field, this.#value(field))
    if (this.#isFlexible) this.#taggedFields(present, values)
    const message: Record<string, unknown> = {}
    for (const field of present) if (values.has(field)) message[field.name] = values.get(field)
    return message
  }

  /** A struct inside of another. In these Kafka refuses the newer versions that it takes outside. */
  #inner(fields: readonly Field[]): Record<string, unknown> {
    if (this.#isKnown) return this.struct(fields)
    throw new MalformedBytes(`version ${this.#version} is not known`, this.#reader.position)
  }

  #taggedFields(fields: readonly Field[], values: Map<Field, unknown>): void {
    for (let left = this.#reader.unsignedVarint(); left > 0; left--) {
      const tag = this.#reader.unsignedVarint()
      const end = this.#reader.unsignedVarint() + this.#reader.position
      const field = fields.find((candidate) => candidate.tag === tag)
      if (field !== undefined) {
        const value = this.#value(field)
        if (!isDefault(field, value)) values.set(field, value)
      } else {
        this.#reader.slice(end - this.#reader.position)
      }
    }
  }

  #value(field: Field): unknown {
    const { type, isNullable, tag, name } = field
    if (typeof type === 'object' && 'fields' in type && isNullable) {
      const isNull = tag === null ? this.#reader.int8() < 0 : this.#reader.unsignedVarint() === 0
      return isNull ? null : this.#inner(type.fields)
    }
    const value = this.#typed(type, name)
    if (value === null && !isNullable) {
      throw new MalformedBytes(`non-nullable field ${name} was serialized as null`, this.#reader.position)
    }
    return value
  }

  #typed(type: FieldType, name: string): unknown {
    if (typeof type === 'string') return this.#primitive(type)
    if ('fields' in type) return this.#inner(type.fields)
    const count = this.#length('int32')
    if (count < 0) return null
    if (count > this.#reader.remaining) {
      const left = this.#reader.remaining
      throw new MalformedBytes(
        `${count} entries of ${name} where ${left} bytes are left`,
        this.#reader.position,
      )
    }
    return Array.from({ length: count }, () => this.#typed(type.element, name))
  }

  #primitive(type: PrimitiveType): unknown {
    switch (type) {
      case 'bool':
        return this.#reader.int8() !== 0
      case 'int8':
        return this.#reader.int8()
      case 'int16':
        return this.#reader.int16()
      case 'uint16':
        return this.#reader.uint16()
      case 'int32':
        return this.#reader.int32()
      case 'int64':
        return this.#reader.int64()
      case 'float64':
        return javaDouble(this.#reader.int64())
      case 'uuid':
        return uuidText(this.#reader.slice(16))
      case 'string': {
        const length = this.#length('int16')
        return length < 0 ? null : utf8.decode(this.#reader.slice(length))
      }
      default: {
        const length = this.#length('int32')
        return length < 0 ? null : base64(this.#reader.slice(length))
      }
    }
  }

  /** A length, negative for null. */
  #length(type: 'int16' | 'int32'): number {
    if (this.#isFlexible) return this.#reader.unsignedVarint() - 1
    return type === 'int16' ? this.#reader.int16() : this.#reader.int32()
  }
}

function isDefault({ type, initial }: Field, value: unknown): boolean {
  if (initial !== undefined) return value === (typeof value === 'bigint' ? BigInt(Number(initial)) : initial)
  if (Array.isArray(value)) return value.length === 0
  if (type === 'uuid') return value === ZERO_UUID
  return value === 0 || value === 0n || value === false || value === ''
}

function base64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}

function uuidText(bytes: Uint8Array): string {
  return base64(bytes).slice(0, 22).replaceAll('+', '-').replaceAll('/', '_')
}

/** A double from its bits, in Java's notation. */
function javaDouble(bits: bigint): RawJson {
  const view = new DataView(new ArrayBuffer(8))
  view.setBigInt64(0, bits)
  const value = view.getFloat64(0)
  const size = Math.abs(value)
  if (!Number.isFinite(value)) return new RawJson(`"${value}"`)
  if (size === 0 || (size >= 1e-3 && size < 1e7)) {
    const text = String(value)
    return new RawJson(/\./.test(text) ? text : `${Object.is(value, -0) ? '-0' : text}.0`)
  }
  const [digits, exponent] = value.toExponential().split('e') as [string, string]
  return new RawJson(`${digits.includes('.') ? digits : `${digits}.0`}E${Number(exponent)}`)
}
