import { ByteWriter } from '../../src/bytes/byteWriter.ts'
import { metadataTypes } from '../../src/dump/messages/clusterMetadata.ts'
import type { Field, FieldType, Schema } from '../../src/dump/messages/schema.ts'

/** A seeded generator: the same messages in every run. */
export function generator(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    return (state >>> 8) % below
  }
}

/** Writes messages of any content, by the rules of Kafka's message protocol. */
export class MessageWriter {
  readonly writer = new ByteWriter()
  readonly #next: (below: number) => number
  readonly #version: number
  readonly #isFlexible: boolean

  constructor(next: (below: number) => number, version: number, isFlexible: boolean) {
    this.#next = next
    this.#version = version
    this.#isFlexible = isFlexible
  }

  static write(schema: Schema, version: number, next: (below: number) => number): Uint8Array {
    const message = new MessageWriter(next, version, version >= schema.flexibleFrom)
    message.struct(schema.fields)
    return message.writer.finish()
  }

  struct(fields: readonly Field[]): void {
    const present = fields.filter(({ from, to }) => this.#version >= from && this.#version <= to)
    for (const field of present) if (field.tag === null) this.#field(field)
    if (!this.#isFlexible) return
    const tagged = present
      .filter(({ tag }) => tag !== null && this.#next(2) === 0)
      .sort((a, b) => a.tag! - b.tag!)
    const isUnknownAdded = this.#next(5) === 0
    this.writer.unsignedVarint(tagged.length + (isUnknownAdded ? 1 : 0))
    for (const field of tagged) {
      const content = new MessageWriter(this.#next, this.#version, true)
      content.#field(field)
      const bytes = content.writer.finish()
      this.writer.unsignedVarint(field.tag!).unsignedVarint(bytes.length).bytes(bytes)
    }
    if (isUnknownAdded) this.writer.unsignedVarint(99).unsignedVarint(3).bytes(new Uint8Array(3))
  }

  #field({ type, isNullable, tag }: Field): void {
    const isNull = isNullable && this.#next(3) === 0
    if (typeof type === 'object' && 'fields' in type && isNullable) {
      if (tag === null) this.writer.int8(isNull ? -1 : 1)
      else this.writer.unsignedVarint(isNull ? 0 : 1)
      if (!isNull) this.struct(type.fields)
    } else this.#typed(type, isNull)
  }

  #typed(type: FieldType, isNull: boolean): void {
    if (typeof type === 'string') this.#primitive(type, isNull)
    else if ('fields' in type) this.struct(type.fields)
    else {
      const count = isNull ? -1 : this.#next(4)
      this.#length(count, 4)
      for (let index = 0; index < count; index++) this.#typed(type.element, false)
    }
  }

  #primitive(type: Extract<FieldType, string>, isNull: boolean): void {
    const { writer } = this
    const next = this.#next
    const long = () =>
      BigInt.asIntN(64, (BigInt(next(2 ** 24)) << 40n) ^ (BigInt(next(2 ** 24)) << 20n)) >> BigInt(next(60))
    switch (type) {
      case 'bool':
        writer.int8(next(2))
        break
      case 'int8':
        writer.int8(next(256) - 128)
        break
      case 'int16':
      case 'uint16':
        writer.int16(next(65536) - 32768)
        break
      case 'int32':
        writer.int32(Number(BigInt.asIntN(32, long())))
        break
      case 'int64':
        writer.int64(long())
        break
      case 'float64': {
        const view = new DataView(new ArrayBuffer(8))
        view.setFloat64(0, [0, 1, -2.5, 1024, 1048576.5, 1e7, 1e10, 0.001, 1.5e-5][next(9)]!)
        writer.int64(view.getBigInt64(0))
        break
      }
      case 'uuid':
        writer.int64(long()).int64(next(2) === 0 ? 0n : long())
        break
      case 'string': {
        const text = [
          '',
          'a',
          'group-1',
          'é漢😀',
          '"quoted" \\ \n\t\u0001\u001f\u007f',
          '/127.0.0.1',
          'consumer',
        ][next(7)]!
        this.#bytes(isNull ? null : new TextEncoder().encode(text), 2)
        break
      }
      default:
        this.#bytes(isNull ? null : Uint8Array.from({ length: next(20) }, () => next(256)), 4)
    }
  }

  #bytes(bytes: Uint8Array | null, lengthSize: 2 | 4): void {
    this.#length(bytes?.length ?? -1, lengthSize)
    if (bytes !== null) this.writer.bytes(bytes)
  }

  #length(length: number, size: 2 | 4): void {
    if (this.#isFlexible) this.writer.unsignedVarint(length + 1)
    else if (size === 2) this.writer.int16(length)
    else this.writer.int32(length)
  }
}

export type Message = { key: Uint8Array | null; value: Uint8Array | null }

/** A message of __cluster_metadata or __remote_log_metadata. */
export const framed = (type: number, version: number, bytes: Uint8Array, frame = 1): Message => ({
  key: null,
  value: new ByteWriter()
    .unsignedVarint(frame)
    .unsignedVarint(type)
    .unsignedVarint(version)
    .bytes(bytes)
    .finish(),
})

/** As many as said of each type and version. */
export function clusterMetadataMessages(each: number, seed: number): Message[] {
  const next = generator(seed)
  return [...metadataTypes()].flatMap(([type, { form }]) =>
    Array.from({ length: (form.highest + 1) * each }, (_, at) => {
      const version = Math.floor(at / each)
      return framed(type, version, MessageWriter.write(form, version, next))
    }),
  )
}
